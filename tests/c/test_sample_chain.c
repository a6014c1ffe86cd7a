/* test_sample_chain.c - options that llama.cpp has, against their definitions (tests/generate/chains.txt),
 * the order of options, what is drawn with them, options that are refused, and memory. */
#include "generate/sample.h"

#include "drawing.h"
#include "faults.h"
#include "probabilities.h"
#include "sampled.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

enum { MOST = 5000, LIST = 128 };
static float logits[MOST], probabilities[MOST];

static int32_t read_list(FILE *file, int32_t *list) {
  int32_t count;
  cr_assert(fscanf(file, " | %d", &count) == 1 && count <= LIST);
  for (int32_t i = 0; i < count; i++) cr_assert_eq(fscanf(file, "%d", &list[i]), 1);
  return count;
}

/* Reads a line's logits and options. Returns the vocabulary; 0: there is no line. lists: prompt, generated
 * tokens, and breakers, which the options have. */
static int read_line(FILE *file, attn2c_sampling *o, int32_t lists[3][LIST], int32_t counts[2],
                     char order[100]) {
  int kind, vocabulary;
  unsigned long long seed;
  long long top_k;
  double scale;
  *o = drawn();
  if (fscanf(file, "%d %llu %d %lf", &kind, &seed, &vocabulary, &scale) != 4) return 0;
  sampled_logits(logits, kind, seed, vocabulary, scale);
  cr_assert_eq(fscanf(file, " | %lf %lld %lf %lf %lf %lf %lf", &o->temperature, &top_k, &o->top_p, &o->min_p,
                      &o->repetition_penalty, &o->presence_penalty, &o->frequency_penalty),
               7);
  cr_assert_eq(fscanf(file, " | %lf %lf %lf %lf %lf %lf %d %lf", &o->top_n_sigma, &o->typical_p,
                      &o->xtc_probability, &o->xtc_threshold, &o->dynatemp_range, &o->dynatemp_exponent,
                      &o->mirostat, &o->mirostat_tau),
               8);
  cr_assert_eq(fscanf(file, " | %lf %lf %d %d", &o->dry_multiplier, &o->dry_base, &o->dry_allowed_length,
                      &o->dry_last_n),
               4);
  for (int i = 0; i < 2; i++) counts[i] = read_list(file, lists[i]);
  o->dry_breaker_count = read_list(file, lists[2]);
  o->dry_breakers = lists[2];
  cr_assert_eq(fscanf(file, " | %99s |", order), 1);
  o->sampler_order = strcmp(order, "-") == 0 ? NULL : order;
  o->top_k = top_k;
  return vocabulary;
}

static void compare(FILE *file, int vocabulary, double error, int line) {
  int count, shown, token, kept = 0;
  unsigned expected, hash = 0;
  float value, largest = 0;
  cr_assert_eq(fscanf(file, "%d %u %d", &count, &expected, &shown), 3);
  for (int i = 0; i < vocabulary; i++) largest = fmaxf(largest, probabilities[i]);
  for (int i = 0; i < vocabulary; i++) {
    if (probabilities[i] < 1e-9 * largest) continue;
    kept++;
    hash = hash * 1000003u + (unsigned)i + 1;
  }
  cr_assert(kept == count && hash == expected, "line %d: %d tokens, but %d are expected, or others", line,
            kept, count);
  for (int i = 0; i < shown; i++) {
    cr_assert_eq(fscanf(file, "%d %f", &token, &value), 2);
    const double distance = log((double)largest / value);
    const double allowed = (2e-7 + error * distance) * value + 0x1p-41 * largest;
    cr_assert(fabs((double)probabilities[token] - value) <= allowed,
              "line %d: token %d has %.9g, but %.9g is expected", line, token, (double)probabilities[token],
              (double)value);
  }
}

