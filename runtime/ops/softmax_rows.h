/* softmax_rows.h - softmax of rows and its logarithm for outputs: finite numbers, without masks. */
#pragma once

#include "ops/elementary.h"
#include "ops/vector.h"

/* Returns the sum of e^(x[j] - from) over a row, `from` its largest. It stores powers piece by piece. */
ATTN2C_INLINE float attn2c_power_sum(const float *x, int cols, float from) {
  enum { PIECE = 256 };
  float powers[PIECE], sum = 0.0f;
  for (int begin = 0; begin < cols; begin += PIECE) {
    const int count = cols - begin < PIECE ? cols - begin : PIECE;
#pragma omp simd
    for (int j = 0; j < count; j++) powers[j] = attn2c_exp_nonpositive(x[begin + j] - from);
    sum += attn2c_sum(powers, count);
  }
  return sum;
}

/* y[rows][cols] = e^(x - max) / sum for each row of x[rows][cols]. Rows are ldx and ldy floats apart, and y
 * may be x. A row with a NaN or +inf, or with -inf throughout, becomes NaN. */
ATTN2C_INLINE void attn2c_softmax_rows(float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    const float *in = x + (ptrdiff_t)i * ldx;
    float *out = y + (ptrdiff_t)i * ldy;
    const float from = attn2c_largest(in, cols);
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] = attn2c_exp_nonpositive(in[j] - from);
    const float factor = 1.0f / attn2c_sum(out, cols);
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] *= factor;
  }
}

/* Does the same for y = x - max - log(sum of e^(x - max)). */
ATTN2C_INLINE void attn2c_log_softmax(float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    const float *in = x + (ptrdiff_t)i * ldx;
    float *out = y + (ptrdiff_t)i * ldy;
    const float from = attn2c_largest(in, cols);
    const float logarithm = attn2c_log(attn2c_power_sum(in, cols, from));
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] = in[j] - from - logarithm;
  }
}
