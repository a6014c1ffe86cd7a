/* test_sample.c - sampling against transformers (tests/generate/sampling.txt), the tokens that are drawn,
 * logits and options that are refused, and memory. */
#include "generate/sample.h"

#include "drawing.h"
#include "faults.h"
#include "generate/mass.h"
#include "long.h"
#include "probabilities.h"
#include "sampled.h"

#include <criterion/criterion.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 50000, LIST = 128 };
static float logits[MOST], probabilities[MOST];

/* One line of the goldens. */
typedef struct golden {
  int kind, vocabulary, is_refused, prompts, generated, biases, allowed;
  double scale;
  unsigned long long seed;
  attn2c_sampling options;
  int32_t prompt[LIST], generation[LIST], bias_tokens[LIST], allow[LIST];
  float bias[LIST];
} golden;

static int read_list(FILE *file, int32_t *list, int *count) {
  if (fscanf(file, " | %d", count) != 1 || *count > LIST) return 0;
  for (int i = 0; i < *count; i++)
    if (fscanf(file, "%d", &list[i]) != 1) return 0;
  return 1;
}

static int read_golden(FILE *file, golden *g) {
  attn2c_sampling *o = &g->options;
  long long top_k;
  *o = attn2c_sampling_defaults();
  if (fscanf(file, "%d %llu %d %lf | %d %lf %lld %lf %lf %lf %lf %lf", &g->kind, &g->seed, &g->vocabulary,
             &g->scale, &o->greedy, &o->temperature, &top_k, &o->top_p, &o->min_p, &o->repetition_penalty,
             &o->presence_penalty, &o->frequency_penalty) != 12)
    return 0;
  o->top_k = top_k;
  cr_assert(read_list(file, g->prompt, &g->prompts) && read_list(file, g->generation, &g->generated));
  cr_assert(fscanf(file, " | %d", &g->biases) == 1 && g->biases <= LIST);
  for (int i = 0; i < g->biases; i++) cr_assert_eq(fscanf(file, "%d %f", &g->bias_tokens[i], &g->bias[i]), 2);
  cr_assert(read_list(file, g->allow, &g->allowed) && fscanf(file, " | %d", &g->is_refused) == 1);
  o->bias_count = g->biases, o->bias_tokens = g->bias_tokens, o->biases = g->bias;
  o->allowed_count = g->allowed, o->allowed = g->allow;
  return 1;
}

/* The number of tokens, their hash, and the probabilities of some, after `is_refused`. */
static void compare_golden(FILE *file, const golden *g, int line) {
  int count, shown, token, kept = 0;
  unsigned expected, hash = 0;
  float value, largest = 0;
  double sum = 0;
  cr_assert_eq(fscanf(file, "%d %u %d", &count, &expected, &shown), 3);
  for (int i = 0; i < g->vocabulary; i++) largest = fmaxf(largest, probabilities[i]);
  for (int i = 0; i < g->vocabulary; i++) {
    sum += probabilities[i];
    if (probabilities[i] < 1e-9 * largest) continue;
    kept++;
    hash = hash * 1000003u + (unsigned)i + 1;
  }
  cr_assert_float_eq(sum, 1, 1e-6, "line %d: the sum is %.9g", line, sum);
  cr_assert(kept == count && hash == expected, "line %d: %d tokens, but %d are expected, or others", line,
            kept, count);
  for (int i = 0; i < shown; i++) {
    cr_assert_eq(fscanf(file, "%d %f", &token, &value), 2);
    const double distance = log((double)largest / value); /* from the largest logit, rounded to float */
    const double allowed = (2e-7 + 6e-8 * distance) * value + 0x1p-41 * largest;
    cr_assert(fabs((double)probabilities[token] - value) <= allowed,
              "line %d: token %d has %.9g, but %.9g is expected", line, token, (double)probabilities[token],
              (double)value);
  }
}

