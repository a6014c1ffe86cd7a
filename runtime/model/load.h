/* load.h - loads weights that are not packed, or packed for another target, into the packed block. */
#pragma once

#include "weights/weights.h"

/* A function with which a library loads such weights. */
typedef struct attn2c_loader {
  /* Opens what was given, and packs its weights into `packed`. Returns the status of opening or loading. */
  int (*load)(const attn2c_given *given, const attn2c_descriptor *descriptor, float *packed, int workers,
              attn2c_message *message);
} attn2c_loader;

/* Reads every weight of the source and packs it into packed[descriptor->weight_floats]. Every float is
 * written, so the block need not be zeroed. Reads are made one after the other, in order; up to `workers`
 * threads pack. Returns the source's status, or ATTN2C_MEMORY. */
int attn2c_load_weights(const attn2c_descriptor *descriptor, attn2c_source *source, float *packed,
                        int workers, attn2c_message *message);

/* Packs one weight after the other, and gives each to `put`: `floats` floats whose place is `offset` floats
 * after the start of the packed block. Later weights replace earlier ones; what is given for no weight is
 * zero. Needs memory only for the largest weight. Returns the first status that is not ATTN2C_OK. */
typedef int (*attn2c_put_weight)(void *context, int64_t offset, const float *packed, int64_t floats,
                                 attn2c_message *message);
int attn2c_load_each(const attn2c_descriptor *descriptor, attn2c_source *source, int workers,
                     attn2c_put_weight put, void *context, attn2c_message *message);
