/* guess_texts.c - the tokens a second with guesses by the text's repetitions against those without, of given
 * texts, in turn.
 *   guess_texts WEIGHTS TEXTS [PAIRS]  TEXTS: of guess_texts.py. The model is built with name=timed.
 * The model reads each token, and its logits are then changed so that the text's token is drawn. So the model
 * need not be trained: guesses are right where the text repeats itself. A text counts with the least times of
 * PAIRS turns. Prints for each kind of text the ratio's geometric mean and least, and the tokens a call. */
#define _POSIX_C_SOURCE 200809L
#include <timed.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 + TIMED_GUESSES, KINDS = 8 };

static float logits[MOST * TIMED_VOCABULARY];
static char message[1024];

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void demand(int status) {
  if (status == 0) return;
  fprintf(stderr, "%s\n", *message ? message : timed_strerror(status));
  exit(status);
}

/* Writes the answer ids[prompt] to ids[count - 1]; returns the seconds, and the calls of the model. */
static double write_answer(timed_ctx *context, const int32_t *ids, int32_t prompt, int32_t count,
                           int is_guessed, int *calls) {
  const timed_sampling options = timed_sampling_greedy();
  const int32_t sequence = 0;
  timed_sampler *sampler;
  timed_guesser *guesser;
  demand(timed_sampler_create(&sampler, &options, message, sizeof message));
  demand(timed_guesser_create(&guesser));
  demand(timed_rewind(context, 0, 0));
  demand(timed_prefill(context, 0, ids, prompt - 1, NULL));
  *calls = 0;
  const double begun = seconds();
  for (int32_t at = prompt; at < count; ++*calls) {
    int32_t call[MOST], drawn[MOST], guesses[1][TIMED_GUESSES], guessed, taken, rows = 1;
    const int32_t most = is_guessed ? count - at - 1 : 0;
    demand(timed_guess(guesser, 1, &ids, &at, &most, guesses, &guessed));
    call[0] = ids[at - 1];
    memcpy(call + 1, guesses[0], (size_t)guessed * sizeof *call);
    rows += guessed;
    demand(timed_extend(context, 1, &sequence, &rows, call, 1, logits));
    for (int32_t i = 0; i < rows; i++) logits[i * TIMED_VOCABULARY + ids[at + i]] = 1e30f;
    demand(timed_guess_accept(guesser, 0, sampler, logits, drawn, &taken, message, sizeof message));
    if (memcmp(drawn, ids + at, (size_t)taken * sizeof *ids) != 0) exit(1);
    at += taken;
    demand(timed_rewind(context, 0, at - 1));
  }
  const double took = seconds() - begun;
  timed_guesser_destroy(guesser);
  timed_sampler_destroy(sampler);
  return took;
}

/* Reads the next text: its kind, the tokens of the prompt, and all tokens. Returns their number, or 0. */
static int32_t read_text(FILE *file, char *kind, int32_t *prompt, int32_t *ids) {
  static char line[1 << 20];
  int used = 0, more;
  int32_t count = 0;
  if (!fgets(line, sizeof line, file) || sscanf(line, "%31s %d%n", kind, prompt, &used) != 2) return 0;
  while (count < TIMED_SEQ && sscanf(line + used, "%d%n", &ids[count], &more) == 1) used += more, count++;
  return count;
}

int main(int count, char **words) {
  static int32_t ids[TIMED_SEQ + MOST];
  struct {
    char name[32];
    double logs, least, tokens, calls;
    int texts;
  } kinds[KINDS] = {{.texts = 0}};
  char kind[32];
  timed_model *model;
  timed_ctx *context;
  FILE *file = count > 2 ? fopen(words[2], "r") : NULL;
  if (!file) return 2;
  demand(timed_open(words[1], &model, message, sizeof message));
  demand(timed_create(model, &context));
  for (int32_t prompt, tokens; (tokens = read_text(file, kind, &prompt, ids)) > 0;) {
    double least[] = {INFINITY, INFINITY};
    int calls, k = 0;
    for (int turn = 0; turn < 2 * (count > 3 ? atoi(words[3]) : 3); turn++) {
      const int is_guessed = (turn + turn / 2) % 2;
      least[is_guessed] =
          fmin(least[is_guessed], write_answer(context, ids, prompt, tokens, is_guessed, &calls));
      if (is_guessed) kinds[KINDS - 1].calls = calls;
    }
    while (k < KINDS - 2 && kinds[k].texts > 0 && strcmp(kinds[k].name, kind) != 0) k++;
    const double ratio = least[0] / least[1];
    strcpy(kinds[k].name, kind);
    kinds[k].least = kinds[k].texts++ && kinds[k].least < ratio ? kinds[k].least : ratio;
    kinds[k].logs += log(ratio);
    kinds[k].tokens += tokens - prompt, kinds[k].calls += kinds[KINDS - 1].calls;
  }
  for (int k = 0; k < KINDS - 1 && kinds[k].texts > 0; k++)
    printf("%-8s %2d texts: %.2f times the tokens a second, least %.2f; %.2f tokens a call\n", kinds[k].name,
           kinds[k].texts, exp(kinds[k].logs / kinds[k].texts), kinds[k].least,
           kinds[k].tokens / kinds[k].calls);
  timed_destroy(context);
  timed_close(model);
  return 0;
}
