/* compared.h - logits that one program writes and another compares with its own: how far the
 * distribution of each token is from the other program's. Only one token's logits are kept at a time. */
#pragma once

#include "model/model.h"

typedef struct attn2c_compared attn2c_compared;

typedef struct {
  double nats, other_nats;       /* mean negative log-likelihood of a token: own, and the other program's */
  double nats_error;             /* standard error of their difference, as if tokens were independent */
  double kl, kl_percentile;      /* from the other's distribution: its mean, and the 99th percentile */
  double equal_greedy;           /* share of tokens whose largest logit is at the same token */
  double cosine, relative_error; /* of all logits */
} attn2c_text_comparison;

/* Compared streams have the same facts. A text that is not longer than the context is one window. */
typedef struct {
  int64_t tokens;         /* of the text */
  int64_t window, stride; /* tokens of a window, and those that neighbours share; 0 with one window */
  int32_t vocabulary;
} attn2c_logits_facts;

/* Writes a stream's beginning. Returns 0 if that fails. */
int attn2c_logits_begin(FILE *out, const attn2c_logits_facts *facts);

/* Writes the logits x[vocabulary] that predict token `id`. Returns 0 if that fails. */
int attn2c_logits_write(FILE *out, int32_t id, const float *x, int32_t vocabulary);

/* Opens a stream, which must have these facts. Returns a status, with a message. */
int attn2c_compared_open(const char *path, const attn2c_logits_facts *facts, attn2c_compared **made,
                         attn2c_message *message);

/* Compares x[vocabulary], the logits that predict token `id`, with the next of the stream. The
 * stream must end with the text. */
int attn2c_compared_add(attn2c_compared *self, int32_t id, const float *x, attn2c_message *message);

/* Returns the result for all tokens so far, at least one. */
attn2c_text_comparison attn2c_compared_result(attn2c_compared *self);

void attn2c_compared_close(attn2c_compared *self);
