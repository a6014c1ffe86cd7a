/* continue.h - calls of a model that continues: a context keeps the keys and values of some sequences, and
 * each call adds tokens to them. Nothing here allocates; bits do not depend on how calls divide a sequence,
 * nor on the other sequences of a call. */
#pragma once

#include "generate/calls.h"
#include "model/model.h"

/* The logits that a call writes: [count][vocabulary], of the last token of each sequence; or
 * [tokens][vocabulary], of all tokens. */
typedef enum { ATTN2C_LOGITS_LAST, ATTN2C_LOGITS_ALL } attn2c_which_logits;

/* Adds counts[i] tokens, 1 or more, to sequence sequences[i], for each i < count; counts NULL: one token
 * each. ids: of all sequences, one after the other. logits NULL: none are wanted. Returns ATTN2C_USAGE
 * for a model that does not continue, a context that is not prepared (sequences.h), a sequence that the
 * context does not have or that is there twice, or no token; ATTN2C_FORMAT for a token id out of range, or
 * more tokens than a sequence has room for. A sequence without a source that the model's encoder has read is
 * ATTN2C_USAGE. Nothing changes then. */
int attn2c_extend(attn2c_context *context, int64_t count, const int32_t *sequences, const int32_t *counts,
                  const int32_t *ids, attn2c_which_logits which, float *logits);

/* Does the same for all outputs of the primary entry, [tokens] of each; NULL in outputs: it is not wanted. */
int attn2c_extend_outputs(attn2c_context *context, int64_t count, const int32_t *sequences,
                          const int32_t *counts, const int32_t *ids, void *const *outputs);

/* Adds tokens to one sequence. */
static inline int attn2c_prefill(attn2c_context *context, int32_t sequence, const int32_t *ids, int32_t count,
                                 attn2c_which_logits which, float *logits) {
  return attn2c_extend(context, 1, &sequence, &count, ids, which, logits);
}

/* Adds one token to each of several sequences. */
static inline int attn2c_decode(attn2c_context *context, int64_t count, const int32_t *sequences,
                                const int32_t *ids, float *logits) {
  return attn2c_extend(context, count, sequences, NULL, ids, ATTN2C_LOGITS_LAST, logits);
}

/* Returns the number of tokens that a sequence has; -1 if there is no such sequence. */
int64_t attn2c_position(const attn2c_context *context, int64_t sequence);

/* Gives a sequence an adapter, by its number, or none, 0. A source that it has read with another one is
 * forgotten. Returns ATTN2C_USAGE if there is no such sequence or adapter, or if the sequence has tokens,
 * whose keys were computed with another one. */
int attn2c_set_adapter(attn2c_context *context, int64_t sequence, int64_t adapter);

/* Forgets the tokens of a sequence from `position` on. Returns ATTN2C_USAGE if the sequence has fewer, or if
 * layers with a window have forgotten keys that the next token sees; 0 is always allowed. */
int attn2c_rewind(attn2c_context *context, int64_t sequence, int64_t position);

/* Makes sequence `to` a copy of `from`. same: the first tokens that both have, of which no page is copied; 0:
 * all is. Returns ATTN2C_USAGE if there is no such sequence, or one has fewer tokens. */
int attn2c_sequence_copy(attn2c_context *context, int64_t from, int64_t to, int64_t same);

/* Returns these calls in the form that runtime/generate uses. length is 0. */
attn2c_calls attn2c_continued_calls(attn2c_context *context);

/* Runs whole sequences, from their first token on, through the context's own, which are forgotten. Takes and
 * returns the same as attn2c_sequences_run. In a model with an encoder, sequence i has the source of
 * the context's sequence i and the adapter with which it was read. ATTN2C_USAGE is returned if the context
 * has fewer sequences, or one has no source or is given another adapter. */
int attn2c_run_anew(attn2c_context *context, int64_t count, const int32_t *each, int64_t seq,
                    const void *const *inputs, void *const *outputs);
