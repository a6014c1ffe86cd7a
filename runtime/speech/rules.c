/* rules.c - tokens are in two ranges, text and special ones before the first timestamp, and
 * timestamps. */
#include "speech/rules.h"

#include "generate/bits.h"

#include <math.h>

/* Forbids tokens [from, to). */
static void forbid(float *scores, int32_t from, int32_t to) {
  for (int32_t i = from; i < to; i++) scores[i] = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
}

static float largest(const float *scores, int32_t from, int32_t to) {
  float best = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  for (int32_t i = from; i < to; i++) best = scores[i] > best ? scores[i] : best;
  return best;
}

/* True if tokens [from, to) together are more probable than one of this score. */
static int are_likelier(const float *scores, int32_t from, int32_t to, float than) {
  const float best = largest(scores, from, to);
  double sum = 0;
  if (attn2c_float_bits(best) == ATTN2C_NEGATIVE_INFINITE_BITS) return 0;
  for (int32_t i = from; i < to; i++) sum += exp((double)scores[i] - (double)best);
  return (double)best + log(sum) > (double)than;
}

void attn2c_timestamps(const attn2c_speech *speech, const int32_t *ids, int32_t count, float *scores,
                       int32_t vocabulary) {
  const int32_t first = speech->no_timestamps + 1;
  const int is_time = count > 0 && ids[count - 1] >= first;
  const int ends_segment = is_time && count > 1 && ids[count - 2] < first;
  int32_t last = count - 1;
  while (last >= 0 && ids[last] < first) last--;
  forbid(scores, speech->no_timestamps, first);
  if (is_time && !ends_segment) forbid(scores, first, vocabulary);
  if (ends_segment) forbid(scores, 0, speech->end);
  if (last >= 0) forbid(scores, first, ends_segment ? ids[last] : ids[last] + 1);
  if (count == 0) {
    forbid(scores, 0, first);
    if (speech->most_initial >= 0) forbid(scores, first + speech->most_initial + 1, vocabulary);
  }
  if (are_likelier(scores, first, vocabulary, largest(scores, 0, first))) forbid(scores, 0, first);
}

static const char *apply(const attn2c_rule *rule, const attn2c_history *history, float *scores,
                         int32_t vocabulary) {
  const attn2c_timestamp_rule *own = (const attn2c_timestamp_rule *)rule;
  const int32_t without = own->speech->no_timestamps;
  if (without < 0 || history->ids[history->prompt - 1] == without) return NULL;
  attn2c_timestamps(own->speech, history->ids + history->prompt, history->count - history->prompt, scores,
                    vocabulary);
  return NULL;
}

attn2c_timestamp_rule attn2c_timestamp_rule_of(const attn2c_speech *speech) {
  return (attn2c_timestamp_rule){{.apply = apply, .is_scored = 1}, speech};
}
