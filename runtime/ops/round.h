/* round.h - converts floats to and from bf16, the upper half of a float, like the instruction vcvtneps2bf16.
 * It rounds to nearest, ties to even, on every processor. It has no branch, so that loops around it are
 * vectorised. Rows are rounded by the instruction itself if the target has it. */
#pragma once

#include "ops/vector.h"

#if defined(__AVX512BF16__) && (defined(__clang__) || __GNUC__ > 12)
#include <immintrin.h>
#endif

/* Returns x rounded to bf16. A denormal becomes a zero of its sign; a NaN its upper half, quiet. */
ATTN2C_INLINE float attn2c_on_bf16(float x) {
  const uint32_t bits = attn2c_bits(x);
  const uint32_t nearest = bits + 0x7fffu + (bits >> 16 & 1);
  const uint32_t number = x == x ? nearest : bits | 0x00400000u;
  return attn2c_from_bits((bits & 0x7f800000u ? number : bits & 0x80000000u) & 0xffff0000u);
}

ATTN2C_INLINE uint16_t attn2c_to_bf16(float x) { return (uint16_t)(attn2c_bits(attn2c_on_bf16(x)) >> 16); }

ATTN2C_INLINE float attn2c_from_bf16(uint16_t x) { return attn2c_from_bits((uint32_t)x << 16); }

#ifdef __AVX512BF16__
/* bf16 of two vectors, the first in the lower half, and of one. gcc's builtins as in product/avx512.h. */
typedef short attn2c_bf16_two __attribute__((vector_size(4 * ATTN2C_LANES)));
typedef short attn2c_bf16_one __attribute__((vector_size(2 * ATTN2C_LANES)));
typedef short attn2c_bf16_two_in_array __attribute__((vector_size(4 * ATTN2C_LANES), aligned(2), may_alias));
typedef short attn2c_bf16_one_in_array __attribute__((vector_size(2 * ATTN2C_LANES), aligned(2), may_alias));

ATTN2C_INLINE attn2c_bf16_two attn2c_round_two(attn2c_vector first, attn2c_vector second) {
#if defined(__clang__) || __GNUC__ > 12
  return (attn2c_bf16_two)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
#else
  return (attn2c_bf16_two)__builtin_ia32_cvtne2ps2bf16_v32hi(second, first);
#endif
}

ATTN2C_INLINE attn2c_bf16_one attn2c_round_one(attn2c_vector x) {
#if defined(__clang__) || __GNUC__ > 12
  return (attn2c_bf16_one)_mm512_cvtneps_pbh((__m512)x);
#else
  return (attn2c_bf16_one)__builtin_ia32_cvtneps2bf16_v16sf(x);
#endif
}
#endif

/* Rounds y[cols] in place. */
ATTN2C_INLINE void attn2c_round_floats(float *y, int cols) {
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = attn2c_on_bf16(y[j]);
}

/* y[cols] = x[cols], rounded. */
ATTN2C_INLINE void attn2c_round_row(uint16_t *y, const float *x, int cols) {
  int j = 0;
#ifdef __AVX512BF16__
  for (; j + 2 * ATTN2C_LANES <= cols; j += 2 * ATTN2C_LANES)
    *(attn2c_bf16_two_in_array *)(y + j) =
        attn2c_round_two(attn2c_load(x + j), attn2c_load(x + j + ATTN2C_LANES));
  if (j + ATTN2C_LANES <= cols) {
    *(attn2c_bf16_one_in_array *)(y + j) = attn2c_round_one(attn2c_load(x + j));
    j += ATTN2C_LANES;
  }
#endif
#pragma omp simd
  for (int i = j; i < cols; i++) y[i] = attn2c_to_bf16(x[i]);
}

/* y[cols] = x[cols] factor, rounded. */
ATTN2C_INLINE void attn2c_round_scaled(uint16_t *y, const float *x, float factor, int cols) {
  int j = 0;
#ifdef __AVX512BF16__
  for (; j + 2 * ATTN2C_LANES <= cols; j += 2 * ATTN2C_LANES)
    *(attn2c_bf16_two_in_array *)(y + j) =
        attn2c_round_two(attn2c_load(x + j) * factor, attn2c_load(x + j + ATTN2C_LANES) * factor);
#endif
#pragma omp simd
  for (int i = j; i < cols; i++) y[i] = attn2c_to_bf16(x[i] * factor);
}

/* y[rows][cols] = x[rows][cols]. */
ATTN2C_INLINE void attn2c_widen_bf16(float *y, const uint16_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const uint16_t *in = x + (ptrdiff_t)i * ldx;
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] = attn2c_from_bf16(in[j]);
  }
}