Test(sample, transformers) {
  golden g;
  int line = 0;
  FILE *file = fopen("tests/generate/sampling.txt", "r");
  cr_assert_not_null(file);
  while (read_golden(file, &g)) {
    line++;
    attn2c_sampler *sampler = create(&g.options, g.vocabulary);
    cr_assert_eq(attn2c_sampler_feed(sampler, g.prompt, g.prompts, ATTN2C_FED_PROMPT, &message), ATTN2C_OK);
    cr_assert_eq(attn2c_sampler_feed(sampler, g.generation, g.generated, ATTN2C_FED_GENERATED, &message),
                 ATTN2C_OK);
    sampled_logits(logits, g.kind, g.seed, g.vocabulary, g.scale);
    const int status = probabilities_of(sampler, logits, probabilities, &message);
    cr_assert_eq(status, g.is_refused ? ATTN2C_FORMAT : ATTN2C_OK, "line %d: status %d: %s", line, status,
                 text);
    if (!g.is_refused) compare_golden(file, &g, line);
    attn2c_sampler_free(sampler);
  }
  cr_assert(feof(file));
  cr_assert_gt(line, 2400);
  fclose(file);
}

/* Masses against the exponential in double; the largest is exact, and none is larger than one nearer. */
Test(sample, masses) {
  const double most = (double)((uint64_t)1 << ATTN2C_MASS_BITS);
  uint64_t last = UINT64_MAX;
  cr_assert_eq(attn2c_mass(0), (uint64_t)1 << ATTN2C_MASS_BITS);
  for (uint32_t units = 0; units <= attn2c_distance_units(INFINITY); units += 997) {
    const uint64_t mass = attn2c_mass(attn2c_octaves(units));
    const double expected = most * exp(-(double)units * 0x1p-24);
    cr_assert(fabs((double)mass - expected) <= 1.2e-8 * expected + 1, "%u: %g, %g", units, (double)mass,
              expected);
    cr_assert_leq(mass, last);
    last = mass;
  }
  cr_assert_eq(attn2c_mass(attn2c_octaves(attn2c_distance_units(INFINITY))), 0);
  cr_assert_eq(attn2c_distance_units(1), 1u << 24);
}

/* Were they to change, a seed would give another text. */
Test(sample, these_tokens_on_every_machine) {
  static const int32_t expected[12] = {522, 220, 145, 37, 969, 242, 259, 311, 726, 220, 730, 847};
  attn2c_sampling options = drawn();
  options.temperature = 0.8, options.top_p = 0.95, options.seed = 42;
  attn2c_sampler *sampler = create(&options, 1000);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 12; i++) {
      int32_t token = -1;
      sampled_logits(logits, SAMPLED_PLAIN, (uint64_t)i, 1000, 2);
      cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
      cr_assert_eq(token, expected[i], "%d: %d", i, token);
    }
    attn2c_sampler_reset(sampler, options.seed);
  }
  attn2c_sampler_free(sampler);
}

/* A random number of a share r of all is the token where the sum of probabilities, in the order of ids,
 * passes r: for every way of keeping tokens. */
Test(sample, in_the_order_of_ids) {
  static const struct {
    int64_t top_k;
    double top_p, min_p;
  } ways[] = {{0, 1, 0},    {20, 1, 0},    {900, 1, 0},     {0, 0.9, 0},      {0, 1, 0.01},
              {20, 0.8, 0}, {900, 0.8, 0}, {900, 1, 0.002}, {0, 0.95, 0.001}, {900, 0.95, 0.001}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    attn2c_sampling options = drawn();
    options.top_k = ways[w].top_k, options.top_p = ways[w].top_p, options.min_p = ways[w].min_p,
    options.seed = w;
    attn2c_sampler *sampler = create(&options, 5000);
    for (uint64_t n = 0; n < 60; n++) {
      const double share = (double)attn2c_draw_bits(w, n) * 0x1p-64;
      double before = 0;
      int32_t token;
      sampled_logits(logits, n % 2 ? SAMPLED_TIES : SAMPLED_PLAIN, n, 5000, 1);
      cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
      cr_assert_eq(probabilities_of(sampler, logits, probabilities, &message), ATTN2C_OK);
      for (int i = 0; i < token; i++) before += (double)probabilities[i];
      cr_assert(share > before - 1e-6 && share < before + (double)probabilities[token] + 1e-6,
                "%zu: %g at %d", w, share, token);
    }
    attn2c_sampler_free(sampler);
  }
}

