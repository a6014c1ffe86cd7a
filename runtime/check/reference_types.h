/* reference_types.h - declares the grids of the number types besides f32, for the reference and the check. */
#ifndef ATTN2C_REFERENCE_TYPES_H
#define ATTN2C_REFERENCE_TYPES_H

#include "base/descriptor.h"

/* Returns x rounded to bf16: to nearest, ties to even. Denormals become zero, and numbers that are too large
 * infinity. */
float attn2c_reference_bf16(float x);
/* Returns the distance of neighbours on the grid around a number. */
double attn2c_reference_bf16_unit(double x);

/* Rounds weight number `weight` of the model as packing does, in place. tensors[] has its values as they come
 * from a checkpoint. */
void attn2c_reference_packed(const attn2c_descriptor *model, int weight, void *const *tensors);

#endif
