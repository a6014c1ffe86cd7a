/* floats.c - converts f64, f16 and bf16 to f32 by their bits. Values are the same on every machine. */
#include "base/floats.h"

#include <stdint.h>
#include <string.h>

void attn2c_floats_from_f32(const void *bytes, float *values, size_t count) {
  memcpy(values, bytes, count * sizeof *values);
}

void attn2c_floats_from_f64(const void *bytes, float *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double value;
    memcpy(&value, (const char *)bytes + i * sizeof value, sizeof value);
    values[i] = (float)value;
  }
}

void attn2c_floats_from_bf16(const void *bytes, float *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, (const char *)bytes + i * sizeof half, sizeof half);
    uint32_t bits = (uint32_t)half << 16; /* bf16 is the upper half of an f32 */
    memcpy(&values[i], &bits, sizeof bits);
  }
}

/* Returns the bits of an f32 for an f16: sign, 5 bits of exponent (bias 15), 10 of fraction. */
static uint32_t widen(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31) return sign | 0x7f800000 | fraction << 13; /* infinity or NaN */
  if (exponent) return sign | (exponent + 112) << 23 | fraction << 13;
  if (fraction == 0) return sign;
  /* Subnormal, fraction x 2^-24, which f32 holds as a normal number. */
  uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21; /* brings the leading one to bit 10 */
  return sign | (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13;
}

void attn2c_floats_from_f16(const void *bytes, float *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint16_t half;
    memcpy(&half, (const char *)bytes + i * sizeof half, sizeof half);
    uint32_t bits = widen(half);
    memcpy(&values[i], &bits, sizeof bits);
  }
}
