/* sample_logits.c - the first part of a call: bias, penalties, allowed tokens and temperature. */
#include "generate/sampler.h"

#include "generate/bits.h"

#define NEGATIVE_INFINITY (attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS))

enum { BLOCK = ATTN2C_SAMPLER_BLOCK };

/* Returns the first token whose logit is NaN, or -1. */
static int32_t first_nan(const float *logits, int32_t count) {
  uint32_t marks = 0;
#pragma omp simd reduction(| : marks)
  for (int32_t i = 0; i < count; i++) marks |= attn2c_nan_mark(attn2c_float_bits(logits[i]));
  for (int32_t i = 0; marks >> 31 && i < count; i++)
    if (attn2c_nan_mark(attn2c_float_bits(logits[i])) >> 31) return i;
  return -1;
}

static int say_nan(const attn2c_sampler *s, const float *logits, const char *when, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "logits: NaN%s for token %d, but numbers are allowed", when,
                     first_nan(logits, s->vocabulary));
}

/* Writes x * inverse to y[count], rounded to float; returns the largest, and marks *nan if there is a NaN.
 * The product in double, rounded to float, is the quotient x / temperature of floats to the bit: a quotient
 * of two numbers of 24 bits is never as near to the middle of two floats as the product's error. No flag of a
 * compiler changes a product, but some would change a quotient. The largest is found among integers, as a
 * maximum of floats is not vectorised by every compiler. */
static inline float scale_block(float *y, const float *x, int32_t count, double inverse, uint32_t *nan) {
  int32_t largest = INT32_MIN;
  uint32_t marks = 0;
#pragma omp simd reduction(max : largest) reduction(| : marks)
  for (int32_t i = 0; i < count; i++) {
    y[i] = (float)((double)x[i] * inverse);
    const int32_t bits = (int32_t)attn2c_float_bits(y[i]);
    const int32_t order = bits ^ (bits >> 31 & 0x7fffffff);
    largest = order > largest ? order : largest;
    marks |= attn2c_nan_mark((uint32_t)bits);
  }
  *nan |= marks;
  return attn2c_bits_float((uint32_t)(largest ^ (largest >> 31 & 0x7fffffff)));
}

/* Writes the logits from `x`, and the largest of each block. Returns whether one is NaN. */
static int scale(attn2c_sampler *s, const float *x) {
  const int32_t whole = s->vocabulary / BLOCK;
  uint32_t nan = 0, order = 0;
  for (int32_t b = 0; b < whole; b++)
    s->largest_of[b] = scale_block(s->logits + b * BLOCK, x + b * BLOCK, BLOCK, s->inverse, &nan);
  if (whole < s->blocks)
    s->largest_of[whole] = scale_block(s->logits + whole * BLOCK, x + whole * BLOCK,
                                       s->vocabulary - whole * BLOCK, s->inverse, &nan);
  for (int32_t b = 0; b < s->blocks; b++)
    if (attn2c_order(s->largest_of[b]) > order) order = attn2c_order(s->largest_of[b]);
  s->largest = attn2c_from_order(order);
  return nan >> 31 != 0;
}

/* Copies the logits of allowed tokens; the others get -inf. All are 0 if all would be -inf. */
static void copy_allowed(attn2c_sampler *s, const float *x) {
  const attn2c_sampling *o = &s->options;
  const float none = NEGATIVE_INFINITY;
  for (int32_t i = 0; i < s->vocabulary; i++) s->logits[i] = none;
  for (int32_t i = 0; i < o->allowed_count; i++) s->logits[o->allowed[i]] = x[o->allowed[i]];
}

static void equal_if_none(attn2c_sampler *s) {
  const attn2c_sampling *o = &s->options;
  for (int32_t i = 0; i < o->allowed_count; i++)
    if (attn2c_float_bits(s->logits[o->allowed[i]]) != ATTN2C_NEGATIVE_INFINITE_BITS) return;
  for (int32_t i = 0; i < o->allowed_count; i++) s->logits[o->allowed[i]] = 0;
}

/* Returns x, or its copy after bias, penalties and forbidden tokens. */
static const float *change(attn2c_sampler *s, const float *x) {
  const attn2c_sampling *o = &s->options;
  if (!s->is_changed) return x;
  if (o->allowed_count > 0)
    copy_allowed(s, x);
  else
    memcpy(s->logits, x, (size_t)s->vocabulary * sizeof *x);
  for (int32_t i = 0; i < o->bias_count; i++) s->logits[o->bias_tokens[i]] += o->biases[i];
  if (s->is_penalised && !s->is_chained) attn2c_penalties_apply(&s->penalties, s->logits);
  if (s->dry.capacity > 0 && !s->is_chained) attn2c_dry_apply(&s->dry, s->logits);
  if (o->allowed_count > 0) equal_if_none(s);
  return s->logits;
}

/* Where a temperature is so small that finite logits become infinite, only the largest have a probability:
 * the next float is farther from them than any distance with a mass. Gives these 0, and the others -inf. */
static void keep_largest(attn2c_sampler *s, const float *logits) {
  const double inverse = s->inverse;
  s->inverse = 1;
  scale(s, change(s, logits));
  const uint32_t order = attn2c_order(s->largest);
  if (!attn2c_is_infinite(s->largest)) {
    for (int32_t i = 0; i < s->vocabulary; i++)
      s->logits[i] = attn2c_order(s->logits[i]) == order ? 0 : NEGATIVE_INFINITY;
    scale(s, s->logits);
  }
  s->inverse = inverse;
}

int attn2c_sampler_logits(attn2c_sampler *s, const float *logits, attn2c_message *message) {
  if (s->options.allowed_count > 0 && first_nan(logits, s->vocabulary) >= 0)
    return say_nan(s, logits, "", message);
  if (scale(s, change(s, logits))) {
    if (first_nan(logits, s->vocabulary) >= 0) return say_nan(s, logits, "", message);
    return say_nan(s, s->logits, " after bias and penalties", message);
  }
  if (attn2c_is_infinite(s->largest) && !s->options.greedy) keep_largest(s, logits);
  if (!attn2c_is_infinite(s->largest)) return ATTN2C_OK;
  if (s->largest < 0)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "logits: -inf for all tokens that are allowed, but one other number is needed");
  if (s->options.greedy) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT,
                     "logits: +inf, but with probabilities only finite numbers and -inf are allowed");
}
