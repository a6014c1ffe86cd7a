/* additive.h - attention scores as sums of head_dim hyperbolic tangents. Nearly all the time goes into tanh,
 * so it is computed for a whole vector of keys at once. */
#pragma once

#include "ops/vector.h"

/* Writes s[0 .. width-1] of one query, width <= ATTN2C_LANES; faster if the compiler knows width. */
ATTN2C_INLINE void attn2c_additive_block(float *s, const float *q, const float *keys, const float *v,
                                         int width, int head_dim, ptrdiff_t ldk) {
  float sum[ATTN2C_LANES] = {0.0f};
  for (int d = 0; d < head_dim; d++) {
    const float query = q[d], factor = v[d];
    const float *key = keys + d * ldk;
#pragma omp simd
    for (int i = 0; i < width; i++) sum[i] = ATTN2C_FMA(factor, attn2c_tanh(query + key[i]), sum[i]);
  }
  memcpy(s, sum, (size_t)width * sizeof *s);
}

/* s[rows][cols], rows lds floats apart: s[r][j] = sum over d of v[d] tanh(q[r][d] + keys[d][j]), d <
 * head_dim. The keys are transposed, rows ldk floats apart; q's rows are ldq floats apart. */
ATTN2C_INLINE void attn2c_additive_scores(float *s, const float *q, const float *keys, const float *v,
                                          int rows, int cols, int head_dim, int lds, int ldq, int ldk) {
  for (int r = 0; r < rows; r++) {
    float *row = s + (ptrdiff_t)r * lds;
    const float *query = q + (ptrdiff_t)r * ldq;
    if (cols < ATTN2C_LANES) attn2c_additive_block(row, query, keys, v, cols, head_dim, ldk);
    /* The remainder is computed with a last vector that overlaps the one before. */
    for (int j = 0; cols >= ATTN2C_LANES && j < cols; j += ATTN2C_LANES) {
      const int at = j + ATTN2C_LANES <= cols ? j : cols - ATTN2C_LANES;
      attn2c_additive_block(row + at, query, keys + at, v, ATTN2C_LANES, head_dim, ldk);
    }
  }
}
