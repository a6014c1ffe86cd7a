/* sample_chain.c - the second part of a call where options have an order of their own: each step takes a list
 * of tokens, which ascends, and leaves some of them out or changes their logits. */
#include "generate/sampler.h"

#include "generate/bits.h"
#include "generate/draw.h"

#include <math.h>

/* XTC draws with another seed. */
static const uint64_t XTC_SEED = 0x5854435854435854;
static const double OCTAVE = 0x1p-55, LOG2 = 0x1p-32; /* units of attn2c_octaves and attn2c_log2 */

static float negative_infinity(void) { return attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS); }

static void find_largest(attn2c_sampler *s) {
  uint32_t order = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const uint32_t own = attn2c_order(s->logits[s->index[i]]);
    if (own > order) order = own;
  }
  s->largest = attn2c_from_order(order);
}

static uint64_t octaves_of(const attn2c_sampler *s, int32_t token) {
  return attn2c_octaves(attn2c_distance_units(s->largest - s->logits[token]));
}

/* Returns the masses' sum relative to the largest one, as a power of two. */
static double log2_total(const attn2c_sampler *s) {
  return (double)(int64_t)attn2c_log2(s->total) * LOG2 - ATTN2C_MASS_BITS;
}

/* Returns the mean of a number of each token, weighed by its mass: an integer of at most 29 bits. The sums
 * are integers: of the upper and lower halves of masses. */
static double mean_distance(const attn2c_sampler *s) {
  uint64_t upper = 0, lower = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    const uint64_t units = attn2c_distance_units(s->largest - s->logits[token]), mass = s->mass[token];
    upper += (mass >> 21) * units;
    lower += (mass & 0x1fffff) * (units >> 8);
  }
  return ((double)(int64_t)(upper >> 1) * 0x1p22 + (double)(int64_t)lower * 0x1p8) /
         (double)(int64_t)s->total;
}

/* Keeps the tokens whose number in `keys` is from the border on. */
static void keep_from(attn2c_sampler *s, const float *keys, uint32_t border, uint64_t dropped) {
  const int32_t count = s->kept;
  s->kept = 0;
  attn2c_keep_above(s, keys, s->index, count, border, dropped);
}

static void keep_top_k(attn2c_sampler *s) {
  const uint64_t k = (uint64_t)s->options.top_k;
  if (k == 0 || k >= (uint64_t)s->kept) return;
  const attn2c_border border = attn2c_select(s->logits, NULL, s->index, s->kept, k, s->sums);
  keep_from(s, s->logits, border.order, border.above + border.equal - k);
}

/* Sums are single operations that no flag of a compiler joins. */
static void forbid_below_sigma(attn2c_sampler *s) {
  volatile double sum = 0, squares = 0, spread;
  int32_t count = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const float logit = s->logits[s->index[i]];
    if (attn2c_float_bits(logit) == ATTN2C_NEGATIVE_INFINITE_BITS) continue;
    sum = sum + (double)logit;
    count++;
  }
  const double mean = sum / count;
  for (int32_t i = 0; i < s->kept; i++) {
    const float logit = s->logits[s->index[i]];
    if (attn2c_float_bits(logit) == ATTN2C_NEGATIVE_INFINITE_BITS) continue;
    volatile double square = (double)logit - mean;
    square = square * square;
    squares = squares + square;
  }
  spread = sqrt(squares / count);
  spread = s->options.top_n_sigma * spread;
  const double least = (double)s->largest - spread;
  for (int32_t i = 0; i < s->kept; i++)
    if ((double)s->logits[s->index[i]] < least) s->logits[s->index[i]] = negative_infinity();
}

/* -log p - entropy is distance - mean distance: the sum's logarithm is in both. Keys are floats ordered as
 * integers. */
static void keep_typical(attn2c_sampler *s) {
  const int64_t mean = (int64_t)mean_distance(s);
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    const int64_t units = attn2c_distance_units(s->largest - s->logits[token]);
    s->keys[token] = attn2c_bits_float(0x7f000000u - (uint32_t)(units > mean ? units - mean : mean - units));
  }
  const uint64_t share = attn2c_share_of(s->options.typical_p, s->total);
  const uint64_t more =
      (double)(int64_t)share > s->options.typical_p * (double)(int64_t)s->total ? share : share + 1;
  const attn2c_border border =
      attn2c_select(s->keys, s->mass, s->index, s->kept, more < s->total ? more : s->total, s->sums);
  keep_from(s, s->keys, border.order, 0);
}

/* Leaves out the tokens of at least the threshold but for the least probable one, the last of equal ones. */
static void exclude_top(attn2c_sampler *s) {
  const uint64_t bits = attn2c_draw_bits(s->options.seed ^ XTC_SEED, s->draws);
  if (s->options.xtc_threshold > 0.5 || (double)(int64_t)(bits >> 11) * 0x1p-53 > s->options.xtc_probability)
    return;
  const uint64_t least = attn2c_share_of(s->options.xtc_threshold, s->total);
  int32_t last = -1, count = 0, kept = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    if (s->mass[token] < least) continue;
    if (last < 0 || attn2c_order(s->logits[token]) <= attn2c_order(s->logits[last])) last = token;
    count++;
  }
  for (int32_t i = 0; i < s->kept && count > 1; i++) {
    const int32_t token = s->index[i];
    if (s->mass[token] < least || token == last) s->index[kept++] = token;
  }
  if (count > 1) s->kept = kept;
}

