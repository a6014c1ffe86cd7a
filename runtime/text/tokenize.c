/* tokenize.c - the third stage: the tokens of one piece. Words recur, so that a small table keeps the tokens
 * of earlier ones, for models that are slower than a look-up. It changes no result. */
#include "text/stages.h"

#define CACHE_SLOTS  4096
#define CACHE_BYTES  40 /* bytes of the longest piece that is kept */
#define CACHE_TOKENS 10

struct text_cache {
  struct {
    uint32_t hash;
    uint8_t length, count; /* length 0: empty */
    uint8_t bytes[CACHE_BYTES], ends[CACHE_TOKENS];
    uint32_t ids[CACHE_TOKENS];
  } slots[CACHE_SLOTS];
};

static uint32_t hash_of(const uint8_t *bytes, size_t length) {
  uint32_t hash = text_hash(TEXT_HASH_START, bytes, length);
  return hash ^ hash >> 16;
}

/* Adds the tokens of a piece that the table has. */
int text_cache_find(attn2c_text_work *work, const uint8_t *bytes, size_t length, uint32_t *slot, int *found) {
  *found = 0;
  if (length > CACHE_BYTES) return ATTN2C_OK;
  if (!work->cache) work->cache = calloc(1, sizeof *work->cache);
  if (!work->cache) return ATTN2C_MEMORY;
  *slot = hash_of(bytes, length);
  size_t at = *slot % CACHE_SLOTS, begin = 0;
  if (work->cache->slots[at].hash != *slot || work->cache->slots[at].length != length ||
      memcmp(work->cache->slots[at].bytes, bytes, length) != 0)
    return ATTN2C_OK;
  *found = 1;
  for (size_t i = 0; i < work->cache->slots[at].count; i++) {
    size_t end = work->cache->slots[at].ends[i];
    ATTN2C_TRY(text_token_add(work, work->cache->slots[at].ids[i], begin, end));
    begin = end;
  }
  return ATTN2C_OK;
}

/* Keeps the tokens from `first` on, if there are some without a gap between them. */
void text_cache_keep(attn2c_text_work *work, const uint8_t *bytes, size_t length, uint32_t slot,
                     size_t first) {
  size_t count = work->tokens.count - first, at = slot % CACHE_SLOTS, begin = 0;
  if (length > CACHE_BYTES || count > CACHE_TOKENS || count == 0) return;
  const text_token *tokens = work->tokens.list + first;
  for (size_t i = 0; i < count; i++) {
    if (tokens[i].begin != begin || tokens[i].end > length) return;
    begin = tokens[i].end;
  }
  work->cache->slots[at].hash = slot;
  work->cache->slots[at].length = (uint8_t)length;
  work->cache->slots[at].count = (uint8_t)count;
  memcpy(work->cache->slots[at].bytes, bytes, length);
  for (size_t i = 0; i < count; i++) {
    work->cache->slots[at].ids[i] = tokens[i].id;
    work->cache->slots[at].ends[i] = (uint8_t)tokens[i].end;
  }
}

int text_tokenize(attn2c_text_work *work, const uint8_t *bytes, size_t length) {
  uint32_t kind = work->text->tables.settings[SETTING_MODEL], slot = 0;
  if (kind == MODEL_WORDPIECE) return text_wordpiece(work, bytes, length);
  int found = 0;
  size_t first = work->tokens.count;
  int status = text_spend(&work->budget, length < CACHE_BYTES ? length : CACHE_BYTES);
  if (status == ATTN2C_OK) status = text_cache_find(work, bytes, length, &slot, &found);
  if (status != ATTN2C_OK || found) return status;
  status = kind == MODEL_BPE ? text_bpe(work, bytes, length) : text_unigram(work, bytes, length);
  if (status == ATTN2C_OK) text_cache_keep(work, bytes, length, slot, first);
  return status;
}
