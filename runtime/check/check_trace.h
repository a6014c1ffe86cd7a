/* check_trace.h - manages the memory of a trace variant's run: where tensors are, initial values, reading
 * them. The trace reuses no memory, so every tensor still exists after the run. */
#pragma once

#include "base/descriptor.h"

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_entry *entry;
  float *arena;
  int64_t floats;
  const void *const *inputs; /* in the entry's order */
  void *const *outputs;      /* in the entry's order */
  void *const *weights;      /* unpacked, by tensor index */
} attn2c_check_trace;

/* Checks that every tensor that an op of the entry reads or writes, and every output, can be found. Returns
 * ATTN2C_OK, or ATTN2C_USAGE and a line that names the tensor. */
int attn2c_check_trace_verify(const attn2c_check_trace *trace, attn2c_message *message);

/* Fills arena and outputs with NaN, so that elements that no step writes are seen. Elements that a static
 * mask removes get their defined values: -inf in scores and in their sums, 0 in weights. */
void attn2c_check_trace_fill(const attn2c_check_trace *trace);
/* Does the same for only the arena. */
void attn2c_check_trace_fill_arena(const attn2c_check_trace *trace);

/* Writes NaN (as an int32: far outside of any range) into `floats` elements. */
void attn2c_check_fill(void *values, int64_t floats);

/* Returns the address of the tensor's first element, and the distance of its rows. */
void *attn2c_check_trace_find(const attn2c_check_trace *trace, int tensor, int64_t *leading_dimension);

/* Returns the tensor row-major and contiguous: in place, or as a copy. A copy is also in *copy, for
 * attn2c_free; otherwise *copy is NULL. Returns NULL if there is no memory. */
void *attn2c_check_trace_view(const attn2c_check_trace *trace, int tensor, void **copy);
