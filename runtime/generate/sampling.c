/* sampling.c - checks the options of sampling, all of them, so that a user sees every fault at once. */
#include "generate/sampling.h"

#include "generate/bits.h"
#include "generate/dry.h"

#include <float.h>

attn2c_sampling attn2c_sampling_defaults(void) {
  attn2c_sampling options = {.greedy = 1,
                             .temperature = 1,
                             .top_k = 50,
                             .top_p = 1,
                             .min_p = 0,
                             .repetition_penalty = 1,
                             .presence_penalty = 0,
                             .frequency_penalty = 0,
                             .typical_p = 1,
                             .xtc_threshold = 0.1,
                             .dynatemp_exponent = 1,
                             .mirostat_tau = 5,
                             .mirostat_eta = 0.1,
                             .dry_base = 1.75,
                             .dry_allowed_length = 2,
                             .dry_last_n = -1};
  return options;
}

/* Finds the faults of one set of options. */
typedef struct check {
  attn2c_message *message;
  int64_t vocabulary;
  int status;
} check;

/* A number from least to most; NaN is never. Bits are compared, so that no flag of a compiler drops it. */
static void check_range(check *c, const char *name, double value, double least, double most,
                        const char *allowed) {
  if (!attn2c_is_nan_double(value) && value >= least && value <= most) return;
  c->status = attn2c_fail(c->message, ATTN2C_USAGE, "%s: %g, but %s is allowed", name, value, allowed);
}

static int check_tokens(check *c, const char *name, const int32_t *tokens, int32_t count) {
  if (count < 0 || (count > 0 && !tokens))
    return c->status = attn2c_fail(c->message, ATTN2C_USAGE,
                                   "%s: %d tokens, but a list of 0 tokens or more is allowed", name, count);
  for (int32_t i = 0; i < count; i++)
    if (tokens[i] < 0 || tokens[i] >= c->vocabulary)
      return c->status = attn2c_fail(c->message, ATTN2C_USAGE, "%s: token %d, but 0 to %lld is allowed", name,
                                     tokens[i], (long long)c->vocabulary - 1);
  return ATTN2C_OK;
}

static void check_biases(check *c, const attn2c_sampling *options) {
  if (check_tokens(c, "bias", options->bias_tokens, options->bias_count) || options->bias_count == 0) return;
  if (!options->biases)
    c->status = attn2c_fail(c->message, ATTN2C_USAGE,
                            "bias: tokens without numbers, but one for each token is allowed");
  for (int32_t i = 0; options->biases && i < options->bias_count; i++) {
    const uint32_t bits = attn2c_float_bits(options->biases[i]);
    if (!attn2c_bits_are_nan(bits) && bits != ATTN2C_INFINITE_BITS) continue;
    c->status =
        attn2c_fail(c->message, ATTN2C_USAGE, "bias: %g of token %d, but a finite number or -inf is allowed",
                    (double)options->biases[i], options->bias_tokens[i]);
    return;
  }
}

/* Options without effect are a mistake of the caller. */
static void check_greedy(check *c, const attn2c_sampling *options) {
  const attn2c_sampling usual = attn2c_sampling_defaults();
  const struct {
    const char *name;
    double value, usual;
  } rows[] = {{"temperature", options->temperature, usual.temperature},
              {"top_k", (double)options->top_k, (double)usual.top_k},
              {"top_p", options->top_p, usual.top_p},
              {"min_p", options->min_p, usual.min_p},
              {"top_n_sigma", options->top_n_sigma, usual.top_n_sigma},
              {"typical_p", options->typical_p, usual.typical_p},
              {"xtc_probability", options->xtc_probability, usual.xtc_probability},
              {"dynatemp_range", options->dynatemp_range, usual.dynatemp_range},
              {"mirostat", options->mirostat, usual.mirostat}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].value != rows[i].usual)
      c->status =
          attn2c_fail(c->message, ATTN2C_USAGE, "%s: %g, but with greedy only its default %g is allowed",
                      rows[i].name, rows[i].value, rows[i].usual);
  if (options->sampler_order)
    c->status = attn2c_fail(c->message, ATTN2C_USAGE, "sampler_order: does not go with greedy");
}

int attn2c_sampling_steps(const char *order, uint8_t steps[ATTN2C_STEPS]) {
  static const char *const names[] = {"penalties", "dry",   "temperature", "top_n_sigma", "top_k",
                                      "top_p",     "min_p", "typ_p",       "xtc"};
  const char *at = strcmp(order, "llama.cpp") == 0 ? ATTN2C_SAMPLING_LLAMA : order;
  unsigned seen = 0;
  for (int count = 0;; at++) {
    const size_t size = strcspn(at, ";");
    unsigned step = 0;
    while (step < sizeof names / sizeof *names &&
           (strlen(names[step]) != size || memcmp(names[step], at, size) != 0))
      step++;
    if (step == sizeof names / sizeof *names || seen >> step & 1) return -1;
    seen |= 1u << step;
    steps[count++] = (uint8_t)step;
    at += size;
    if (!*at) return count;
  }
}

