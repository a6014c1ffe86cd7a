/* load.h - loads a source's weights into the packed block. */
#ifndef ATTN2C_LOAD_H
#define ATTN2C_LOAD_H

#include "base/descriptor.h"
#include "weights/weights.h"

/* Reads every weight of the source and packs it into packed[descriptor->weight_floats]. Every float is
 * written, so the block need not be zeroed. Reads are made one after the other, in order; up to `workers`
 * threads pack. Returns the source's status, or ATTN2C_MEMORY. */
int attn2c_load_weights(const attn2c_descriptor *descriptor, attn2c_source *source, float *packed,
                        int workers, attn2c_message *message);

#endif