Test(sample_chain, definitions) {
  attn2c_sampling options;
  int32_t lists[3][LIST], counts[2];
  char order[100];
  int line = 0, vocabulary, chained = 0;
  FILE *file = fopen("tests/generate/chains.txt", "r");
  cr_assert_not_null(file);
  while ((vocabulary = read_line(file, &options, lists, counts, order))) {
    line++;
    attn2c_sampler *sampler = create(&options, vocabulary);
    for (int i = 0; i < 2; i++)
      cr_assert_eq(attn2c_sampler_feed(sampler, lists[i], counts[i],
                                       i ? ATTN2C_FED_GENERATED : ATTN2C_FED_PROMPT, &message),
                   ATTN2C_OK);
    cr_assert_eq(probabilities_of(sampler, logits, probabilities, &message), ATTN2C_OK, "line %d: %s", line,
                 text);
    chained += sampler->is_chained;
    /* A dynamic temperature has an error of 1e-7, of logarithms and a power in fixed point. */
    compare(file, vocabulary, options.dynatemp_range > 0 ? 4e-7 : 6e-8, line);
    attn2c_sampler_free(sampler);
  }
  cr_assert(feof(file));
  cr_assert(line == 1500 && chained > 1000);
  fclose(file);
}

/* A chain of transformers' options in its order leaves the same tokens as the faster way without a chain. */
Test(sample_chain, is_the_same_in_the_usual_order) {
  static float other[MOST];
  for (uint64_t seed = 0; seed < 60; seed++) {
    attn2c_sampling o = drawn();
    o.temperature = 0.5 + 0.1 * (double)(seed % 9);
    o.top_k = seed % 3 ? (int64_t)(seed * 7 % 90) : 0;
    o.top_p = seed % 2 ? 0.9 : 1;
    o.min_p = seed % 5 ? 0 : 0.01;
    sampled_logits(logits, SAMPLED_PLAIN, seed, 1000, 3);
    attn2c_sampler *plain = create(&o, 1000);
    o.sampler_order = ATTN2C_SAMPLING_ORDER;
    attn2c_sampler *chained = create(&o, 1000);
    cr_assert(!plain->is_chained && chained->is_chained);
    cr_assert_eq(probabilities_of(plain, logits, probabilities, &message), ATTN2C_OK);
    cr_assert_eq(probabilities_of(chained, logits, other, &message), ATTN2C_OK);
    cr_assert_arr_eq(probabilities, other, sizeof(float) * 1000);
    for (int i = 0; i < 20; i++) {
      int32_t a, b;
      cr_assert_eq(attn2c_sampler_sample(plain, logits, &a, &message), ATTN2C_OK);
      cr_assert_eq(attn2c_sampler_sample(chained, logits, &b, &message), ATTN2C_OK);
      cr_assert_eq(a, b);
    }
    attn2c_sampler_free(plain);
    attn2c_sampler_free(chained);
  }
}

