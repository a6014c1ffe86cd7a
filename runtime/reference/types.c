/* types.c - the reference of ops that convert number types, and of the packing of weights. All
 * results are floats whose values are on the grid of their type. The grids are computed by arithmetic, and
 * not by bits as in the code that is judged. */
#include "reference/ops.h"
#include "reference/types.h"

#include <float.h>
#include <math.h>

/* A bf16 has 8 significant bits and the exponents of a float; a denormal becomes a zero. */
enum { BF16_BITS = 8 };
static const double SMALLEST = 0x1p-126, TOO_LARGE = 0x1p128;

double attn2c_reference_bf16_unit(double x) {
  int exponent;
  if (!isfinite(x) || fabs(x) < SMALLEST) return SMALLEST;
  frexp(x, &exponent);
  return ldexp(1, exponent - BF16_BITS);
}

float attn2c_reference_bf16(float x) {
  if (!isfinite(x)) return x;
  if (fabs((double)x) < SMALLEST) return copysignf(0, x);
  const double unit = attn2c_reference_bf16_unit(x), nearest = rint(x / unit) * unit; /* ties to even */
  return fabs(nearest) < TOO_LARGE ? (float)nearest : copysignf(INFINITY, x);
}

/* y = x, rounded to bf16 */
int attn2c_reference_round(const attn2c_reference_call *call) {
  const float *x = call->in[0];
  float *y = call->out;
  const int64_t elements = call->n['*'];
  for (int64_t i = 0; i < elements; i++) y[i] = attn2c_reference_bf16(x[i]);
  return ATTN2C_OK;
}

/* A row's scale is its largest magnitude / 127. Odd integers of 4 bits go from -15 to 15, and the scale is
 * the largest magnitude / 16. */
enum { ODD_PARTS = 16, ODD_BITS = 4 };

/* Returns x times its factor, as a float; factors NULL: ones. */
static float smoothed(const float *x, const float *factors, int64_t i) {
  return factors ? (float)((double)x[i] * (double)factors[i]) : x[i];
}

/* Returns the largest magnitude / most; a NaN makes it NaN. */
static float scale_of(const float *x, const float *factors, int64_t count, int most) {
  double largest = 0;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(x[i])) return NAN;
    largest = fmax(largest, fabs((double)smoothed(x, factors, i)));
  }
  return (float)fmax(largest / most, REFERENCE_LEAST_SCALE);
}

/* Returns x (1 / scale), rounded to the nearest integer; the quotient and the product are floats. */
static float integer_of(float x, float scale) {
  if (!isfinite(scale)) return 0;
  const float inverse = (float)(1 / (double)scale), product = (float)((double)x * (double)inverse);
  return (float)rint(product) + 0.0f; /* no -0 */
}

/* Returns x / scale, rounded to the nearest odd integer from -15 to 15; of two that are as near, the one
 * whose half is next to an even number. x / (2 scale) - 1/2 is computed in floats. */
static float odd_of(float x, float scale) {
  const float inverse = isfinite(scale) ? (float)(0.5 / (double)scale) : 0;
  const float product = isfinite(scale) ? (float)((double)x * (double)inverse) : 0;
  const double half = (double)(float)((double)product - 0.5);
  return 2 * (float)rint(fmin(fmax(half, -8), 7)) + 1;
}

float attn2c_reference_byte_scale(const float *x, int64_t count) {
  return scale_of(x, NULL, count, REFERENCE_LARGEST);
}

float attn2c_reference_byte(float x, float scale) { return integer_of(x, scale); }

/* True if the factors are one per column, or are not given. */
static int are_factors(const attn2c_reference_call *call, int operand, int64_t width) {
  const attn2c_tensor *factors = attn2c_reference_operand(call, operand);
  return !factors || attn2c_elements(factors) == width;
}

/* Returns the numbers that share one of `scale`: of a row of x, or a head's part; 0: shapes do not fit. */
static int64_t shared(const attn2c_tensor *x, const attn2c_tensor *scale) {
  const int64_t scales = attn2c_elements(scale), rows = attn2c_reference_rows(x);
  if (scales < 1 || scales % rows != 0 || attn2c_elements(x) % scales != 0) return 0;
  return attn2c_elements(x) / scales;
}

