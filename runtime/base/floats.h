/* floats.h - the floating-point types that checkpoints and arrays come in, as f32. The
 * bytes may lie at any address. */
#ifndef ATTN2C_FLOATS_H
#define ATTN2C_FLOATS_H

#include <stddef.h>

/* `count` little-endian values. f16 and bf16 are exact, subnormals included; f64 is rounded to nearest, and
 * to infinity beyond f32's range. NaN stays NaN. */
void attn2c_from_f64(const void *bytes, float *values, size_t count);
void attn2c_from_f16(const void *bytes, float *values, size_t count);
void attn2c_from_bf16(const void *bytes, float *values, size_t count);

#endif
