/* scale_halves.c - rounds scales to the floats of their type. */
#include "ops/scaled.h"
#include "packing/scale_search.h"

#include <math.h>

/* The largest f16. */
#define LARGEST_HALF 65504.0f

uint16_t attn2c_to_half(float x) {
  const uint16_t sign = (uint16_t)(attn2c_bits(x) >> 16 & 0x8000u);
  const float size = fabsf(x);
  if (isnan(x)) return sign | 0x7e00u;
  if (isinf(x)) return sign | 0x7c00u;
  if (size >= LARGEST_HALF) return sign | 0x7bffu;
  if (size < 0x1p-14f) return sign | (uint16_t)rintf(size * 0x1p24f); /* 2^-14 itself has the next bits */
  const uint32_t bits = attn2c_bits(size) - (112u << 23), odd = bits >> 13 & 1u;
  return sign | (uint16_t)((bits + 0xfffu + odd) >> 13);
}

float attn2c_to_scale(const attn2c_type_facts *facts, float x) {
  if (attn2c_has_powers(facts)) return attn2c_from_bits(attn2c_bits(x) & 0x7f800000u);
  return facts->scale_bytes == 2 ? attn2c_from_half(attn2c_to_half(x)) : x;
}
