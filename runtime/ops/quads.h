/* quads.h - the steps of an attention in int8 that are no products: rows of queries and keys as
 * integers, columns of values as integers, both packed in groups of four for products, and weights from 0 to
 * 255. The bits are the same on every target, except for ATTN2C_INT8_ZERO in rows of queries and keys. */
#pragma once

#include "ops/fold.h"
#include "ops/mask.h"
#include "ops/quantise.h"
#include "ops/softmax.h"

#if defined(__AVX512F__) && !ATTN2C_BUILTINS
#include <immintrin.h>
#endif

/* y[rows][heads * width] = x[rows][heads * width] / scale[rows][heads] as integers: a scale for each head of
 * a row, as attn2c_row_scale has it. If guard[rows][heads * guarded] is given, a head that has an infinity
 * or NaN there has a scale of NaN. Rows are ldx, ldy, lds and ldg elements apart. */
ATTN2C_INLINE void attn2c_quantise_guarded(int8_t *y, float *scale, const float *x, const float *guard,
                                           int rows, int heads, int width, int guarded, int ldx, int ldy,
                                           int lds, int ldg) {
  for (int i = 0; i < rows; i++)
    for (int h = 0; h < heads; h++) {
      const float *from = x + (ptrdiff_t)i * ldx + (ptrdiff_t)h * width;
      float inverse, own = attn2c_row_scale(from, NULL, width, &inverse);
      if (guard && !attn2c_all_finite(guard + (ptrdiff_t)i * ldg + (ptrdiff_t)h * guarded, guarded))
        own = __builtin_nanf(""), inverse = 0.0f;
      scale[(ptrdiff_t)i * lds + h] = own;
      attn2c_int8_row(y + (ptrdiff_t)i * ldy + (ptrdiff_t)h * width, from, NULL, width, inverse,
                      ATTN2C_INT8_ZERO);
    }
}

/* Does the same without a guard. */
ATTN2C_INLINE void attn2c_quantise_heads(int8_t *y, float *scale, const float *x, int rows, int heads,
                                         int width, int ldx, int ldy, int lds) {
  attn2c_quantise_guarded(y, scale, x, NULL, rows, heads, width, 0, ldx, ldy, lds, 0);
}

/* Columns that are summed or compared together, in registers. */
enum { ATTN2C_COLUMNS = 64 };

/* y[rows][cols] = x[rows][cols] less the mean of each column over the first `valid` rows. Each column is
 * summed row by row. Rows are ldx and ldy floats apart. */
ATTN2C_INLINE void attn2c_centre(float *y, const float *x, int rows, int valid, int cols, int ldx, int ldy) {
  const float inverse = 1.0f / (float)valid;
  for (int first = 0; first < cols; first += ATTN2C_COLUMNS) {
    const int count = cols - first < ATTN2C_COLUMNS ? cols - first : ATTN2C_COLUMNS;
    float mean[ATTN2C_COLUMNS] = {0.0f};
    if (count == ATTN2C_COLUMNS) {
      for (int i = 0; i < valid; i++)
#pragma omp simd
        for (int j = 0; j < ATTN2C_COLUMNS; j++) mean[j] += x[(ptrdiff_t)i * ldx + first + j];
    } else {
      for (int i = 0; i < valid; i++)
#pragma omp simd
        for (int j = 0; j < count; j++) mean[j] += x[(ptrdiff_t)i * ldx + first + j];
    }
    for (int j = 0; j < count; j++) mean[j] *= inverse;
    for (int i = 0; i < rows; i++)
#pragma omp simd
      for (int j = 0; j < count; j++)
        y[(ptrdiff_t)i * ldy + first + j] = x[(ptrdiff_t)i * ldx + first + j] - mean[j];
  }
}

/* Returns |x| as bits, and 0 if x is not finite. */
ATTN2C_INLINE int32_t attn2c_finite_size(float x) {
  const int32_t size = (int32_t)(attn2c_bits(x) & 0x7fffffffu);
  return size < 0x7f800000 ? size : 0;
}

/* scale[cols] = the largest finite |x[i][j]| / 127 over the first `valid` rows, at least
 * ATTN2C_INT8_LEAST_SCALE. Rows are ldx floats apart. */
