/* model_wordpiece.c - WordPiece: takes the longest token at the word's start, then the longest continuation,
 * to the end. A continuation has a prefix. A word that is too long or has a rest is one unknown token. */
#include "text/stages.h"

static int is_boundary(const uint8_t *bytes, size_t length, size_t at) {
  return at == length || (bytes[at] & 0xc0) != 0x80;
}

/* Finds the longest token at `begin`, and sets its end, or `begin`. One pass hashes all candidates. */
static int longest_at(attn2c_text_work *work, const uint8_t *bytes, size_t length, size_t begin, uint32_t *id,
                      size_t *end) {
  const attn2c_tokenizer *text = work->text;
  text_span head = begin ? text->prefix : (text_span){bytes, 0};
  size_t most = text->tables.settings[SETTING_LONGEST_TOKEN];
  if (most > length - begin) most = length - begin;
  ATTN2C_TRY(attn2c_grow((void **)&work->hashes, &work->hashes_capacity, most + 1, sizeof *work->hashes));
  ATTN2C_TRY(text_spend(&work->budget, most + 1));
  uint32_t hash = text_hash(text->tables.seed, head.bytes, head.length);
  for (size_t i = 0; i < most; i++) work->hashes[i] = hash = text_hash_byte(hash, bytes[begin + i]);
  for (size_t i = most; i > 0; i--) {
    if (!is_boundary(bytes, length, begin + i)) continue;
    *id = text_find(&text->tables, head, (text_span){bytes + begin, i}, work->hashes[i - 1]);
    if (*id == TEXT_NONE) continue;
    *end = begin + i;
    return ATTN2C_OK;
  }
  *end = begin;
  return ATTN2C_OK;
}

static int is_too_long(const uint8_t *bytes, size_t length, size_t most) {
  size_t count = 0;
  if (length <= most) return 0;
  for (size_t i = 0; i < length; i++) count += (bytes[i] & 0xc0) != 0x80;
  return count > most;
}

int text_wordpiece(attn2c_text_work *work, const uint8_t *bytes, size_t length) {
  const uint32_t *settings = work->text->tables.settings;
  size_t first = work->tokens.count, begin = 0, end = 0;
  int is_bad = is_too_long(bytes, length, settings[SETTING_LONGEST_WORD]);
  while (begin < length && !is_bad) {
    uint32_t id = TEXT_NONE;
    int status = longest_at(work, bytes, length, begin, &id, &end);
    if (status != ATTN2C_OK) return status;
    is_bad = end == begin;
    if (!is_bad) status = text_token_add(work, id, begin, end);
    if (status != ATTN2C_OK) return status;
    begin = end;
  }
  if (!is_bad) return ATTN2C_OK;
  work->tokens.count = first;
  if (settings[SETTING_UNKNOWN] >= work->text->tables.vocabulary)
    return text_fail(work, "a word is not in the vocabulary, and there is no unknown token");
  return text_token_add(work, settings[SETTING_UNKNOWN], 0, length);
}