/* Divides by the temperature. One at which logits would be infinite leaves the largest ones, with 0. */
static void divide(attn2c_sampler *s, double temperature) {
  const uint32_t largest = attn2c_order(s->largest);
  const int is_least = (float)temperature < 1.2e-38f;
  const double inverse = is_least ? 0 : 1.0 / (double)(float)temperature;
  const int is_cut = is_least || attn2c_is_infinite((float)((double)s->largest * inverse));
  for (int32_t i = 0; i < s->kept; i++) {
    float *logit = &s->logits[s->index[i]];
    if (is_cut)
      *logit = attn2c_order(*logit) == largest ? 0 : negative_infinity();
    else
      *logit = (float)((double)*logit * inverse);
  }
}

/* Returns the temperature that the entropy asks for: both are logarithms to the base two. */
static double dynamic_temperature(attn2c_sampler *s) {
  const attn2c_sampling *o = &s->options;
  const double least = o->temperature > o->dynatemp_range ? o->temperature - o->dynatemp_range : 0;
  const double most = o->temperature + o->dynatemp_range;
  volatile double entropy = mean_distance(s) * (3098164009.0 * 0x1p-55);
  entropy = entropy + log2_total(s);
  const double all = (double)(int64_t)attn2c_log2((uint64_t)s->kept) * LOG2;
  double part = entropy / all; /* 0 to 1 */
  if (part <= 0) return o->dynatemp_exponent > 0 ? least : most;
  if (part > 1) part = 1;
  /* The part's power is a mass. */
  const uint64_t fraction = (uint64_t)(int64_t)(part * 0x1p52);
  volatile double octaves = (52 - (double)(int64_t)attn2c_log2(fraction > 0 ? fraction : 1) * LOG2);
  octaves = octaves * o->dynatemp_exponent;
  const double power =
      octaves > 42 ? 0 : (double)(int64_t)attn2c_mass((uint64_t)(int64_t)(octaves * 0x1p55)) * 0x1p-42;
  volatile double more = (most - least) * power;
  return least + more;
}

/* Leaves out tokens whose surprise is more than mu; the largest stay. */
static void keep_expected(attn2c_sampler *s) {
  const double total = log2_total(s);
  int32_t kept = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    const double surprise = (double)(int64_t)octaves_of(s, token) * OCTAVE + total;
    s->index[kept] = token;
    kept += surprise <= s->mu || attn2c_order(s->logits[token]) == attn2c_order(s->largest);
  }
  s->kept = kept;
}

void attn2c_sampler_surprise(attn2c_sampler *s, int32_t token) {
  volatile double step =
      (double)(int64_t)octaves_of(s, token) * OCTAVE + log2_total(s) - s->options.mirostat_tau;
  step = s->options.mirostat_eta * step;
  s->mu = s->mu - step;
}

static int needs_mass(const attn2c_sampler *s, attn2c_sampling_step step) {
  return step >= ATTN2C_STEP_TOP_P || (step == ATTN2C_STEP_TEMPERATURE && s->options.dynatemp_range > 0);
}

static void do_step(attn2c_sampler *s, attn2c_sampling_step step) {
  switch (step) {
  case ATTN2C_STEP_PENALTIES:
    attn2c_penalties_apply(&s->penalties, s->logits);
    return;
  case ATTN2C_STEP_DRY:
    attn2c_dry_apply(&s->dry, s->logits);
    return;
  case ATTN2C_STEP_TEMPERATURE:
    if (s->options.dynatemp_range <= 0)
      divide(s, s->options.temperature);
    else if (s->kept > 1)
      divide(s, dynamic_temperature(s));
    return;
  case ATTN2C_STEP_TOP_N_SIGMA:
    forbid_below_sigma(s);
    return;
  case ATTN2C_STEP_TOP_K:
    keep_top_k(s);
    return;
  case ATTN2C_STEP_TOP_P:
    attn2c_keep_top_p(s);
    return;
  case ATTN2C_STEP_MIN_P:
    attn2c_keep_min_p(s);
    return;
  case ATTN2C_STEP_TYPICAL:
    keep_typical(s);
    return;
  case ATTN2C_STEP_XTC:
    exclude_top(s);
    return;
  default:
    keep_expected(s);
    return;
  }
}

int attn2c_sampler_chain(attn2c_sampler *s, attn2c_message *message) {
  s->kept = s->vocabulary;
  for (int32_t i = 0; i < s->vocabulary; i++) s->index[i] = i;
  for (int i = 0; i <= s->step_count; i++) {
    const int is_last = i == s->step_count;
    find_largest(s);
    if (attn2c_is_infinite(s->largest))
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "logits: the largest is %s after penalties, but a finite number is needed",
                         s->largest > 0 ? "+inf" : "-inf");
    if (is_last || needs_mass(s, (attn2c_sampling_step)s->steps[i])) attn2c_weigh_list(s);
    if (!is_last) do_step(s, (attn2c_sampling_step)s->steps[i]);
  }
  return ATTN2C_OK;
}
