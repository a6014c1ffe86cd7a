/* norm.h - norms of rows: layer norm, root of the mean square, scaling to length one. The layer norm takes
 * two passes over a row in cache, and stays accurate if the mean is large against the deviation. */
#pragma once

#include "ops/fold.h"

/* y[0] = gain / sqrt(s + eps), where s is the sum of the squares of rows 1 on of x[rows][cols], and y[1] =
 * bias
 * - y[0] x[0]: factors of columns that have the mean x[0] and the variance s. Rows are ldx and ldy floats
 * apart. */
ATTN2C_INLINE void attn2c_channel_factors(float *y, const float *x, const float *gain, const float *bias,
                                          int rows, int cols, int ldx, int ldy, float eps) {
  for (int j = 0; j < cols; j++) {
    double sum = (double)eps;
    for (int i = 1; i < rows; i++) {
      const double each = (double)x[(ptrdiff_t)i * ldx + j];
      sum += each * each;
    }
    y[j] = (float)((double)gain[j] / __builtin_sqrt(sum));
    y[ldy + j] = (float)((double)bias[j] - (double)y[j] * (double)x[j]);
  }
}

/* Partial sums of d = x - mean over x[0 .. whole-1], and of d^2; whole is a multiple of ATTN2C_SUMS. */
ATTN2C_INLINE void attn2c_partial_moments(attn2c_vector sums[ATTN2C_PARTS],
                                          attn2c_vector squares[ATTN2C_PARTS], const float *x, int whole,
                                          float mean) {
  const attn2c_vector means = attn2c_splat(mean);
  for (int part = 0; part < ATTN2C_PARTS; part++) {
    const float *from = x + part * ATTN2C_LANES;
    attn2c_vector sum0 = {0.0f}, sum1 = {0.0f}, square0 = {0.0f}, square1 = {0.0f};
    int j = 0;
    if (whole >= 16 * ATTN2C_SUMS) {
      /* four independent sums, as an addition takes four cycles */
      attn2c_vector sum2 = {0.0f}, sum3 = {0.0f}, square2 = {0.0f}, square3 = {0.0f};
      for (; j + 4 * ATTN2C_SUMS <= whole; j += 4 * ATTN2C_SUMS) {
        const attn2c_vector d0 = attn2c_load(from + j) - means;
        const attn2c_vector d1 = attn2c_load(from + j + ATTN2C_SUMS) - means;
        const attn2c_vector d2 = attn2c_load(from + j + 2 * ATTN2C_SUMS) - means;
        const attn2c_vector d3 = attn2c_load(from + j + 3 * ATTN2C_SUMS) - means;
        sum0 += d0;
        sum1 += d1;
        sum2 += d2;
        sum3 += d3;
        square0 = attn2c_vector_fma(d0, d0, square0);
        square1 = attn2c_vector_fma(d1, d1, square1);
        square2 = attn2c_vector_fma(d2, d2, square2);
        square3 = attn2c_vector_fma(d3, d3, square3);
      }
      sum0 += sum2;
      sum1 += sum3;
      square0 += square2;
      square1 += square3;
    }
    for (; j + 2 * ATTN2C_SUMS <= whole; j += 2 * ATTN2C_SUMS) {
      const attn2c_vector d0 = attn2c_load(from + j) - means,
                          d1 = attn2c_load(from + j + ATTN2C_SUMS) - means;
      sum0 += d0;
      sum1 += d1;
      square0 = attn2c_vector_fma(d0, d0, square0);
      square1 = attn2c_vector_fma(d1, d1, square1);
    }
    if (j < whole) {
      const attn2c_vector d = attn2c_load(from + j) - means;
      sum0 += d;
      square0 = attn2c_vector_fma(d, d, square0);
    }
    sums[part] = sum0 + sum1;
    squares[part] = square0 + square1;
  }
}

