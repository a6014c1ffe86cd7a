/* pack.h - a weight's rows into the panels that emitted code reads. */
#ifndef ATTN2C_PACK_H
#define ATTN2C_PACK_H

#include "descriptor.h"

/* Writes `values`, [out][in] row-major, to packed + weight->offset, transposed into panels [in][width rounded
 * up to 16]; what lies beyond a panel's width stays as it is (zero, in a new block). The weight must be one
 * that has panels. */
void attn2c_pack(const attn2c_weight *weight, const attn2c_tensor *tensor, const float *values,
                 float *packed);

#endif
