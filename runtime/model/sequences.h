/* sequences.h - calls of an entry with sequences of any length: rows one after the other, without padding. */
#pragma once

#include "model/model.h"

/* Creates a context of a model of any length, with what its calls need. Returns ATTN2C_OK or _MEMORY; on
 * failure *context is NULL. */
int attn2c_sequences_create(const attn2c_model *model, attn2c_context **context);

/* Allocates what such calls need in a context of a model of any length, once; attn2c_context_destroy frees
 * it. Returns ATTN2C_OK or _MEMORY. */
int attn2c_sequences_prepare(attn2c_context *context);

/* Runs `count` sequences of each[i] rows; each NULL: of `seq` rows. inputs and outputs are the
 * entry's, in its order: [rows]... with the rows of all sequences, or [count]... where the entry has one row
 * for each sequence; an unwanted output may be NULL. More rows than the entry's longest sequence take several
 * calls of it. It allocates nothing, and the bits of a sequence do not depend on the others. Returns
 * ATTN2C_USAGE for a missing input, for no sequence, or for a context that is not prepared; ATTN2C_FORMAT for
 * a length or token id out of range. */
int attn2c_sequences_run(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                         const void *const *inputs, void *const *outputs);

/* Reads the sources of `count` sequences of a model with an encoder, source i of each[i] rows into sequence
 * sequences[i], whose tokens are forgotten. inputs: of the entry `encode`, [rows]... of all sources, or
 * [count]... of sources of one length, where each may be NULL. The last one, if there are adapters, has that
 * which each sequence gets; NULL: it has one already, or none (attn2c_set_adapter). It
 * allocates nothing, and a call that fails changes nothing. Returns ATTN2C_USAGE for a model without an
 * encoder, a missing input, or a sequence that the context does not have or that is there twice;
 * ATTN2C_FORMAT for a length or token id out of range. */
int attn2c_encode(attn2c_context *context, int64_t count, const int32_t *sequences, const int32_t *each,
                  const void *const *inputs);

/* The same, with outputs of the entry for all sources, as inputs are; NULL: none is wanted. */
int attn2c_encode_outputs(attn2c_context *context, int64_t count, const int32_t *sequences,
                          const int32_t *each, const void *const *inputs, void *const *outputs);

/* Return a prepared context's memory for pointers to the entry's outputs, and for ids of a call. */
void **attn2c_sequences_outputs(const attn2c_context *context);
int32_t *attn2c_sequences_ids(const attn2c_context *context);

/* Runs `count` sequences, 1 or more, through an entry of one batch and one length, in calls of its batch; the
 * last call is filled up with others, whose results are dropped. inputs and outputs are the entry's, in its
 * order, with the caller's number of sequences in place of the batch. An optional input and an unwanted
 * output may be NULL. Returns ATTN2C_MEMORY if there are no buffers for calls that are not full, or the
 * status of a call. */
int attn2c_batches_run(attn2c_context *context, const attn2c_lengths *lengths, int64_t count,
                       const void *const *inputs, void *const *outputs);
