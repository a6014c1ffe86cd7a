/* layout.h - computes a number for how a model reads its weights and lays them out in its packed block.
 * Models with the same number can use each other's blocks. */
#pragma once

#include "base/descriptor.h"

/* Covers of each weight the name, shape, formula, offset, panels, and the boxes of stored tensors that it
 * reads. */
uint64_t attn2c_layout(const attn2c_descriptor *model);
