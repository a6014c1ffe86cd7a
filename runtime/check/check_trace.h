/* check_trace.h - the memory of a trace variant's run: where each tensor of the graph lies in it, what it
 * holds before the run, and how a tensor is read out of it. Nothing in it is reused, so that after the run
 * every tensor is still there. */
#ifndef ATTN2C_CHECK_TRACE_H
#define ATTN2C_CHECK_TRACE_H

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

/* Verifies that every tensor that an op of the entry reads or writes, and every output, can be found.
 * ATTN2C_OK, or ATTN2C_USAGE and a line that names the tensor. */
int attn2c_check_trace_verify(const attn2c_check_trace *trace, attn2c_message *message);

/* Fills arena and outputs with NaN, so that elements that no step writes show. Elements that a static mask
 * removes, which no step writes either, get their defined values: -inf in scores and in their sums, 0 in
 * weights. */
void attn2c_check_trace_fill(const attn2c_check_trace *trace);

/* Writes NaN (as an int32: far outside of any range) into `floats` elements. */
void attn2c_check_fill(void *values, int64_t floats);

/* Where the tensor's first element is, and how far its rows are apart. */
void *attn2c_check_trace_find(const attn2c_check_trace *trace, int tensor, int64_t *leading_dimension);

/* The tensor row-major and contiguous: where it is, or a copy, which is then also in *copy, for attn2c_free;
 * *copy is NULL otherwise. NULL when there is no memory. */
void *attn2c_check_trace_view(const attn2c_check_trace *trace, int tensor, void **copy);

#endif
