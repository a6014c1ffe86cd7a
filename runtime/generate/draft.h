/* draft.h - a smaller model guesses in place of repetitions (guess.h): its most probable tokens. */
#pragma once

#include "generate/guess.h"
#include "generate/kept_ids.h"

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

/* Asks for at most `most` guesses of a call that is planned next. */
void attn2c_drafter_ask(int32_t most, attn2c_guess *guess);

/* Writes the guesses of a planned call for sequence number `sequence`, whose text is ids[count] and then
 * `last`. A text that the model cannot take has none, and a fault ends them. call->rows has what is written.
 */
void attn2c_drafter_write(attn2c_drafter *drafter, attn2c_guess_call *call, int32_t number, int32_t sequence,
                          const int32_t *ids, int32_t count, int32_t last);