/* XTC acts as often as it is asked to, and what it leaves is drawn by its probability. */
Test(sample_chain, xtc_acts_with_its_probability) {
  attn2c_sampling o = drawn();
  enum { DRAWS = 20000 };
  double counts[4] = {0};
  const double p[4] = {0.5, 0.3, 0.15, 0.05};
  for (int i = 0; i < 4; i++) logits[i] = (float)log(p[i]);
  o.xtc_probability = 0.25;
  attn2c_sampler *sampler = create(&o, 4);
  for (int i = 0; i < DRAWS; i++) {
    int32_t token;
    cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
    counts[token]++;
  }
  double chi = 0;
  for (int i = 0; i < 4; i++) {
    const double left = i < 2 ? 0 : p[i] / 0.2; /* 0.1 and more: the first three, of which the third stays */
    const double expected = DRAWS * (0.75 * p[i] + 0.25 * left);
    chi += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  cr_assert_lt(chi, 21.1, "chi-square %g, of which 1e-4 are larger", chi);
  attn2c_sampler_free(sampler);
}

/* mu follows the surprise of the tokens that are drawn, and begins anew at a reset. */
Test(sample_chain, mirostat_follows_the_surprise) {
  attn2c_sampling o = drawn();
  o.mirostat = 2, o.mirostat_tau = 3, o.mirostat_eta = 0.2, o.temperature = 1.3;
  attn2c_sampler *sampler = create(&o, 200);
  double mu = 6, sum = 0;
  int32_t first = 0, token;
  for (int i = 0; i < 500; i++) {
    sampled_logits(logits, SAMPLED_PLAIN, (uint64_t)i, 200, 2);
    if (i == 400) attn2c_sampler_reset(sampler, 0), mu = 6;
    double most = -INFINITY, all = 0, kept = 0;
    for (int j = 0; j < 200; j++) logits[j] += 1; /* any shift */
    for (int j = 0; j < 200; j++) most = fmax(most, logits[j] / 1.3);
    for (int j = 0; j < 200; j++) all += exp(logits[j] / 1.3 - most);
    cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
    for (int j = 0; j < 200; j++) {
      const double p = exp(logits[j] / 1.3 - most) / all;
      if (-log2(p) <= mu || logits[j] / 1.3 >= most) kept += p;
    }
    const double p = exp(logits[token] / 1.3 - most) / all;
    cr_assert(-log2(p) <= mu + 1e-6 || p * all > 1 - 1e-6, "token %d has a surprise of %g, mu is %g", token,
              -log2(p), mu);
    mu -= 0.2 * (-log2(p / kept) - 3);
    cr_assert_float_eq(sampler->mu, mu, 1e-5);
    mu = sampler->mu;
    if (i < 400 && i >= 100) sum += -log2(p / kept);
    if (i == 0) first = token;
  }
  cr_assert_float_eq(sum / 300, 3, 0.3);
  attn2c_sampler_reset(sampler, 0);
  sampled_logits(logits, SAMPLED_PLAIN, 0, 200, 2);
  cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
  cr_assert_eq(token, first);
  attn2c_sampler_free(sampler);
}

/* DRY looks at the last tokens only, however many were fed; it also counts for a greedy choice. */
Test(sample_chain, dry_keeps_the_last_tokens) {
  static float other[MOST];
  attn2c_sampling o = attn2c_sampling_defaults();
  o.dry_multiplier = 1, o.dry_last_n = 8;
  attn2c_sampler *all = create(&o, 10);
  int32_t ids[100], token;
  for (int i = 0; i < 100; i++) ids[i] = (int32_t)(attn2c_draw_bits(4, (uint64_t)i) % 3);
  memset(logits, 0, sizeof logits);
  for (int count = 0; count < 100; count++) {
    cr_assert_eq(attn2c_sampler_feed(all, ids + count, 1, ATTN2C_FED_PROMPT, &message), ATTN2C_OK);
    attn2c_sampler *last = create(&o, 10);
    const int begin = count < 8 ? 0 : count - 7;
    cr_assert_eq(attn2c_sampler_feed(last, ids + begin, count + 1 - begin, ATTN2C_FED_PROMPT, &message),
                 ATTN2C_OK);
    cr_assert_eq(attn2c_sampler_logits(all, logits, &message), ATTN2C_OK);
    memcpy(other, all->logits, sizeof(float) * 10);
    cr_assert_eq(attn2c_sampler_logits(last, logits, &message), ATTN2C_OK);
    cr_assert_arr_eq(other, last->logits, sizeof(float) * 10);
    attn2c_sampler_free(last);
  }
  attn2c_sampler_reset(all, 0);
  static const int32_t repeats[] = {1, 2, 3, 5, 1, 2, 3};
  cr_assert_eq(attn2c_sampler_feed(all, repeats, 7, ATTN2C_FED_PROMPT, &message), ATTN2C_OK);
  logits[5] = 1.7f, logits[6] = 0.1f; /* 1.75^(3 - 2) is subtracted from token 5 */
  cr_assert_eq(attn2c_sampler_sample(all, logits, &token, &message), ATTN2C_OK);
  cr_assert_eq(token, 6);
  logits[5] = 1.9f;
  cr_assert_eq(attn2c_sampler_sample(all, logits, &token, &message), ATTN2C_OK);
  cr_assert_eq(token, 5);
  attn2c_sampler_free(all);
}

static void refused(const attn2c_sampling *options, const char *said) {
  attn2c_sampler *sampler;
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_sampler_create(&sampler, options, 10, &message), ATTN2C_USAGE);
  cr_assert_null(sampler);
  cr_assert_str_eq(text, said);
}