ATTN2C_INLINE void attn2c_column_scale(float *scale, const float *x, int valid, int cols, int ldx) {
  for (int first = 0; first < cols; first += ATTN2C_COLUMNS) {
    const int count = cols - first < ATTN2C_COLUMNS ? cols - first : ATTN2C_COLUMNS;
    int32_t largest[ATTN2C_COLUMNS] = {0};
    for (int i = 0; i < valid; i++)
#pragma omp simd
      for (int j = 0; j < count; j++) {
        const int32_t size = attn2c_finite_size(x[(ptrdiff_t)i * ldx + first + j]);
        largest[j] = size > largest[j] ? size : largest[j];
      }
#pragma omp simd
    for (int j = 0; j < count; j++) {
      const float wanted = attn2c_from_bits((uint32_t)largest[j]) / 127.0f;
      scale[first + j] = wanted < ATTN2C_INT8_LEAST_SCALE ? ATTN2C_INT8_LEAST_SCALE : wanted;
    }
  }
}

/* y[rows][cols] = x[rows][cols] / scale[cols] as integers, 0 if x is not finite, and in rows from `valid` on.
 */
ATTN2C_INLINE void attn2c_quantise_columns(int8_t *y, const float *x, const float *scale, int rows, int valid,
                                           int cols, int ldx, int ldy) {
  for (int first = 0; first < cols; first += ATTN2C_COLUMNS) {
    const int count = cols - first < ATTN2C_COLUMNS ? cols - first : ATTN2C_COLUMNS;
    float inverse[ATTN2C_COLUMNS];
    for (int j = 0; j < count; j++) inverse[j] = 1.0f / scale[first + j];
    for (int i = 0; i < rows; i++) {
      int8_t *out = y + (ptrdiff_t)i * ldy + first;
      if (i >= valid) {
        memset(out, 0, (size_t)count);
        continue;
      }
#pragma omp simd
      for (int j = 0; j < count; j++) {
        const float v = x[(ptrdiff_t)i * ldx + first + j];
        const float rounded = v * inverse[j] + ATTN2C_INT8_ROUNDER;
        y[(ptrdiff_t)i * ldy + first + j] =
            (int8_t)(uint8_t)(attn2c_finite_size(v) ? attn2c_bits(rounded) : 0u);
      }
    }
  }
}

/* Rows of a panel of keys before its groups: the scales of the keys, then the two rows that sums may begin
 * with (product/int8.h), of which a target fills its own. */
enum { ATTN2C_KEYS_SCALES = 0, ATTN2C_KEYS_START = 1, ATTN2C_KEYS_GROUPS = 3 };

/* Writes a panel of keys, [3 + ceil(cols/4)][ldy][4], of integers x[rows][cols], and of their scales. Keys
 * from `rows` up to a multiple of `lanes` are zeros. Rows of x are ldx elements apart, scales lds. */
ATTN2C_INLINE void attn2c_quads_of_keys(int8_t *y, const int8_t *x, const float *scale, int rows, int cols,
                                        int ldx, int lds, int ldy, int lanes) {
  const int all = (rows + lanes - 1) / lanes * lanes, groups = (cols + 3) / 4;
  const uint32_t zeros = 0x01010101u * ATTN2C_INT8_ZERO;
  int8_t *of_groups = y + 4 * (ptrdiff_t)ATTN2C_KEYS_GROUPS * ldy;
  for (int r = 0; r < all; r++) {
    const float of_key = r < rows ? scale[(ptrdiff_t)r * lds] : 0.0f;
    const int8_t *key = x + (ptrdiff_t)r * ldx;
    int32_t start[2] = {0, 0};
    for (int g = 0; g < groups; g++) {
      const int count = cols - 4 * g < 4 ? cols - 4 * g : 4;
      uint32_t group = zeros;
      if (r < rows) memcpy(&group, key + 4 * (ptrdiff_t)g, (size_t)count);
      group ^= zeros;
      memcpy(of_groups + 4 * ((ptrdiff_t)g * ldy + r), &group, sizeof group);
    }
    if (r < rows) {
#ifdef __AVX2__
      const int is_second = !ATTN2C_INT8_ZERO;
#else
      const int is_second = 0;
#endif
      int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int c = 0; c < cols; c++) {
        const int32_t number = (int8_t)(key[c] ^ (int8_t)(uint8_t)ATTN2C_INT8_ZERO);
        sum += is_second ? (number < 0 ? -number : 0) : number;
      }
      start[is_second] = is_second ? sum : -128 * sum;
    }
    memcpy(y + 4 * ((ptrdiff_t)ATTN2C_KEYS_SCALES * ldy + r), &of_key, sizeof of_key);
    for (int i = 0; i < 2; i++)
      memcpy(y + 4 * ((ptrdiff_t)(ATTN2C_KEYS_START + i) * ldy + r), &start[i], sizeof start[i]);
  }
}

