/* tales.c - goes on with a text, token by token, and verifies guesses where it repeats itself: the text is
 * the same as without them. Usage: tales WEIGHTS TEXT [TOKENS]. The model is models/tales, or any that
 * writes, built with name=tales. */
#include <tales.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 + TALES_GUESSES };

/* A text that is written, and what writes it. */
typedef struct {
  tales_ctx *context;
  tales_sampler *sampler;
  tales_guesser *guesser;
  int32_t ids[TALES_SEQ + 1], count; /* the prompt and the answer so far */
  float logits[MOST * TALES_VOCABULARY];
  char message[1024];
} writing;

/* Reads the last token with guesses of the next ones, and adds the tokens that are drawn. */
static int go_on(writing *w, int32_t most) {
  const int32_t *ids = w->ids, sequence = 0;
  int32_t call[MOST], guesses[1][TALES_GUESSES], guessed, taken, rows;
  int status = tales_guess(w->guesser, 1, &ids, &w->count, &most, guesses, &guessed);
  if (status) return status;
  call[0] = w->ids[w->count - 1];
  memcpy(call + 1, guesses[0], (size_t)guessed * sizeof *call);
  rows = 1 + guessed;
  status = tales_extend(w->context, 1, &sequence, &rows, call, 1, w->logits);
  if (status) return status;
  status = tales_guess_accept(w->guesser, 0, w->sampler, w->logits, w->ids + w->count, &taken, w->message,
                              sizeof w->message);
  w->count += taken;
  /* The sequence forgets guesses that it has read after the tokens that were drawn. */
  return status ? status : tales_rewind(w->context, 0, w->count - 1);
}

/* Reads the prompt but for its last token, which the first call reads. */
static int begin(writing *w, tales_text *text, const char *words) {
  const tales_text_in in = {.text = words, .length = strlen(words)};
  tales_tokens tokens;
  int status = tales_tokenize(text, &in, 0, &tokens);
  if (status) return status;
  w->count = (int32_t)tokens.length;
  memcpy(w->ids, tokens.ids, tokens.length * sizeof *w->ids);
  status = tales_sampler_feed(w->sampler, w->ids, w->count, 0);
  if (status || w->count == 1) return status;
  return tales_prefill(w->context, 0, w->ids, w->count - 1, NULL);
}

int main(int count, char **words) {
  if (count < 3) return 2;
  static writing w;
  tales_model *model = NULL;
  tales_text *text = NULL;
  const tales_sampling options = tales_sampling_greedy();
  const char *made;
  size_t length;
  int status = tales_open(words[1], &model, w.message, sizeof w.message);
  if (!status) status = tales_create(model, &w.context);
  if (!status) status = tales_text_open(&text, w.message, sizeof w.message);
  if (!status) status = tales_sampler_create(&w.sampler, &options, w.message, sizeof w.message);
  if (!status) status = tales_guesser_create(&w.guesser);
  if (!status) status = begin(&w, text, words[2]);
  const int32_t first = w.count, asked = count > 3 ? atoi(words[3]) : 64;
  const int32_t end = first + asked < TALES_SEQ + 1 ? first + asked : TALES_SEQ + 1;
  int has_ended = 0;
  while (!status && !has_ended && w.count < end) {
    status = go_on(&w, end - w.count - 1);
    has_ended = tales_sampler_stops(w.sampler, w.ids[w.count - 1]);
  }
  if (!status) status = tales_detokenize(text, w.ids + first, (size_t)(w.count - first), 1, &made, &length);
  if (!status) printf("%.*s\n", (int)length, made);
  if (status) fprintf(stderr, "%s\n", *w.message ? w.message : tales_strerror(status));
  tales_guesser_destroy(w.guesser);
  tales_sampler_destroy(w.sampler);
  tales_text_close(text);
  tales_destroy(w.context);
  tales_close(model);
  return status;
}
