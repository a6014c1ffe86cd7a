/* dry.h - DRY, "don't repeat yourself", as llama.cpp has it: a token that would make a repetition longer has
 * its logit lowered by multiplier * base^(length - allowed).
 *
 * length is the largest number n for which the last n tokens of the text also stand before an earlier place
 * where that token followed; nothing happens if it is less than `allowed`. A repetition does not reach back
 * over the last breaker: a sequence of tokens such as a line end. A token that is a breaker by itself is
 * never lowered. Only the last `last_n` tokens, prompt and answer, are looked at. */
#pragma once

#include "generate/sampling.h"

/* The most tokens that are looked at. */
enum { ATTN2C_DRY_MOST = 1 << 17 };

typedef struct attn2c_dry {
  float multiplier;
  double base;
  int32_t allowed, vocabulary;
  int32_t capacity;        /* tokens that are looked at; 0: there is no DRY */
  int32_t count;           /* tokens in ids */
  int32_t *ids;            /* [2 * capacity] the last tokens of the text */
  int32_t *same;           /* [capacity] */
  int32_t *longest;        /* [vocabulary] 0 between calls */
  uint8_t *heads;          /* [vocabulary] 1: a breaker begins with the token; 2: the token is one */
  const int32_t *breakers; /* [breaker_count], the caller's: the tokens of each, after their number */
  int32_t breaker_count;
} attn2c_dry;

/* Allocates what the options need; they must stay with their breakers. Returns 0 without memory. */
int attn2c_dry_create(attn2c_dry *dry, const attn2c_sampling *options, int32_t vocabulary);
void attn2c_dry_free(attn2c_dry *dry);

/* Adds tokens to the text. */
void attn2c_dry_feed(attn2c_dry *dry, const int32_t *tokens, int64_t count);

/* Lowers the logits [vocabulary] of tokens that would make a repetition longer. */
void attn2c_dry_apply(attn2c_dry *dry, float *logits);
