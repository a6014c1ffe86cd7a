/* random.c - makes values by integer hashing (splitmix64 of seed, name and index). Normal values are sums of
 * uniform integers (Irwin-Hall), scaled by arithmetic that is exact up to one rounding. It uses no libm, and
 * nothing that a fused multiply-add could change. */
#include "weights/random.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u

/* Returns the finalizer of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/* Hashes the name by FNV-1a and mixes the seed separately, so that one cannot compensate for the other. */
static uint64_t stream_key(uint64_t seed, const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  return mix(mix(seed + GOLDEN_GAMMA) ^ hash);
}

static int64_t sum_of_quarters(uint64_t bits) {
  return (int64_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
}

void attn2c_random_part(uint64_t seed, const char *name, int64_t first, float *values, int64_t count,
                        double mean, double deviation) {
  /* The sum of eight uniform 16-bit integers has mean 8 x 32767.5 and variance 8 x (2^32 - 1) / 12. */
  const int64_t centre = 262140;
  const double unit = 1.8688123650118534e-05; /* 1 / sqrt(variance) */
  /* The step is rounded to 24 bits. Its product with a sum of 20 bits is then exact in double, and adding the
   * mean rounds alike with and without a fused multiply-add. */
  const double step = (float)(deviation * unit);
  const uint64_t key = stream_key(seed, name);
  for (int64_t i = 0; i < count; i++) {
    uint64_t at = key + 2 * (uint64_t)(first + i) * GOLDEN_GAMMA;
    int64_t sum = sum_of_quarters(mix(at)) + sum_of_quarters(mix(at + GOLDEN_GAMMA));
    values[i] = (float)(mean + step * (double)(sum - centre));
  }
}

void attn2c_random_fill(uint64_t seed, const char *name, float *values, int64_t count, double mean,
                        double deviation) {
  attn2c_random_part(seed, name, 0, values, count, mean, deviation);
}

void attn2c_random_integers(uint64_t seed, const char *name, int32_t *values, int64_t count, int64_t minimum,
                            int64_t limit) {
  const uint64_t range = limit > minimum ? (uint64_t)(limit - minimum) : 1;
  const uint64_t key = stream_key(seed, name);
  for (int64_t i = 0; i < count; i++) {
    /* The upper 32 bits are scaled to a range of at most 2^32. Uneven by at most 2^-32 of the range. */
    uint64_t upper = mix(key + (uint64_t)i * GOLDEN_GAMMA) >> 32;
    values[i] = (int32_t)(minimum + (int64_t)(upper * range >> 32));
  }
}
