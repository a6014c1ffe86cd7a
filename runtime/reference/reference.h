/* reference.h - interprets the descriptor's graph ops with run-time shapes and plain loops, as the reference.
 * It knows no tile, no packing and no kernel library, so it can judge all of them. The ops themselves are in
 * rows.c, reduce.c, moves.c, attention.c, positions.c and
 * masks.c. */
#pragma once

#include "base/descriptor.h"

/* Tensors are an array of pointers by tensor index, row-major and contiguous. Elements are float, or int32_t
 * for ids, lengths and indices. Every op computes in double and rounds its result to float once. */

/* True if the reference has an op of this name. */
int attn2c_reference_knows(const char *op);

/* Runs one op: reads tensors[] of its operands, writes tensors[op->result]. magnitude may be NULL; otherwise
 * it has one float per element of the result. linear, scores, additive_scores, add_relative, context, rotate,
 * hadamard, mean_heads and the mean of pool write the number there that their rounding error is proportional
 * to: the sum of the absolute values of the terms. Other ops do not write it. Returns ATTN2C_OK; _USAGE: an
 * unknown op or attribute, or shapes that do not fit; _FORMAT: a token id or length out of range. Each
 * failure gives one line of message that names the op and the tensor. */
int attn2c_reference_op(const attn2c_descriptor *model, const attn2c_op *op, void *const *tensors,
                        float *magnitude, attn2c_message *message);

/* Returns the number of indices that an op gives for each row of its operand, or 0. */
int64_t attn2c_reference_picks(const attn2c_op *op);

/* May change an op's result before others read it: settle(of, op, tensors) returns a status. */
typedef struct {
  int (*settle)(void *of, const attn2c_op *op, void *const *tensors);
  void *of;
} attn2c_reference_guide;

/* Runs all ops of an entry in order. The caller sets tensors[] of inputs, weights and constants. Results are
 * allocated here (they must be NULL before) and freed after the last op that reads them, except the entry's
 * outputs and the operand of an op whose indices are an output. Returns the statuses of attn2c_reference_op,
 * or ATTN2C_MEMORY. In every case the caller ends with attn2c_reference_release. guide NULL: results stay as
 * they are. */
int attn2c_reference_run(const attn2c_descriptor *model, const attn2c_entry *entry, void **tensors,
                         const attn2c_reference_guide *guide, attn2c_message *message);

/* Frees the remaining results of the entry's ops in tensors[], and sets them to NULL. */
void attn2c_reference_release(const attn2c_entry *entry, void **tensors);

/* Returns zeroed storage for a tensor, or NULL if there is no memory. Free it with attn2c_free. */
void *attn2c_reference_allocate(const attn2c_tensor *tensor);
