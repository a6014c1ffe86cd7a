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
 * 4. allowed: all other tokens get -inf. If all allowed tokens have -inf, they are all equal.
 *
 * If `greedy`, the token with the largest logit is taken, the first of equal ones. Otherwise:
 *
 * 5. temperature: logits are divided by it.
 * 6. top_k: the k largest logits stay, and all that equal the k-th; the others become -inf.
 * 7. top_p: of the probabilities of what is left, in descending order, the smallest set stays whose sum is at
 *    least p; at least one token. If equal logits are at the border, the tokens of the higher ids stay.
 * 8. min_p: tokens stay whose probability is at least min_p times the largest.
 *
 * Then a token is drawn by its probability. Numbers are rounded to float, as transformers does, except top_p
 * and min_p, which are used as they are. */
typedef struct attn2c_sampling {
  int greedy;                /* 1: no drawing; options 5 to 8 must have their defaults. Default 1 */
  double temperature;        /* more than 0, finite. Default 1 */
  int64_t top_k;             /* from 0; 0: all. Default 50 */
  double top_p;              /* 0 to 1; 1: all. Default 1 */
  double min_p;              /* 0 to 1; 0: all. Default 0 */
  double repetition_penalty; /* more than 0, finite. Default 1: none */
  double presence_penalty;   /* finite. Default 0 */
  double frequency_penalty;  /* finite. Default 0 */
  uint64_t seed;             /* any. Default 0 */
  int32_t bias_count;        /* Default 0 */
  const int32_t *bias_tokens;
  const float *biases;   /* one a token: finite, or -inf, which forbids the token */
  int32_t allowed_count; /* 0: all tokens are allowed. Default 0 */
  const int32_t *allowed;
  int32_t stop_count; /* Default 0 */
  const int32_t *stop_tokens;
} attn2c_sampling;

attn2c_sampling attn2c_sampling_defaults(void);

/* Returns ATTN2C_OK, or ATTN2C_USAGE and a line for each fault, which begins with the option's name. */
int attn2c_sampling_check(const attn2c_sampling *options, int64_t vocabulary, attn2c_message *message);
