/* softmax.h - attention's softmax of rows, in place, with the scale folded into the exponential. A row
 * without any visible key gives zeros, or NaN. */
#pragma once

#include "ops/fold.h"
#include "ops/round.h"

/* Limit of c |s|: below it, rounding errors do not grow with the scores. Without the instruction a product is
 * rounded before it is rounded to an integer: a fraction may then be 2^-13 above 1/2, where a polynomial of
 * few terms has not lost its digits yet. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ATTN2C_SOFTMAX_MOST 0x1p20f
#else
#define ATTN2C_SOFTMAX_MOST 0x1p12f
#endif

/* Returns 2^(c x - whole) for c x <= whole + 1/2 and shift = ATTN2C_ROUNDER - whole. It is 0 for x <= lowest,
 * where c lowest = whole - 127; NaN stays NaN. */
ATTN2C_INLINE float attn2c_softmax_power(float x, float c, float shift, float lowest) {
  const float from = lowest > x ? lowest : x;
  const float rounded = ATTN2C_FMA(from, c, shift);
  const float n = rounded - shift;
  return attn2c_exp2_reduced(ATTN2C_FMA_EXACT(from, c, -n)) * attn2c_power(rounded);
}

/* Writes to max[i] the largest number of row i of s[count][cols], rows ld floats apart, count <= ATTN2C_ROWS;
 * the other elements of max stay. sinks: one number more for each row, or NULL. A row whose numbers are so
 * large that c s would be rounded too much is moved first: its largest becomes 0. */
ATTN2C_INLINE void attn2c_softmax_largest(float max[ATTN2C_ROWS], float *s, double *sinks, int count,
                                          int cols, int ld, float c) {
  /* The maximum starts at the lowest finite float. It skips a NaN, whose own power is NaN. */
  attn2c_largest_rows(max, s, count, cols, ld);
  for (int i = 0; i < count; i++) {
    float *row = s + (ptrdiff_t)i * ld;
    if (sinks && sinks[i] > (double)max[i]) max[i] = (float)sinks[i];
    if (__builtin_fabsf(max[i] * c) < ATTN2C_SOFTMAX_MOST) continue;
    /* At this magnitude `s - max` is exact, or its power is 0. +inf gives NaN; a row of -inf stays so. */
    const float from = max[i];
    if (sinks) sinks[i] -= (double)from;
#pragma omp simd
    for (int j = 0; j < cols; j++) row[j] -= from;
    max[i] = 0.0f;
  }
}

/* Writes to shift[i] and lowest[i] what attn2c_softmax_power takes for a row whose largest number is max[i]:
 * c max, rounded to an integer, is its `whole`. */
ATTN2C_INLINE void attn2c_softmax_limits(float shift[ATTN2C_ROWS], float lowest[ATTN2C_ROWS],
                                         const float max[ATTN2C_ROWS], float c) {
#pragma omp simd
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    const float whole = (max[i] * c + 0x1.8p23f) - 0x1.8p23f; /* an integer */
    shift[i] = ATTN2C_ROUNDER - whole;
    lowest[i] = (whole - 127.0f) * (1.0f / c);
  }
}

/* Computes the softmaxes below. `whole` is the largest c s of a row, rounded to an integer. All powers of a
 * row then have one common factor, which is in their sum as well. As c s - whole is never rounded, only c's
 * own rounding error grows with it.
 * `least` is added to each sum. A sum is 2^-1/2 or more, or NaN, or 0 with all powers 0 for a row that is
 * -inf throughout: 1e-30 changes no other sum and turns 0 / 0 into zeros; 0 leaves NaN. rounded: where the
 * weights are written as bf16, rows ldr elements apart; NULL: over the scores. sinks: scaled scores whose
 * powers only the sums of their rows have, lds floats apart; NULL: none. A sum has the same bits if masked
 * columns follow, or a multiple of 16 come before: a sequence has the same weights in any call. */