/* Computes the sums of d = x - mean and of d^2 over one row x[cols], whose mean is about `mean`. */
ATTN2C_INLINE void attn2c_moments(const float *x, int cols, float mean, float *sum, float *square) {
  const int whole = cols - cols % ATTN2C_SUMS, rest = cols - whole;
  attn2c_vector sums[ATTN2C_PARTS], squares[ATTN2C_PARTS];
  attn2c_partial_moments(sums, squares, x, whole, mean);
  float last[ATTN2C_SUMS], last_square[ATTN2C_SUMS];
#pragma omp simd
  for (int k = 0; k < rest; k++) {
    last[k] = x[whole + k] - mean;
    last_square[k] = last[k] * last[k];
  }
  *sum = attn2c_sum_of_parts(sums, last, rest);
  *square = attn2c_sum_of_parts(squares, last_square, rest);
}

/* Does the same for each row of x[rows][cols], rows ld floats apart, rows <= ATTN2C_ROWS. */
ATTN2C_INLINE void attn2c_moments_rows(const float *x, int rows, int cols, ptrdiff_t ld, const float *mean,
                                       float *sum, float *square) {
  if (attn2c_folds(rows, cols)) {
    attn2c_vector sums[ATTN2C_ROWS][ATTN2C_PARTS], squares[ATTN2C_ROWS][ATTN2C_PARTS];
    for (int i = 0; i < ATTN2C_ROWS; i++)
      attn2c_partial_moments(sums[i], squares[i], x + i * ld, cols, mean[i]);
    attn2c_fold(0, sum, sums);
    attn2c_fold(0, square, squares);
    return;
  }
  for (int i = 0; i < rows; i++) attn2c_moments(x + i * ld, cols, mean[i], &sum[i], &square[i]);
}

/* Computes the mean of each row of x[rows][cols], rows ld floats apart, rows <= ATTN2C_ROWS, what corrects
 * it, and the variance. The first mean is rounded, which costs mean / deviation of the accuracy. The mean of
 * x - mean, computed in the second pass, corrects it, and its square corrects the variance. The first number
 * stands for a mean that it is close to: all differences of a row of equal numbers are then 0. Several rows
 * are computed together, so that they hide the latency of each other's sums. */
ATTN2C_INLINE void attn2c_means(float mean[ATTN2C_ROWS], float correction[ATTN2C_ROWS],
                                float variance[ATTN2C_ROWS], const float *x, int rows, int cols,
                                ptrdiff_t ld) {
  const float inverse_cols = 1.0f / (float)cols;
  float sum[ATTN2C_ROWS] = {0.0f}, square[ATTN2C_ROWS] = {0.0f}, first[ATTN2C_ROWS] = {0.0f};
  for (int i = 0; i < ATTN2C_ROWS; i++) mean[i] = 0.0f;
  attn2c_sum_rows(mean, x, rows, cols, ld);
  for (int i = 0; i < rows; i++) first[i] = x[i * ld];
#pragma omp simd
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    const float m = mean[i] * inverse_cols;
    mean[i] = __builtin_fabsf(first[i] - m) < __builtin_fabsf(m) * 0x1p-16f ? first[i] : m;
  }
  attn2c_moments_rows(x, rows, cols, ld, mean, sum, square);
#pragma omp simd
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    correction[i] = sum[i] * inverse_cols;
    const float found = square[i] * inverse_cols - correction[i] * correction[i];
    variance[i] = found < 0.0f ? 0.0f : found; /* only rounding makes it negative */
  }
}

/* y = (x - mean) / sqrt(var + eps) * gain + bias for each row of x[rows][cols]. var = mean of (x - mean)^2;
 * rows are ldx and ldy floats apart, and y may be x. gain[cols] and bias[cols] may be NULL. */
ATTN2C_INLINE void attn2c_layer_norm(float *y, const float *x, const float *gain, const float *bias, int rows,
                                     int cols, int ldx, int ldy, float eps) {
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int count = rows - begin < ATTN2C_ROWS ? rows - begin : ATTN2C_ROWS;
    const float *block = x + (ptrdiff_t)begin * ldx;
    float mean[ATTN2C_ROWS], correction[ATTN2C_ROWS], variance[ATTN2C_ROWS], scale[ATTN2C_ROWS];
    attn2c_means(mean, correction, variance, block, count, cols, ldx);
#pragma omp simd
    for (int i = 0; i < ATTN2C_ROWS; i++) scale[i] = 1.0f / __builtin_sqrtf(variance[i] + eps);
    for (int i = 0; i < count; i++) {
      const float *in = block + (ptrdiff_t)i * ldx;
      float *out = y + (ptrdiff_t)(begin + i) * ldy;
      const float m = mean[i], factor = scale[i], off = -correction[i] * factor;
#pragma omp simd
      for (int j = 0; j < cols; j++) {
        float v = ATTN2C_FMA(in[j] - m, factor, off);
        if (gain && bias)
          v = ATTN2C_FMA(v, gain[j], bias[j]);
        else if (gain)
          v = v * gain[j];
        else if (bias)
          v = v + bias[j];
        out[j] = v;
      }
    }
  }
}