/* Groups may be at any multiple of four bytes. */
typedef uint32_t attn2c_quad __attribute__((aligned(4), may_alias));

/* y[ceil(rows/4)][ldy][4] of x[rows][cols]: y[g][c] is element c of rows 4g to 4g + 3, 0 where there is no
 * such row. Rows of x are ldx elements apart. */
ATTN2C_INLINE void attn2c_quads_of_values(int8_t *y, const int8_t *x, int rows, int cols, int ldx, int ldy) {
  for (int r = 0; r < rows; r += 4) {
    const uint8_t *a = (const uint8_t *)x + (ptrdiff_t)r * ldx, *b = a + ldx, *c = b + ldx, *d = c + ldx;
    attn2c_quad *out = (attn2c_quad *)(y + (ptrdiff_t)r * ldy);
    if (r + 4 <= rows) {
#pragma omp simd
      for (int j = 0; j < cols; j++)
        out[j] = a[j] | (uint32_t)b[j] << 8 | (uint32_t)c[j] << 16 | (uint32_t)d[j] << 24;
      continue;
    }
    for (int j = 0; j < cols; j++) {
      uint32_t group = a[j];
      if (r + 1 < rows) group |= (uint32_t)b[j] << 8;
      if (r + 2 < rows) group |= (uint32_t)c[j] << 16;
      out[j] = group;
    }
  }
}

/* The largest weight. */
#define ATTN2C_WEIGHT_MOST 255.0f

/* Returns the factor of a row whose rounded weights have a sum: 1 / sum, 1 for a row without a key, and NaN
 * for NaN. The sum of up to 65,536 weights is exact in a float. */
ATTN2C_INLINE float attn2c_scale_of_weights(float sum) { return 1.0f / (sum < 1.0f ? 1.0f : sum); }

/* 2^x with a factor: a polynomial of the fraction, [constant, r, r^2, ...]. */
enum { ATTN2C_WEIGHT_TERMS = 4 };

/* term[i] = factor times the terms of 2^r, |r| <= 1/2, off by 7.5e-5: a 26th of half a unit of 255. */
ATTN2C_INLINE void attn2c_weight_terms(float term[ATTN2C_WEIGHT_TERMS], float factor) {
  static const float of_power[ATTN2C_WEIGHT_TERMS] = {0.999928057f, 0.693260968f, 0.242611125f,
                                                      0.0551716685f};
  for (int i = 0; i < ATTN2C_WEIGHT_TERMS; i++) term[i] = of_power[i] * factor;
}

/* Returns the two factors of an element's power: of attn2c_softmax_power, but of the terms above. Their
 * product is exact, as the second is a power of two, or 0. */
typedef struct {
  float fraction, power;
} attn2c_weight_factors;

ATTN2C_INLINE attn2c_weight_factors attn2c_weight_of(float x, float c, float shift, float lowest,
                                                     const float term[ATTN2C_WEIGHT_TERMS]) {
  const float from = lowest > x ? lowest : x;
  const float rounded = ATTN2C_FMA(from, c, shift);
  const float r = ATTN2C_FMA_EXACT(from, c, -(rounded - shift));
  float p = ATTN2C_FMA(term[3], r, term[2]);
  p = ATTN2C_FMA(p, r, term[1]);
  return (attn2c_weight_factors){ATTN2C_FMA(p, r, term[0]), attn2c_power(rounded)};
}

