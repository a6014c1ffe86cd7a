/* types.h - declares the grids of the number types besides f32, for the reference and the check. */
#pragma once

#include "base/descriptor.h"
#include "formats/scale_block.h"

/* The largest integer of int8, whose least one is its negative, and the smallest scale: rounding to it is
 * then off by at most half of it, the smallest normal float. */
enum { REFERENCE_LARGEST = 127 };
#define REFERENCE_LEAST_SCALE 0x1p-125

/* Returns x rounded to bf16: to nearest, ties to even. Denormals become zero, too large numbers infinity. */
float attn2c_reference_bf16(float x);
/* Returns the distance of neighbours on the grid around a number. */
double attn2c_reference_bf16_unit(double x);

/* Rounds weight number `weight` of the model as packing does, in place. tensors[] has its values as they come
 * from a checkpoint. */
void attn2c_reference_packed(const attn2c_descriptor *model, int weight, void *const *tensors);

/* Returns the scale of numbers that int8 rounds together: the largest magnitude / 127, at least 2^-125. */
float attn2c_reference_byte_scale(const float *x, int64_t count);
/* Returns the integer that int8 rounds x to; 0 if the scale is not finite. */
float attn2c_reference_byte(float x, float scale);

/* Rounds a row of a weight in scale blocks as packing does. stored: the row's blocks in the source, which
 * stay if the type holds them; or NULL. powers: weigh the errors of the columns; NULL: all alike. */
void attn2c_reference_blocks(const attn2c_type_facts *facts, const attn2c_scale_block *stored,
                             const signed char *powers, float *row, int64_t columns);
