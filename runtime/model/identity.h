/* identity.h - tells the weights of an opened model from others, for files that depend on them. */
#pragma once

#include "model/model.h"

/* Returns the checksum of the packed block. A file of packed weights states it; else the first call reads all
 * weights. */
uint64_t attn2c_weights_checksum(const attn2c_model *model);
