/* rules.h - which tokens of speech may follow which: OpenAI's rules of timestamps, and the same as
 * Hugging Face's transformers 5.23 has them.
 *
 * An answer begins with a timestamp. Timestamps come in pairs, the end of a segment and the beginning of the
 * next one, but for the first, and for the last before the end; they never fall, and only the second of a
 * pair may equal the one before it. If all timestamps together are more probable than each other token, the
 * next token is one. */
#pragma once

#include "base/speech_facts.h"
#include "generate/processors.h"

/* Forbids the tokens that may not follow the first ids[count] of an answer: they get -inf. scores: logits or
 * log-probabilities, [vocabulary]. */
void attn2c_timestamps(const attn2c_speech *speech, const int32_t *ids, int32_t count, float *scores,
                       int32_t vocabulary);

/* The same as a rule of answers. It changes nothing after a prompt that ends with no_timestamps, and in a
 * plain model. */
typedef struct attn2c_timestamp_rule {
  attn2c_rule rule;
  const attn2c_speech *speech;
} attn2c_timestamp_rule;

attn2c_timestamp_rule attn2c_timestamp_rule_of(const attn2c_speech *speech);