/* The options of chains. */
static void check_chain(check *c, const attn2c_sampling *o) {
  static const char from_0[] = "a finite number from 0";
  const int leaves_out = o->top_n_sigma > 0 || o->typical_p < 1 || o->xtc_probability > 0 || o->min_p > 0 ||
                         o->top_p < 1 || o->dynatemp_range > 0 || o->sampler_order != NULL;
  uint8_t steps[ATTN2C_STEPS];
  check_range(c, "top_n_sigma", o->top_n_sigma, 0, FLT_MAX, from_0);
  check_range(c, "typical_p", o->typical_p, 0, 1, "0 to 1");
  check_range(c, "xtc_probability", o->xtc_probability, 0, 1, "0 to 1");
  check_range(c, "xtc_threshold", o->xtc_threshold, 0, 1, "0 to 1");
  check_range(c, "dynatemp_range", o->dynatemp_range, 0, FLT_MAX, from_0);
  check_range(c, "dynatemp_exponent", o->dynatemp_exponent, 0, FLT_MAX, from_0);
  check_range(c, "mirostat_tau", o->mirostat_tau, 0, FLT_MAX, from_0);
  check_range(c, "mirostat_eta", o->mirostat_eta, 0, FLT_MAX, from_0);
  check_range(c, "dry_multiplier", o->dry_multiplier, 0, FLT_MAX, from_0);
  check_range(c, "dry_base", o->dry_base, 1, FLT_MAX, "a finite number from 1");
  check_range(c, "dry_allowed_length", o->dry_allowed_length, 0, INT32_MAX, "a number from 0");
  check_range(c, "dry_last_n", o->dry_last_n, -1, ATTN2C_DRY_MOST, "-1 (all) to 131072");
  if (o->mirostat != 0 && o->mirostat != 2)
    check_range(c, "mirostat", o->mirostat, 0, 0, "0 (none) or 2");
  else if (o->mirostat && leaves_out)
    c->status = attn2c_fail(c->message, ATTN2C_USAGE,
                            "mirostat: 2, but with it top_p, min_p, top_n_sigma, typical_p, xtc_probability, "
                            "dynatemp_range and sampler_order must have their defaults");
  if (o->sampler_order && attn2c_sampling_steps(o->sampler_order, steps) < 0)
    c->status = attn2c_fail(c->message, ATTN2C_USAGE,
                            "sampler_order: '%s', but llama.cpp or names of %s are allowed, each once",
                            o->sampler_order, ATTN2C_SAMPLING_ORDER);
  for (int32_t at = 0, count; at < o->dry_breaker_count; at += 1 + count) {
    count = o->dry_breakers[at];
    if (count < 1 || count >= o->dry_breaker_count - at) {
      c->status =
          attn2c_fail(c->message, ATTN2C_USAGE, "dry_breakers: a sequence of %d tokens, but 1 to %d are left",
                      count, o->dry_breaker_count - at - 1);
      return;
    }
    check_tokens(c, "dry_breakers", o->dry_breakers + at + 1, count);
  }
}

int attn2c_sampling_check(const attn2c_sampling *options, int64_t vocabulary, attn2c_message *message) {
  check c = {message, vocabulary, ATTN2C_OK};
  if (vocabulary < 1 || vocabulary > ATTN2C_SAMPLING_VOCABULARY)
    return attn2c_fail(message, ATTN2C_USAGE, "vocabulary: %lld, but 1 to %d is allowed",
                       (long long)vocabulary, ATTN2C_SAMPLING_VOCABULARY);
  check_range(&c, "temperature", options->temperature, FLT_MIN, FLT_MAX,
              "a number from 1.18e-38 to 3.4e+38 (greedy is an option of its own)");
  if (options->top_k < 0)
    c.status =
        attn2c_fail(message, ATTN2C_USAGE, "top_k: %lld, but a number from 0 is allowed (0: all tokens)",
                    (long long)options->top_k);
  check_range(&c, "top_p", options->top_p, 0, 1, "0 to 1");
  check_range(&c, "min_p", options->min_p, 0, 1, "0 to 1");
  check_range(&c, "repetition_penalty", options->repetition_penalty, FLT_MIN, FLT_MAX,
              "a number from 1.18e-38 to 3.4e+38 (1: no penalty)");
  check_range(&c, "presence_penalty", options->presence_penalty, -FLT_MAX, FLT_MAX, "a finite number");
  check_range(&c, "frequency_penalty", options->frequency_penalty, -FLT_MAX, FLT_MAX, "a finite number");
  check_biases(&c, options);
  check_tokens(&c, "allowed", options->allowed, options->allowed_count);
  check_tokens(&c, "stop_tokens", options->stop_tokens, options->stop_count);
  check_chain(&c, options);
  if (options->greedy && c.status == ATTN2C_OK) check_greedy(&c, options);
  return c.status;
}
