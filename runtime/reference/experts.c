/* experts.c - the reference of mixtures of experts: pick, group_rows, spread, linear_experts, combine and
 * share. Tensors that the emitted code keeps in the order of experts have the order of rows here. */
#include "reference/ops.h"

#include <float.h>
#include <math.h>

/* True if all chosen experts are from 0 to experts - 1. Otherwise says so in one line. */
static int are_experts(const attn2c_reference_call *call, const int32_t *chosen, int64_t count,
                       int64_t experts) {
  for (int64_t i = 0; i < count; i++)
    if (chosen[i] < 0 || chosen[i] >= experts) {
      attn2c_reference_fault(call, "a chosen expert is out of range");
      return 0;
    }
  return 1;
}

/* y[r][j] = x[r][chosen[r][j]]; x of one dimension is that of all rows */
int attn2c_reference_pick(const attn2c_reference_call *call) {
  attn2c_reference_sizes n = {0};
  const int is_shared = attn2c_reference_operand(call, 0)->rank == 1;
  if (!attn2c_reference_fits(call, is_shared ? "w, *k -> *k" : "*w, *k -> *k", n)) return ATTN2C_USAGE;
  const float *x = call->in[0];
  const int32_t *chosen = call->in[1];
  float *y = call->out;
  if (!are_experts(call, chosen, n['*'] * n['k'], n['w'])) return ATTN2C_USAGE;
  for (int64_t i = 0; i < n['*'] * n['k']; i++) y[i] = x[(is_shared ? 0 : i / n['k'] * n['w']) + chosen[i]];
  return ATTN2C_OK;
}

/* y[r][j] = chosen[r][j] */
int attn2c_reference_group_rows(const attn2c_reference_call *call) {
  const int64_t count = call->n['*'];
  const int32_t *chosen = call->in[0];
  if (!are_experts(call, chosen, count, attn2c_reference_count(call, "experts", 0))) return ATTN2C_USAGE;
  memcpy(call->out, chosen, (size_t)count * sizeof *chosen);
  return ATTN2C_OK;
}

/* y[r][j W + c] = x[r][c] for each expert j of row r */
int attn2c_reference_spread(const attn2c_reference_call *call) {
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t i = 0; i < call->n['*'] * call->n['k']; i++)
    memcpy(y + i * call->n['w'], x + i / call->n['k'] * call->n['w'], (size_t)call->n['w'] * sizeof *y);
  return ATTN2C_OK;
}

/* y[r][j O + o] = bias[e O + o] + sum over i of x[r][j I + i] weight[e O + o][i], with e = experts[r][j]
 * magnitude: the same of absolute values */
int attn2c_reference_linear_experts(const attn2c_reference_call *call) {
  const int64_t in = call->n['i'], out = call->n['o'], count = call->n['*'] * call->n['k'];
  if (call->n['a'] % out) return attn2c_reference_fault(call, "the weight must have rows for whole experts");
  const float *x = call->in[0], *weight = call->in[2], *bias = call->in[3];
  const int32_t *experts = call->in[1];
  float *y = call->out;
  const int with_minimum = attn2c_reference_has_minima(call, 2);
  if (!are_experts(call, experts, count, call->n['a'] / out)) return ATTN2C_USAGE;
  for (int64_t c = 0; c < count; c++)
    for (int64_t o = 0; o < out; o++) {
      const int64_t row = experts[c] * out + o;
      double absolutes = 0, shift = bias ? bias[row] : 0;
      const double sum = attn2c_reference_dot(x + c * in, weight + row * in, in, with_minimum, &absolutes);
      y[c * out + o] = (float)(shift + sum);
      if (call->magnitude) call->magnitude[c * out + o] = (float)fmin(fabs(shift) + absolutes, FLT_MAX);
    }
  return ATTN2C_OK;
}

/* y[r][j O + o] = sum over i of x[r][j I + i] weight[e O + o][i], of integers from -127 to 127, with e =
 * experts[r][j]; it wraps at 32 bits */
int attn2c_reference_linear_experts_integers(const attn2c_reference_call *call) {
  const int64_t in = call->n['i'], out = call->n['o'], count = call->n['*'] * call->n['k'];
  const float *x = call->in[0], *weight = call->in[2];
  const int32_t *experts = call->in[1];
  int32_t *y = call->out;
  if (call->n['a'] % out || !are_experts(call, experts, count, call->n['a'] / out)) return ATTN2C_USAGE;
  for (int64_t i = 0; i < count * out; i++) {
    const float *row = weight + (experts[i / out] * out + i % out) * in;
    double magnitude;
    y[i] = (int32_t)(uint32_t)(int64_t)attn2c_reference_dot(x + i / out * in, row, in, 0, &magnitude);
  }
  return ATTN2C_OK;
}

/* y[r][j O + o] = x[r][j O + o] row_scale[r][j] scale[e O + o] + bias[e O + o], with e = experts[r][j]
 * magnitude: the same of absolute values */
int attn2c_reference_dequantise_experts(const attn2c_reference_call *call) {
  const int64_t out = call->n['o'], count = call->n['*'] * call->n['k'];
  const int32_t *x = call->in[0], *experts = call->in[3];
  const float *row_scale = call->in[1], *scale = call->in[2], *bias = call->in[4];
  float *y = call->out;
  if (call->n['a'] % out || !are_experts(call, experts, count, call->n['a'] / out)) return ATTN2C_USAGE;
  for (int64_t i = 0; i < count * out; i++) {
    const int64_t c = i / out, row = experts[c] * out + i % out;
    const double term = x[i] * (double)row_scale[c] * (double)scale[row], shift = bias ? bias[row] : 0;
    y[i] = (float)(term + shift);
    if (call->magnitude) call->magnitude[i] = (float)fmin(fabs(term) + fabs(shift), FLT_MAX);
  }
  return ATTN2C_OK;
}

/* y[r][c] = factor times the sum over j of weights[r][j] x[r][j W + c]; magnitude: the same of absolute
 * values. factor is the emitted code's constant, a float. */
int attn2c_reference_combine(const attn2c_reference_call *call) {
  const double factor = (float)attn2c_number(call->op, "factor", NAN);
  if (!isfinite(factor)) return attn2c_reference_fault(call, "factor must be given, and be a finite number");
  const float *x = call->in[0], *weights = call->in[1];
  float *y = call->out;
  const int64_t used = call->n['k'], width = call->n['w'];
  for (int64_t r = 0; r < call->n['*']; r++)
    for (int64_t c = 0; c < width; c++) {
      double sum = 0, absolutes = 0;
      for (int64_t j = 0; j < used; j++) {
        const double term = factor * weights[r * used + j] * x[(r * used + j) * width + c];
        sum += term;
        absolutes += fabs(term);
      }
      y[r * width + c] = (float)sum;
      if (call->magnitude) call->magnitude[r * width + c] = (float)fmin(absolutes, FLT_MAX);
    }
  return ATTN2C_OK;
}

/* y[r][j] = x[r][j] / (sum over j of x[r][j] + eps) */
int attn2c_reference_share(const attn2c_reference_call *call) {
  const int64_t width = call->n['w'], rows = call->n['*'];
  const float *x = call->in[0];
  const double eps = attn2c_number(call->op, "eps", 0);
  float *y = call->out;
  for (int64_t r = 0; r < rows; r++) {
    double sum = eps;
    for (int64_t j = 0; j < width; j++) sum += x[r * width + j];
    for (int64_t j = 0; j < width; j++) y[r * width + j] = (float)(x[r * width + j] / sum);
  }
  return ATTN2C_OK;
}
