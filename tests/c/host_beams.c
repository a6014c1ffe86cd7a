/* host_beams.c - a user of a model called `some` that continues sequences, in C and in C++: two searches side
 * by side, one from a state that other calls made. host_beams WEIGHTS BEAMS ID...: prints the best answer of
 * each, and its score. */
#include "some.h"

#include <stdio.h>
#include <stdlib.h>

static float logits[SOME_VOCABULARY];
static char message[1000];

static void check(int status, int expected, const char *what) {
  if (status == expected) return;
  printf("%s: status %d, not %d: %s\n", what, status, expected, message);
  exit(1);
}

static void print(some_beam *beam, int32_t place) {
  const int32_t *ids;
  int32_t count;
  double score;
  check(some_beam_answer(beam, place, 0, &ids, &count, &score, message, sizeof message), 0, "answer");
  for (int32_t i = 0; i < count; i++) printf("%d ", (int)ids[i]);
  printf("%.5f\n", score);
}

int main(int argc, char **argv) {
  some_model *model;
  some_ctx *ctx;
  some_beam *beam, *none;
  int32_t prompt[64];
  const int32_t *ids;
  int32_t count;
  double score;
  const int given = argc - 3;
  some_beam_options options = some_beam_defaults();
  if (options.beams != 1 || options.length_penalty != 1 || options.stop_count != 2) return 1;
  options.beams = atoi(argv[2]);
  for (int i = 0; i < given; i++) prompt[i] = atoi(argv[3 + i]);
  check(some_open(argv[1], &model, message, sizeof message), 0, "open");
  check(some_create(model, &ctx), 0, "create");
  check(some_beam_create(&beam, ctx, &options, 0, message, sizeof message), 0, "beams");
  if (some_beam_places(beam) != SOME_SEQUENCES / options.beams || !some_beam_ended(beam, 0)) return 1;
  check(some_beam_begin(beam, 0, prompt, given, NULL, message, sizeof message), 0, "begin");
  check(some_beam_answer(beam, 0, 0, &ids, &count, &score, message, sizeof message), 2,
        "an answer too early");
  check(some_beam_begin(beam, 1, prompt, given, logits, message, sizeof message), 2,
        "a state that is not there");
  check(some_prefill(ctx, options.beams, prompt, given, logits), 0, "prefill");
  check(some_beam_begin(beam, 1, prompt, given, logits, message, sizeof message), 0, "begin from a state");
  while (!some_beam_ended(beam, 0) || !some_beam_ended(beam, 1))
    check(some_beam_step(beam, message, sizeof message), 0, "step");
  print(beam, 0);
  print(beam, 1);
  check(some_beam_answer(beam, 0, options.beams, &ids, &count, &score, message, sizeof message), 2,
        "too many");
  check(some_beam_begin(beam, SOME_SEQUENCES, prompt, given, NULL, message, sizeof message), 2,
        "no such place");
  check(some_beam_begin(beam, 0, prompt, 0, NULL, message, sizeof message), 3, "no prompt");
  prompt[0] = SOME_VOCABULARY;
  check(some_beam_begin(beam, 0, prompt, given, NULL, message, sizeof message), 3, "no such token");
  options.beams = SOME_SEQUENCES + 1;
  check(some_beam_create(&none, ctx, &options, 0, message, sizeof message), 2, "too many beams");
  if (none != NULL) return 1;
  some_beam_destroy(beam);
  some_beam_destroy(NULL);
  some_destroy(ctx);
  some_close(model);
  return 0;
}
