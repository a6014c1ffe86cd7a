/* tables.c - reads the tables in place, and checks each offset where it is used. Damaged tables give wrong
 * tokens or a refusal, never a read outside of them. Opening reads some hundred bytes, so that a mapped file
 * costs only the parts that are used. The checksum is compared on request. */
#include "text/tables.h"

#define HEADER_BYTES 32
/* Most probes of a hash table before a search ends; the writer makes no longer chains. */
#define LONGEST_CHAIN   256
#define DIRECTORY_BYTES (16 * SECTION_COUNT)

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint64_t long_number(const uint8_t *bytes) {
  return number(bytes) | (uint64_t)number(bytes + 4) << 32;
}

/* FNV-1a over words of 8 bytes; the size is a multiple of 8. */
static uint64_t checksum(const uint8_t *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i + 8 <= size; i += 8) hash = (hash ^ long_number(bytes + i)) * 0x100000001b3u;
  return hash;
}

static int damaged(attn2c_message *message, const char *what) {
  attn2c_say(message, "tokenizer tables: %s", what);
  return ATTN2C_FORMAT;
}

/* Bytes per entry of each section. */
static const size_t entry_bytes[SECTION_COUNT] = {
    [SECTION_SETTINGS] = 4, [SECTION_STRINGS] = 1,    [SECTION_TOKENS] = 4,
    [SECTION_FLAGS] = 1,    [SECTION_VOCABULARY] = 8, [SECTION_MERGES] = 16,
    [SECTION_TRIE] = 8,     [SECTION_SCORES] = 8,     [SECTION_COMPONENTS] = sizeof(text_record),
    [SECTION_ADDED] = 16,   [SECTION_TEMPLATES] = 16, [SECTION_BYTES] = 4,
    [SECTION_LETTERS] = 4,  [SECTION_LANGUAGES] = 12,
};

static int is_power_of_2(size_t n) { return n && (n & (n - 1)) == 0; }

/* Reads the directory. The sections that are hash tables have a power of 2 of slots. */
static int read_directory(const uint8_t *bytes, size_t size, text_tables *tables, attn2c_message *message) {
  for (size_t s = 0; s < SECTION_COUNT; s++) {
    uint64_t offset = long_number(bytes + HEADER_BYTES + 16 * s);
    uint64_t length = long_number(bytes + HEADER_BYTES + 16 * s + 8);
    if (offset > size || length > size - offset || length % entry_bytes[s])
      return damaged(message, "a section is outside of the tables");
    tables->section[s] = (text_span){bytes + offset, (size_t)length};
  }
  static const enum text_section hashed[] = {SECTION_VOCABULARY, SECTION_MERGES, SECTION_TRIE};
  for (size_t i = 0; i < 3; i++) {
    size_t slots = tables->section[hashed[i]].length / entry_bytes[hashed[i]];
    if (slots && !is_power_of_2(slots)) return damaged(message, "a hash has a wrong size");
  }
  return ATTN2C_OK;
}

static int read_settings(text_tables *tables, attn2c_message *message) {
  text_span settings = tables->section[SECTION_SETTINGS];
  if (settings.length < 4 * SETTING_COUNT) return damaged(message, "the settings are incomplete");
  for (size_t i = 0; i < SETTING_COUNT; i++) tables->settings[i] = number(settings.bytes + 4 * i);
  size_t vocabulary = tables->settings[SETTING_VOCABULARY];
  if (vocabulary >= 1u << 30 || tables->section[SECTION_TOKENS].length / 4 != vocabulary + 1 ||
      tables->section[SECTION_FLAGS].length != vocabulary)
    return damaged(message, "the vocabulary is incomplete");
  if (tables->settings[SETTING_MODEL] == MODEL_UNIGRAM &&
      tables->section[SECTION_SCORES].length / 8 != vocabulary)
    return damaged(message, "the scores are incomplete");
  if (tables->settings[SETTING_KNOWN] > vocabulary) return damaged(message, "the vocabulary is incomplete");
  tables->vocabulary = (uint32_t)vocabulary;
  tables->known = tables->settings[SETTING_KNOWN];
  tables->slots = (uint32_t)(tables->section[SECTION_VOCABULARY].length / 8);
  tables->seed = tables->settings[SETTING_SEED];
  return ATTN2C_OK;
}

int text_tables_open(const void *bytes, size_t size, int verify, text_tables *tables,
                     attn2c_message *message) {
  const uint8_t *at = bytes;
  memset(tables, 0, sizeof *tables);
  if (!bytes || size < HEADER_BYTES + DIRECTORY_BYTES) return damaged(message, "too short");
  if (memcmp(at, "attn2cTX", 8) != 0) return damaged(message, "these are no tables of a tokenizer");
  if (number(at + 8) != TEXT_TABLES_VERSION) return damaged(message, "made by another version of attn2c");
  if (number(at + 12) != SECTION_COUNT || long_number(at + 16) != size || size % 8)
    return damaged(message, "the size differs from that in the header");
  if (verify && long_number(at + 24) != checksum(at + HEADER_BYTES, size - HEADER_BYTES))
    return damaged(message, "damaged: the checksum differs");
  ATTN2C_TRY(read_directory(at, size, tables, message));
  return read_settings(tables, message);
}

int text_string(const text_tables *tables, uint32_t offset, uint32_t length, text_span *span) {
  text_span strings = tables->section[SECTION_STRINGS];
  if (offset > strings.length || length > strings.length - offset) return ATTN2C_FORMAT;
  *span = (text_span){strings.bytes + offset, length};
  return ATTN2C_OK;
}