Test(sample, bits_of_a_seed) {
  cr_assert_eq(attn2c_draw_bits(0, 0), 0xe220a8397b1dcdafu, "%llx",
               (unsigned long long)attn2c_draw_bits(0, 0));
  cr_assert_neq(attn2c_draw_bits(1, 0), attn2c_draw_bits(0, 1));
  cr_assert_eq(attn2c_draw_below(UINT64_MAX, 10), 9);
  cr_assert_eq(attn2c_draw_below(0, 10), 0);
  cr_assert_eq(attn2c_draw_below((uint64_t)1 << 63, 7), 3);
  cr_assert_eq(attn2c_draw_below(UINT64_MAX, (uint64_t)1 << 62), ((uint64_t)1 << 62) - 1);
  cr_assert_eq(attn2c_draw_below(0x123456789abcdef0u, 0xfedcba987654321u), 0x121fa00ad77d742u, "%llx",
               (unsigned long long)attn2c_draw_below(0x123456789abcdef0u, 0xfedcba987654321u));
}

/* Counts of tokens are as their probabilities say, by a chi-square of 15 degrees of freedom. */
Test(sample, drawn_by_probability) {
  enum { TOKENS = 16, DRAWS = 40000 };
  int counts[TOKENS] = {0};
  double chi = 0;
  attn2c_sampling options = drawn();
  options.seed = 3;
  sampled_logits(logits, SAMPLED_PLAIN, 5, TOKENS, 1);
  attn2c_sampler *sampler = create(&options, TOKENS);
  cr_assert_eq(probabilities_of(sampler, logits, probabilities, &message), ATTN2C_OK);
  for (int i = 0; i < DRAWS; i++) {
    int32_t token;
    attn2c_sampler_sample(sampler, logits, &token, &message);
    counts[token]++;
  }
  for (int i = 0; i < TOKENS; i++) {
    const double expected = DRAWS * (double)probabilities[i];
    chi += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  cr_assert(chi > 3 && chi < 40, "%g", chi);
  attn2c_sampler_free(sampler);
}

/* The smallest and the largest of the ranges of masses are reached. */
Test(sample, every_token_can_be_drawn) {
  attn2c_sampling options = drawn();
  int32_t token;
  int seen[3] = {0};
  const float three[3] = {0, 0, 0};
  attn2c_sampler *sampler = create(&options, 3);
  for (int i = 0; i < 60; i++) {
    cr_assert_eq(attn2c_sampler_sample(sampler, three, &token, &message), ATTN2C_OK);
    seen[token] = 1;
  }
  cr_assert(seen[0] && seen[1] && seen[2]);
  attn2c_sampler_free(sampler);
}

/* A temperature that makes finite logits infinite still has the largest. */
Test(sample, tiny_temperatures) {
  static const float x[5] = {-2, 3, 3, -INFINITY, 2.9999998f}, low[3] = {-3e38f, -2.9e38f, -INFINITY};
  attn2c_sampling options = drawn();
  options.temperature = 1.2e-38;
  attn2c_sampler *sampler = create(&options, 5);
  cr_assert_eq(probabilities_of(sampler, x, probabilities, &message), ATTN2C_OK);
  cr_assert(probabilities[1] == 0.5f && probabilities[2] == 0.5f && probabilities[4] == 0);
  attn2c_sampler_free(sampler);
  sampler = create(&options, 3);
  cr_assert_eq(probabilities_of(sampler, low, probabilities, &message), ATTN2C_OK);
  cr_assert(probabilities[0] == 0 && probabilities[1] == 1);
  attn2c_sampler_free(sampler);
}

/* A set whose sum is p exactly is enough; one that lacks the least bit of p is not. Higher ids stay. */
Test(sample, the_border_of_top_p) {
  static const float x[4] = {1, 1, 1, 1};
  for (int more = 0; more < 2; more++) {
    attn2c_sampling options = drawn();
    options.top_p = more ? nextafter(0.25, 1) : 0.25;
    attn2c_sampler *sampler = create(&options, 4);
    cr_assert_eq(probabilities_of(sampler, x, probabilities, &message), ATTN2C_OK);
    cr_assert_eq(probabilities[3], more ? 0.5f : 1);
    cr_assert_eq(probabilities[2], more ? 0.5f : 0);
    attn2c_sampler_free(sampler);
  }
}

/* Repetition counts the prompt, presence and frequency do not; reset forgets. */
Test(sample, fed_tokens) {
  static const float x[4] = {2, -2, 2, 2};
  static const int32_t prompt[3] = {0, 0, 1}, generated[2] = {2, 2};
  attn2c_sampling options = drawn();
  options.repetition_penalty = 2, options.presence_penalty = 0.5, options.frequency_penalty = 0.25;
  attn2c_sampler *sampler = create(&options, 4);
  for (int round = 0; round < 2; round++) {
    const double expected[4] = {1, -4, 1 - 2 * 0.25 - 0.5, 2};
    double sum = 0;
    attn2c_sampler_feed(sampler, prompt, 3, ATTN2C_FED_PROMPT, &message);
    attn2c_sampler_feed(sampler, generated, 2, ATTN2C_FED_GENERATED, &message);
    probabilities_of(sampler, x, probabilities, &message);
    for (int i = 0; i < 4; i++) sum += exp(expected[i]);
    for (int i = 0; i < 4; i++) cr_assert_float_eq(probabilities[i], exp(expected[i]) / sum, 1e-7, "%d", i);
    attn2c_sampler_reset(sampler, 0);
    probabilities_of(sampler, x, probabilities, &message);
    cr_assert_eq(probabilities[0], probabilities[3]);
  }
  const int32_t wrong[2] = {3, 4};
  cr_assert_eq(attn2c_sampler_feed(sampler, wrong, 2, ATTN2C_FED_PROMPT, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "token 4, but 0 to 3 is allowed");
  probabilities_of(sampler, x, probabilities, &message);
  cr_assert_eq(probabilities[3], probabilities[0], "a token was counted");
  attn2c_sampler_free(sampler);
}

Test(sample, stop_tokens) {
  static const int32_t stops[2] = {7, 2};
  attn2c_sampling options = drawn();
  options.stop_count = 2, options.stop_tokens = stops;
  attn2c_sampler *sampler = create(&options, 8);
  cr_assert(attn2c_sampler_stops(sampler, 7) && attn2c_sampler_stops(sampler, 2) &&
            !attn2c_sampler_stops(sampler, 0));
  attn2c_sampler_free(sampler);
}

/* Refused logits give a status and a message, but no token, and use no random number. */
Test(sample, refused_logits) {
  static const float bad[][3] = {{1, NAN, 2}, {-INFINITY, -INFINITY, -INFINITY}, {1, INFINITY, 2}};
  static const char *const said[] = {
      "logits: NaN for token 1, but numbers are allowed",
      "logits: -inf for all tokens that are allowed, but one other number is needed",
      "logits: +inf, but with probabilities only finite numbers and -inf are allowed"};
  const float good[3] = {0, 0.5f, 0.25f};
  attn2c_sampling options = drawn();
  attn2c_sampler *sampler = create(&options, 3), *other = create(&options, 3);
  for (int i = 0; i < 12; i++) {
    int32_t token = -5, expected;
    message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(attn2c_sampler_sample(sampler, bad[i % 3], &token, &message), ATTN2C_FORMAT);
    cr_assert_eq(token, -5);
    cr_assert_str_eq(text, said[i % 3]);
    cr_assert_eq(attn2c_sampler_sample(sampler, good, &token, &message), ATTN2C_OK);
    cr_assert_eq(attn2c_sampler_sample(other, good, &expected, &message), ATTN2C_OK);
    cr_assert_eq(token, expected);
  }
  attn2c_sampler_free(sampler);
  attn2c_sampler_free(other);
  options = attn2c_sampling_defaults();
  sampler = create(&options, 3);
  int32_t token;
  cr_assert_eq(attn2c_sampler_sample(sampler, bad[2], &token, &message), ATTN2C_OK);
  cr_assert_eq(token, 1);
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_sampler_sample(sampler, bad[0], &token, &message), ATTN2C_FORMAT);
  attn2c_sampler_free(sampler);
}

/* One wrong option, and the line about it. */
static void refuse(const attn2c_sampling *options, int64_t vocabulary, const char *expected) {
  attn2c_sampler *sampler = (attn2c_sampler *)&sampler;
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_sampler_create(&sampler, options, vocabulary, &message), ATTN2C_USAGE, "%s", expected);
  cr_assert_null(sampler);
  cr_assert_str_eq(text, expected);
}

