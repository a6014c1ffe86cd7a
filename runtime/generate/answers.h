/* answers.h - generates the tokens of several prompts side by side. One decode call a step gives each of them
 * a token, or all beams of each. Each prompt has a sampler and a random stream of its own, or a beam search:
 * its tokens do not depend on the other prompts, nor on when they come and go. */
#pragma once

#include "generate/beam.h"
#include "generate/calls.h"
#include "generate/sample.h"

/* Why an answer has ended. */
typedef enum {
  ATTN2C_END_NONE,    /* it goes on */
  ATTN2C_END_TOKEN,   /* a stop token, which is the last of its tokens */
  ATTN2C_END_TEXT,    /* a stop string */
  ATTN2C_END_COUNT,   /* it has the tokens that were asked for */
  ATTN2C_END_CONTEXT, /* the sequence has the most tokens that the model keeps */
  ATTN2C_END_FAULT    /* its logits are refused; `status` and `fault` say why */
} attn2c_end;

/* The answer to one prompt. */
typedef struct attn2c_answer_ids {
  int is_used; /* 1: it has a prompt */
  attn2c_end end;
  const int32_t *ids; /* [count] */
  int32_t count;      /* from 1; of beams: 0 until the search has ended */
  double score;       /* of beams: attn2c_beam_answer; with a rule, the sum of log-probabilities */
  int status;         /* of ATTN2C_END_FAULT */
  char fault[200];
} attn2c_answer_ids;

typedef struct attn2c_answers attn2c_answers;

/* Returns the most tokens of an answer: `given` if that is more than 0, else those that the model's folder
 * states, else 256; and writes the most of a prompt and its answer, for calls.length. */
int64_t attn2c_answers_limit(const attn2c_generation *stated, int64_t given, int32_t *length);

/* Makes a batch of answers of at most `most` tokens, from 1: one for each `beams` of calls->sequences.
 * sampling: how tokens are chosen where beams is 1. Its repetition penalty and stop tokens take the place of
 * the ones in `beam`. Calls and lists are copied. ATTN2C_USAGE: an option is wrong, a line each;
 * ATTN2C_MEMORY. *batch is then NULL. */
int attn2c_answers_create(attn2c_answers **batch, const attn2c_calls *calls, const attn2c_sampling *sampling,
                          const attn2c_beam_options *beam, int32_t most, attn2c_message *message);
void attn2c_answers_free(attn2c_answers *batch);

/* Verifies guesses by repetitions of prompt and answer from now on (guess.h), in a batch without beams and
 * without a rule. A step may then give an answer several tokens, the same as without guesses. Returns
 * ATTN2C_OK or _MEMORY. */
int attn2c_answers_guess(attn2c_answers *batch, attn2c_message *message);

/* The same with guesses of another model, which has the same tokens, and a sequence for each place at least.
 * The guesses are its most probable tokens. The calls are copied. */
int attn2c_answers_draft(attn2c_answers *batch, const attn2c_calls *draft, attn2c_message *message);

/* Draws with another temperature at a place from now on, in a batch that draws; 0: the most probable. */
void attn2c_answers_temperature(attn2c_answers *batch, int32_t place, double temperature);

/* Returns the most answers at a time. */
int32_t attn2c_answers_places(const attn2c_answers *batch);

/* Returns an answer that is not used, or -1. */
int32_t attn2c_answers_place(const attn2c_answers *batch);

/* Reads the prompt of an answer that is not used, and draws its first token. `seed`: of its random stream.
 * stops: see attn2c_kept_ids_read. ATTN2C_FORMAT: the prompt has no token or more than the model keeps, or an
 * id is not in the vocabulary. Then, and after any other failure, the answer is not used. Logits that are
 * refused end the answer, and the status is ATTN2C_OK. */
int attn2c_answers_begin(attn2c_answers *batch, int32_t place, const int32_t *ids, int64_t count,
                         uint64_t seed, int (*stops)(void), attn2c_message *message);

/* The source of an answer that is not used, in a model with an encoder. */
typedef struct attn2c_answer_source {
  int32_t place;
  const int32_t *ids; /* [count] */
  int64_t count;
  uint64_t seed;
} attn2c_answer_source;

/* Reads the sources of several answers in one call, and draws their first tokens. Nothing is taken from
 * sequences with the same tokens, which have other sources. Several are copied to memory that it allocates;
 * one is read where it is. ATTN2C_USAGE: a source has no token. On any failure no answer has begun. */
int attn2c_answers_begin_sources(attn2c_answers *batch, const attn2c_answer_source *sources, int32_t count,
                                 attn2c_message *message);

/* The same where other calls have read the prompt: sequence number place * beams. ids: what the processors
 * take for the prompt, from 1 to the sequence's position. logits: those after the prompt, [vocabulary]. */
int attn2c_answers_go_on(attn2c_answers *batch, int32_t place, const int32_t *ids, int64_t count,
                         uint64_t seed, const float *logits, attn2c_message *message);

/* Gives each answer that goes on its next token, or several. Returns the status of the decode call; on
 * failure no answer has changed. */
int attn2c_answers_step(attn2c_answers *batch, attn2c_message *message);

const attn2c_answer_ids *attn2c_answers_at(const attn2c_answers *batch, int32_t place);

/* Returns the ids of an answer's prompt, and writes their number. */
const int32_t *attn2c_answers_prompt(const attn2c_answers *batch, int32_t place, int32_t *count);

/* Makes the answer at an ended place the search's number `rank`, from 0. Returns 0 if there are fewer. */
int attn2c_answers_rank(attn2c_answers *batch, int32_t place, int32_t rank);

/* Ends an answer after its first `count` tokens, also if it has ended after more of them. */
void attn2c_answers_end(attn2c_answers *batch, int32_t place, attn2c_end end, int32_t count);

/* Makes an answer unused. */
void attn2c_answers_release(attn2c_answers *batch, int32_t place);