/* y[0 .. ATTN2C_LANES - 1] = the lowest bytes of the lanes of x. */
ATTN2C_INLINE void attn2c_store_bytes(uint8_t *y, attn2c_vector x) {
  typedef uint8_t lowest __attribute__((vector_size(ATTN2C_LANES)));
#if ATTN2C_LANES == 16 && !ATTN2C_BUILTINS
  const lowest bytes = (lowest)_mm512_cvtepi32_epi8((__m512i)x);
#elif ATTN2C_LANES == 16
  typedef int words __attribute__((vector_size(64)));
  typedef char characters __attribute__((vector_size(16)));
  const lowest bytes = (lowest)__builtin_ia32_pmovdb512_mask((words)x, (characters){0}, (short)-1);
#elif ATTN2C_LANES == 8
  typedef uint8_t all __attribute__((vector_size(32)));
  const lowest bytes = ATTN2C_SHUFFLE((all)x, (all)x, 0, 4, 8, 12, 16, 20, 24, 28);
#else
  typedef uint8_t all __attribute__((vector_size(16)));
  const lowest bytes = ATTN2C_SHUFFLE((all)x, (all)x, 0, 4, 8, 12);
#endif
  memcpy(y, &bytes, sizeof bytes);
}

/* Returns a * b + c as ATTN2C_FMA_EXACT has it. */
ATTN2C_INLINE attn2c_vector attn2c_vector_fma_exact(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return attn2c_vector_fma(a, b, c);
#else
  attn2c_vector v;
  for (int i = 0; i < ATTN2C_LANES; i++) v[i] = ATTN2C_FMA_EXACT(a[i], b[i], c[i]);
  return v;
#endif
}

/* Rounds a row's exponentials to y[cols]. The lanes of sums add up to the sum of the integers, which is
 * exact, or to NaN if there is a NaN. */
ATTN2C_INLINE void attn2c_weigh_row(uint8_t *y, attn2c_vector sums[ATTN2C_PARTS], const float *row, int cols,
                                    float c, float shift, float lowest,
                                    const float term[ATTN2C_WEIGHT_TERMS]) {
  const attn2c_vector scale = attn2c_splat(c), shifts = attn2c_splat(shift), least = attn2c_splat(lowest);
  for (int p = 0; p < ATTN2C_PARTS; p++) sums[p] = (attn2c_vector){0.0f};
  int j = 0;
  for (; j + ATTN2C_LANES <= cols; j += ATTN2C_LANES) { /* attn2c_weight_of, in vectors */
    typedef uint32_t words __attribute__((vector_size(4 * ATTN2C_LANES)));
    const attn2c_vector from = attn2c_larger(least, attn2c_load(row + j));
    const attn2c_vector exponent = attn2c_vector_fma(from, scale, shifts);
    const attn2c_vector r = attn2c_vector_fma_exact(from, scale, shifts - exponent);
    attn2c_vector p = attn2c_vector_fma(attn2c_splat(term[3]), r, attn2c_splat(term[2]));
    p = attn2c_vector_fma(p, r, attn2c_splat(term[1]));
    p = attn2c_vector_fma(p, r, attn2c_splat(term[0]));
    const attn2c_vector rounded =
        attn2c_vector_fma(p, (attn2c_vector)((words)exponent << 23), attn2c_splat(ATTN2C_INT8_ROUNDER));
    attn2c_store_bytes(y + j, rounded);
    sums[0] += rounded - attn2c_splat(ATTN2C_INT8_ROUNDER);
  }
  float rest = 0.0f;
  for (; j < cols; j++) {
    const attn2c_weight_factors of = attn2c_weight_of(row[j], c, shift, lowest, term);
    const float rounded = ATTN2C_FMA(of.fraction, of.power, ATTN2C_INT8_ROUNDER);
    y[j] = (uint8_t)attn2c_bits(rounded);
    rest += rounded - ATTN2C_INT8_ROUNDER;
  }
  sums[0][0] += rest;
}

/* Computes exponentials, 255 e^(scale (s[j] - max)), of each row of s[rows][cols], as attn2c_softmax_with
 * does. Over the scores if y is NULL, where NaN or +inf makes the whole row NaN; else rounded into
 * y[rows][cols] with the factor of each row. A row that is NaN has any weights and a factor of NaN. */