Test(sample, refused_options) {
  static const int32_t tokens[2] = {1, 10}, inside[2] = {1, 9};
  static const float biases[2] = {1, INFINITY};
  static const char range[] = "a number from 1.18e-38 to 3.4e+38";
  const double wrong[] = {0, -1, NAN, INFINITY, 1e-40};
  const attn2c_sampling usual = drawn();
  attn2c_sampling o;
  char line[200];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    o = usual, o.temperature = wrong[i];
    snprintf(line, sizeof line, "temperature: %g, but %s (greedy is an option of its own) is allowed",
             wrong[i], range);
    refuse(&o, 10, line);
    o = usual, o.repetition_penalty = wrong[i];
    snprintf(line, sizeof line, "repetition_penalty: %g, but %s (1: no penalty) is allowed", wrong[i], range);
    refuse(&o, 10, line);
  }
  o = usual, o.top_k = -1, refuse(&o, 10, "top_k: -1, but a number from 0 is allowed (0: all tokens)");
  o = usual, o.top_p = -0.1, refuse(&o, 10, "top_p: -0.1, but 0 to 1 is allowed");
  o = usual, o.top_p = 1.5, refuse(&o, 10, "top_p: 1.5, but 0 to 1 is allowed");
  o = usual, o.min_p = 2, refuse(&o, 10, "min_p: 2, but 0 to 1 is allowed");
  o = usual, o.presence_penalty = INFINITY,
  refuse(&o, 10, "presence_penalty: inf, but a finite number is allowed");
  o = usual, o.frequency_penalty = -1e39,
  refuse(&o, 10, "frequency_penalty: -1e+39, but a finite number is allowed");
  o = usual, o.allowed = tokens, o.allowed_count = 2,
  refuse(&o, 10, "allowed: token 10, but 0 to 9 is allowed");
  o = usual, o.stop_tokens = tokens, o.stop_count = 2,
  refuse(&o, 10, "stop_tokens: token 10, but 0 to 9 is allowed");
  o = usual, o.stop_count = -1,
  refuse(&o, 10, "stop_tokens: -1 tokens, but a list of 0 tokens or more is allowed");
  o = usual, o.bias_count = 2, o.bias_tokens = inside;
  refuse(&o, 10, "bias: tokens without numbers, but one for each token is allowed");
  o.biases = biases, refuse(&o, 10, "bias: inf of token 9, but a finite number or -inf is allowed");
  o = attn2c_sampling_defaults(), o.temperature = 0.7, o.top_k = 5;
  refuse(&o, 10,
         "temperature: 0.7, but with greedy only its default 1 is allowed\n"
         "top_k: 5, but with greedy only its default 50 is allowed");
  refuse(&usual, 0, "vocabulary: 0, but 1 to 1048576 is allowed");
  refuse(&usual, 1 << 21, "vocabulary: 2097152, but 1 to 1048576 is allowed");
  o = usual, o.temperature = NAN, o.top_p = NAN, o.top_k = -9;
  refuse(
      &o, 10,
      "temperature: nan, but a number from 1.18e-38 to 3.4e+38 (greedy is an option of its own) is allowed\n"
      "top_k: -9, but a number from 0 is allowed (0: all tokens)\n"
      "top_p: nan, but 0 to 1 is allowed");
}

