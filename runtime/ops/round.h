/* round.h - floats to and from bf16, the upper half of a float: to the nearest, to the even one of two, as
 * the instruction vcvtneps2bf16 does it on every processor. No branch, so that loops around it are
 * vectorised. */
#ifndef ATTN2C_ROUND_H
#define ATTN2C_ROUND_H

#include "ops/elementary.h"

#include <stddef.h>

/* A denormal becomes a zero of its sign; of a NaN the upper half is kept, made quiet. */
ATTN2C_INLINE uint16_t attn2c_to_bf16(float x) {
  const uint32_t bits = attn2c_bits(x), size = bits & 0x7fffffffu;
  const uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  const uint32_t finite = size < 0x00800000u ? bits >> 16 & 0x8000u : nearest;
  return (uint16_t)(size > 0x7f800000u ? bits >> 16 | 0x40u : finite);
}

ATTN2C_INLINE float attn2c_from_bf16(uint16_t x) { return attn2c_from_bits((uint32_t)x << 16); }

/* y[rows][cols] = x[rows][cols]. */
ATTN2C_INLINE void attn2c_widen_bf16(float *y, const uint16_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const uint16_t *in = x + (ptrdiff_t)i * ldx;
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] = attn2c_from_bf16(in[j]);
  }
}

#endif
