/* breakers.c - decodes each token of the vocabulary once, and looks for each text in it. */
#include "generate/breakers.h"

typedef struct {
  attn2c_text_work *work;
  int32_t *ids;
  size_t used, capacity;
} breakers;

/* Adds a breaker: a token, and the tokens of the text after it. */
static int add(breakers *b, int32_t token, const char *rest, size_t length, size_t first) {
  const attn2c_text_input input = {.text = rest,
                                   .length = length,
                                   .plain = 1,
                                   .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
  attn2c_text_tokens tokens = {.length = 0};
  int status = length > 0 ? attn2c_text_encode(b->work, &input, &tokens) : ATTN2C_OK;
  const size_t more = tokens.length < ATTN2C_BREAKER_TOKENS ? tokens.length : ATTN2C_BREAKER_TOKENS;
  if (status == ATTN2C_OK)
    status = attn2c_grow((void **)&b->ids, &b->capacity, b->used + 2 + more, sizeof *b->ids);
  if (status != ATTN2C_OK) return status;
  int32_t *made = b->ids + b->used;
  made[0] = (int32_t)(1 + more), made[1] = token;
  if (more > 0) memcpy(made + 2, tokens.ids, more * sizeof *made);
  for (size_t at = first; at < b->used; at += 1 + (size_t)b->ids[at])
    if (memcmp(b->ids + at, made, (size_t)(b->ids[at] < made[0] ? 1 : 1 + made[0]) * sizeof *made) == 0)
      return status; /* it is there already */
  b->used += 2 + more;
  return status;
}

/* Adds the breakers of a text that begin with a token, whose text is `piece`. */
static int add_of_token(breakers *b, int32_t token, const char *piece, size_t length, const char *text) {
  const size_t given = strlen(text), size = given < ATTN2C_BREAKER_BYTES ? given : ATTN2C_BREAKER_BYTES;
  const size_t first = b->used;
  for (size_t at = 0; at + size <= length; at++)
    if (memcmp(piece + at, text, size) == 0) return add(b, token, "", 0, first);
  for (size_t at = length < size ? 0 : length - size + 1; at < length; at++)
    if (memcmp(piece + at, text, length - at) == 0)
      ATTN2C_TRY(add(b, token, text + (length - at), size - (length - at), first));
  return ATTN2C_OK;
}

int attn2c_dry_breakers(attn2c_text_work *work, int32_t vocabulary, const char *const *texts, int count,
                        int32_t **list, int32_t *size) {
  breakers b = {.work = work};
  ATTN2C_OWN char *copy = NULL; /* of a token's text, which the work's next call overwrites */
  size_t capacity = 0;
  int status = ATTN2C_OK;
  for (int i = 0; i < count; i++)
    if (!*texts[i]) status = ATTN2C_USAGE;
  for (int32_t token = 0; token < vocabulary && status == ATTN2C_OK; token++) {
    const char *piece;
    size_t length;
    status = attn2c_text_decode(work, &token, 1, 0, &piece, &length);
    if (status == ATTN2C_OK) status = attn2c_grow((void **)&copy, &capacity, length + 1, 1);
    if (status != ATTN2C_OK) break;
    if (length > 0) memcpy(copy, piece, length);
    for (int i = 0; i < count && status == ATTN2C_OK; i++)
      status = add_of_token(&b, token, copy, length, texts[i]);
  }
  if (status != ATTN2C_OK) free(b.ids), b.ids = NULL, b.used = 0;
  *list = b.ids;
  *size = (int32_t)b.used;
  return status;
}
