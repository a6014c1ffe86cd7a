/* draft.c - the smaller model reads what is new of a text, and then its own guesses. */
#include "generate/draft.h"

int attn2c_drafter_create(const attn2c_calls *calls, const attn2c_calls *verifies, attn2c_drafter **drafter) {
  attn2c_drafter *d = *drafter = attn2c_allocate(sizeof *d);
  if (!d) return ATTN2C_MEMORY;
  d->calls = *calls;
  d->vocabulary = (int32_t)verifies->vocabulary;
  d->text = attn2c_reserve(((size_t)verifies->tokens + 1) * sizeof *d->text);
  d->logits = attn2c_reserve((size_t)calls->vocabulary * sizeof *d->logits);
  const int status = d->text && d->logits ? attn2c_kept_ids_create(&d->calls, &d->kept) : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) return status;
  attn2c_drafter_free(d);
  *drafter = NULL;
  return status;
}

void attn2c_drafter_free(attn2c_drafter *d) {
  if (!d) return;
  attn2c_kept_ids_free(d->kept);
  ATTN2C_FREE_ALIGNED(d->text, d->logits, d);
}

static int32_t most_probable(const float *logits, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; i++)
    if (logits[i] > logits[best]) best = i;
  return best;
}

static void write_guesses(attn2c_drafter *d, attn2c_guess *guess, const attn2c_guessed_text *text) {
  const int32_t asked = guess->count, count = text->history.count, sequence = text->sequence;
  guess->found = guess->count = 0;
  if (asked == 0 || count + asked > d->calls.tokens) return;
  memcpy(d->text, text->history.ids, (size_t)count * sizeof *d->text);
  d->text[count] = text->last;
  int status = attn2c_kept_ids_read(d->kept, sequence, d->text, count + 1, d->logits, NULL);
  while (status == ATTN2C_OK) {
    const int32_t id = most_probable(d->logits, (int32_t)d->calls.vocabulary);
    if (id >= d->vocabulary) return;
    guess->ids[guess->found++] = id;
    if (++guess->count == asked) return;
    status = attn2c_kept_ids_decode(d->kept, 1, &sequence, &id, d->logits);
  }
}

void attn2c_guess_texts(attn2c_guess_call *call, attn2c_drafter *d, const attn2c_guessed_text *texts,
                        int32_t count, int32_t rows, int32_t *ids, int32_t *counts) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t most = texts[i].history.most - texts[i].history.count - 2;
    if (d)
      call->guesses[i] = (attn2c_guess){.found = most < 0 ? 0 : (int32_t)attn2c_lesser(most, ATTN2C_GUESSES)};
    else
      attn2c_guess_next(&texts[i].history, texts[i].last, most, &call->guesses[i]);
  }
  attn2c_guess_call_begin(call, count, rows);
  for (int32_t i = 0; i < count; ids += counts[i++]) {
    attn2c_guess *guess = &call->guesses[i];
    call->rows -= guess->count;
    if (d) write_guesses(d, guess, &texts[i]);
    call->rows += guess->count;
    counts[i] = 1 + guess->count;
    *ids = texts[i].last;
    memcpy(ids + 1, guess->ids, (size_t)guess->count * sizeof *ids);
  }
}
