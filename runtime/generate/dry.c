/* dry.c - the repetitions of a text's end are found by the Z algorithm, backwards: its time is linear. */
#include "generate/dry.h"

#include <float.h>

int attn2c_dry_create(attn2c_dry *d, const attn2c_sampling *o, int32_t vocabulary) {
  const int32_t capacity = o->dry_last_n < 0 ? ATTN2C_DRY_MOST : o->dry_last_n;
  if (capacity == 0) return 1;
  *d = (attn2c_dry){.multiplier = (float)o->dry_multiplier,
                    .base = o->dry_base,
                    .allowed = o->dry_allowed_length,
                    .vocabulary = vocabulary,
                    .capacity = capacity,
                    .breakers = o->dry_breakers,
                    .breaker_count = o->dry_breaker_count};
  d->ids = attn2c_reserve(2 * (size_t)capacity * sizeof *d->ids);
  d->same = attn2c_reserve((size_t)capacity * sizeof *d->same);
  d->longest = attn2c_allocate((size_t)vocabulary * sizeof *d->longest);
  d->heads = attn2c_allocate((size_t)vocabulary);
  if (!d->ids || !d->same || !d->longest || !d->heads) return 0;
  for (int32_t at = 0; at < d->breaker_count && d->breakers; at += 1 + d->breakers[at])
    d->heads[d->breakers[at + 1]] |= d->breakers[at] == 1 ? 2 : 1;
  return 1;
}

void attn2c_dry_free(attn2c_dry *d) { ATTN2C_FREE_ALIGNED(d->ids, d->same, d->longest, d->heads); }

void attn2c_dry_feed(attn2c_dry *d, const int32_t *tokens, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (d->count == 2 * d->capacity) {
      memcpy(d->ids, d->ids + d->capacity, (size_t)d->capacity * sizeof *d->ids);
      d->count = d->capacity;
    }
    d->ids[d->count++] = tokens[i];
  }
}

/* Returns the tokens of the longest breaker that is text[0, left), or 0. */
static int32_t breaker_at(const attn2c_dry *d, const int32_t *text, int32_t left) {
  int32_t longest = d->heads[*text] >> 1;
  for (int32_t at = 0; d->heads[*text] & 1 && at < d->breaker_count; at += 1 + d->breakers[at]) {
    const int32_t size = d->breakers[at];
    if (size > longest && size <= left &&
        memcmp(d->breakers + at + 1, text, (size_t)size * sizeof *text) == 0)
      longest = size;
  }
  return longest;
}

/* Returns the tokens after the last breaker, of `count`. */
static int32_t after_breaker(const attn2c_dry *d, const int32_t *text, int32_t count) {
  for (int32_t i = count - 1; i >= 0; i--) {
    const int32_t size = breaker_at(d, text + i, count - i);
    if (size > 0) return count - i - size;
  }
  return count;
}

/* Writes same[k], 1 <= k < count: how many tokens before the last k are those that the text ends with. */
static void find_repetitions(const int32_t *text, int32_t count, int32_t *same) {
  const int32_t *end = text + count - 1;
  int32_t begin = 0, known = 0; /* the last `known` tokens but for `begin` have been compared */
  for (int32_t k = 1; k < count; k++) {
    int32_t n = 0;
    if (k < known) n = same[k - begin] < known - k ? same[k - begin] : known - k;
    while (k + n < count && end[-n] == end[-n - k]) n++;
    same[k] = n;
    if (k + n > known) begin = k, known = k + n;
  }
}

/* Returns by how much a token's logit is lowered. Powers stop before they are more than a float. */
static float penalty_of(const attn2c_dry *d, int32_t length) {
  double power = 1;
  for (int32_t i = d->allowed; i < length && power * d->base <= (double)FLT_MAX && d->base > 1; i++)
    power *= d->base;
  volatile double product = (double)d->multiplier * power;
  return product < (double)FLT_MAX ? (float)product : FLT_MAX;
}

void attn2c_dry_apply(attn2c_dry *d, float *logits) {
  const int32_t count = d->count < d->capacity ? d->count : d->capacity;
  const int32_t *text = d->ids + d->count - count, *end = text + count - 1;
  if (count <= d->allowed) return;
  const int32_t most = after_breaker(d, text, count);
  if (most < d->allowed) return;
  find_repetitions(text, count, d->same);
  for (int32_t k = 1; k < count; k++) {
    const int32_t length = d->same[k] < most ? d->same[k] : most, token = end[1 - k];
    if (length >= d->allowed && length >= d->longest[token]) d->longest[token] = length + 1;
  }
  for (int32_t k = 1; k < count; k++) {
    const int32_t token = end[1 - k], length = d->longest[token] - 1;
    d->longest[token] = 0;
    if (length >= 0 && d->heads[token] < 2) logits[token] -= penalty_of(d, length);
  }
}
