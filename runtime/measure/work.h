/* work.h - counts the work of calls of a model of any length, whose ops state that of the longest sequence:
 * floating-point operations, and bytes of a model that continues. */
#pragma once

#include "base/descriptor.h"

/* Return the operations of an op, and of an entry, for a sequence of `length` tokens; 0: its own. */
double attn2c_op_work(const attn2c_descriptor *model, const attn2c_op *op, int64_t length);
double attn2c_entry_work(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t length);

/* Return the operations of an op, and of all ops, for `count` more tokens of a sequence that has had `past`,
 * with the logits of only the last token. */
double attn2c_op_tokens_work(const attn2c_descriptor *model, const attn2c_op *op, int64_t past,
                             int64_t count);
double attn2c_tokens_work(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t past,
                          int64_t count);

/* Returns the bytes of weights that a call for one token of each of some sequences reads: every product's
 * weights once, but of experts only what the tokens choose at most, and of a table the row of each token. */
double attn2c_bytes_of_weights(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t sequences);

/* Returns the bytes of keys and values that the last token of a sequence reads, of the `keys` that it has,
 * and of a source of `source` rows. */
double attn2c_bytes_of_kept(const attn2c_descriptor *model, const attn2c_entry *entry, int64_t keys,
                            int64_t source);
