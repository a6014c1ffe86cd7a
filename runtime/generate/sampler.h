/* sampler.h - the data of a sampler, and the parts of a call: logits, then the tokens that stay. */
#pragma once

#include "generate/mass.h"
#include "generate/penalties.h"
#include "generate/sample.h"
#include "generate/select.h"

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
};

/* Writes the logits after bias, penalties, forbidden tokens and temperature, and the largest of each block.
 */
int attn2c_sampler_logits(attn2c_sampler *s, const float *logits, attn2c_message *message);

/* Finds the tokens that top_k, top_p and min_p leave, their masses and the total. */
void attn2c_sampler_keep(attn2c_sampler *s);
