/* draw.h - random numbers for drawing: number n of a seed, the same on every machine. It is splitmix64
 * (Steele, Lea and Flood 2014), whose state after n steps is known without them. */
#pragma once

#include <stdint.h>

static inline uint64_t attn2c_draw_mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/* Returns 64 random bits, number `n` of the seed, from 0. Seeds are mixed first: neighbouring seeds would
 * otherwise have the same numbers, one place apart. */
static inline uint64_t attn2c_draw_bits(uint64_t seed, uint64_t n) {
  return attn2c_draw_mix(attn2c_draw_mix(seed) + (n + 1) * 0x9e3779b97f4a7c15u);
}

/* Returns a number below `limit`: bits * limit / 2^64. Ranges are uneven by at most 2^-64. */
static inline uint64_t attn2c_draw_below(uint64_t bits, uint64_t limit) {
  const uint64_t low = bits & 0xffffffffu, high = bits >> 32;
  const uint64_t limit_low = limit & 0xffffffffu, limit_high = limit >> 32;
  const uint64_t middle = high * limit_low + (low * limit_low >> 32);
  return high * limit_high + (middle >> 32) + (((middle & 0xffffffffu) + low * limit_high) >> 32);
}