/* Options of all kinds, right and wrong: a sampler that is made gives a token that is allowed, or says why
 * not. */
Test(sample, random_options) {
  static const double numbers[] = {0,        1,   0.5, 1e-30, 1e30,    -1,     NAN,
                                   INFINITY, 0.9, 2,   1e-12, FLT_MIN, FLT_MAX};
  int made = 0, refused = 0;
  for (uint64_t seed = 0; seed < (is_long() ? 4000 : 2000); seed++) {
    uint64_t n = 0;
#define DRAW(limit) attn2c_draw_below(attn2c_draw_bits(seed, n++), (limit))
#define NUMBER      (DRAW(3) ? 0.25 + (double)DRAW(1000) * 0.00075 : numbers[DRAW(13)])
    const int vocabulary = (int)(1 + DRAW(300));
    int32_t tokens[8], token = -1;
    float biases[8];
    attn2c_sampling o = drawn();
    for (int i = 0; i < 8; i++) {
      tokens[i] = (int32_t)DRAW((uint64_t)vocabulary);
      biases[i] = DRAW(4) ? (float)DRAW(10) - 5 : -INFINITY;
    }
    o.greedy = DRAW(8) == 0, o.seed = seed, o.temperature = NUMBER, o.top_p = NUMBER, o.min_p = NUMBER;
    o.top_k = (int64_t)DRAW(80) - 1, o.repetition_penalty = NUMBER, o.presence_penalty = NUMBER;
    o.frequency_penalty = NUMBER, o.bias_count = (int32_t)DRAW(9), o.bias_tokens = tokens, o.biases = biases;
    o.allowed_count = DRAW(3) ? 0 : (int32_t)DRAW(9), o.allowed = tokens;
    if (o.greedy && DRAW(2)) o.temperature = 1, o.top_k = 50, o.top_p = 1, o.min_p = 0;
    attn2c_sampler *sampler;
    message = attn2c_message_make(text, sizeof text);
    if (attn2c_sampler_create(&sampler, &o, vocabulary, &message) != ATTN2C_OK) {
      cr_assert(text[0] && !sampler);
      refused++;
      continue;
    }
    made++;
    cr_assert(o.temperature > 0 && o.top_p >= 0 && o.top_p <= 1 && o.min_p >= 0 && o.min_p <= 1 &&
              o.top_k >= 0);
    const int kind = (int)DRAW(9);
    sampled_logits(logits, kind, seed, vocabulary, (double)(DRAW(100) + 1));
    for (int i = 0; kind == 8 && i < vocabulary; i++) { /* any bits, most of them finite numbers */
      const uint32_t bits = (uint32_t)DRAW((uint64_t)1 << 32);
      memcpy(&logits[i], &bits, sizeof bits);
      if (isnan(logits[i])) logits[i] = -INFINITY;
    }
    for (int i = 0; i < 4; i++) {
      const int status = attn2c_sampler_sample(sampler, logits, &token, &message);
      cr_assert(status == ATTN2C_OK || (status == ATTN2C_FORMAT && text[0]));
      if (status != ATTN2C_OK) break;
      cr_assert(token >= 0 && token < vocabulary);
      int is_allowed = o.allowed_count == 0;
      for (int a = 0; a < o.allowed_count; a++) is_allowed |= tokens[a] == token;
      cr_assert(is_allowed);
      cr_assert_eq(probabilities_of(sampler, logits, probabilities, &message), ATTN2C_OK);
      cr_assert_gt(probabilities[token], 0);
      attn2c_sampler_feed(sampler, &token, 1, ATTN2C_FED_GENERATED, &message);
    }
    attn2c_sampler_free(sampler);
  }
  cr_assert(made > 400 && refused > 400, "%d, %d", made, refused);
}