ATTN2C_INLINE void attn2c_exponentials_with(float *s, int rows, int cols, int ld, float scale, uint8_t *y,
                                            float *factors, int ldy) {
  const float c = (float)((double)scale * 1.4426950408889634); /* e^(scale d) = 2^(c d) */
  float one[ATTN2C_WEIGHT_TERMS];
  attn2c_weight_terms(one, 1.0f);
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int count = rows - begin < ATTN2C_ROWS ? rows - begin : ATTN2C_ROWS;
    float *block = s + (ptrdiff_t)begin * ld;
    float max[ATTN2C_ROWS] = {0.0f}, shift[ATTN2C_ROWS], lowest[ATTN2C_ROWS], most[ATTN2C_ROWS];
    attn2c_softmax_largest(max, block, NULL, count, cols, ld, c);
    attn2c_softmax_limits(shift, lowest, max, c);
#pragma omp simd
    for (int i = 0; i < ATTN2C_ROWS; i++) {
      const attn2c_weight_factors of = attn2c_weight_of(max[i], c, shift[i], lowest[i], one);
      most[i] = ATTN2C_WEIGHT_MOST / (of.fraction * of.power);
    }
    attn2c_vector part[ATTN2C_ROWS][ATTN2C_PARTS];
    for (int i = 0; i < count; i++) {
      float *row = block + (ptrdiff_t)i * ld, term[ATTN2C_WEIGHT_TERMS], sum = 0.0f;
      const float of_row = shift[i], from = lowest[i];
      attn2c_weight_terms(term, most[i]);
      if (y) {
        attn2c_weigh_row(y + (ptrdiff_t)(begin + i) * ldy, part[i], row, cols, c, of_row, from, term);
        continue;
      }
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < cols; j++) {
        const attn2c_weight_factors of = attn2c_weight_of(row[j], c, of_row, from, term);
        row[j] = of.fraction * of.power;
        sum += row[j];
      }
      for (int j = 0; j < cols && sum != sum; j++) row[j] = __builtin_nanf("");
    }
    if (y && count == ATTN2C_ROWS) {
      attn2c_fold(0, most, part);
#pragma omp simd
      for (int i = 0; i < ATTN2C_ROWS; i++) factors[begin + i] = attn2c_scale_of_weights(most[i]);
    } else {
      for (int i = 0; y && i < count; i++)
        factors[begin + i] = attn2c_scale_of_weights(attn2c_sum_of_parts(part[i], NULL, 0));
    }
  }
}

/* s[rows][cols] = 255 e^(scale (s - max)), in place. A row that is -inf throughout gives zeros. */
ATTN2C_INLINE void attn2c_exponentials(float *s, int rows, int cols, int ld, float scale) {
  attn2c_exponentials_with(s, rows, cols, ld, scale, NULL, NULL, 0);
}

/* y[rows][cols] = these, rounded to integers, and factors[rows] = 1 / their sum. s may be overwritten. */
ATTN2C_INLINE void attn2c_exponentials_rounded(uint8_t *y, float *factors, float *s, int rows, int cols,
                                               int ld, int ldy, float scale) {
  attn2c_exponentials_with(s, rows, cols, ld, scale, y, factors, ldy);
}

/* factors[rows] = 1 / the sum of w[rows][cols], NaN if there is one in the same row of x, which were rounded
 * to w. Rows are ldw and ldx elements apart. */
ATTN2C_INLINE void attn2c_weight_scale(float *factors, const uint8_t *w, const float *x, int rows, int cols,
                                       int ldw, int ldx) {
  for (int i = 0; i < rows; i++) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < cols; j++) {
      const float v = x[(ptrdiff_t)i * ldx + j];
      sum += v == v ? (float)w[(ptrdiff_t)i * ldw + j] : v;
    }
    factors[i] = attn2c_scale_of_weights(sum);
  }
}

/* y[rows][cols] = x[rows][cols], from 0 to 255, rounded; 0 for NaN. */
ATTN2C_INLINE void attn2c_round_to_bytes(uint8_t *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
#pragma omp simd
    for (int j = 0; j < cols; j++) {
      const float v = x[(ptrdiff_t)i * ldx + j];
      y[(ptrdiff_t)i * ldy + j] = (uint8_t)(v == v ? attn2c_bits(v + ATTN2C_INT8_ROUNDER) : 0u);
    }
}

/* y[rows][cols] = x[rows][cols] as floats. */
ATTN2C_INLINE void attn2c_widen_u8(float *y, const uint8_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
#pragma omp simd
    for (int j = 0; j < cols; j++) y[(ptrdiff_t)i * ldy + j] = (float)x[(ptrdiff_t)i * ldx + j];
}

ATTN2C_INLINE void attn2c_widen_s8(float *y, const int8_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
#pragma omp simd
    for (int j = 0; j < cols; j++) y[(ptrdiff_t)i * ldy + j] = (float)x[(ptrdiff_t)i * ldx + j];
}
