/* sampling.h - the options of sampling: their defaults, and the check of their values. The options mean what
 * they mean in Hugging Face's transformers 5.23, and have its defaults. */
#pragma once

#include "base/attn2c.h"

/* The largest vocabulary. */
enum { ATTN2C_SAMPLING_VOCABULARY = 1 << 20 };

/* The logits go through the options in this order, which is that of transformers' processors:
 *
 * 1. bias: a number is added to the logit of each token of a list (sequence_bias of single tokens).
 * 2. repetition_penalty: the logit of each token that was fed, of the prompt or generated, is divided by it
 * if it is positive, else multiplied, once however often the token was fed.
 * 3. frequency_penalty and presence_penalty, as OpenAI defines them: logit - n * frequency - (n > 0) *
 *    presence, where n is how often the token was generated. The prompt does not count. transformers does not
 *    have them.
 * 4. dry: see dry.h.
 * 5. allowed: all other tokens get -inf. If all allowed tokens have -inf, they are all equal.
 *
 * If `greedy`, the token with the largest logit is taken, the first of equal ones. Otherwise:
 *
 * 6. temperature: logits are divided by it.
 * 7. top_k: the k largest logits stay, and all that equal the k-th; the others become -inf.
 * 8. top_p: of the probabilities of what is left, in descending order, the smallest set stays whose sum is at
 *    least p; at least one token. If equal logits are at the border, the tokens of the higher ids stay.
 * 9. min_p: tokens stay whose probability is at least min_p times the largest.
 *
 * Then a token is drawn by its probability. Numbers are rounded to float, as transformers does, except top_p
 * and min_p, which are used as they are.
 *
 * The other options mean what they mean in llama.cpp (src/llama-sampling.cpp). With one of them, or with
 * `sampler_order`, options are a chain: each takes the tokens that the one before it has left, and their
 * probabilities have the sum 1. Bias and allowed come first. ATTN2C_SAMPLING_ORDER is the usual order.
 *
 * - top_n_sigma: tokens stay whose logit is at least the largest minus n times the standard deviation of all
 *   logits but -inf.
 * - typical_p: tokens in the order of the difference between -log of their probability and the entropy, the
 *   smallest first, stay until their sum is more than p (Meister et al. 2022).
 * - xtc: with xtc_probability, of the tokens that have at least the probability xtc_threshold only the least
 *   probable one stays. Less probable tokens stay. A threshold above 0.5 has no effect.
 * - dynatemp_range: the temperature is from temperature - range, at least 0, to temperature + range: the
 *   entropy divided by its largest value, to the power dynatemp_exponent, says where. At 0 only the largest
 *   logit stays.
 * - mirostat 2: after the temperature, tokens stay whose surprise, -log2 of the probability, is at most mu;
 *   the most probable one always stays. mu is 2 tau at first. After each draw mu becomes mu - eta (s - tau).
 *   s is the token's surprise among the tokens that stayed (Basu et al. 2021). No other option that leaves
 *   out tokens counts.
 * - top_k: in a chain exactly k tokens stay: of equal ones the tokens of the higher ids. */
#define ATTN2C_SAMPLING_ORDER "penalties;dry;temperature;top_n_sigma;top_k;top_p;min_p;typ_p;xtc"
/* llama.cpp's own order, for which "llama.cpp" stands. */
#define ATTN2C_SAMPLING_LLAMA "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature"

typedef struct attn2c_sampling {
  int greedy;         /* 1: no drawing: temperature, top_k, top_p and min_p are 1, 50, 1 and 0; dry counts */
  double temperature; /* more than 0, finite */
  int64_t top_k;      /* from 0; 0: all */
  double top_p;       /* 0 to 1; 1: all */
  double min_p;       /* 0 to 1; 0: all */
  double repetition_penalty; /* more than 0, finite; 1: none */
  double presence_penalty;   /* finite; 0: none */
  double frequency_penalty;  /* finite; 0: none */
  uint64_t seed;
  int32_t bias_count;
  const int32_t *bias_tokens;
  const float *biases;   /* one a token: finite, or -inf, which forbids the token */
  int32_t allowed_count; /* 0: all tokens are allowed */
  const int32_t *allowed;
  int32_t stop_count;
  const int32_t *stop_tokens;
  double top_n_sigma;     /* tokens stay at most n standard deviations below the largest logit; 0: all */
  double typical_p;       /* 0 to 1: the tokens nearest to the entropy stay, up to the sum p; 1: all */
  double xtc_probability; /* 0 to 1: the chance that of the tokens from the threshold on the last one stays */
  double xtc_threshold;   /* 0 to 1; usually 0.1 */
  double dynatemp_range;  /* from 0: how much lower or higher the temperature is, by the entropy */
  double dynatemp_exponent; /* from 0; usually 1 */
  int32_t mirostat;    /* 0 or 2: tokens stay by a surprise that follows tau; all other options that leave out
                          tokens must have their defaults, but for top_k, which does not count */
  double mirostat_tau; /* bits; usually 5 */
  double mirostat_eta; /* usually 0.1 */
  double dry_multiplier; /* this * base^(n - allowed_length) is subtracted from the logit of a token that */
  double dry_base;       /* makes a repetition of n tokens longer; multiplier 0: none. base: usually 1.75 */
  int32_t dry_allowed_length;  /* usually 2 */
  int32_t dry_last_n;          /* the tokens that are looked at; -1: all, up to 131072 */
  int32_t dry_breaker_count;   /* numbers of the next list */
  const int32_t *dry_breakers; /* sequences that end a repetition: the tokens of each, after their number */
  const char *sampler_order; /* names with ; between them, "llama.cpp" for its order, or NULL: the usual one.
                                An option that is not named has no effect */
} attn2c_sampling;

attn2c_sampling attn2c_sampling_defaults(void);

/* The options that a chain has, in the order of their names, and the most of one. */
typedef enum attn2c_sampling_step {
  ATTN2C_STEP_PENALTIES,
  ATTN2C_STEP_DRY,
  ATTN2C_STEP_TEMPERATURE,
  ATTN2C_STEP_TOP_N_SIGMA,
  ATTN2C_STEP_TOP_K,
  ATTN2C_STEP_TOP_P,
  ATTN2C_STEP_MIN_P,
  ATTN2C_STEP_TYPICAL,
  ATTN2C_STEP_XTC,
  ATTN2C_STEP_MIROSTAT, /* has no name */
  ATTN2C_STEPS = 16
} attn2c_sampling_step;

/* Reads an order. Returns the number of steps, or -1 if a name is not known, is there twice or is missing. */
int attn2c_sampling_steps(const char *order, uint8_t steps[ATTN2C_STEPS]);

/* Returns ATTN2C_OK, or ATTN2C_USAGE and a line for each fault, which begins with the option's name. */
int attn2c_sampling_check(const attn2c_sampling *options, int64_t vocabulary, attn2c_message *message);
