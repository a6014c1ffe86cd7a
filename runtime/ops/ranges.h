/* ranges.h - row operations on keys that are known at run time only or are in several ranges. One adds a
 * value after a sequence's length; one repairs a context tile of several key ranges. */
#pragma once

#include "ops/mask.h"

/* Adds value to the columns j >= valid of s[rows][cols], rows ld apart. valid may be <= 0 or >= cols. */
ATTN2C_INLINE void attn2c_add_length(float *s, int rows, int cols, int ld, float value, int valid) {
  const int first = attn2c_between(valid, 0, cols);
  for (int r = 0; r < rows; r++) {
    float *row = s + (ptrdiff_t)r * ld;
#pragma omp simd
    for (int j = 0; j < cols; j++) row[j] = j >= first ? row[j] + value : row[j];
  }
}

/* Repairs c[rows][head_dim] = p . v, which has been computed, with leading dimensions ldc, ldp, ldv. Columns
 * ranges[i][0] to ranges[i][0] + ranges[i][2] - 1 of p weigh the rows of v from ranges[i][1] on. Each row of
 * c that holds an infinity or NaN is computed again over the keys whose weight is not 0. */
ATTN2C_INLINE void attn2c_context_repair_nonzero(float *c, const float *p, const float *v, int rows,
                                                 int head_dim, int ldc, int ldp, int ldv,
                                                 const int (*ranges)[3], int count) {
  for (int r = 0; r < rows; r++) {
    float *row = c + (ptrdiff_t)r * ldc;
    if (attn2c_stays(row, head_dim)) continue;
    for (int i = 0; i < count; i++)
      for (int j = 0; j < ranges[i][2]; j++) {
        const float weight = p[(ptrdiff_t)r * ldp + ranges[i][0] + j];
        const float *values = v + (ptrdiff_t)(ranges[i][1] + j) * ldv;
        if (weight != 0.0f) attn2c_add_weighted(row, weight, values, head_dim);
      }
  }
}

/* Does the same for values in pairs (pairs.h) and weights of bf16, with ldv in pairs. */
ATTN2C_INLINE void attn2c_context_repair_nonzero_pairs(float *c, const uint16_t *p, const uint16_t *v,
                                                       int rows, int head_dim, int ldc, int ldp, int ldv,
                                                       const int (*ranges)[3], int count) {
  for (int r = 0; r < rows; r++) {
    float *row = c + (ptrdiff_t)r * ldc;
    if (attn2c_stays(row, head_dim)) continue;
    for (int i = 0; i < count; i++)
      for (int j = 0; j < ranges[i][2]; j++) {
        const float weight = attn2c_from_bf16(p[(ptrdiff_t)r * ldp + ranges[i][0] + j]);
        if (weight != 0.0f) attn2c_add_paired(row, weight, v, ranges[i][1] + j, head_dim, ldv);
      }
  }
}