/* Each allocation of create may fail; calls make none. */
Test(sample, memory) {
  static const int32_t tokens[1] = {3};
  static const float biases[1] = {1};
  attn2c_sampling o = drawn();
  o.repetition_penalty = 1.1, o.top_k = 5, o.top_p = 0.9, o.min_p = 0.01;
  o.bias_count = o.allowed_count = o.stop_count = 1;
  o.bias_tokens = o.allowed = o.stop_tokens = tokens, o.biases = biases;
  attn2c_sampler *sampler = NULL;
  sampled_logits(logits, SAMPLED_PLAIN, 1, 100, 1);
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    message = attn2c_message_make(text, sizeof text);
    const int status = attn2c_sampler_create(&sampler, &o, 100, &message);
    if (status == ATTN2C_OK) {
      cr_assert_gt(nth, 8);
      break;
    }
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_null(sampler);
    cr_assert_str_eq(text, "no memory to sample from 100 tokens");
    cr_assert_eq(faults_live_blocks(), 0);
  }
  const long before = faults_allocations();
  int32_t token = 0;
  for (int i = 0; i < 20; i++) {
    cr_assert_eq(attn2c_sampler_sample(sampler, logits, &token, &message), ATTN2C_OK);
    attn2c_sampler_feed(sampler, &token, 1, ATTN2C_FED_GENERATED, &message);
  }
  attn2c_sampler_reset(sampler, 0);
  cr_assert_eq(faults_allocations(), before);
  attn2c_sampler_free(sampler);
  cr_assert_eq(faults_live_blocks(), 0);
}