ATTN2C_INLINE void attn2c_softmax_with(float *s, int rows, int cols, int ld, float scale, float least,
                                       uint16_t *rounded, int ldr, const float *sinks, int lds) {
  const float c = (float)((double)scale * 1.4426950408889634); /* e^(scale d) = 2^(c d) */
  const int rest = cols % ATTN2C_SUMS, whole = cols - rest;
  /* Several rows are computed together, so that they hide the latency of each other's reductions. */
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int count = rows - begin < ATTN2C_ROWS ? rows - begin : ATTN2C_ROWS;
    float *block = s + (ptrdiff_t)begin * ld;
    float max[ATTN2C_ROWS] = {0.0f}, inverse[ATTN2C_ROWS] = {0.0f};
    float shift[ATTN2C_ROWS], lowest[ATTN2C_ROWS], more[ATTN2C_ROWS];
    double of_sinks[ATTN2C_ROWS] = {0.0};
    attn2c_vector part[ATTN2C_ROWS][ATTN2C_PARTS];
    for (int i = 0; sinks && i < count; i++)
      of_sinks[i] = (double)sinks[(ptrdiff_t)(begin + i) * lds] / (double)scale;
    attn2c_softmax_largest(max, block, sinks ? of_sinks : NULL, count, cols, ld, c);
    attn2c_softmax_limits(shift, lowest, max, c);
    for (int i = 0; i < ATTN2C_ROWS; i++) more[i] = least;
    for (int i = 0; sinks && i < count; i++)
      more[i] += (float)__builtin_exp2((double)c * of_sinks[i] - (double)(ATTN2C_ROUNDER - shift[i]));
    for (int i = 0; i < count; i++) {
      float *row = block + (ptrdiff_t)i * ld;
      const float of_row = shift[i], from = lowest[i];
      attn2c_vector sums[ATTN2C_PARTS] = {{0.0f}};
      for (int j = 0; j < whole; j += ATTN2C_SUMS) {
#pragma omp simd
        for (int k = j; k < j + ATTN2C_SUMS; k++) row[k] = attn2c_softmax_power(row[k], c, of_row, from);
        for (int p = 0; p < ATTN2C_PARTS; p++) sums[p] += attn2c_load(row + j + p * ATTN2C_LANES);
      }
      if (rest > 0) {
        float last[ATTN2C_SUMS];
        for (int p = 0; p < ATTN2C_PARTS; p++)
          attn2c_store(last + p * ATTN2C_LANES, attn2c_load_some(row + whole, rest, p));
#pragma omp simd
        for (int k = 0; k < ATTN2C_SUMS; k++) last[k] = attn2c_softmax_power(last[k], c, of_row, from);
        for (int p = 0; p < ATTN2C_PARTS; p++) sums[p] += attn2c_load_some(last, rest, p);
        memcpy(row + whole, last, (size_t)rest * sizeof *last);
      }
      for (int p = 0; p < ATTN2C_PARTS; p++) part[i][p] = sums[p];
    }
    if (count == ATTN2C_ROWS) {
      attn2c_fold(0, inverse, part);
#pragma omp simd
      for (int i = 0; i < ATTN2C_ROWS; i++) inverse[i] = 1.0f / (inverse[i] + more[i]);
    } else {
      for (int i = 0; i < count; i++) inverse[i] = 1.0f / (attn2c_sum_of_parts(part[i], NULL, 0) + more[i]);
    }
    for (int i = 0; i < count; i++) {
      float *row = block + (ptrdiff_t)i * ld;
      const float factor = inverse[i];
      if (rounded) {
        attn2c_round_scaled(rounded + (ptrdiff_t)(begin + i) * ldr, row, factor, cols);
        continue;
      }
#pragma omp simd
      for (int j = 0; j < cols; j++) row[j] *= factor;
    }
  }
}

/* p[j] = e^(scale (s[j] - max)) / sum of these, in place, for each row of s[rows][cols], rows ld floats
 * apart. 1e-30 <= scale <= 1e30. A row that is -inf throughout gives zeros; a NaN anywhere, or +inf, makes
 * the whole row NaN. The relative error of each p is at most (5 + |ln(p / pmax)| / 2) 2^-23; a p below 2^-126
 * of the largest may be 0, and below 2^-125.5 of it where denormals count as zero. */
ATTN2C_INLINE void attn2c_softmax(float *s, int rows, int cols, int ld, float scale) {
  attn2c_softmax_with(s, rows, cols, ld, scale, 1e-30f, NULL, 0, NULL, 0);
}

/* Does the same as attn2c_softmax, but a row that is -inf throughout gives NaN. */
ATTN2C_INLINE void attn2c_softmax_nan(float *s, int rows, int cols, int ld, float scale) {
  attn2c_softmax_with(s, rows, cols, ld, scale, 0.0f, NULL, 0, NULL, 0);
}

/* y[rows][cols] = the weights of attn2c_softmax as bf16, rows ldy elements apart. s is overwritten. */
ATTN2C_INLINE void attn2c_softmax_rounded(uint16_t *y, float *s, int rows, int cols, int ld, int ldy,
                                          float scale) {
  attn2c_softmax_with(s, rows, cols, ld, scale, 1e-30f, y, ldy, NULL, 0);
}

ATTN2C_INLINE void attn2c_softmax_nan_rounded(uint16_t *y, float *s, int rows, int cols, int ld, int ldy,
                                              float scale) {
  attn2c_softmax_with(s, rows, cols, ld, scale, 0.0f, y, ldy, NULL, 0);
}

/* Does the same as attn2c_softmax with one score more in each sum, sinks[i lds], which scale does not
 * multiply and which has no weight: an attention sink. A row that is -inf throughout gives zeros. */
ATTN2C_INLINE void attn2c_softmax_sinks(float *s, const float *sinks, int rows, int cols, int ld, float scale,
                                        int lds) {
  attn2c_softmax_with(s, rows, cols, ld, scale, 1e-30f, NULL, 0, sinks, lds);
}

ATTN2C_INLINE void attn2c_softmax_sinks_rounded(uint16_t *y, float *s, const float *sinks, int rows, int cols,
                                                int ld, int ldy, float scale, int lds) {
  attn2c_softmax_with(s, rows, cols, ld, scale, 1e-30f, y, ldy, sinks, lds);
}
