/* border.c - finds a place in a long piece that no token of the vocabulary crosses. The tokens before it do
 * not depend on the text after it: BPE merges nothing across it, and all of Unigram's paths go through it. */
#include "text/stages.h"
#include "text/unicode.h"

/* A set of pairs of neighbouring characters, by hash. A pair that is not in the set is in no token. */
#define PAIR_BITS 20

static uint32_t pair_hash(uint32_t before, uint32_t after) {
  return (before * 0x9e3779b1u ^ after * 0x85ebca6bu) * 0xc2b2ae35u >> (32 - PAIR_BITS);
}

static int has_pair(const uint8_t *pairs, uint32_t hash) { return pairs[hash / 8] >> hash % 8 & 1; }

static void add_pairs(uint8_t *pairs, text_span token) {
  uint32_t before = 0;
  size_t width;
  if (!text_is_valid(token.bytes, token.length)) return;
  for (size_t at = 0; at < token.length; at += width) {
    uint32_t after = text_read(token.bytes + at, &width), hash = pair_hash(before, after);
    if (at) pairs[hash / 8] |= (uint8_t)(1 << hash % 8);
    before = after;
  }
}

/* Adds the pairs of all tokens, once for each work. */
static int read_pairs(attn2c_text_work *work) {
  const text_tables *tables = &work->text->tables;
  if (work->pairs) return ATTN2C_OK;
  work->pairs = calloc(1, (size_t)1 << (PAIR_BITS - 3));
  if (!work->pairs) return ATTN2C_MEMORY;
  for (uint32_t id = 0; id < tables->vocabulary; id++) add_pairs(work->pairs, text_token_text(tables, id));
  return ATTN2C_OK;
}

/* True if a character is a token by itself. An unknown one may be joined to its neighbours. */
static int is_token(const text_tables *tables, const uint8_t *bytes, size_t width) {
  uint32_t hash = text_hash(tables->seed, bytes, width);
  return text_find(tables, (text_span){bytes, 0}, (text_span){bytes, width}, hash) != TEXT_NONE;
}

int text_last_border(attn2c_text_work *work, const uint8_t *bytes, size_t length, size_t *border) {
  const text_tables *tables = &work->text->tables;
  const uint32_t *settings = tables->settings;
  *border = 0;
  if (settings[SETTING_MODEL] == MODEL_WORDPIECE || work->text->prefix.length || work->text->suffix.length)
    return ATTN2C_OK;
  size_t least = settings[SETTING_OPTIONS] & OPTION_IGNORE_MERGES ? settings[SETTING_LONGEST_TOKEN] : 0;
  int status = read_pairs(work);
  if (status != ATTN2C_OK || length == 0) return status;
  size_t at = text_before(bytes, length), width, before_width;
  for (size_t before; at > least; at = before) {
    before = text_before(bytes, at);
    uint32_t left = text_read(bytes + before, &before_width), right = text_read(bytes + at, &width);
    if (has_pair(work->pairs, pair_hash(left, right)) || !is_token(tables, bytes + at, width) ||
        !is_token(tables, bytes + before, before_width))
      continue;
    *border = at;
    break;
  }
  return text_spend(&work->budget, length - at);
}
