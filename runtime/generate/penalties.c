/* penalties.c - changes the logits of tokens that have occurred. Each result is rounded to float by a
 * volatile store, so that no compiler joins two operations into one with a single rounding. */
#include "generate/penalties.h"

void attn2c_penalties_feed(attn2c_penalties *p, int32_t token, int is_generated) {
  uint32_t *count = &p->counts[token];
  if (*count == 0) {
    p->tokens[p->distinct++] = token;
    *count = 1;
  }
  if (is_generated && *count < UINT32_MAX) ++*count;
}

void attn2c_penalties_apply(const attn2c_penalties *p, float *logits) {
  for (int32_t i = 0; i < p->distinct; i++) {
    const int32_t token = p->tokens[i];
    const uint32_t generated = p->counts[token] - 1;
    volatile float logit = logits[token], less = (float)generated;
    if (logit < 0.0f)
      logit = logit * p->repetition;
    else
      logit = logit / p->repetition;
    less = less * p->frequency;
    logit = logit - less;
    if (generated > 0) logit = logit - p->presence;
    logits[token] = logit;
  }
}

void attn2c_penalties_reset(attn2c_penalties *p) {
  for (int32_t i = 0; i < p->distinct; i++) p->counts[p->tokens[i]] = 0;
  p->distinct = 0;
}
