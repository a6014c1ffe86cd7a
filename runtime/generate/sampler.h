/* sampler.h - the data of a sampler, and the parts of a call: logits, then the tokens that stay. */
#pragma once

#include "generate/mass.h"
#include "generate/penalties.h"
#include "generate/sample.h"
#include "generate/select.h"

#include "generate/dry.h"

/* Tokens of a block. Blocks whose largest logit is too small are not looked at. */
enum { ATTN2C_SAMPLER_BLOCK = 64 };

/* `kept` if all tokens are kept; their list is then not written. */
enum { ATTN2C_KEPT_ALL = -1 };

struct attn2c_sampler {
  attn2c_sampling options; /* the lists are the sampler's own */
  int32_t vocabulary, blocks;
  int is_changed; /* logits are biased, penalised or forbidden */
  int is_penalised;
  double inverse;    /* 1 / temperature */
  uint64_t draws;    /* tokens that were drawn */
  float largest;     /* of all logits */
  int32_t kept;      /* tokens that may be drawn, or ATTN2C_KEPT_ALL */
  uint64_t total;    /* their mass */
  float *logits;     /* [blocks][64], -inf after the vocabulary */
  float *largest_of; /* [blocks] */
  uint64_t *mass;    /* [vocabulary], of tokens that are kept */
  int32_t *index;    /* [kept] the tokens, in at most two parts that ascend */
  uint64_t *sums;    /* [ATTN2C_SELECT_SUMS] */
  attn2c_penalties penalties;
  attn2c_dry dry;
  int is_chained; /* options have an order of their own, or are more than transformers' */
  int step_count; /* of the chain: those that have an effect */
  uint8_t steps[ATTN2C_STEPS];
  float *keys; /* [vocabulary] of a chain that sorts by something else than logits */
  double mu;   /* of mirostat */
};

/* Writes the logits after bias, penalties, forbidden tokens and temperature, and the largest of each block;
 * in a chain after bias and forbidden tokens. */
int attn2c_sampler_logits(attn2c_sampler *s, const float *logits, attn2c_message *message);

/* Finds the tokens that top_k, top_p and min_p leave, their masses and the total. */
void attn2c_sampler_keep(attn2c_sampler *s);

/* The same by the steps of a chain. ATTN2C_FORMAT, with a line: penalties leave no finite logit. */
int attn2c_sampler_chain(attn2c_sampler *s, attn2c_message *message);

/* Takes the token that was drawn for mirostat. */
void attn2c_sampler_surprise(attn2c_sampler *s, int32_t token);

/* Return p times the total, rounded up, from 1; and drop tokens of a list with masses. */
uint64_t attn2c_share_of(double p, uint64_t total);
void attn2c_keep_top_p(attn2c_sampler *s);
void attn2c_keep_min_p(attn2c_sampler *s);

/* Adds to the kept tokens a list's tokens at or above the border, without the first `dropped` that equal it.
 * The list may be in index[], after the kept ones. logits: by token. */
void attn2c_keep_above(attn2c_sampler *s, const float *logits, const int32_t *list, int32_t count,
                       uint32_t border, uint64_t dropped);

/* Writes the masses of the tokens in the list, and adds them up. */
void attn2c_weigh_list(attn2c_sampler *s);
