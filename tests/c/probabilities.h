/* probabilities.h - the probabilities by which a sampler chooses, from its masses. */
#ifndef ATTN2C_TEST_PROBABILITIES_H
#define ATTN2C_TEST_PROBABILITIES_H

#include "generate/sampler.h"

#include <string.h>

/* Writes probabilities[vocabulary]: 0 and 1 if `greedy`. Tokens that are less probable than 2^-42 times the
 * largest have 0, as they are never drawn. Returns what attn2c_sampler_sample would return. */
static int probabilities_of(attn2c_sampler *s, const float *logits, float *probabilities,
                            attn2c_message *message) {
  const int status = attn2c_sampler_logits(s, logits, message);
  if (status != ATTN2C_OK) return status;
  memset(probabilities, 0, (size_t)s->vocabulary * sizeof *probabilities);
  if (s->options.greedy) {
    int32_t token = 0;
    attn2c_sampler_sample(s, logits, &token, message);
    probabilities[token] = 1;
    return ATTN2C_OK;
  }
  if (!s->is_chained)
    attn2c_sampler_keep(s);
  else if (attn2c_sampler_chain(s, message) != ATTN2C_OK)
    return ATTN2C_FORMAT;
  const int32_t count = s->kept == ATTN2C_KEPT_ALL ? s->vocabulary : s->kept;
  for (int32_t i = 0; i < count; i++) {
    const int32_t token = s->kept == ATTN2C_KEPT_ALL ? i : s->index[i];
    probabilities[token] = (float)((double)(int64_t)s->mass[token] / (double)(int64_t)s->total);
  }
  return ATTN2C_OK;
}

#endif
