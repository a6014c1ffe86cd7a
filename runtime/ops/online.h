/* online.h - the softmax of rows that are too long to be stored: their scores come in key chunks. If a later
 * chunk has a larger score, the sums of earlier chunks are scaled down. */
#pragma once

#include "ops/softmax.h"

/* The state of `rows` rows is float state[3][rows]. It has the largest score so far, the sum of powers, and
 * the factor of earlier sums. Milakov, Gimelshein: Online normalizer calculation for softmax, 2018. */

/* Computes one chunk: p[j] = e^(scale (s[j] - max)) in place of s[rows][cols]. Rows are ld floats apart; max
 * is the largest score so far. `first`: the first chunk of a row, which begins its state. 1e-30 <= scale <=
 * 1e30. A row that is -inf throughout has the sum 0; a NaN, or +inf, makes it NaN. Each factor is the exact
 * one rounded once. Results are divided by the sum only at the end: values beyond FLT_MAX divided by the
 * number of keys may become infinite, where the softmax of whole rows would not yet. sinks: scores that the
 * sums begin with, lds floats apart (softmax.h); NULL: none. */
ATTN2C_INLINE void attn2c_softmax_chunk_with(float *s, float *state, int rows, int cols, int ld, float scale,
                                             int first, const float *sinks, int lds) {
  const double c_double = (double)scale * 1.4426950408889634;
  const float c = (float)c_double, c_low = (float)(c_double - (double)c);
  float *largest = state, *sum = state + rows, *factor = state + 2 * (ptrdiff_t)rows;
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int end = rows - begin < ATTN2C_ROWS ? rows : begin + ATTN2C_ROWS;
    for (int i = begin; i < end; i++) {
      const float start = sinks ? (float)((double)sinks[(ptrdiff_t)i * lds] / (double)scale) : -FLT_MAX;
      const float before = first ? start : largest[i], here = attn2c_largest(s + (ptrdiff_t)i * ld, cols);
      largest[i] = here > before ? here : before;
      factor[i] = here > before ? (float)__builtin_exp2(c_double * ((double)before - (double)here)) : 1.0f;
    }
    for (int i = begin; i < end; i++) {
      float *row = s + (ptrdiff_t)i * ld;
      const float from = largest[i];
      float before = first ? 0.0f : sum[i] * factor[i];
      if (sinks)
        before = (float)__builtin_exp2(1.4426950408889634 *
                                       ((double)sinks[(ptrdiff_t)i * lds] - (double)scale * (double)from));
#pragma omp simd
      for (int j = 0; j < cols; j++) row[j] = attn2c_exp2_nonpositive(row[j] - from, c, c_low);
      sum[i] = before + attn2c_sum_of_any(row, cols);
    }
  }
}

ATTN2C_INLINE void attn2c_softmax_chunk(float *s, float *state, int rows, int cols, int ld, float scale,
                                        int first) {
  attn2c_softmax_chunk_with(s, state, rows, cols, ld, scale, first, NULL, 0);
}

/* Computes the first chunk of rows with sinks. */
ATTN2C_INLINE void attn2c_softmax_begin_sinks(float *s, float *state, const float *sinks, int rows, int cols,
                                              int ld, float scale, int lds) {
  attn2c_softmax_chunk_with(s, state, rows, cols, ld, scale, 1, sinks, lds);
}

/* y[rows][cols] = y factor + x: adds the sums of a chunk to the sums of the chunks before it. */
ATTN2C_INLINE void attn2c_softmax_add(float *y, const float *x, const float *state, int rows, int cols,
                                      int ldy, int ldx) {
  for (int i = 0; i < rows; i++) {
    const float factor = state[2 * (ptrdiff_t)rows + i];
    float *to = y + (ptrdiff_t)i * ldy;
    const float *from = x + (ptrdiff_t)i * ldx;
#pragma omp simd
    for (int j = 0; j < cols; j++) to[j] = ATTN2C_FMA(to[j], factor, from[j]);
  }
}

/* y[rows][cols] = y / sum, after the last chunk; 0 for a row that saw no key. */
ATTN2C_INLINE void attn2c_softmax_end(float *y, const float *state, int rows, int cols, int ldy) {
  for (int i = 0; i < rows; i++) {
    const float inverse = 1.0f / (state[rows + i] + 1e-30f);
    float *row = y + (ptrdiff_t)i * ldy;
#pragma omp simd
    for (int j = 0; j < cols; j++) row[j] *= inverse;
  }
}

/* y[rows][cols] = e^(scale (x - max)) / sum: the weights themselves, after the last chunk. */
ATTN2C_INLINE void attn2c_softmax_of(float *y, const float *x, const float *state, int rows, int cols,
                                     int ldy, int ldx, float scale) {
  const double c_double = (double)scale * 1.4426950408889634;
  const float c = (float)c_double, c_low = (float)(c_double - (double)c);
  for (int i = 0; i < rows; i++) {
    const float from = state[i], inverse = 1.0f / (state[rows + i] + 1e-30f);
    const float *row = x + (ptrdiff_t)i * ldx;
    float *to = y + (ptrdiff_t)i * ldy;
#pragma omp simd
    for (int j = 0; j < cols; j++) to[j] = attn2c_exp2_nonpositive(row[j] - from, c, c_low) * inverse;
  }
}