Test(sample_chain, refuses) {
  attn2c_sampling o = drawn();
  o.top_n_sigma = -1, o.typical_p = 1.5, o.xtc_probability = NAN, o.xtc_threshold = 2, o.dynatemp_range = -1;
  o.dynatemp_exponent = -1, o.mirostat_tau = -1, o.mirostat_eta = INFINITY, o.mirostat = 1;
  o.dry_multiplier = -1, o.dry_base = 0.5, o.dry_allowed_length = -1, o.dry_last_n = -2;
  refused(&o, "top_n_sigma: -1, but a finite number from 0 is allowed\n"
              "typical_p: 1.5, but 0 to 1 is allowed\n"
              "xtc_probability: nan, but 0 to 1 is allowed\n"
              "xtc_threshold: 2, but 0 to 1 is allowed\n"
              "dynatemp_range: -1, but a finite number from 0 is allowed\n"
              "dynatemp_exponent: -1, but a finite number from 0 is allowed\n"
              "mirostat_tau: -1, but a finite number from 0 is allowed\n"
              "mirostat_eta: inf, but a finite number from 0 is allowed\n"
              "dry_multiplier: -1, but a finite number from 0 is allowed\n"
              "dry_base: 0.5, but a finite number from 1 is allowed\n"
              "dry_allowed_length: -1, but a number from 0 is allowed\n"
              "dry_last_n: -2, but -1 (all) to 131072 is allowed\n"
              "mirostat: 1, but 0 (none) or 2 is allowed");
  static const char *const orders[] = {"", "top_k;", "top_k;top_k", "top_k;top_q", ";", "top_k,top_p"};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    char said[300];
    o = drawn();
    o.sampler_order = orders[i];
    snprintf(said, sizeof said, "sampler_order: '%s', but llama.cpp or names of %s are allowed, each once",
             orders[i], ATTN2C_SAMPLING_ORDER);
    refused(&o, said);
  }
  static const int32_t breakers[] = {2, 3, 4, 3, 1};
  o = drawn();
  o.dry_breakers = breakers, o.dry_breaker_count = 5;
  refused(&o, "dry_breakers: a sequence of 3 tokens, but 1 to 1 are left");
  o.dry_breaker_count = 3;
  static const int32_t others[] = {1, 10};
  o.dry_breakers = others, o.dry_breaker_count = 2;
  refused(&o, "dry_breakers: token 10, but 0 to 9 is allowed");
  o = drawn();
  o.mirostat = 2, o.min_p = 0.1;
  refused(
      &o,
      "mirostat: 2, but with it top_p, min_p, top_n_sigma, typical_p, xtc_probability, dynatemp_range and "
      "sampler_order must have their defaults");
  o = attn2c_sampling_defaults();
  o.typical_p = 0.5, o.sampler_order = "top_k";
  refused(&o, "typical_p: 0.5, but with greedy only its default 1 is allowed\nsampler_order: does not go "
              "with greedy");
}

/* Penalties in a chain may leave no finite number; options that are not named have no effect. */
Test(sample_chain, logits_that_are_refused) {
  attn2c_sampling o = drawn();
  int32_t token = -1;
  const int32_t fed[] = {0, 1};
  for (int i = 0; i < 2; i++) logits[i] = 3e38f;
  o.repetition_penalty = 1e-30, o.sampler_order = "top_k;penalties";
  attn2c_sampler *sampler = create(&o, 2);
  cr_assert_eq(attn2c_sampler_feed(sampler, fed, 2, ATTN2C_FED_PROMPT, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "logits: the largest is +inf after penalties, but a finite number is needed");
  cr_assert_eq(token, -1);
  attn2c_sampler_free(sampler);
  o.temperature = 1.2e-38, o.sampler_order = "top_k";
  sampler = create(&o, 2);
  cr_assert_eq(attn2c_sampler_feed(sampler, fed, 2, ATTN2C_FED_PROMPT, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
  attn2c_sampler_free(sampler);
}

Test(sample_chain, memory) {
  static const int32_t breakers[] = {1, 3, 2, 1, 1};
  attn2c_sampling o = drawn();
  o.dry_multiplier = 1, o.dry_breakers = breakers, o.dry_breaker_count = 5, o.typical_p = 0.5;
  o.repetition_penalty = 1.1;
  attn2c_sampler *sampler;
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    message = attn2c_message_make(text, sizeof text);
    const int status = attn2c_sampler_create(&sampler, &o, 10, &message);
    if (status == ATTN2C_OK) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_null(sampler);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  const long before = faults_allocations();
  int32_t token;
  for (int i = 0; i < 300; i++) {
    cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
    cr_assert_eq(attn2c_sampler_feed(sampler, &token, 1, ATTN2C_FED_GENERATED, &message), ATTN2C_OK);
  }
  cr_assert_eq(faults_allocations(), before);
  attn2c_sampler_free(sampler);
  cr_assert_eq(faults_live_blocks(), 0);
  faults_clear();
}
