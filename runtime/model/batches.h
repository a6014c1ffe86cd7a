/* batches.h - runs any number of sequences through an entry of one batch and one length. */
#pragma once

#include "model/model.h"

/* Runs `count` sequences, 1 or more, in calls of the entry's batch; the last call is filled up with others,
 * whose results are dropped. inputs and outputs are the entry's, in its order, with the caller's
 * number of sequences in place of the batch. An optional input and an unwanted output may be NULL. Returns
 * ATTN2C_MEMORY if there are no buffers for calls that are not full, or the status of a call. */
int attn2c_batches_run(attn2c_context *context, const attn2c_lengths *lengths, int64_t count,
                       const void *const *inputs, void *const *outputs);
