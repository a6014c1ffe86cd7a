/* quantise.h - converts rows of floats to int8 and back, with a scale per row: the largest magnitude / 127.
 * The bits are the same on every target, except for ATTN2C_INT8_ZERO, which represents 0 in a row. */
#pragma once

#include "ops/table.h"

/* The byte that represents 0 in a row of inputs (product/int8.h). */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__SSE2__) && !defined(__AVX2__)
#define ATTN2C_INT8_ZERO 128
#else
#define ATTN2C_INT8_ZERO 0
#endif

/* 1.5 * 2^23. x + ATTN2C_INT8_ROUNDER has x, rounded to the nearest integer (ties to even), in its lowest
 * byte, for |x| <= 127.5. */
#define ATTN2C_INT8_ROUNDER 12582912.0f

/* The smallest scale of a row. Smaller ones would have few bits or none, and no inverse. It is twice the
 * smallest normal float: a denormal is less than half of it and becomes 0, whether denormals count as zero or
 * not. */
#define ATTN2C_INT8_LEAST_SCALE 0x1p-125f

/* Split a row's scale into two factors, head and rest. So sum * head * (another scale) * rest is finite if
 * the result is: |sum| < 2^31, and no scale is more than 2^121. The factor `rest` is a power of two, so it
 * removes no bit. */
#define ATTN2C_INT8_LARGE_SCALE 0x1p96f
ATTN2C_INLINE float attn2c_scale_head(float scale) {
  return scale > ATTN2C_INT8_LARGE_SCALE ? scale * 0x1p-32f : scale;
}
ATTN2C_INLINE float attn2c_scale_rest(float scale) {
  return scale > ATTN2C_INT8_LARGE_SCALE ? 0x1p32f : 1.0f;
}

/* x[cols] *= rest, after the loop over a row: nearly every row has 1, and a loop with this multiplication
 * takes longer. */
ATTN2C_INLINE void attn2c_times_rest(float *x, float rest, size_t cols) {
  if (__builtin_expect(rest != 1.0f, 0))
#pragma omp simd
    for (size_t j = 0; j < cols; j++) x[j] *= rest;
}

/* Returns the bits of max |x[j] factors[j]| over a row x[cols]; factors may be NULL for ones. Magnitudes have
 * the order of their bits, and NaN is the largest. */
ATTN2C_INLINE int32_t attn2c_largest_bits(const float *x, const float *factors, int cols) {
  int32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (int j = 0; j < cols; j++) {
    const int32_t size = (int32_t)(attn2c_bits(factors ? x[j] * factors[j] : x[j]) & 0x7fffffffu);
    largest = size > largest ? size : largest;
  }
  return largest;
}

/* Returns a row's scale, its largest magnitude / 127, at least ATTN2C_INT8_LEAST_SCALE, from that magnitude's
 * bits. With a NaN in the row it is NaN, otherwise with an infinity it is infinite. *inverse is the factor
 * for the numbers, 1 / scale; 0 if the scale is not finite, as every product of such a row is NaN. */
ATTN2C_INLINE float attn2c_scale_of(int32_t largest, float *inverse) {
  const float wanted = attn2c_from_bits((uint32_t)largest) / 127.0f;
  const float scale = wanted < ATTN2C_INT8_LEAST_SCALE ? ATTN2C_INT8_LEAST_SCALE : wanted;
  const float reciprocal = 1.0f / scale; /* before the choice: a loop of such scales has vectors then */
  *inverse = scale <= FLT_MAX ? reciprocal : 0.0f;
  return scale;
}

/* Returns the scale of a row x[cols] times factors[cols], or times ones if they are NULL, and the inverse. */
ATTN2C_INLINE float attn2c_row_scale(const float *x, const float *factors, int cols, float *inverse) {
  return attn2c_scale_of(attn2c_largest_bits(x, factors, cols), inverse);
}

/* y[j] = x[j] factors[j] inverse as an integer, plus zero; factors and inverse belong to
 * attn2c_row_scale. */
ATTN2C_INLINE void attn2c_int8_row(int8_t *y, const float *x, const float *factors, int cols, float inverse,
                                   int zero) {
#pragma omp simd
  for (int j = 0; j < cols; j++) {
    const float v = factors ? x[j] * factors[j] : x[j];
    const float rounded = v * inverse + ATTN2C_INT8_ROUNDER;
    y[j] = (int8_t)(uint8_t)(attn2c_bits(rounded) + (uint32_t)zero);
  }
}

/* y[rows][cols] = x[rows][cols] factors[cols] / scale[rows] as integers; rows are ldx and ldy elements apart,
 * scales lds. Factors are powers of two, so their products are exact. */
ATTN2C_INLINE void attn2c_quantise_smoothed(int8_t *y, float *scale, const float *x, const float *factors,
                                            int rows, int cols, int ldx, int ldy, int lds) {
  for (int i = 0; i < rows; i++) {
    float inverse;
    scale[(ptrdiff_t)i * lds] = attn2c_row_scale(x + (ptrdiff_t)i * ldx, factors, cols, &inverse);
    attn2c_int8_row(y + (ptrdiff_t)i * ldy, x + (ptrdiff_t)i * ldx, factors, cols, inverse, ATTN2C_INT8_ZERO);
  }
}

/* Does the same without factors. */
ATTN2C_INLINE void attn2c_quantise(int8_t *y, float *scale, const float *x, int rows, int cols, int ldx,
                                   int ldy, int lds) {
  attn2c_quantise_smoothed(y, scale, x, NULL, rows, cols, ldx, ldy, lds);
}

/* y[rows][cols] = x[rows][cols] as floats: the integers, without their scales. */
ATTN2C_INLINE void attn2c_widen_i8(float *y, const int8_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const int8_t *in = x + (ptrdiff_t)i * ldx;
#pragma omp simd
    for (int j = 0; j < cols; j++) {
      const int32_t number = ATTN2C_INT8_ZERO ? (int32_t)(uint8_t)in[j] - ATTN2C_INT8_ZERO : in[j];
      out[j] = (float)number;
    }
  }
}

/* attn2c_embed of ops/gather.h for a table of integers, whose rows are multiplied by their scales. */
ATTN2C_INLINE void attn2c_embed_i8(float *y, const int8_t *table, const float *scale, const int32_t *ids,
                                   attn2c_table of, int rows, int cols, int ldy) {
  for (int i = 0; i < rows; i++) {
    const attn2c_table_row row = attn2c_table_find(of, ids[i]);
    const int8_t *in = table + 4 * attn2c_table_first(of, row);
    float *out = y + (ptrdiff_t)i * ldy;
    const float factor = scale[ids[i]];
    if (row.leading == 1) {
#pragma omp simd
      for (int j = 0; j < cols; j++) out[j] = (float)in[j] * factor;
    } else {
      for (int j = 0; j < cols; j++) out[j] = (float)in[j / 4 * 4 * row.leading + j % 4] * factor;
    }
  }
}