/* Does the same for each of `heads` parts of head_dim columns by itself; gain[head_dim] and bias[head_dim].
 */
ATTN2C_INLINE void attn2c_layer_norm_heads(float *y, const float *x, const float *gain, const float *bias,
                                           int rows, int heads, int head_dim, int ldx, int ldy, float eps) {
  for (int head = 0; head < heads; head++)
    attn2c_layer_norm(y + (ptrdiff_t)head * head_dim, x + (ptrdiff_t)head * head_dim, gain, bias, rows,
                      head_dim, ldx, ldy, eps);
}

/* Does the same for each of `heads` parts with a gain of its own: gain[heads * head_dim], and no bias. */
ATTN2C_INLINE void attn2c_layer_norm_each(float *y, const float *x, const float *gain, int rows, int heads,
                                          int head_dim, int ldx, int ldy, float eps) {
  for (ptrdiff_t at = 0; at < (ptrdiff_t)heads * head_dim; at += head_dim)
    attn2c_layer_norm(y + at, x + at, gain + at, NULL, rows, head_dim, ldx, ldy, eps);
}

/* y = max(x - mean - factor sqrt(var), 0) for each row of x[rows][cols], with the mean and variance of the
 * row. Rows are ldx and ldy floats apart, and y may be x. */
ATTN2C_INLINE void attn2c_sparsify(float *y, const float *x, int rows, int cols, int ldx, int ldy,
                                   float factor) {
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int count = rows - begin < ATTN2C_ROWS ? rows - begin : ATTN2C_ROWS;
    const float *block = x + (ptrdiff_t)begin * ldx;
    float mean[ATTN2C_ROWS], correction[ATTN2C_ROWS], variance[ATTN2C_ROWS];
    attn2c_means(mean, correction, variance, block, count, cols, ldx);
    for (int i = 0; i < count; i++) {
      const float *in = block + (ptrdiff_t)i * ldx;
      float *out = y + (ptrdiff_t)(begin + i) * ldy;
      const float m = mean[i], above = ATTN2C_FMA(factor, __builtin_sqrtf(variance[i]), correction[i]);
#pragma omp simd
      for (int j = 0; j < cols; j++) out[j] = attn2c_relu(in[j] - m - above);
    }
  }
}

/* Returns the sum of x[j]^2 over one row x[cols]. */
ATTN2C_INLINE float attn2c_square_sum(const float *x, int cols) {
  const int whole = cols - cols % ATTN2C_SUMS, rest = cols - whole;
  attn2c_vector squares[ATTN2C_PARTS];
  for (int part = 0; part < ATTN2C_PARTS; part++) {
    const float *from = x + part * ATTN2C_LANES;
    attn2c_vector square0 = {0.0f}, square1 = {0.0f};
    int j = 0;
    for (; j + 2 * ATTN2C_SUMS <= cols; j += 2 * ATTN2C_SUMS) {
      const attn2c_vector x0 = attn2c_load(from + j), x1 = attn2c_load(from + j + ATTN2C_SUMS);
      square0 = attn2c_vector_fma(x0, x0, square0);
      square1 = attn2c_vector_fma(x1, x1, square1);
    }
    if (j < whole) {
      const attn2c_vector x0 = attn2c_load(from + j);
      square0 = attn2c_vector_fma(x0, x0, square0);
    }
    squares[part] = square0 + square1;
  }
  float last[ATTN2C_SUMS];
#pragma omp simd
  for (int k = 0; k < rest; k++) last[k] = x[whole + k] * x[whole + k];
  return attn2c_sum_of_parts(squares, last, rest);
}

