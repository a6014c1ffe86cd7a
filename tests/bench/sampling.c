/* sampling.c - the time to choose a token of a large vocabulary, for some options and kinds of logits: the
 * median of turns, in microseconds. Compiled as the runtime is: sampling.sh. */
#include "generate/sample.h"

#include "sampled.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VOCABULARY = 151936, TURNS = 101 };
static float logits[VOCABULARY];

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Prints the median time of one set of options. */
static void time_one(const attn2c_sampling *options) {
  attn2c_sampler *sampler;
  attn2c_message message = attn2c_message_make(NULL, 0);
  double times[TURNS];
  int32_t token;
  if (attn2c_sampler_create(&sampler, options, VOCABULARY, &message) != ATTN2C_OK) exit(5);
  for (int i = 0; i < 1000; i++) {
    token = i * 7;
    attn2c_sampler_feed(sampler, &token, 1, ATTN2C_FED_GENERATED, &message);
  }
  for (int i = 0; i < TURNS; i++) {
    const double start = microseconds();
    if (attn2c_sampler_sample(sampler, logits, &token, &message) != ATTN2C_OK) exit(3);
    times[i] = microseconds() - start;
  }
  qsort(times, TURNS, sizeof *times, compare);
  printf(" %8.0f", times[TURNS / 2]);
  attn2c_sampler_free(sampler);
}

int main(void) {
  static const int32_t allowed[10] = {5, 17, 1000, 1001, 20000, 40000, 60000, 80000, 100000, 151935};
  static const struct {
    const char *name;
    int greedy, top_k, allowed;
    double temperature, top_p, min_p, repetition;
  } rows[] = {{"greedy", 1, 50, 0, 1, 1, 0, 1},
              {"greedy, repetition penalty", 1, 50, 0, 1, 1, 0, 1.1},
              {"top_k 50", 0, 50, 0, 1, 1, 0, 1},
              {"temperature 0.7, top_k 50, top_p 0.95, repetition penalty", 0, 50, 0, 0.7, 0.95, 0, 1.1},
              {"top_k 50, 10 allowed tokens", 0, 50, 10, 1, 1, 0, 1},
              {"top_k 10000", 0, 10000, 0, 1, 1, 0, 1},
              {"temperature 0.7", 0, 0, 0, 0.7, 1, 0, 1},
              {"min_p 0.05", 0, 0, 0, 1, 1, 0.05, 1},
              {"temperature 0.7, top_p 0.9", 0, 0, 0, 0.7, 0.9, 0, 1},
              {"top_p 0.99, min_p 0.05", 0, 0, 0, 1, 0.99, 0.05, 1}};
  printf("%-60s %8s %8s %8s\n", "microseconds for 151,936 tokens; deviation of the logits:", "2.3", "1.2",
         "0");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    attn2c_sampling options = attn2c_sampling_defaults();
    options.greedy = rows[i].greedy, options.top_k = rows[i].top_k, options.temperature = rows[i].temperature;
    options.top_p = rows[i].top_p, options.min_p = rows[i].min_p,
    options.repetition_penalty = rows[i].repetition;
    options.allowed = allowed, options.allowed_count = rows[i].allowed;
    printf("%-60s", rows[i].name);
    sampled_logits(logits, SAMPLED_PLAIN, 1, VOCABULARY, 2);
    time_one(&options);
    sampled_logits(logits, SAMPLED_PLAIN, 1, VOCABULARY, 1);
    time_one(&options);
    sampled_logits(logits, SAMPLED_EQUAL, 1, VOCABULARY, 1);
    time_one(&options);
    printf("\n");
  }
  return 0;
}
