/* reference_types.c - the reference of the ops that make numbers of another type, and what packing makes of
 * weights. All results are floats whose values lie on the grid of their type. The grids are found by
 * arithmetic, and not by bits as in the code that is judged. */
#include "check/reference_ops.h"
#include "check/reference_types.h"

#include <math.h>

/* A bf16 has 8 significant bits and the exponents of a float; what would be a denormal is a zero. */
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
  const double unit = attn2c_reference_bf16_unit(x),
               nearest = rint(x / unit) * unit; /* of two the even one */
  return fabs(nearest) < TOO_LARGE ? (float)nearest : copysignf(INFINITY, x);
}

/* y = x, rounded to bf16 */
int attn2c_reference_round(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  if (x_shape->rank != y_shape->rank || !attn2c_reference_same(x_shape, y_shape, x_shape->rank))
    return attn2c_reference_fault(call, "operand and result must have the same shape");
  const float *x = attn2c_reference_values(call, 0);
  float *y = call->tensors[call->op->result];
  const int64_t elements = attn2c_elements(y_shape);
  for (int64_t i = 0; i < elements; i++) y[i] = attn2c_reference_bf16(x[i]);
  return ATTN2C_OK;
}

void attn2c_reference_packed(const attn2c_descriptor *model, int weight, void *const *tensors) {
  if (!model->packings || model->packings[weight].type != ATTN2C_BF16) return;
  const int tensor = model->weights[weight].tensor;
  const int64_t elements = attn2c_elements(&model->tensors[tensor]);
  float *values = tensors[tensor];
  for (int64_t i = 0; i < elements; i++) values[i] = attn2c_reference_bf16(values[i]);
}
