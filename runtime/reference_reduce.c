/* reference_reduce.c - the reference of the ops that take something from a whole row or sequence: layer_norm,
 * rms_norm, normalise, pool and argmax. */
#include "reference_ops.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* mean = sum of x / n, variance = sum of (x - mean)^2 / n,
 * y = gain (x - mean) / sqrt(variance + eps) + bias, over the last dimension */
int attn2c_reference_layer_norm(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  int64_t rows = attn2c_reference_rows(x_shape), width = attn2c_reference_width(x_shape);
  if (x_shape->rank != y_shape->rank || !attn2c_reference_same(x_shape, y_shape, x_shape->rank))
    return attn2c_reference_fault(call, "operand and result must have the same shape");
  for (int position = 1; position <= 2; position++) {
    const attn2c_tensor *shape = attn2c_reference_operand(call, position);
    if (shape && (shape->rank != 1 || shape->shape[0] != width))
      return attn2c_reference_fault(call, "gain and bias must be [last dimension of the operand]");
  }
  double eps = attn2c_number(call->op, "eps", -1);
  if (!(eps >= 0)) return attn2c_reference_fault(call, "eps must be given, and not be negative");
  const float *gain = attn2c_reference_values(call, 1), *bias = attn2c_reference_values(call, 2);
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)attn2c_reference_values(call, 0) + r * width;
    float *y = (float *)call->tensors[call->op->result] + r * width;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < width; i++) mean += x[i];
    mean /= (double)width;
    for (int64_t i = 0; i < width; i++) variance += (x[i] - mean) * (x[i] - mean);
    variance /= (double)width;
    for (int64_t i = 0; i < width; i++)
      y[i] = (float)((x[i] - mean) / sqrt(variance + eps) * (gain ? gain[i] : 1) + (bias ? bias[i] : 0));
  }
  return ATTN2C_OK;
}

/* y = gain x / sqrt(mean of x^2 + eps), over the last dimension */
int attn2c_reference_rms_norm(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  const attn2c_tensor *gain_shape = attn2c_reference_operand(call, 1);
  int64_t rows = attn2c_reference_rows(x_shape), width = attn2c_reference_width(x_shape);
  if (x_shape->rank != y_shape->rank || !attn2c_reference_same(x_shape, y_shape, x_shape->rank))
    return attn2c_reference_fault(call, "operand and result must have the same shape");
  if (gain_shape && (gain_shape->rank != 1 || gain_shape->shape[0] != width))
    return attn2c_reference_fault(call, "the gain must be [last dimension of the operand]");
  double eps = attn2c_number(call->op, "eps", -1);
  if (!(eps >= 0)) return attn2c_reference_fault(call, "eps must be given, and not be negative");
  const float *gain = attn2c_reference_values(call, 1);
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)attn2c_reference_values(call, 0) + r * width;
    float *y = (float *)call->tensors[call->op->result] + r * width;
    double squares = 0;
    for (int64_t i = 0; i < width; i++) squares += (double)x[i] * (double)x[i];
    double divisor = sqrt(squares / (double)width + eps);
    for (int64_t i = 0; i < width; i++) y[i] = (float)(x[i] / divisor * (gain ? gain[i] : 1));
  }
  return ATTN2C_OK;
}

/* y = x / max(sqrt(sum of x^2), eps), over the last dimension; a NaN makes the whole row NaN */
int attn2c_reference_normalise(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  int64_t rows = attn2c_reference_rows(x_shape), width = attn2c_reference_width(x_shape);
  if (x_shape->rank != y_shape->rank || !attn2c_reference_same(x_shape, y_shape, x_shape->rank))
    return attn2c_reference_fault(call, "operand and result must have the same shape");
  double eps = attn2c_number(call->op, "eps", -1);
  if (!(eps > 0)) return attn2c_reference_fault(call, "eps must be given, and be positive");
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)attn2c_reference_values(call, 0) + r * width;
    float *y = (float *)call->tensors[call->op->result] + r * width;
    double squares = 0;
    for (int64_t i = 0; i < width; i++) squares += (double)x[i] * (double)x[i];
    double norm = sqrt(squares);
    for (int64_t i = 0; i < width; i++) y[i] = (float)(x[i] / (norm < eps ? eps : norm));
  }
  return ATTN2C_OK;
}

