/* processors.h - changes the logits of the next token, or their log-probabilities, by the tokens before it:
 * what Hugging Face's transformers calls logits processors, in its order. */
#pragma once

#include "base/generation.h"

struct attn2c_history;

/* A further processor, which comes last. It begins the facts that it goes by. */
typedef struct attn2c_rule {
  /* Returns NULL, or the reason why no token is left. */
  const char *(*apply)(const struct attn2c_rule *rule, const struct attn2c_history *history, float *scores,
                       int32_t vocabulary);
  int is_scored; /* 1: answers have the sum of their log-probabilities */
  /* Writes to ids[most] the tokens that probably follow token `last`, as the rule leaves one way for their
   * text; returns their number. NULL: there are none. */
  int32_t (*foresee)(const struct attn2c_rule *rule, const struct attn2c_history *history, int32_t last,
                     int32_t *ids, int32_t most);
} attn2c_rule;

/* The tokens before the one that is chosen. */
typedef struct attn2c_history {
  const int32_t *ids; /* [count], of the prompt and of the answer so far */
  int32_t count, prompt;
  int32_t most;            /* of prompt and answer together */
  const attn2c_rule *rule; /* NULL: none */
} attn2c_history;

/* Returns the options that a model's folder states; one beam where it states none. */
attn2c_beam_options attn2c_beam_stated(const attn2c_generation *stated);

/* Returns ATTN2C_OK, or ATTN2C_USAGE and a line for each fault, which begins with the option's name.
 * sequences: those that the model keeps. */
int attn2c_beam_check(const attn2c_beam_options *options, int32_t sequences, int64_t vocabulary,
                      attn2c_message *message);

/* Copies options with their lists, which the caller frees as *lists. Returns ATTN2C_OK or _MEMORY. */
int attn2c_beam_copy(attn2c_beam_options *own, const attn2c_beam_options *options, int32_t **lists);

/* True for a stop token. */
int attn2c_beam_stops(const attn2c_beam_options *options, int32_t token);

/* Divides the scores of tokens that have occurred by the penalty if they are positive, else multiplies them,
 * once a token. values: memory for history->count numbers. */
void attn2c_penalise(double penalty, const attn2c_history *history, float *scores, int32_t vocabulary,
                     float *values);

/* Applies the other processors to scores[vocabulary]: a token that is not allowed gets -inf. A forced token
 * gets 0, and all others -inf. Returns NULL, or the rule's reason why no token is left. */
const char *attn2c_process(const attn2c_beam_options *options, const attn2c_history *history, float *scores,
                           int32_t vocabulary);
