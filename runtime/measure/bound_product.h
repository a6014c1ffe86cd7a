/* bound_product.h - runs a product by itself, in the tiles of one of the compiler's candidates. It walks over
 * all of the model's weights, so that they come from the same cache or memory as in a call. */
#pragma once

#include "base/descriptor.h"

/* Operands of a product. The weights are walked cyclically, from `position` on. */
typedef struct {
  const attn2c_kernel *kernels; /* the model's */
  const float *weights;
  int64_t weight_floats, position;
  const float *b; /* [tokens][ldb] */
  float *c;       /* [tokens][ldc], 64-byte aligned */
} attn2c_product_setting;

typedef struct attn2c_tiled_product attn2c_tiled_product;

/* Dispatches the candidate's kernels; candidate NULL: the product's own, which it must have. Returns
 * ATTN2C_OK; ATTN2C_MACHINE if a kernel cannot be made, or a panel is larger than all weights;
 * ATTN2C_MEMORY. */
int attn2c_tiled_product_open(const attn2c_part_product *product, const attn2c_candidate *candidate,
                              const char *target, int64_t weight_floats, attn2c_tiled_product **tiled);
/* Computes the whole product once. */
void attn2c_tiled_product_run(const attn2c_tiled_product *tiled, attn2c_product_setting *setting);
void attn2c_tiled_product_close(attn2c_tiled_product *tiled);
