/* tables.h - the tables of a tokenizer in memory: gen/text/tables.lua writes them, this module reads them in
 * place. Every look-up checks its bounds, so that damaged tables cause no access outside. Numbers are
 * little-endian and aligned to 8 from the tables' start. */
#pragma once

#include "base/attn2c.h"
#include "text/numbers.h"

/* The tables begin with a header and a directory. The header has "attn2cTX", version, number of sections,
 * size in bytes, and the checksum of the bytes after header and directory. The directory has offset and bytes
 * of each section. */

typedef struct text_span {
  const uint8_t *bytes;
  size_t length;
} text_span;

/* One component of a stage. The component's file says what the numbers and texts mean. */
typedef struct text_record {
  uint32_t stage, kind, flags, number, a, a_length, b, b_length;
} text_record;

typedef struct text_tables {
  text_span section[SECTION_COUNT];
  uint32_t settings[SETTING_COUNT];
  uint32_t vocabulary; /* setting */
  uint32_t known;      /* setting */
  uint32_t slots;      /* slots of the vocabulary's hash table */
  uint32_t seed;       /* setting */
} text_tables;

typedef struct text_added {
  text_span text;
  uint32_t id, flags;
} text_added;

typedef struct text_template {
  uint32_t kind, id, type, pair;
} text_template;

/* Checks header, sections and settings, and with `verify` the checksum. */
int text_tables_open(const void *bytes, size_t size, int verify, text_tables *tables,
                     attn2c_message *message);

/* Sets *span to bytes of the strings. Returns ATTN2C_FORMAT if they are outside. */
int text_string(const text_tables *tables, uint32_t offset, uint32_t length, text_span *span);
int text_record_at(const text_tables *tables, size_t index, text_record *record);
int text_added_at(const text_tables *tables, size_t index, text_added *added);
/* Reads a language's code and id. */
int text_language_at(const text_tables *tables, size_t index, text_added *language);
int text_template_at(const text_tables *tables, size_t index, text_template *piece);

/* Returns a token's text; length 0 if there is none. */
text_span text_token_text(const text_tables *tables, uint32_t id);
uint8_t text_token_flags(const text_tables *tables, uint32_t id);

/* FNV-1a with 32 bits, byte by byte. Hashes for look-ups in the tables begin with the tables' seed. */
#define TEXT_HASH_START 0x811c9dc5u
static inline uint32_t text_hash_byte(uint32_t hash, uint8_t byte) { return (hash ^ byte) * 0x01000193u; }
static inline uint32_t text_hash(uint32_t hash, const uint8_t *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) hash = text_hash_byte(hash, bytes[i]);
  return hash;
}

/* Returns the id of the text `head` followed by `tail`, whose hash is given; TEXT_NONE if it is no token. */
uint32_t text_find(const text_tables *tables, text_span head, text_span tail, uint32_t hash);
/* Sets the pair's rank and result. Returns 0 if the pair does not merge. */
int text_merge(const text_tables *tables, uint32_t left, uint32_t right, uint32_t *rank, uint32_t *result);
/* Returns the child of `node` by a byte, or TEXT_NONE. */
uint32_t text_step(const text_tables *tables, uint32_t node, uint8_t byte);
double text_score(const text_tables *tables, uint32_t id);
/* Returns an entry of SECTION_BYTES or SECTION_LETTERS; TEXT_NONE if it is no token. */
uint32_t text_entry(const text_tables *tables, enum text_section section, size_t index);
