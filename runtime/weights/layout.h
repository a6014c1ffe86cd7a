/* layout.h - a number for how a model takes its weights and lays them into its packed block:
 * blocks of models that have the same number can stand for each other. */
#ifndef ATTN2C_LAYOUT_H
#define ATTN2C_LAYOUT_H

#include "base/descriptor.h"

/* Of each weight: name, shape, formula, place, panels, and the boxes of stored tensors that it takes. */
uint64_t attn2c_layout(const attn2c_descriptor *model);

#endif
