/* floats.h - converts floats of checkpoints and arrays to f32. The bytes need no alignment. */
#pragma once

#include <stddef.h>

/* Convert `count` little-endian values. f32 is copied. f16 and bf16 are exact, subnormals included. f64 is
 * rounded to nearest, and to infinity beyond f32's range. NaN stays NaN. */
void attn2c_floats_from_f32(const void *bytes, float *values, size_t count);
void attn2c_floats_from_f64(const void *bytes, float *values, size_t count);
void attn2c_floats_from_f16(const void *bytes, float *values, size_t count);
void attn2c_floats_from_bf16(const void *bytes, float *values, size_t count);
