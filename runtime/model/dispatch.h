/* dispatch.h - calls of any size, made of a model's entries: the cheapest entry that a call fits in, with
 * padding that no result depends on. attn2c_lengths (base/descriptor.h) says which axes of a model have a
 * call's size, and what stands in padding. */
#ifndef ATTN2C_DISPATCH_H
#define ATTN2C_DISPATCH_H

#include "model/model.h"

/* A context that is prepared; as attn2c_context_create. */
int attn2c_dispatch_create(const attn2c_model *model, const attn2c_lengths *lengths,
                           attn2c_context **context);

/* Makes room in a new context for calls that do not fill an entry; attn2c_context_destroy frees it. `lengths`
 * must outlive the context: the descriptor's own, or, of a model that has none there, the program's.
 * ATTN2C_OK or _MEMORY. */
int attn2c_dispatch_prepare(attn2c_context *context, const attn2c_lengths *lengths);

/* One call of `batch` sequences, any number from 1, of `seq` tokens each, from 1 to the longest entry's.
 * inputs and outputs are in the order of the descriptor's entries, which all have the same ones, and in the
 * caller's shape: what an entry has as [batch][seq]... is [the caller's batch][the caller's seq]..., and
 * where axes are of keys, they have the past, the caller's seq, and what stands behind all keys. An input of
 * the kind ATTN2C_ROWS_INPUT may be NULL: all rows of every sequence are its own; an output may be NULL: it
 * is not wanted. Allocates nothing. More sequences than an entry has take several calls of entries, the
 * cheapest together; the bits of a sequence do not depend on the others. ATTN2C_USAGE: a size that is not
 * allowed, an input that is missing, or a context that is not prepared; ATTN2C_FORMAT: a token id or length
 * out of range, a length above `seq` among them. */
int attn2c_dispatch(attn2c_context *context, int64_t batch, int64_t seq, const void *const *inputs,
                    void *const *outputs);

/* The same through one entry alone, of that number; of several calls where it does not have all sequences. */
int attn2c_dispatch_through(attn2c_context *context, int number, int64_t batch, int64_t seq,
                            const void *const *inputs, void *const *outputs);

/* The number of the entry that the first sequences of such a call go through; -1 where none is allowed. */
int attn2c_dispatch_entry(const attn2c_context *context, int64_t batch, int64_t seq);

/* The tokens of the longest sequence that may come, and the fewest; they are the same where a model has one
 * length and lengths->exact says why none may be shorter. */
int64_t attn2c_longest(const attn2c_descriptor *model, const attn2c_lengths *lengths);
int64_t attn2c_shortest(const attn2c_lengths *lengths);

#endif
