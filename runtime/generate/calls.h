/* calls.h - the calls of a model that continues its sequences, by which text is generated. A context of the
 * model keeps the keys and values of several sequences. */
#pragma once

#include "base/attn2c.h"

/* The functions return an attn2c_status. `context` is their first argument. They do not allocate. */
typedef struct attn2c_calls {
  void *context;
  int32_t vocabulary;
  int32_t tokens;    /* the most of a sequence */
  int32_t length;    /* the most of a prompt and its answer together, from 2; 0: not stated */
  int32_t sequences; /* that are kept, from 0 */
  int32_t rows;      /* the most tokens of a call that is not divided; 0: any */
  /* Reads counts[i] tokens, or one if counts is NULL, of each of `count` different sequences, at its
   * position. logits: [vocabulary] for each sequence, of its last token; for each token if all; NULL: none
   * are wanted. */
  int (*extend)(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                const int32_t *ids, int all, float *logits);
  /* Reads counts[i] ids of a source of a model with an encoder into each of `count` different sequences,
   * which then keep no token. NULL: it has none. */
  int (*encode)(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                const int32_t *ids);
  int32_t source; /* the most ids of a source */
  int64_t
      source_values; /* numbers of 4 bytes of each source that is no ids, such as a picture; 0: it is ids */
  const int32_t *start; /* [start_count], the prompt of an answer to a source */
  int32_t start_count;
  /* Returns the tokens that a sequence keeps. */
  int32_t (*position)(const void *context, int32_t sequence);
  /* Forgets the tokens from `position` on. */
  int (*rewind)(void *context, int32_t sequence, int32_t position);
  /* Gives a sequence without tokens an adapter, 0: none. NULL: the model has no adapters next to its weights.
   */
  int (*adapt)(void *context, int32_t sequence, int32_t adapter);
  /* Copies what one sequence keeps to another, but for the first `same` tokens, which both have. most: tokens
   * that the copy needs; it may have more. */
  int (*copy)(void *context, int32_t from, int32_t to, int32_t same, int32_t most);
  /* Turns a row of logits into logarithms of probabilities, fast on this machine; NULL: there is none. */
  void (*log_softmax)(float *row, int32_t count);
  const struct attn2c_rule *rule; /* of each answer's next token (processors.h); NULL: there is none */
} attn2c_calls;

/* True if the stated length ends an answer, and not the end of the model's context. */
static inline int attn2c_calls_are_shorter(const attn2c_calls *calls) {
  return calls->length > 0 && calls->length <= calls->tokens;
}

/* Returns the most tokens that a sequence keeps before the last one of an answer is drawn. */
static inline int32_t attn2c_calls_room(const attn2c_calls *calls) {
  return attn2c_calls_are_shorter(calls) ? calls->length - 1 : calls->tokens;
}
