/* gguf_blocks.c - converts blocks of small integers and their scales, one block after the other. In a block
 * of 32, byte i holds elements i and i + 16. A block of 256 has groups of 16 or 32 elements with scales of
 * their own, which are integers times a scale of the block. */
#include "formats/gguf_blocks.h"
#include "base/floats.h"

#include <stdint.h>
#include <string.h>

enum { SMALL = 32, LARGE = 256 };

static float half_at(const uint8_t *bytes) {
  float value;
  attn2c_from_f16(bytes, &value, 1);
  return value;
}

static uint32_t word_at(const uint8_t *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* Blocks of 32 elements. */

void attn2c_from_q4_0(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += SMALL, at += 18, values += SMALL) {
    const float scale = half_at(at);
    for (int i = 0; i < 16; i++) {
      values[i] = scale * (float)((at[2 + i] & 15) - 8);
      values[i + 16] = scale * (float)((at[2 + i] >> 4) - 8);
    }
  }
}

void attn2c_from_q4_1(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += SMALL, at += 20, values += SMALL) {
    const float scale = half_at(at), least = half_at(at + 2);
    for (int i = 0; i < 16; i++) {
      values[i] = scale * (float)(at[4 + i] & 15) + least;
      values[i + 16] = scale * (float)(at[4 + i] >> 4) + least;
    }
  }
}

/* Returns element i of 16 bytes of low halves, with its fifth bit from `high`. */
static int five_bits(const uint8_t *low, uint32_t high, int i) {
  return (i < 16 ? low[i] & 15 : low[i - 16] >> 4) | (int)(high >> i & 1) << 4;
}

void attn2c_from_q5_0(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += SMALL, at += 22, values += SMALL) {
    const float scale = half_at(at);
    const uint32_t high = word_at(at + 2);
    for (int i = 0; i < SMALL; i++) values[i] = scale * (float)(five_bits(at + 6, high, i) - 16);
  }
}

void attn2c_from_q5_1(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += SMALL, at += 24, values += SMALL) {
    const float scale = half_at(at), least = half_at(at + 2);
    const uint32_t high = word_at(at + 4);
    for (int i = 0; i < SMALL; i++) values[i] = scale * (float)five_bits(at + 8, high, i) + least;
  }
}

void attn2c_from_q8_0(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += SMALL, at += 34, values += SMALL) {
    const float scale = half_at(at);
    for (int i = 0; i < SMALL; i++) values[i] = scale * (float)(int8_t)at[2 + i];
  }
}

/* The values of the sixteen codes of IQ4_NL and IQ4_XS. */
static const int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* Converts 16 bytes of codes to 32 values. */
static void from_levels(const uint8_t *codes, float scale, float *values) {
  for (int i = 0; i < 16; i++) {
    values[i] = scale * (float)levels[codes[i] & 15];
    values[i + 16] = scale * (float)levels[codes[i] >> 4];
  }
}

void attn2c_from_iq4_nl(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += SMALL, at += 18, values += SMALL)
    from_levels(at + 2, half_at(at), values);
}

/* Blocks of 256 elements. */

/* Scales of 4 bits and minima of 4 bits for groups of 16; the elements of two bits are in two halves of 32
 * bytes, whose bits 0 and 1 are 32 elements, bits 2 and 3 the next 32. */
void attn2c_from_q2_k(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += LARGE, at += 84, values += LARGE) {
    const uint8_t *scales = at, *bits = at + 16;
    const float scale = half_at(at + 80), least = half_at(at + 82);
    for (int i = 0; i < LARGE; i++) {
      const int code = bits[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3, group = scales[i / 16];
      values[i] = scale * (float)(group & 15) * (float)code - least * (float)(group >> 4);
    }
  }
}

/* Scales of 6 bits for groups of 16, 32 less than stored: four low bits in 8 bytes, two high bits in 4. A
 * third bit of each element is in `high`, where 0 subtracts 4. */
void attn2c_from_q3_k(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += LARGE, at += 110, values += LARGE) {
    const uint8_t *high = at, *bits = at + 32, *scales = at + 96;
    const float scale = half_at(at + 108);
    for (int i = 0; i < LARGE; i++) {
      const int g = i / 16, low = scales[g % 8] >> g / 8 * 4 & 15, top = scales[8 + g % 4] >> g / 4 * 2 & 3;
      const int code = bits[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
      const int below = high[i % 32] >> i / 32 & 1 ? 0 : 4;
      values[i] = scale * (float)((low | top << 4) - 32) * (float)(code - below);
    }
  }
}

/* Writes the scale and the minimum of group g of 8, integers of 6 bits. The first four of each have a byte
 * with two bits to spare, which hold the high bits of the last four. */
static void scale_and_least(const uint8_t *packed, int g, int *scale, int *least) {
  if (g < 4) {
    *scale = packed[g] & 63, *least = packed[g + 4] & 63;
    return;
  }
  *scale = (packed[g + 4] & 15) | packed[g - 4] >> 6 << 4;
  *least = packed[g + 4] >> 4 | packed[g] >> 6 << 4;
}

/* Converts the eight groups of 32 elements of a block of Q4_K or Q5_K. Two groups share 32 bytes of low bits.
 * high: a fifth bit of each element, bit g of 32 bytes; NULL without one. */
static void from_groups(const uint8_t *at, const uint8_t *high, const uint8_t *bits, float *values) {
  const float scale = half_at(at), least = half_at(at + 2);
  for (int g = 0; g < 8; g++) {
    int of_group, below;
    scale_and_least(at + 4, g, &of_group, &below);
    const float factor = scale * (float)of_group, offset = least * (float)below;
    for (int i = 0; i < 32; i++) {
      const int low = bits[g / 2 * 32 + i] >> g % 2 * 4 & 15, top = high ? high[i] >> g & 1 : 0;
      values[g * 32 + i] = factor * (float)(low | top << 4) - offset;
    }
  }
}

void attn2c_from_q4_k(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += LARGE, at += 144, values += LARGE)
    from_groups(at, NULL, at + 16, values);
}

void attn2c_from_q5_k(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += LARGE, at += 176, values += LARGE)
    from_groups(at, at + 16, at + 48, values);
}

/* Scales of 8 bits for groups of 16. A half of 128 elements has 64 bytes of low bits, whose lower four bits
 * are the first 64 elements, and 32 bytes of two high bits for each quarter. */
void attn2c_from_q6_k(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += LARGE, at += 210, values += LARGE) {
    const float scale = half_at(at + 208);
    for (int i = 0; i < LARGE; i++) {
      const int half = i / 128, low = at[half * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
      const int top = at[128 + half * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
      values[i] = scale * (float)(int8_t)at[192 + i / 16] * (float)((low | top << 4) - 32);
    }
  }
}

/* Eight groups of 32, with scales of 6 bits, 32 less than stored: four low bits in 4 bytes, two high bits in
 * a word. */
void attn2c_from_iq4_xs(const void *blocks, float *values, size_t count) {
  const uint8_t *at = blocks;
  for (size_t b = 0; b < count; b += LARGE, at += 136, values += LARGE) {
    const float scale = half_at(at);
    const int high = at[2] | at[3] << 8;
    for (int g = 0; g < 8; g++) {
      const int of_group = (at[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;
      from_levels(at + 8 + g * 16, scale * (float)(of_group - 32), values + g * 32);
    }
  }
}
