/* tables.h - the tables of a tokenizer in memory: gen/text/tables.lua writes them, this module reads them in
 * place. Every look-up checks its bounds, so that damaged tables cause no access outside. Numbers are
 * little-endian and aligned to 8 from the tables' start. */
#ifndef ATTN2C_TEXT_TABLES_H
#define ATTN2C_TEXT_TABLES_H

#include "base/attn2c.h"

#define TEXT_TABLES_VERSION 2
#define TEXT_NONE           0xffffffffu

/* The tables begin with a header and a directory. The header has "attn2cTX", version, number of sections,
 * size in bytes, and the checksum of the bytes after header and directory. The directory has offset and bytes
 * of each section. */
enum text_section {
  SECTION_SETTINGS,   /* uint32 by enum text_setting */
  SECTION_STRINGS,    /* bytes that the other sections point into */
  SECTION_TOKENS,     /* uint32 [vocabulary + 1]: offset of a token's text in the strings */
  SECTION_FLAGS,      /* uint8 [vocabulary]: TOKEN_ */
  SECTION_VOCABULARY, /* { uint32 hash, id } [a power of 2]: open addressing by the text's hash, which begins
                         with the seed */
  SECTION_MERGES,     /* { uint32 left, right, rank, result } [a power of 2]: by both ids */
  SECTION_TRIE, /* { uint32 node << 8 | byte, child } [a power of 2]; nodes below the vocabulary are tokens */
  SECTION_SCORES,     /* double [vocabulary] of a Unigram model */
  SECTION_COMPONENTS, /* struct text_record, in the order of their stages */
  SECTION_ADDED,      /* { uint32 text, length, id, flags } */
  SECTION_TEMPLATES,  /* { uint32 kind, id, type, for pairs } */
  SECTION_BYTES,      /* uint32 [256]: the tokens <0x00> to <0xFF>, or TEXT_NONE */
  SECTION_LETTERS,    /* uint32 [512]: tokens of one character below U+0200, or TEXT_NONE */
  SECTION_COUNT
};

enum text_setting {
  SETTING_MODEL, /* MODEL_ */
  SETTING_OPTIONS,
  SETTING_UNKNOWN,    /* id, or TEXT_NONE */
  SETTING_VOCABULARY, /* one more than the largest id */
  SETTING_LONGEST_WORD,
  SETTING_PREFIX, /* text and length: continuing_subword_prefix */
  SETTING_PREFIX_LENGTH,
  SETTING_SUFFIX, /* end_of_word_suffix */
  SETTING_SUFFIX_LENGTH,
  SETTING_LONGEST_TOKEN, /* bytes */
  SETTING_LIMIT,         /* truncation; TEXT_NONE: none */
  SETTING_STRATEGY,
  SETTING_FROM_LEFT,
  SETTING_WORD, /* the pattern of a letter of a word, for single_word */
  SETTING_WORD_LENGTH,
  SETTING_ROOT,        /* root node of the trie */
  SETTING_UNKNOWN_LOW, /* the score of an unknown character: the two halves of a double */
  SETTING_UNKNOWN_HIGH,
  SETTING_SEED, /* first value of all hashes */
  SETTING_COUNT
};

enum { MODEL_WORDPIECE = 1, MODEL_BPE = 2, MODEL_UNIGRAM = 3 };
enum {
  OPTION_FUSE_UNKNOWN = 1,
  OPTION_BYTE_FALLBACK = 2,
  OPTION_IGNORE_MERGES = 4,
  OPTION_NEEDS_UNKNOWN = 8
};
enum { TOKEN_PRESENT = 1, TOKEN_SPECIAL = 2 };
enum { ADDED_LSTRIP = 1, ADDED_RSTRIP = 2, ADDED_SINGLE_WORD = 4, ADDED_NORMALIZED = 8, ADDED_SPECIAL = 16 };
enum { TEMPLATE_FIRST = 0, TEMPLATE_SECOND = 1, TEMPLATE_TOKEN = 2 };

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

#endif
