/* sample_keep.c - the second part of a call: top_k, top_p and min_p. Lists of kept tokens are made of blocks
 * with large logits and of few tokens near a border, so that most of a vocabulary is read once. */
#include "generate/sampler.h"

#include "generate/bits.h"

#include <math.h>

enum {
  BLOCK = ATTN2C_SAMPLER_BLOCK,
  /* Masses are counted by eighths of octaves. */
  EIGHTHS_SHIFT = ATTN2C_OCTAVE_BITS - 3,
  EIGHTHS = 8 * 43
};

static uint32_t units_of(const attn2c_sampler *s, float logit) {
  return attn2c_distance_units(s->largest - logit);
}

/* Keeps the tokens whose distances from the largest logit are at most `last` units. */
static void keep_units(attn2c_sampler *s, uint32_t last) {
  int32_t kept = 0;
  for (int32_t b = 0; b < s->blocks; b++) {
    if (units_of(s, s->largest_of[b]) > last) continue;
    const float *logits = s->logits + b * BLOCK, largest = s->largest;
    const int32_t end = s->vocabulary - b * BLOCK < BLOCK ? s->vocabulary - b * BLOCK : BLOCK;
    uint32_t units[BLOCK];
#pragma omp simd
    for (int32_t i = 0; i < BLOCK; i++) units[i] = attn2c_distance_units(largest - logits[i]);
    for (int32_t i = 0; i < end; i++) {
      s->index[kept] = b * BLOCK + i;
      kept += units[i] <= last;
    }
  }
  s->kept = kept;
}

/* Keeps the tokens of the list at or above the border, without the first `dropped` that equal it. */
static void keep_above(attn2c_sampler *s, uint32_t border, uint64_t dropped) {
  int32_t kept = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    const uint32_t order = attn2c_order(s->logits[token]);
    const int is_dropped = order == border && dropped > 0;
    dropped -= (uint64_t)is_dropped;
    s->index[kept] = token;
    kept += order >= border && !is_dropped;
  }
  s->kept = kept;
}

/* Counts all tokens by eighths of octaves to sums[EIGHTHS]: their masses, which are written, or their number.
 */
static void count_eighths(attn2c_sampler *s, int is_mass) {
  for (int i = 0; i < EIGHTHS; i++) s->sums[i] = 0;
  for (int32_t b = 0; b < s->blocks; b++) {
    const float *logits = s->logits + b * BLOCK, largest = s->largest;
    const int32_t end = s->vocabulary - b * BLOCK < BLOCK ? s->vocabulary - b * BLOCK : BLOCK;
    uint64_t *mass = s->mass + b * BLOCK;
    uint32_t units[BLOCK];
#pragma omp simd
    for (int32_t i = 0; i < BLOCK; i++) units[i] = attn2c_distance_units(largest - logits[i]);
    if (is_mass)
      for (int32_t i = 0; i < end; i++) {
        const uint64_t octaves = attn2c_octaves(units[i]);
        mass[i] = attn2c_mass(octaves);
        s->sums[octaves >> EIGHTHS_SHIFT] += mass[i];
      }
    else
      for (int32_t i = 0; i < end; i++) s->sums[attn2c_octaves(units[i]) >> EIGHTHS_SHIFT]++;
  }
}

/* Keeps a list of the tokens of the first eighths that have the mass or number `target` together. */
static void keep_eighths(attn2c_sampler *s, uint64_t target) {
  uint64_t sum = s->sums[0], eighth = 0;
  while (sum < target && eighth < EIGHTHS - 1) sum += s->sums[++eighth];
  const uint64_t octave = attn2c_octaves(1); /* of one unit */
  keep_units(s, (uint32_t)((((eighth + 1) << EIGHTHS_SHIFT) - 1) / octave));
}

/* If there are k blocks or more, the k-th largest of the blocks' largest logits is a lower bound of the k-th
 * largest logit: few tokens are left to select from. */
static void keep_top_k(attn2c_sampler *s) {
  const uint64_t k = (uint64_t)s->options.top_k;
  if (k <= (uint64_t)s->blocks) {
    const uint32_t bound = attn2c_select(s->largest_of, NULL, NULL, s->blocks, k, s->sums).order;
    keep_units(s, units_of(s, attn2c_from_order(bound)));
  } else {
    count_eighths(s, 0);
    keep_eighths(s, k);
  }
  keep_above(s, attn2c_select(s->logits, NULL, s->index, s->kept, k, s->sums).order, 0);
}

/* Writes the masses of the tokens in the list, and adds them up. */
static void weigh_list(attn2c_sampler *s) {
  s->total = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    s->mass[token] = attn2c_mass(attn2c_octaves(units_of(s, s->logits[token])));
    s->total += s->mass[token];
  }
}

static void weigh_all(attn2c_sampler *s) {
  count_eighths(s, 1);
  s->total = 0;
  for (int i = 0; i < EIGHTHS; i++) s->total += s->sums[i];
}

/* Returns p times the total, rounded up, from 1. */
static uint64_t share_of(double p, uint64_t total) {
  const double exact = p * (double)(int64_t)total;
  uint64_t share = (uint64_t)(int64_t)exact;
  if ((double)(int64_t)share < exact) share++;
  if (share > total) share = total;
  return share > 0 ? share : 1;
}

static void keep_top_p(attn2c_sampler *s) {
  const uint64_t target = share_of(s->options.top_p, s->total);
  if (s->kept == ATTN2C_KEPT_ALL) keep_eighths(s, target);
  const attn2c_border border = attn2c_select(s->logits, s->mass, s->index, s->kept, target, s->sums);
  uint64_t equal = 0, each = 1;
  for (int32_t i = 0; i < s->kept; i++)
    if (attn2c_order(s->logits[s->index[i]]) == border.order) {
      each = s->mass[s->index[i]];
      equal++;
    }
  const uint64_t needed = (target - border.above + each - 1) / each;
  keep_above(s, border.order, equal - needed);
  s->total = border.above + needed * each;
}

/* Keeps tokens of at least min_p times the largest mass. */
static void keep_min_p(attn2c_sampler *s) {
  int exponent;
  frexp(s->options.min_p, &exponent); /* min_p is at least 2^(exponent - 1) */
  if (s->kept == ATTN2C_KEPT_ALL) keep_units(s, attn2c_distance_units((float)(2 - exponent) * 0.7f));
  const uint64_t least = share_of(s->options.min_p, (uint64_t)1 << ATTN2C_MASS_BITS);
  int32_t kept = 0;
  s->total = 0;
  for (int32_t i = 0; i < s->kept; i++) {
    const int32_t token = s->index[i];
    const int stays = s->mass[token] >= least;
    s->index[kept] = token;
    kept += stays;
    s->total += stays ? s->mass[token] : 0;
  }
  s->kept = kept;
}

void attn2c_sampler_keep(attn2c_sampler *s) {
  const attn2c_sampling *o = &s->options;
  s->kept = ATTN2C_KEPT_ALL;
  if (o->top_k > 0 && o->top_k < s->vocabulary) {
    keep_top_k(s);
    weigh_list(s);
  } else {
    weigh_all(s);
  }
  if (o->top_p < 1) keep_top_p(s);
  if (o->min_p > 0) keep_min_p(s);
}
