/* draft.h - a smaller model guesses in place of repetitions (guess.h): its most probable tokens. */
#pragma once

#include "generate/guess.h"
#include "generate/kept_ids.h"
#include "generate/processors.h"

typedef struct attn2c_drafter {
  attn2c_calls calls;
  attn2c_kept_ids *kept;
  int32_t vocabulary; /* of the model that verifies */
  int32_t *text;      /* [of the model that verifies: tokens + 1] */
  float *logits;      /* [vocabulary of the guesses] */
} attn2c_drafter;

/* calls: of the smaller model, copied; it has the same tokens as the model of `verifies`, and a sequence for
 * each of its sequences that are used. Returns ATTN2C_OK or _MEMORY. */
int attn2c_drafter_create(const attn2c_calls *calls, const attn2c_calls *verifies, attn2c_drafter **drafter);
void attn2c_drafter_free(attn2c_drafter *drafter);

/* A text that a call goes on with. */
typedef struct attn2c_guessed_text {
  attn2c_history history; /* the tokens that are kept of it */
  int32_t sequence, last; /* last: the token after these */
} attn2c_guessed_text;

/* Plans a call of at most `rows` rows that reads the last token of each of `count` texts and the guesses
 * after it: the drafter's, or if it is NULL repetitions. Writes the call's ids, and their number by text to
 * counts. A text that the smaller model cannot take has no guesses, and a fault ends them. */
void attn2c_guess_texts(attn2c_guess_call *call, attn2c_drafter *drafter, const attn2c_guessed_text *texts,
                        int32_t count, int32_t rows, int32_t *ids, int32_t *counts);