/* True if all of x[count] are finite. */
static int are_finite(const float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

/* y[r] = max over j of |x[r][j] factors[j]| / 127, or / 16 with bits 4, and at least 2^-125; r is a row, or a
 * head's part of it. NaN if the guard has a number that is not finite in that row, or in its part of the
 * head. */
int attn2c_reference_row_scale(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  const attn2c_tensor *guard_shape = attn2c_reference_operand(call, 2);
  const int64_t rows = attn2c_elements(y_shape), width = shared(x_shape, y_shape);
  const int64_t guarded = guard_shape ? shared(guard_shape, y_shape) : 1;
  if (width == 0 || guarded == 0 || !are_factors(call, 1, width))
    return attn2c_reference_fault(call, "the result must be one a row or head, factors one a column, and a "
                                        "guard that has one part for each");
  const float *x = call->in[0], *factors = call->in[1], *guard = call->in[2];
  float *y = call->out;
  const int most = attn2c_number(call->op, "bits", 8) == ODD_BITS ? ODD_PARTS : REFERENCE_LARGEST;
  for (int64_t r = 0; r < rows; r++)
    y[r] = guard && !are_finite(guard + r * guarded, guarded) ? NAN
                                                              : scale_of(x + r * width, factors, width, most);
  return ATTN2C_OK;
}

/* y[r][j] = x[r][j] factors[j] (1 / scale[r]) to the nearest integer, 0 if the scale is not finite; with bits
 * 4 to the nearest odd integer */
int attn2c_reference_quantise(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  const attn2c_tensor *scale_shape = attn2c_reference_operand(call, 1);
  const int64_t rows = attn2c_elements(scale_shape), width = shared(x_shape, scale_shape);
  if (width == 0 || attn2c_elements(y_shape) != rows * width || !are_factors(call, 2, width))
    return attn2c_reference_fault(call, "operand and result must have the same shape, a scale a row or head, "
                                        "and factors one a column");
  const float *x = call->in[0], *scale = call->in[1], *factors = call->in[2];
  float *y = call->out;
  const int is_odd = attn2c_number(call->op, "bits", 8) == ODD_BITS;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < width; j++) {
      const float number = smoothed(x + r * width, factors, j);
      y[r * width + j] = is_odd ? odd_of(number, scale[r]) : integer_of(number, scale[r]);
    }
  return ATTN2C_OK;
}

/* y[r][o] = sum over k of x[r][k] weight[o][k], of integers from -127 to 127; it wraps at 32 bits */
int attn2c_reference_linear_integers(const attn2c_reference_call *call) {
  const int64_t rows = call->n['*'], in = call->n['i'], out = call->n['o'];
  const float *x = call->in[0], *weight = call->in[1];
  int32_t *y = call->out;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t o = 0; o < out; o++) {
      double sum = 0; /* exact: below 2^53 */
      for (int64_t k = 0; k < in; k++) sum += (double)x[r * in + k] * (double)weight[o * in + k];
      y[r * out + o] = (int32_t)(uint32_t)(int64_t)sum;
    }
  return ATTN2C_OK;
}

/* y[r][o] = x[r][o] row_scale[r] scale[o] + bias[o]
 * magnitude[r][o] = |x[r][o] row_scale[r] scale[o]| + |bias[o]| */
int attn2c_reference_dequantise(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  const attn2c_tensor *bias_shape = attn2c_reference_operand(call, 3);
  const int64_t rows = attn2c_reference_rows(x_shape), width = attn2c_reference_width(x_shape);
  if (attn2c_elements(y_shape) != rows * width ||
      attn2c_elements(attn2c_reference_operand(call, 1)) != rows ||
      attn2c_elements(attn2c_reference_operand(call, 2)) != width ||
      (bias_shape && attn2c_elements(bias_shape) != width))
    return attn2c_reference_fault(call, "a scale a row, and scale and bias a column, must be given");
  const int32_t *x = call->in[0];
  const float *of_row = call->in[1], *of_column = call->in[2], *bias = call->in[3];
  float *y = call->out;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t o = 0; o < width; o++) {
      const double product = x[r * width + o] * (double)of_row[r] * (double)of_column[o];
      const double shift = bias ? bias[o] : 0;
      y[r * width + o] = (float)(product + shift);
      if (call->magnitude) call->magnitude[r * width + o] = (float)fmin(fabs(product) + fabs(shift), FLT_MAX);
    }
  return ATTN2C_OK;
}

void attn2c_reference_packed(const attn2c_descriptor *model, int weight, void *const *tensors) {
  if (!model->packings || model->packings[weight].type == ATTN2C_F32) return;
  if (attn2c_facts_of(model->packings[weight].type)->bits) return; /* blocks.c */
  const attn2c_tensor *tensor = &model->tensors[model->weights[weight].tensor];
  const int64_t rows = attn2c_reference_rows(tensor), width = attn2c_reference_width(tensor);
  float *values = tensors[model->weights[weight].tensor];
  for (int64_t r = 0; r < rows; r++) {
    const float scale = model->packings[weight].type == ATTN2C_I8
                            ? attn2c_reference_byte_scale(values + r * width, width)
                            : 0;
    for (int64_t i = r * width; i < (r + 1) * width; i++)
      values[i] = model->packings[weight].type == ATTN2C_I8 ? integer_of(values[i], scale)
                                                            : attn2c_reference_bf16(values[i]);
  }
}
