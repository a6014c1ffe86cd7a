/* bound.h - estimates the time of a model's call if each part were as fast as possible. Products have the
 * best rate of any tile on the model's own weights; attention's kernels and row operations have operands in
 * cache. Parts are sampled between the model's repetitions. */
#pragma once

#include "model/model.h"

/* Runs a product by itself, in the tiles of one of the compiler's candidates. It walks over all of the
 * model's weights, so that they come from the same cache or memory as in a call. */

/* Operands of a product. The weights are walked cyclically, from `position` on. */
typedef struct {
  const attn2c_kernel *kernels; /* the model's */
  const float *weights;
  int64_t weight_floats, position;
  const float *b; /* [tokens][ldb] */
  float *c;       /* [tokens][ldc], 64-byte aligned */
} attn2c_product_setting;

typedef struct attn2c_tiled_product attn2c_tiled_product;

/* Dispatches the candidate's kernels; candidate NULL: the product's own. Returns ATTN2C_OK; ATTN2C_MACHINE if
 * a kernel cannot be made, or a panel is larger than all weights; ATTN2C_MEMORY. */
int attn2c_tiled_product_open(const attn2c_part_product *product, const attn2c_candidate *candidate,
                              const char *target, int64_t weight_floats, attn2c_tiled_product **tiled);
/* Computes the whole product once. */
void attn2c_tiled_product_run(const attn2c_tiled_product *tiled, attn2c_product_setting *setting);
void attn2c_tiled_product_close(attn2c_tiled_product *tiled);

typedef struct attn2c_bound attn2c_bound;

typedef struct {
  const char *name;
  const char *kind; /* "product", "attention", "row operation" */
  double calls;     /* how often a call of the model runs it */
  double microseconds;
  double flops;     /* of one call of the part; 0 for a row operation */
  const char *tile; /* for a product: the best that was found; else empty */
} attn2c_bound_part;

/* Finds the best tiles of each product of the entry, which takes some seconds for a large model. If no kernel
 * can be dispatched for a product, or the program's parts are not known, *bound is NULL. Parts are timed on
 * one thread, and their sum is divided by the model's workers. Returns ATTN2C_OK or _MEMORY. */
int attn2c_bound_open(const attn2c_program *program, int entry, const attn2c_model *model,
                      attn2c_bound **bound);
/* Times each part once more. */
void attn2c_bound_sample(attn2c_bound *bound);
/* Write the median of each part to `parts`, which holds attn2c_bound_count elements, and return their sum in
 * ms. Only close may follow. */
int attn2c_bound_count(const attn2c_bound *bound);
double attn2c_bound_result(attn2c_bound *bound, attn2c_bound_part *parts);
void attn2c_bound_close(attn2c_bound *bound);
