/* beam.h - the beam search of one prompt, as Hugging Face's transformers 5.23 does it: which tokens follow
 * which beams, which answers are finished, and when the search ends. It computes nothing of the model.
 *
 * A step takes the logits of each beam. Their log_softmax goes through the processors without a new
 * normalisation, and is added to the beam's score. The best `max(2, 1 + stop tokens) * beams` candidates of
 * all beams are looked at in descending order; of equal ones the first beam's and the lower token come first.
 * One that ends by a stop token or by its length is an answer if it is among the first `beams` candidates;
 * the first `beams` others are the next beams. An answer's score is divided by (its tokens ^ length_penalty);
 * the best `beams` answers are kept. All numbers are floats, as in transformers. */
#pragma once

#include "generate/processors.h"

typedef struct attn2c_beam attn2c_beam;

/* An answer of a search. */
typedef struct attn2c_beam_answer {
  const int32_t *ids; /* [count], without the prompt */
  int32_t count;
  float score;
} attn2c_beam_answer;

/* One token of one beam: what it follows, and which it is. */
typedef struct attn2c_beam_next {
  int32_t beam, token;
} attn2c_beam_next;

/* Makes a search of options that attn2c_beam_check takes, and that must stay. tokens: the most of a prompt
 * and its answer. log_softmax: as of attn2c_calls. Returns ATTN2C_OK or _MEMORY; no other call allocates. */
int attn2c_beam_create(attn2c_beam **beam, const attn2c_beam_options *options, int32_t vocabulary,
                       int32_t tokens, void (*log_softmax)(float *row, int32_t count));
void attn2c_beam_free(attn2c_beam *beam);

/* Gives the search a rule, which must stay. */
void attn2c_beam_rule(attn2c_beam *beam, const attn2c_rule *rule);

/* Begins the search after a prompt. most: of prompt and answer, from prompt + 1. */
void attn2c_beam_begin(attn2c_beam *beam, int32_t prompt, int32_t most);

/* Does a step. Beam i has the logits [vocabulary] number i, which are changed, and the ids[i][count], prompt
 * included; in the first step there is only row 0, which all beams share. Writes the next beams to
 * next[beams]. ATTN2C_FORMAT, and a line: a logit is NaN or +inf, or all are -inf; or the search ends without
 * an answer, as no token is allowed. */
int attn2c_beam_step(attn2c_beam *beam, float *logits, const int32_t *const *ids, int32_t count,
                     attn2c_beam_next *next, attn2c_message *message);

/* True once the search has ended. */
int attn2c_beam_has_ended(const attn2c_beam *beam);

/* Returns how many answers there are so far, and writes number i of them, the best one first. */
int32_t attn2c_beam_count(const attn2c_beam *beam);
attn2c_beam_answer attn2c_beam_at(const attn2c_beam *beam, int32_t i);
