/* dispatch.h - runs calls of any size through the cheapest of a model's entries that fit, with padding. No
 * result depends on the padding. attn2c_lengths (base/descriptor.h) says which axes have a call's size, and
 * the values of padding. */
#ifndef ATTN2C_DISPATCH_H
#define ATTN2C_DISPATCH_H

#include "model/model.h"

/* Creates a prepared context; like attn2c_context_create. */
int attn2c_dispatch_create(const attn2c_model *model, const attn2c_lengths *lengths,
                           attn2c_context **context);

/* Allocates buffers in a new context for calls that do not fill an entry; attn2c_context_destroy frees them.
 * `lengths` must outlive the context: the descriptor's own or, if the model has none, the program's. Returns
 * ATTN2C_OK or _MEMORY. */
int attn2c_dispatch_prepare(attn2c_context *context, const attn2c_lengths *lengths);

/* Runs one call of `batch` sequences, any number from 1, of `seq` tokens each, from 1 to the longest
 * entry's. inputs and outputs are those of the primary entry (attn2c_primary), in its order, and in the
 * caller's shape: an entry's [batch][seq]... is [the caller's batch][the caller's seq]..., and key axes
 * have the past, the caller's seq, and the part after all keys. An input of the kind ATTN2C_ROWS_INPUT
 * may be NULL, which means all rows of every sequence; an unwanted output may be NULL. It allocates
 * nothing. More sequences than an entry has take several calls of entries, with the least cost in total;
 * the bits of a sequence do not depend on the others. Returns ATTN2C_USAGE for a size that is not
 * allowed, a missing input, or a context that is not prepared; ATTN2C_FORMAT for a token id or length out
 * of range, such as a length above `seq`. */
int attn2c_dispatch(attn2c_context *context, int64_t batch, int64_t seq, const void *const *inputs,
                    void *const *outputs);

/* Does the same through entry `number` alone, in several calls if it does not hold all sequences. */
int attn2c_dispatch_through(attn2c_context *context, int number, int64_t batch, int64_t seq,
                            const void *const *inputs, void *const *outputs);

/* Returns the number of the entry that runs the first sequences of such a call; -1 if none is allowed. */
int attn2c_dispatch_entry(const attn2c_context *context, int64_t batch, int64_t seq);

/* Return the most and the fewest tokens of a sequence. They are equal if a model has one length and
 * lengths->exact says why no sequence may be shorter. */
int64_t attn2c_longest(const attn2c_descriptor *model, const attn2c_lengths *lengths);
int64_t attn2c_shortest(const attn2c_lengths *lengths);

#endif
