/* host_generate.c - a user of a model called `llama` that continues sequences, in C and in C++: two sequences
 * from one prompt, each with a sampler. host_generate WEIGHTS COUNT ID...: prints the ids that greedy
 * sampling gives both. */
#include "llama.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float logits[2 * LLAMA_VOCABULARY];
static char message[1000];

static void check(int status, int expected, const char *what) {
  if (status == expected) return;
  printf("%s: status %d, not %d: %s\n", what, status, expected, message);
  exit(1);
}

int main(int argc, char **argv) {
  llama_model *model;
  llama_ctx *ctx;
  llama_sampler *samplers[2], *none;
  int32_t prompt[64], next[2], sequences[2] = {2, 0}, id = -5;
  const int count = atoi(argv[2]), given = argc - 3;
  llama_sampling options = llama_sampling_defaults();
  if (options.greedy || options.repetition_penalty != 1.1 || options.stop_count != 2) return 1;
  options = llama_sampling_greedy();
  for (int i = 0; i < given; i++) prompt[i] = atoi(argv[3 + i]);
  check(llama_open(argv[1], &model, message, sizeof message), 0, "open");
  check(llama_create(model, &ctx), 0, "create");
  for (int i = 0; i < 2; i++) {
    check(llama_sampler_create(&samplers[i], &options, message, sizeof message), 0, "sampler");
    check(llama_sampler_feed(samplers[i], prompt, given, 0), 0, "feed");
  }
  check(llama_prefill(ctx, sequences[0], prompt, given, logits), 0, "prefill");
  check(llama_copy(ctx, sequences[0], sequences[1]), 0, "copy");
  memcpy(logits + LLAMA_VOCABULARY, logits, LLAMA_VOCABULARY * sizeof *logits);
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < 2; i++) {
      check(llama_sample(samplers[i], logits + i * LLAMA_VOCABULARY, &next[i], message, sizeof message), 0,
            "sample");
      check(llama_sampler_feed(samplers[i], &next[i], 1, 1), 0, "feed");
    }
    if (next[0] != next[1]) return 1;
    printf(n ? " %d" : "%d", (int)next[0]);
    if (llama_sampler_stops(samplers[0], next[0])) break;
    check(llama_decode(ctx, 2, sequences, next, logits), 0, "decode");
  }
  printf("\n");
  /* Calls that are refused change nothing. */
  logits[3] = NAN;
  check(llama_sample(samplers[0], logits, &id, message, sizeof message), 3, "NaN");
  if (id != -5 || strcmp(message, "logits: NaN for token 3, but numbers are allowed") != 0) return 1;
  options.temperature = 0;
  check(llama_sampler_create(&none, &options, NULL, 0), 2, "temperature 0");
  if (none != NULL) return 1;
  id = LLAMA_VOCABULARY;
  check(llama_sampler_feed(samplers[0], &id, 1, 1), 3, "a foreign id");
  check(llama_sample(NULL, logits, &id, NULL, 0), 2, "no sampler");
  for (int i = 0; i < 2; i++) llama_sampler_destroy(samplers[i]);
  llama_sampler_destroy(NULL);
  llama_destroy(ctx);
  llama_close(model);
  return 0;
}
