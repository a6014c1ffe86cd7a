/* softmax_rows.h - the softmax of rows and its logarithm for a model's outputs: finite numbers, without
 * masks. */
#pragma once

#include "ops/elementary.h"
#include "ops/vector.h"

/* Returns log(x) of a float x >= 1, at most 3 ulp of 1 + |log(x)|. 0 and NaN give NaN. x = 2^n m with m in
 * [sqrt(1/2), sqrt(2)); log(m) = 2 artanh(f), f = (m - 1) / (m + 1), |f| < 0.172, by its series up to f^9;
 * the remainder is below 1e-9 of it. */
ATTN2C_INLINE float attn2c_log(float x) {
  const uint32_t from_root = attn2c_bits(x) - 0x3f3504f3u; /* the bits of sqrt(1/2) */
  const int n = (int)(from_root >> 23);
  const float m = attn2c_from_bits((from_root & 0x007fffffu) + 0x3f3504f3u);
  const float f = (m - 1.0f) / (m + 1.0f), square = f * f;
  float p = 2.0f / 9.0f;
  p = ATTN2C_FMA(p, square, 2.0f / 7.0f);
  p = ATTN2C_FMA(p, square, 2.0f / 5.0f);
  p = ATTN2C_FMA(p, square, 2.0f / 3.0f);
  p = ATTN2C_FMA(p, square, 2.0f);
  /* n log(2) in two floats, the first exact for every n */
  const float low = ATTN2C_FMA((float)n, -2.12194440e-4f, p * f);
  const float result = ATTN2C_FMA((float)n, 0.693359375f, low);
  return x > 0.0f ? result : __builtin_nanf("");
}

/* Returns the sum of e^(x[j] - from) over one row, where `from` is its largest. It stores the powers of one
 * piece at a time. */
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
