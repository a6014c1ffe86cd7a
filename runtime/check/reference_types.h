/* reference_types.h - the grids of the number types beside f32, as the reference and the check see them. */
#ifndef ATTN2C_REFERENCE_TYPES_H
#define ATTN2C_REFERENCE_TYPES_H

#include "base/descriptor.h"

/* x rounded to bf16: to the nearest, of two to the even one. Denormals become zero, and what is too large
 * infinity. */
float attn2c_reference_bf16(float x);
/* The distance of neighbours of the grid around a number. */
double attn2c_reference_bf16_unit(double x);

/* What packing makes of a weight, number `weight` of the model, in place: tensors[] has its values as they
 * come from a checkpoint. */
void attn2c_reference_packed(const attn2c_descriptor *model, int weight, void *const *tensors);

#endif
