/* bits.h - the bits of numbers: which are NaN or infinite, and their order as integers. Integers are compared
 * where a flag such as -ffast-math would let a compiler assume that there is no NaN. */
#pragma once

#include <stdint.h>
#include <string.h>

#define ATTN2C_INFINITE_BITS          0x7f800000u /* +inf */
#define ATTN2C_NEGATIVE_INFINITE_BITS 0xff800000u /* -inf */

static inline uint32_t attn2c_float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float attn2c_bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline int attn2c_is_infinite(float x) {
  return (attn2c_float_bits(x) & 0x7fffffffu) == ATTN2C_INFINITE_BITS;
}

static inline int attn2c_bits_are_nan(uint32_t bits) { return (bits & 0x7fffffffu) > ATTN2C_INFINITE_BITS; }

static inline int attn2c_is_nan_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

/* Returns a number whose highest bit is set for the bits of a NaN, and clear for others. */
static inline uint32_t attn2c_nan_mark(uint32_t bits) { return ATTN2C_INFINITE_BITS - (bits & 0x7fffffffu); }

/* Returns a number with the order of floats: attn2c_order(a) < attn2c_order(b) if a < b; -0 equals 0. */
static inline uint32_t attn2c_order(float x) {
  const uint32_t bits = attn2c_float_bits(x);
  return bits >> 31 ? 0u - bits : bits | 0x80000000u;
}

/* Returns the float of this order. */
static inline float attn2c_from_order(uint32_t order) {
  return attn2c_bits_float(order >> 31 ? order & 0x7fffffffu : 0u - order);
}