/* The maximum of two, and NaN when either is. */
static float larger(float a, float b) { return isnan(a) || a > b ? a : b; }

/* Over the first n = lengths[b] rows of x[b] (all of them without lengths):
 * mean: y[c] = sum of x[s][c] / n     max: y[c] = largest x[s][c], NaN if any is
 * first: y[c] = x[0][c]               last: y[c] = x[n - 1][c] */
int attn2c_reference_pool(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  const attn2c_tensor *lengths_shape = attn2c_reference_operand(call, 1);
  const char *function = attn2c_text(call->op, "function");
  if (x_shape->rank != 3 || y_shape->rank != 2 || x_shape->shape[0] != y_shape->shape[0] ||
      x_shape->shape[2] != y_shape->shape[1])
    return attn2c_reference_fault(call,
                                  "the operand must be [batch][sequence][width], the result [batch][width]");
  int64_t batch = x_shape->shape[0], sequence = x_shape->shape[1], width = x_shape->shape[2];
  if (lengths_shape && (lengths_shape->rank != 1 || lengths_shape->shape[0] != batch))
    return attn2c_reference_fault(call, "the lengths must be [batch]");
  int mean = function && strcmp(function, "mean") == 0, max = function && strcmp(function, "max") == 0;
  int last = function && strcmp(function, "last") == 0, first = function && strcmp(function, "first") == 0;
  if (!mean && !max && !last && !first)
    return attn2c_reference_fault(call, "function must be mean, max, first or last");
  if (!attn2c_reference_lengths(call, 1, batch, 1, sequence)) return ATTN2C_FORMAT;
  const float *x = attn2c_reference_values(call, 0);
  const int32_t *lengths = attn2c_reference_values(call, 1);
  float *y = call->tensors[call->op->result];
  for (int64_t b = 0; b < batch; b++) {
    int64_t length = lengths ? lengths[b] : sequence;
    for (int64_t c = 0; c < width; c++) {
      const float *column = x + b * sequence * width + c;
      double sum = 0, magnitude = 0;
      float largest = column[0];
      for (int64_t s = 0; s < length; s++) {
        sum += column[s * width];
        magnitude += fabs((double)column[s * width]);
        largest = larger(largest, column[s * width]);
      }
      if (mean) y[b * width + c] = (float)(sum / (double)length);
      if (max) y[b * width + c] = largest;
      if (first) y[b * width + c] = column[0];
      if (last) y[b * width + c] = column[(length - 1) * width];
      if (mean && call->magnitude) call->magnitude[b * width + c] = (float)fmin(magnitude, FLT_MAX);
    }
  }
  return ATTN2C_OK;
}

/* y = the smallest i with x[i] >= x[j] for all j; a NaN counts as larger than every number */
int attn2c_reference_argmax(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  if (x_shape->rank < 1 || y_shape->rank != x_shape->rank - 1 ||
      !attn2c_reference_same(x_shape, y_shape, y_shape->rank))
    return attn2c_reference_fault(call,
                                  "the result's shape must be the operand's without the last dimension");
  int64_t rows = attn2c_reference_rows(x_shape), width = attn2c_reference_width(x_shape);
  int32_t *y = call->tensors[call->op->result];
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)attn2c_reference_values(call, 0) + r * width;
    int64_t best = 0;
    for (int64_t i = 1; i < width; i++)
      if (!isnan(x[best]) && (isnan(x[i]) || x[i] > x[best])) best = i;
    y[r] = (int32_t)best;
  }
  return ATTN2C_OK;
}