int text_record_at(const text_tables *tables, size_t index, text_record *record) {
  text_span section = tables->section[SECTION_COMPONENTS];
  uint32_t *fields[] = {&record->stage, &record->kind,     &record->flags, &record->number,
                        &record->a,     &record->a_length, &record->b,     &record->b_length};
  if (index >= section.length / sizeof *record) return 0;
  for (size_t i = 0; i < 8; i++) *fields[i] = number(section.bytes + index * sizeof *record + 4 * i);
  return 1;
}

int text_added_at(const text_tables *tables, size_t index, text_added *added) {
  text_span section = tables->section[SECTION_ADDED];
  if (index >= section.length / 16) return 0;
  const uint8_t *at = section.bytes + index * 16;
  if (text_string(tables, number(at), number(at + 4), &added->text) != ATTN2C_OK)
    added->text = (text_span){at, 0};
  added->id = number(at + 8);
  added->flags = number(at + 12);
  return 1;
}

int text_language_at(const text_tables *tables, size_t index, text_added *language) {
  text_span section = tables->section[SECTION_LANGUAGES];
  if (index >= section.length / 12) return 0;
  const uint8_t *at = section.bytes + index * 12;
  *language = (text_added){.id = number(at + 8)};
  return text_string(tables, number(at), number(at + 4), &language->text) == ATTN2C_OK;
}

int text_template_at(const text_tables *tables, size_t index, text_template *piece) {
  text_span section = tables->section[SECTION_TEMPLATES];
  if (index >= section.length / 16) return 0;
  const uint8_t *at = section.bytes + index * 16;
  *piece = (text_template){number(at), number(at + 4), number(at + 8), number(at + 12)};
  return 1;
}

text_span text_token_text(const text_tables *tables, uint32_t id) {
  text_span span = {tables->section[SECTION_STRINGS].bytes, 0};
  if (id >= tables->vocabulary) return span;
  const uint8_t *at = tables->section[SECTION_TOKENS].bytes + 4 * (size_t)id;
  uint32_t begin = number(at), end = number(at + 4);
  if (begin > end || text_string(tables, begin, end - begin, &span) != ATTN2C_OK) span.length = 0;
  return span;
}

uint8_t text_token_flags(const text_tables *tables, uint32_t id) {
  return id < tables->vocabulary ? tables->section[SECTION_FLAGS].bytes[id] : 0;
}

/* Return the first slot of a text's hash, and of a number; gen/text/slots.lua has the same functions. */
static uint32_t spread(uint32_t hash) { return hash * 0x9e3779b1u ^ hash >> 15; }

static uint32_t slot_of(const text_tables *tables, uint64_t number) {
  uint64_t mixed = (number + tables->seed * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  return (uint32_t)((mixed ^ mixed >> 32) * 0xc2b2ae3d27d4eb4fu >> 32);
}

uint32_t text_find(const text_tables *tables, text_span head, text_span tail, uint32_t hash) {
  const uint8_t *slots = tables->section[SECTION_VOCABULARY].bytes;
  uint32_t mask = tables->slots - 1, at = spread(hash);
  for (uint32_t probes = 0; probes < LONGEST_CHAIN && probes < tables->slots; probes++, at++) {
    const uint8_t *slot = slots + 8 * (size_t)(at & mask);
    uint32_t id = number(slot + 4);
    if (id == TEXT_NONE) return TEXT_NONE;
    if (number(slot) != hash) continue;
    text_span text = text_token_text(tables, id);
    if (text.length == head.length + tail.length && text.length &&
        (head.length == 0 || memcmp(text.bytes, head.bytes, head.length) == 0) &&
        memcmp(text.bytes + head.length, tail.bytes, tail.length) == 0)
      return id;
  }
  return TEXT_NONE;
}

int text_merge(const text_tables *tables, uint32_t left, uint32_t right, uint32_t *rank, uint32_t *result) {
  text_span merges = tables->section[SECTION_MERGES];
  size_t slots = merges.length / 16;
  size_t at = slot_of(tables, (uint64_t)left << 32 | right);
  for (size_t probes = 0; probes < LONGEST_CHAIN && probes < slots; probes++, at++) {
    const uint8_t *slot = merges.bytes + 16 * (size_t)(at & (slots - 1));
    uint32_t first = number(slot);
    if (first == TEXT_NONE) return 0;
    if (first != left || number(slot + 4) != right) continue;
    *rank = number(slot + 8);
    *result = number(slot + 12);
    return *result < tables->vocabulary;
  }
  return 0;
}

uint32_t text_step(const text_tables *tables, uint32_t node, uint8_t byte) {
  text_span trie = tables->section[SECTION_TRIE];
  size_t slots = trie.length / 8;
  uint32_t key = node << 8 | byte;
  size_t at = slot_of(tables, key);
  for (size_t probes = 0; probes < LONGEST_CHAIN && probes < slots; probes++, at++) {
    const uint8_t *slot = trie.bytes + 8 * (size_t)(at & (slots - 1));
    uint32_t child = number(slot + 4);
    if (child == TEXT_NONE) return TEXT_NONE;
    if (number(slot) == key) return child;
  }
  return TEXT_NONE;
}

double text_score(const text_tables *tables, uint32_t id) {
  double score = 0;
  if (id < tables->section[SECTION_SCORES].length / 8) {
    uint64_t bits = long_number(tables->section[SECTION_SCORES].bytes + 8 * (size_t)id);
    memcpy(&score, &bits, sizeof score);
  }
  return score;
}

uint32_t text_entry(const text_tables *tables, enum text_section section, size_t index) {
  text_span entries = tables->section[section];
  if (index >= entries.length / 4) return TEXT_NONE;
  uint32_t id = number(entries.bytes + 4 * index);
  return id < tables->vocabulary ? id : TEXT_NONE;
}
