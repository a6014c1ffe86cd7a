/* sample.h - chooses the next token of one sequence by its logits. sampling.h says how.
 *
 * The same logits, options and fed tokens give the same token on every machine, for every compiler and its
 * flags. Operations on floats are single ones, each rounded by itself; exponentials, sums and random numbers
 * are integers (mass.h, draw.h). Token number n that is drawn (from 0) takes random number n of the seed;
 * tokens are in the order of their ids.
 *
 * No call but create allocates. A sampler takes 16 bytes for each token of the vocabulary, and 8 more if it
 * has penalties. Each sequence needs a sampler of its own; different samplers may be used by different
 * threads. */
#pragma once

#include "generate/sampling.h"

typedef struct attn2c_sampler attn2c_sampler;

/* Makes a sampler; it copies the lists of the options. ATTN2C_USAGE: an option is wrong, a line each.
 * ATTN2C_MEMORY: no memory. *sampler is then NULL. */
int attn2c_sampler_create(attn2c_sampler **sampler, const attn2c_sampling *options, int64_t vocabulary,
                          attn2c_message *message);
void attn2c_sampler_free(attn2c_sampler *sampler);

/* Where fed tokens come from. Only penalties see a difference. */
typedef enum attn2c_fed { ATTN2C_FED_PROMPT, ATTN2C_FED_GENERATED } attn2c_fed;

/* Counts tokens of the sequence. sample() does not feed the token that it returns: a caller may take another.
 * ATTN2C_FORMAT: a token is not in the vocabulary; then none is counted. */
int attn2c_sampler_feed(attn2c_sampler *sampler, const int32_t *tokens, int64_t count, attn2c_fed from,
                        attn2c_message *message);

/* Forgets all tokens, and begins with the first random number of the seed. */
void attn2c_sampler_reset(attn2c_sampler *sampler, uint64_t seed);

/* Draws with another temperature from now on; 0: the token with the largest logit is taken. */
void attn2c_sampler_temperature(attn2c_sampler *sampler, double temperature);

/* Writes the next token. ATTN2C_FORMAT, and a line: a logit is NaN, before or after bias and penalties; all
 * are -inf; the largest is +inf and not `greedy`. *token is then unchanged, and no random number is used. */
int attn2c_sampler_sample(attn2c_sampler *sampler, const float *logits, int32_t *token,
                          attn2c_message *message);

/* True for a stop token. */
int attn2c_sampler_stops(const attn2c_sampler *sampler, int32_t token);
