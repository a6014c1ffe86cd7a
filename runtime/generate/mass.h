/* mass.h - the mass of a token: an integer proportional to its probability, e^-distance from the largest
 * logit. Integers have the same bits and the same sums on every machine, whatever flags a compiler gets. */
#pragma once

#include <stdint.h>

/* The mass of the largest logit is 2^42. The sum of the largest vocabulary is at most 2^62. */
enum { ATTN2C_MASS_BITS = 42 };

/* Distances are cut here; the mass is 0 from a smaller one on, 29.11 = 42 ln 2. */
#define ATTN2C_MASS_FARTHEST 29.5f

/* Octaves come in units of 2^-55. */
enum { ATTN2C_OCTAVE_BITS = 55 };

/* 2^(32 - j/64). */
static const uint64_t attn2c_mass_table[64] = {
    4294967296, 4248701965, 4202935003, 4157661043, 4112874773, 4068570940, 4024744348, 3981389855,
    3938502376, 3896076880, 3854108391, 3812591987, 3771522796, 3730896002, 3690706840, 3650950594,
    3611622603, 3572718252, 3534232978, 3496162267, 3458501653, 3421246719, 3384393094, 3347936457,
    3311872529, 3276197082, 3240905930, 3205994934, 3171459999, 3137297074, 3103502151, 3070071267,
    3037000500, 3004285971, 2971923842, 2939910317, 2908241642, 2876914102, 2845924021, 2815267765,
    2784941738, 2754942382, 2725266179, 2695909648, 2666869345, 2638141863, 2609723834, 2581611923,
    2553802834, 2526293303, 2499080105, 2472160047, 2445529972, 2419186755, 2393127307, 2367348571,
    2341847524, 2316621173, 2291666561, 2266980759, 2242560872, 2218404036, 2194507417, 2170868212};

/* Returns distance * 2^24 as an integer, 0 <= distance. The product is exact, exact from 0.5 on. */
static inline uint32_t attn2c_distance_units(float distance) {
  const float cut = distance < ATTN2C_MASS_FARTHEST ? distance : ATTN2C_MASS_FARTHEST;
  return (uint32_t)(int32_t)(cut * 16777216.0f);
}

/* Returns distance * log2(e): by how many powers of two the mass is smaller than the largest. */
static inline uint64_t attn2c_octaves(uint32_t units) { return (uint64_t)units * 3098164009u; }

/* Returns log2(x) in units of 2^-32, x from 1. Squaring finds each bit of the fraction; error below 2^-26. */
static inline uint64_t attn2c_log2(uint64_t x) {
  int whole = 63;
  while (!(x >> whole)) whole--;
  uint64_t rest = x << (63 - whole) >> 32, result = (uint64_t)whole; /* rest: from 1, in units of 2^-31 */
  for (int bit = 0; bit < 32; bit++) {
    rest = rest * rest >> 31;
    result = result << 1 | rest >> 32;
    rest >>= rest >> 32;
  }
  return result;
}

/* Returns 2^(42 - octaves), rounded down. The relative error before rounding is 1.1e-8. 2^-f of the fraction
 * f is a number of the table times 1 - r (a - b r), r < 1/64. */
static inline uint64_t attn2c_mass(uint64_t octaves) {
  const uint64_t whole = octaves >> ATTN2C_OCTAVE_BITS;
  const uint64_t r = octaves >> 17 & 0xffffffffu; /* in units of 2^-38 */
  const uint64_t slope = 23257965u - (125317u * r >> 32);
  const uint64_t part = 0x80000000u - (slope * r >> 32);
  return attn2c_mass_table[octaves >> 49 & 63] * part >> (21 + whole);
}
