/* pack.h - a weight's unpacked rows into the place and layout that emitted code reads. */
#ifndef ATTN2C_PACK_H
#define ATTN2C_PACK_H

#include "descriptor.h"

/* Writes `values`, [out][in] or [width] row-major, to packed + weight->offset: as it is, or transposed into
 * panels [in][width rounded up to 16], what lies beyond a panel's width zero. packed must have been zeroed.
 */
void attn2c_pack(const attn2c_weight *weight, const attn2c_tensor *tensor, const float *values,
                 float *packed);

#endif
