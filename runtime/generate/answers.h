/* answers.h - generates the tokens of several prompts side by side. One decode call a step gives each of them
 * a token. Each prompt has a sampler and a random stream of its own: its tokens do not depend on the other
 * prompts, nor on when they come and go. */
#pragma once

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
  int32_t *ids;  /* [count] */
  int32_t count; /* from 1 */
  int status;    /* of ATTN2C_END_FAULT */
  char fault[200];
} attn2c_answer_ids;

typedef struct attn2c_answers attn2c_answers;

/* Makes a batch of calls->sequences answers of at most `most` tokens, from 1. `calls` must stay.
 * ATTN2C_USAGE: an option of sampling is wrong, a line each; ATTN2C_MEMORY. *batch is then NULL. */
int attn2c_answers_create(attn2c_answers **batch, const attn2c_calls *calls, const attn2c_sampling *sampling,
                          int32_t most, attn2c_message *message);
void attn2c_answers_free(attn2c_answers *batch);

/* Returns an answer that is not used, or -1. */
int32_t attn2c_answers_place(const attn2c_answers *batch);

/* Reads the prompt of an answer that is not used, and draws its first token. `seed`: of its random stream.
 * stops: see attn2c_kept_ids_read. ATTN2C_FORMAT: the prompt has no token or more than the model keeps, or an
 * id is not in the vocabulary. Then, and after any other failure, the answer is not used. Logits that are
 * refused end the answer, and the status is ATTN2C_OK. */
int attn2c_answers_begin(attn2c_answers *batch, int32_t place, const int32_t *ids, int64_t count,
                         uint64_t seed, int (*stops)(void), attn2c_message *message);

/* Gives each answer that goes on its next token. Returns the status of the decode call; on failure no answer
 * has changed. */
int attn2c_answers_step(attn2c_answers *batch, attn2c_message *message);

const attn2c_answer_ids *attn2c_answers_at(const attn2c_answers *batch, int32_t place);

/* Ends an answer that goes on. */
void attn2c_answers_end(attn2c_answers *batch, int32_t place, attn2c_end end);

/* Makes an answer unused. */
void attn2c_answers_release(attn2c_answers *batch, int32_t place);
