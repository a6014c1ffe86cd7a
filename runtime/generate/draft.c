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

void attn2c_drafter_ask(int32_t most, attn2c_guess *guess) {
  *guess = (attn2c_guess){.found = most < 0 ? 0 : most < ATTN2C_GUESSES ? most : ATTN2C_GUESSES};
}

static int32_t most_probable(const float *logits, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; i++)
    if (logits[i] > logits[best]) best = i;
  return best;
}

static void write_guesses(attn2c_drafter *d, attn2c_guess *guess, int32_t sequence, const int32_t *ids,
                          int32_t count, int32_t last) {
  const int32_t asked = guess->count;
  guess->found = guess->count = 0;
  if (asked == 0 || count + asked > d->calls.tokens) return;
  memcpy(d->text, ids, (size_t)count * sizeof *ids);
  d->text[count] = last;
  int status = attn2c_kept_ids_read(d->kept, sequence, d->text, count + 1, d->logits, NULL);
  while (status == ATTN2C_OK) {
    const int32_t id = most_probable(d->logits, (int32_t)d->calls.vocabulary);
    if (id >= d->vocabulary) return;
    guess->ids[guess->found++] = id;
    if (++guess->count == asked) return;
    status = attn2c_kept_ids_decode(d->kept, 1, &sequence, &id, d->logits);
  }
}

void attn2c_drafter_write(attn2c_drafter *d, attn2c_guess_call *call, int32_t number, int32_t sequence,
                          const int32_t *ids, int32_t count, int32_t last) {
  attn2c_guess *guess = &call->guesses[number];
  call->rows -= guess->count;
  write_guesses(d, guess, sequence, ids, count, last);
  call->rows += guess->count;
}
