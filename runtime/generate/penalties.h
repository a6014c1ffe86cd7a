/* penalties.h - counts the tokens that were fed, and changes the logits of those that have occurred. */
#pragma once

#include <stdint.h>

typedef struct attn2c_penalties {
  float repetition, presence, frequency;
  int32_t distinct; /* tokens that have occurred */
  int32_t *tokens;  /* [vocabulary] those tokens, in the order of their first occurrence */
  uint32_t *counts; /* [vocabulary] 0: has not occurred; else 1 + how often the token was generated */
} attn2c_penalties;

/* Counts a token of the prompt, or one that was generated. */
void attn2c_penalties_feed(attn2c_penalties *p, int32_t token, int is_generated);

/* Changes logits[] as sampling.h says. */
void attn2c_penalties_apply(const attn2c_penalties *p, float *logits);

/* Forgets all tokens. */
void attn2c_penalties_reset(attn2c_penalties *p);
