/* gguf_blocks.c - splits blocks of small integers and their scales. In a block of 32, byte i holds elements i
 * and i + 16. A block of 256 has groups of 16 or 32 elements with scales of their own, which are integers
 * times a scale of the block. */
#include "formats/gguf_blocks.h"
#include "base/floats.h"
#include "base/number_types.h"
#include "formats/gguf_grids.h"

#include <math.h>
#include <string.h>

enum { SMALL = 32, LARGE = 256 };

static float half_at(const uint8_t *bytes) {
  float value;
  attn2c_floats_from_f16(bytes, &value, 1);
  return value;
}

static uint32_t word_at(const uint8_t *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* Sets a part's scale and minimum to integers times units. */
static void set_part(attn2c_scale_block *y, int part, float unit, int scale, float least_unit, int least) {
  y->unit = unit, y->least_unit = least_unit;
  y->scale[part] = unit * (float)scale;
  y->least[part] = least_unit * (float)least;
}

static void set(attn2c_scale_block *y, float scale, float least) {
  y->unit = y->least_unit = 0;
  y->scale[0] = y->scale[1] = scale;
  y->least[0] = y->least[1] = least;
}

/* Blocks of 32 elements. */

/* Writes 16 bytes of two four-bit integers each. */
static void set_fours(attn2c_scale_block *y, const uint8_t *at, int below) {
  for (int i = 0; i < 16; i++) {
    y->integers[i] = (int8_t)((at[i] & 15) - below);
    y->integers[i + 16] = (int8_t)((at[i] >> 4) - below);
  }
}

void attn2c_split_q4_0(const uint8_t *at, attn2c_scale_block *y) {
  set(y, half_at(at), 0);
  set_fours(y, at + 2, 8);
}

void attn2c_split_q4_1(const uint8_t *at, attn2c_scale_block *y) {
  set(y, half_at(at), half_at(at + 2));
  set_fours(y, at + 4, 0);
}

/* Writes 16 bytes of the low four bits, with fifth bits from `high`. */
static void set_fives(attn2c_scale_block *y, const uint8_t *low, uint32_t high, int below) {
  set_fours(y, low, below);
  for (int i = 0; i < SMALL; i++) y->integers[i] = (int8_t)(y->integers[i] + (int)((high >> i & 1) << 4));
}

void attn2c_split_q5_0(const uint8_t *at, attn2c_scale_block *y) {
  set(y, half_at(at), 0);
  set_fives(y, at + 6, word_at(at + 2), 16);
}

void attn2c_split_q5_1(const uint8_t *at, attn2c_scale_block *y) {
  set(y, half_at(at), half_at(at + 2));
  set_fives(y, at + 8, word_at(at + 4), 0);
}

void attn2c_split_q8_0(const uint8_t *at, attn2c_scale_block *y) {
  set(y, half_at(at), 0);
  memcpy(y->integers, at + 2, SMALL);
}

/* Writes 16 bytes of codes of IQ4_NL or IQ4_XS, as their sixteen values. */
static void set_levels(attn2c_scale_block *y, const uint8_t *codes) {
  const int8_t *levels = attn2c_facts_of(ATTN2C_V4)->values;
  for (int i = 0; i < 16; i++) {
    y->integers[i] = levels[codes[i] & 15];
    y->integers[i + 16] = levels[codes[i] >> 4];
  }
}

void attn2c_split_iq4_nl(const uint8_t *at, attn2c_scale_block *y) {
  set(y, half_at(at), 0);
  set_levels(y, at + 2);
}

/* Twice the numbers of the sixteen codes of E2M1 (Microscaling Formats 1.0). */
static const int8_t twice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

void attn2c_split_e2m1(uint8_t exponent, const uint8_t *codes, int step, int apart, attn2c_scale_block *y) {
  set(y, exponent == 255 ? NAN : ldexpf(1, exponent - 128), 0);
  for (int i = 0; i < 16; i++) {
    y->integers[i * step] = twice[codes[i] & 15];
    y->integers[i * step + apart] = twice[codes[i] >> 4];
  }
}

void attn2c_split_mxfp4(const uint8_t *at, attn2c_scale_block *y) {
  attn2c_split_e2m1(at[0], at + 1, 1, 16, y);
}

/* Blocks of 256 elements. */

/* Scales of 4 bits and minima of 4 bits for groups of 16; the elements of two bits are in two halves of 32
 * bytes, whose bits 0 and 1 are 32 elements, bits 2 and 3 the next 32. */
void attn2c_split_q2_k(const uint8_t *at, attn2c_scale_block *y) {
  const uint8_t *scales = at, *bits = at + 16;
  const float scale = half_at(at + 80), least = half_at(at + 82);
  for (int g = 0; g < 16; g++) {
    set_part(&y[g / 2], g % 2, scale, scales[g] & 15, -least, scales[g] >> 4);
  }
  for (int i = 0; i < LARGE; i++)
    y[i / SMALL].integers[i % SMALL] = (int8_t)(bits[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3);
}

/* Scales of 6 bits for groups of 16, 32 less than stored: four low bits in 8 bytes, two high bits in 4. A
 * third bit of each element is in `high`, where 0 subtracts 4. */
void attn2c_split_q3_k(const uint8_t *at, attn2c_scale_block *y) {
  const uint8_t *high = at, *bits = at + 32, *scales = at + 96;
  const float scale = half_at(at + 108);
  for (int g = 0; g < 16; g++) {
    const int low = scales[g % 8] >> g / 8 * 4 & 15, top = scales[8 + g % 4] >> g / 4 * 2 & 3;
    set_part(&y[g / 2], g % 2, scale, (low | top << 4) - 32, 0, 0);
  }
  for (int i = 0; i < LARGE; i++) {
    const int code = bits[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
    y[i / SMALL].integers[i % SMALL] = (int8_t)(code - (high[i % 32] >> i / 32 & 1 ? 0 : 4));
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

/* Splits the eight groups of 32 elements of a block of Q4_K or Q5_K. Two groups share 32 bytes of low bits.
 * high: a fifth bit of each element, bit g of 32 bytes; NULL without one. */
static void split_groups(const uint8_t *at, const uint8_t *high, const uint8_t *bits, attn2c_scale_block *y) {
  const float scale = half_at(at), least = half_at(at + 2);
  for (int g = 0; g < 8; g++) {
    int of_group, below;
    scale_and_least(at + 4, g, &of_group, &below);
    for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++)
      set_part(&y[g], part, scale, of_group, -least, below);
    for (int i = 0; i < SMALL; i++) {
      const int low = bits[g / 2 * 32 + i] >> g % 2 * 4 & 15, top = high ? high[i] >> g & 1 : 0;
      y[g].integers[i] = (int8_t)(low | top << 4);
    }
  }
}

void attn2c_split_q4_k(const uint8_t *at, attn2c_scale_block *y) { split_groups(at, NULL, at + 16, y); }

void attn2c_split_q5_k(const uint8_t *at, attn2c_scale_block *y) { split_groups(at, at + 16, at + 48, y); }

/* Scales of 8 bits for groups of 16. A half of 128 elements has 64 bytes of low bits, whose lower four bits
 * are the first 64 elements, and 32 bytes of two high bits for each quarter. */
void attn2c_split_q6_k(const uint8_t *at, attn2c_scale_block *y) {
  const float scale = half_at(at + 208);
  for (int g = 0; g < 16; g++) {
    set_part(&y[g / 2], g % 2, scale, (int8_t)at[192 + g], 0, 0);
  }
  for (int i = 0; i < LARGE; i++) {
    const int half = i / 128, low = at[half * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
    const int top = at[128 + half * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    y[i / SMALL].integers[i % SMALL] = (int8_t)((low | top << 4) - 32);
  }
}

/* Eight groups of 32, scales of 6 bits, stored plus 32: four low bits in 4 bytes, two high in a word. */
void attn2c_split_iq4_xs(const uint8_t *at, attn2c_scale_block *y) {
  const float scale = half_at(at);
  const int high = at[2] | at[3] << 8;
  for (int g = 0; g < 8; g++) {
    const int of_group = (at[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;
    for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++) set_part(&y[g], part, scale, of_group - 32, 0, 0);
    set_levels(&y[g], at + 8 + g * 16);
  }
}

/* IQ2 and IQ3: magnitudes are entries of a codebook, and each number has a sign bit. A scale is an odd number
 * times the unit, divided by 8 in IQ2, by 4 in IQ3_XXS. */

static int odd(int stored) { return 2 * stored + 1; }

/* Returns the signs of eight numbers from seven bits: the eighth makes their number even. */
static int with_parity(uint32_t signs) {
  const int bits = (int)(signs & 127);
  return bits | __builtin_parity((unsigned)bits) << 7;
}

/* Writes the numbers of an entry: `count` of `bits` bits. signs: of the first in the lowest bit. */
static void set_entry(int8_t *integers, int entry, int count, int bits, const int8_t *magnitudes, int signs) {
  for (int i = 0; i < count; i++) {
    const int8_t size = magnitudes[entry >> i * bits & ((1 << bits) - 1)];
    integers[i] = signs >> i & 1 ? (int8_t)-size : size;
  }
}

static const int8_t of_iq2[4] = {8, 25, 43, 0}, of_iq3_xxs[8] = {4, 12, 20, 28, 36, 44, 52, 62},
                    of_iq3_s[8] = {1, 3, 5, 7, 9, 11, 13, 15};

/* Sets the scales of a block of 32; step: what divides the unit. */
static void set_odd(attn2c_scale_block *y, float unit, float step, int first, int second) {
  set_part(y, 0, unit * step, odd(first & 15), 0, 0);
  set_part(y, 1, unit * step, odd(second & 15), 0, 0);
  y->unit = unit;
}

/* Each 32 numbers have four indices of 8 bits, then four times 7 signs and a scale of 4 bits. */
void attn2c_split_iq2_xxs(const uint8_t *at, attn2c_scale_block *y) {
  for (int g = 0; g < 8; g++) {
    const uint8_t *indices = at + 2 + 8 * g;
    const uint32_t signs = word_at(indices + 4);
    set_odd(&y[g], half_at(at), 0.125f, (int)(signs >> 28), (int)(signs >> 28));
    for (int i = 0; i < 4; i++)
      set_entry(y[g].integers + 8 * i, attn2c_iq2_xxs_grid[indices[i]], 8, 2, of_iq2,
                with_parity(signs >> 7 * i));
  }
}

/* Each eight numbers have an index of 9 bits and 7 signs; each 16 a scale of 4 bits. */
void attn2c_split_iq2_xs(const uint8_t *at, attn2c_scale_block *y) {
  for (int g = 0; g < 8; g++) {
    set_odd(&y[g], half_at(at), 0.125f, at[66 + g], at[66 + g] >> 4);
    for (int i = 0; i < 4; i++) {
      const uint8_t *code = at + 2 + 8 * g + 2 * i;
      const int index = code[0] | (code[1] & 1) << 8;
      set_entry(y[g].integers + 8 * i, attn2c_iq2_xs_grid[index], 8, 2, of_iq2, with_parity(code[1] >> 1));
    }
  }
}

/* Each eight numbers have an index of 10 bits, whose high two are apart, and 8 signs; each 16 a scale. */
void attn2c_split_iq2_s(const uint8_t *at, attn2c_scale_block *y) {
  for (int g = 0; g < 8; g++) {
    set_odd(&y[g], half_at(at), 0.125f, at[74 + g], at[74 + g] >> 4);
    for (int i = 0; i < 4; i++) {
      const int index = at[2 + 4 * g + i] | (at[66 + g] >> 2 * i & 3) << 8;
      set_entry(y[g].integers + 8 * i, attn2c_iq2_s_grid[index], 8, 2, of_iq2, at[34 + 4 * g + i]);
    }
  }
}

/* Each four numbers have an index of 8 bits; each 32 have four times 7 signs and a scale of 4 bits. */
void attn2c_split_iq3_xxs(const uint8_t *at, attn2c_scale_block *y) {
  for (int g = 0; g < 8; g++) {
    const uint32_t signs = word_at(at + 66 + 4 * g);
    set_odd(&y[g], half_at(at), 0.25f, (int)(signs >> 28), (int)(signs >> 28));
    for (int i = 0; i < 8; i++)
      set_entry(y[g].integers + 4 * i, attn2c_iq3_xxs_grid[at[2 + 8 * g + i]], 4, 3, of_iq3_xxs,
                with_parity(signs >> i / 2 * 7) >> i % 2 * 4);
  }
}

/* Four numbers have an index of 9 bits, the high one apart; each eight have 8 signs, each 32 a scale. */
void attn2c_split_iq3_s(const uint8_t *at, attn2c_scale_block *y) {
  for (int g = 0; g < 8; g++) {
    const int scale = at[106 + g / 2] >> g % 2 * 4;
    set_odd(&y[g], half_at(at), 1, scale, scale);
    for (int i = 0; i < 8; i++) {
      const int index = at[2 + 8 * g + i] | (at[66 + g] >> i & 1) << 8;
      set_entry(y[g].integers + 4 * i, attn2c_iq3_s_grid[index], 4, 3, of_iq3_s,
                at[74 + 4 * g + i / 2] >> i % 2 * 4);
    }
  }
}
