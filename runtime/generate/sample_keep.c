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

/* Keeps the tokens whose distances from the largest logit are less than `first` units. Writes those from
 * `first` to `last` units to the end of index[vocabulary], and returns their number. Both lists ascend. */
static int32_t keep_units(attn2c_sampler *s, uint32_t first, uint32_t last) {
  int32_t low = 0, high = s->vocabulary - 1;
  for (int32_t b = 0; b < s->blocks; b++) {
    const int is_none = attn2c_float_bits(s->largest_of[b]) == ATTN2C_NEGATIVE_INFINITE_BITS;
    if (is_none || units_of(s, s->largest_of[b]) > last) continue;
    const float *logits = s->logits + b * BLOCK, largest = s->largest;
    const int32_t end = s->vocabulary - b * BLOCK < BLOCK ? s->vocabulary - b * BLOCK : BLOCK;
    uint32_t units[BLOCK];
#pragma omp simd
    for (int32_t i = 0; i < BLOCK; i++) units[i] = attn2c_distance_units(largest - logits[i]);
    for (int32_t i = 0; i < end; i++) {
      s->index[low] = s->index[high] = b * BLOCK + i;
      low += units[i] < first;
      high -= units[i] - first <= last - first;
    }
  }
  s->kept = low;
  int32_t *near = s->index + high + 1; /* descends */
  const int32_t count = s->vocabulary - 1 - high;
  for (int32_t i = 0; i < count / 2; i++) {
    const int32_t token = near[i];
    near[i] = near[count - 1 - i];
    near[count - 1 - i] = token;
  }
  return count;
}

void attn2c_keep_above(attn2c_sampler *s, const float *logits, const int32_t *list, int32_t count,
                       uint32_t border, uint64_t dropped) {
  int32_t kept = s->kept;
  for (int32_t i = 0; i < count; i++) {
    const int32_t token = list[i];
    const uint32_t order = attn2c_order(logits[token]);
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

/* Keeps the tokens that are surely above the border of the mass or number `target` among all, from
 * sums[EIGHTHS]. The others near it are at the end of index[]; returns their number. *above: mass or number
 * of the kept ones. */
static int32_t keep_eighths(attn2c_sampler *s, uint64_t target, uint64_t *above) {
  const uint64_t octave = attn2c_octaves(1); /* of one unit */
  uint64_t sum = 0, eighth = 0;
  while (sum + s->sums[eighth] < target && eighth < EIGHTHS - 1) sum += s->sums[eighth++];
  *above = sum;
  return keep_units(s, (uint32_t)(((eighth << EIGHTHS_SHIFT) + octave - 1) / octave),
                    (uint32_t)((((eighth + 1) << EIGHTHS_SHIFT) - 1) / octave));
}

/* If there are k blocks or more, the k-th largest of the blocks' largest logits is a lower bound of the k-th
 * largest logit: few tokens are left to select from. */
static void keep_top_k(attn2c_sampler *s) {
  const uint64_t k = (uint64_t)s->options.top_k;
  uint64_t above = 0;
  int32_t near;
  if (k <= (uint64_t)s->blocks) {
    const uint32_t bound = attn2c_select(s->largest_of, NULL, NULL, s->blocks, k, s->sums).order;
    near = keep_units(s, 0, units_of(s, attn2c_from_order(bound)));
  } else {
    count_eighths(s, 0);
    near = keep_eighths(s, k, &above);
  }
  const int32_t *list = s->index + s->vocabulary - near;
  const int is_short = (uint64_t)near <= k - above; /* fewer than k tokens have more than -inf */
  attn2c_keep_above(s, s->logits, list, near,
                    is_short ? 0 : attn2c_select(s->logits, NULL, list, near, k - above, s->sums).order, 0);
}

void attn2c_weigh_list(attn2c_sampler *s) {
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

uint64_t attn2c_share_of(double p, uint64_t total) {
  const double exact = p * (double)(int64_t)total;
  uint64_t share = (uint64_t)(int64_t)exact;
  if ((double)(int64_t)share < exact) share++;
  if (share > total) share = total;
  return share > 0 ? share : 1;
}

void attn2c_keep_top_p(attn2c_sampler *s) {
  const uint64_t target = attn2c_share_of(s->options.top_p, s->total);
  const int is_all = s->kept == ATTN2C_KEPT_ALL;
  uint64_t above = 0;
  const int32_t count = is_all ? keep_eighths(s, target, &above) : s->kept;
  const int32_t *list = is_all ? s->index + s->vocabulary - count : s->index;
  if (!is_all) s->kept = 0;
  const attn2c_border border = attn2c_select(s->logits, s->mass, list, count, target - above, s->sums);
  const uint64_t each = attn2c_mass(attn2c_octaves(units_of(s, attn2c_from_order(border.order))));
  const uint64_t needed = (target - above - border.above + each - 1) / each;
  attn2c_keep_above(s, s->logits, list, count, border.order, border.equal / each - needed);
  s->total = above + border.above + needed * each;
}

/* Keeps a list of all tokens that may have min_p times the largest mass, and few more. */
static void keep_near(attn2c_sampler *s) {
  int exponent;
  frexp(s->options.min_p, &exponent); /* min_p is at least 2^(exponent - 1); 0.7 is more than ln 2 */
  const uint32_t last = attn2c_distance_units((float)(2 - exponent) * 0.7f);
  keep_units(s, last + 1, last + 1);
}

void attn2c_keep_min_p(attn2c_sampler *s) {
  const uint64_t least = attn2c_share_of(s->options.min_p, (uint64_t)1 << ATTN2C_MASS_BITS);
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
    attn2c_weigh_list(s);
  } else if (o->top_p >= 1 && o->min_p > 0) {
    keep_near(s);
    attn2c_weigh_list(s);
  } else {
    weigh_all(s);
  }
  if (o->top_p < 1) attn2c_keep_top_p(s);
  if (o->min_p > 0) attn2c_keep_min_p(s);
}
