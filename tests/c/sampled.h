/* sampled.h - logits of tests of sampling, from a seed, as tests/generate/goldens.py makes them. */
#ifndef ATTN2C_TEST_SAMPLED_H
#define ATTN2C_TEST_SAMPLED_H

#include "generate/draw.h"

#include <math.h>

enum {
  SAMPLED_PLAIN,
  SAMPLED_TIES,
  SAMPLED_FORBIDDEN,
  SAMPLED_EQUAL,
  SAMPLED_NAN,
  SAMPLED_INFINITE,
  SAMPLED_NONE,
  SAMPLED_PEAK
};

static inline void sampled_logits(float *x, int kind, uint64_t seed, int vocabulary, double scale) {
  const uint64_t special = seed % (uint64_t)vocabulary;
  for (int i = 0; i < vocabulary; i++) {
    const uint64_t bits = attn2c_draw_mix(seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
    int64_t number =
        (int64_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48)) - 131070;
    if (kind == SAMPLED_TIES) number = (number >> 13) * 8192;
    x[i] = (float)((double)number * (scale * 0x1p-15));
    if (kind == SAMPLED_FORBIDDEN && (attn2c_draw_mix(bits) & 3) == 0) x[i] = -INFINITY;
    if (kind == SAMPLED_EQUAL) x[i] = (float)(0.25 * scale);
    if (kind == SAMPLED_NONE) x[i] = -INFINITY;
  }
  if (kind == SAMPLED_NAN) x[special] = NAN;
  if (kind == SAMPLED_INFINITE) x[special] = INFINITY;
  if (kind == SAMPLED_PEAK) x[special] += (float)(5 * scale);
}

#endif