/* y = x / sqrt(mean of x^2 + eps) * gain for each row of x[rows][cols]. Rows are ldx and ldy floats apart,
 * and y may be x. gain[cols] may be NULL. */
ATTN2C_INLINE void attn2c_rms_norm(float *y, const float *x, const float *gain, int rows, int cols, int ldx,
                                   int ldy, float eps) {
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int count = rows - begin < ATTN2C_ROWS ? rows - begin : ATTN2C_ROWS;
    float square[ATTN2C_ROWS] = {0.0f}, scale[ATTN2C_ROWS];
    for (int i = 0; i < count; i++) square[i] = attn2c_square_sum(x + (ptrdiff_t)(begin + i) * ldx, cols);
#pragma omp simd
    for (int i = 0; i < ATTN2C_ROWS; i++)
      scale[i] = 1.0f / __builtin_sqrtf(square[i] * (1.0f / (float)cols) + eps);
    for (int i = 0; i < count; i++) {
      const float *in = x + (ptrdiff_t)(begin + i) * ldx;
      float *out = y + (ptrdiff_t)(begin + i) * ldy;
      const float factor = scale[i];
#pragma omp simd
      for (int j = 0; j < cols; j++) out[j] = gain ? in[j] * factor * gain[j] : in[j] * factor;
    }
  }
}

/* Does the same for each of `heads` parts of head_dim columns by itself; gain[head_dim]. */
ATTN2C_INLINE void attn2c_rms_norm_heads(float *y, const float *x, const float *gain, int rows, int heads,
                                         int head_dim, int ldx, int ldy, float eps) {
  for (int head = 0; head < heads; head++)
    attn2c_rms_norm(y + (ptrdiff_t)head * head_dim, x + (ptrdiff_t)head * head_dim, gain, rows, head_dim, ldx,
                    ldy, eps);
}

/* Does the same for each of `heads` parts with a gain of its own: gain[heads * head_dim]. */
ATTN2C_INLINE void attn2c_rms_norm_each(float *y, const float *x, const float *gain, int rows, int heads,
                                        int head_dim, int ldx, int ldy, float eps) {
  for (ptrdiff_t at = 0; at < (ptrdiff_t)heads * head_dim; at += head_dim)
    attn2c_rms_norm(y + at, x + at, gain + at, rows, head_dim, ldx, ldy, eps);
}

/* y[i] = |x[i]|, the root of the sum of squares of each row of x[rows][cols]. Rows are ldx and ldy floats
 * apart. */
ATTN2C_INLINE void attn2c_row_length(float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
    y[(ptrdiff_t)i * ldy] = __builtin_sqrtf(attn2c_square_sum(x + (ptrdiff_t)i * ldx, cols));
}

/* y = x / max(sqrt(sum of x^2), eps) for each row of x[rows][cols]. Rows are ldx and ldy floats apart, and y
 * may be x. A NaN makes its whole row NaN. */
ATTN2C_INLINE void attn2c_normalise(float *y, const float *x, int rows, int cols, int ldx, int ldy,
                                    float eps) {
  for (int begin = 0; begin < rows; begin += ATTN2C_ROWS) {
    const int count = rows - begin < ATTN2C_ROWS ? rows - begin : ATTN2C_ROWS;
    float square[ATTN2C_ROWS] = {0.0f}, scale[ATTN2C_ROWS];
    for (int i = 0; i < count; i++) square[i] = attn2c_square_sum(x + (ptrdiff_t)(begin + i) * ldx, cols);
#pragma omp simd
    for (int i = 0; i < ATTN2C_ROWS; i++) {
      const float norm = __builtin_sqrtf(square[i]);
      scale[i] = 1.0f / (norm < eps ? eps : norm);
    }
    for (int i = 0; i < count; i++) {
      const float *in = x + (ptrdiff_t)(begin + i) * ldx;
      float *out = y + (ptrdiff_t)(begin + i) * ldy;
      const float factor = scale[i];
#pragma omp simd
      for (int j = 0; j < cols; j++) out[j] = in[j] * factor;
    }
  }
}
