/* scaled.h - rows and tables of integers in scale blocks: 32 numbers that share a scale. A row of inputs is
 * quantised to int8 or finely, to 15 bits, block by block. A table of embeddings has any of the types of
 * weights.
 *
 * The numbers are the same on every target. How a fine block stores them depends on the target, and so does
 * `zero8`: it is where the sums of the target's products with weights of int8 begin (product/scaled.h). */
#pragma once

#include "base/number_types.h"
#include "ops/quantise.h"

enum {
  ATTN2C_SCALE_BLOCK = 32,
  ATTN2C_SCALE_PAIR = 2 * ATTN2C_SCALE_BLOCK,
  ATTN2C_SCALE_UNIT = 256,
  ATTN2C_FINE_PARTS = 128
};

/* A scale block of a row of inputs. Input i is scale * x[i]. */
typedef struct {
  float scale, sum;     /* sum: scale times the sum of x */
  int32_t zero8, zero4; /* what sums with weights of int8, and of int4 without a minimum, begin with */
  int8_t x[ATTN2C_SCALE_BLOCK];
  int32_t zero4_half[2]; /* of the first and of the last 16 inputs */
  float sum_half[2];     /* the same */
} attn2c_x8;

/* A scale block of a fine row of inputs. Input i is scale * q[i], where q[i] has 15 bits. They are bytes:
 * x[i] is the high part, x[32 + i] the low part of q[i] = 128 * high + low, which is -64 to 63. Where
 * ATTN2C_FINE_WORDS is 1, they are words, inputs 4 i, 4 i + 2, 4 i + 1, 4 i + 3. */
typedef struct {
  float scale, sum; /* sum: scale times the sum of q */
  int32_t zero8, zero4, zero4_half[2];
  float sum_half[2];
  int32_t unused[8];
  int8_t x[2 * ATTN2C_SCALE_BLOCK] __attribute__((aligned(4)));
} attn2c_x15;

/* Where weights of int8 are unsigned factors, w + 128. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define ATTN2C_SCALED_OFFSET 128
#else
#define ATTN2C_SCALED_OFFSET 0
#endif
#if defined(__AVX2__) && ATTN2C_SCALED_OFFSET == 0
#define ATTN2C_FINE_WORDS  1
#define ATTN2C_FINE_OFFSET 128
#else
#define ATTN2C_FINE_WORDS  0
#define ATTN2C_FINE_OFFSET ATTN2C_SCALED_OFFSET
#endif

/* Returns x[count], or a copy in part[32] with zeros from `count` on. */
ATTN2C_INLINE const float *attn2c_whole_block(float *part, const float *x, int count) {
  if (count == ATTN2C_SCALE_BLOCK) return x;
  memset(part, 0, ATTN2C_SCALE_BLOCK * sizeof *part);
  memcpy(part, x, (size_t)count * sizeof *x);
  return part;
}

/* Writes x[32] as a block of this scale. */
ATTN2C_INLINE void attn2c_round_block(attn2c_x8 *y, const float *x, float scale, float inverse) {
  int32_t number[ATTN2C_SCALE_BLOCK]; /* added as words: adding bytes waits for the store of the block */
  for (int i = 0; i < ATTN2C_SCALE_BLOCK; i++)
    number[i] = (int32_t)(attn2c_bits(x[i] * inverse + ATTN2C_INT8_ROUNDER) << 24) >> 24;
  for (int i = 0; i < ATTN2C_SCALE_BLOCK; i++) y->x[i] = (int8_t)number[i];
  int32_t low = 0, high = 0;
#pragma omp simd reduction(+ : low, high)
  for (int i = 0; i < 16; i++) low += number[i], high += number[i + 16];
  y->scale = scale;
  y->sum = scale * (float)(low + high);
  y->zero8 = -ATTN2C_SCALED_OFFSET * (low + high);
  y->zero4 = -8 * (low + high);
  y->zero4_half[0] = -8 * low;
  y->zero4_half[1] = -8 * high;
  y->sum_half[0] = scale * (float)low;
  y->sum_half[1] = scale * (float)high;
}

/* Writes x[count] as a block, with zeros from `count` on. The scale is the largest magnitude / 127. It is NaN
 * or infinite, and all integers are 0, if the block has a NaN or an infinity. */
ATTN2C_INLINE void attn2c_quantise_block(attn2c_x8 *y, const float *x, int count) {
  float inverse, part[ATTN2C_SCALE_BLOCK];
  x = attn2c_whole_block(part, x, count); /* the loops have constant counts */
  const float scale = attn2c_row_scale(x, NULL, ATTN2C_SCALE_BLOCK, &inverse);
  attn2c_round_block(y, x, scale, inverse);
}

/* The blocks whose scales are computed together. A block by itself would wait for its largest magnitude and
 * for two divisions. */
enum { ATTN2C_SCALES_TOGETHER = 16 };

/* Writes the scales of the `blocks` whole blocks of x, and their inverses, as attn2c_row_scale returns them.
 */
ATTN2C_INLINE void attn2c_block_scales(float *scale, float *inverse, const float *x, int blocks) {
  int32_t largest[ATTN2C_SCALES_TOGETHER] = {0};
  for (int b = 0; b < blocks; b++)
    largest[b] = attn2c_largest_bits(x + b * ATTN2C_SCALE_BLOCK, NULL, ATTN2C_SCALE_BLOCK);
#pragma omp simd
  for (int b = 0; b < ATTN2C_SCALES_TOGETHER; b++) scale[b] = attn2c_scale_of(largest[b], inverse + b);
}

/* Rows of blocks are arrays of uint16_t to their callers, two bytes an input. */
ATTN2C_INLINE const attn2c_x8 *attn2c_blocks(const uint16_t *x) { return (const attn2c_x8 *)(const void *)x; }

/* Goes over the blocks of a row x[cols] with pairs of blocks: some whole ones at a time, then those that are
 * not whole. The two are written by `round` and by `quantise`. */
#define ATTN2C_QUANTISE_ROW(out, in, cols, round, quantise)                                                  \
  do {                                                                                                       \
    const int blocks = ((cols) + ATTN2C_SCALE_PAIR - 1) / ATTN2C_SCALE_PAIR * 2;                             \
    const int whole = (cols) / ATTN2C_SCALE_BLOCK;                                                           \
    for (int j = 0; j < whole; j += ATTN2C_SCALES_TOGETHER) {                                                \
      float scale[ATTN2C_SCALES_TOGETHER], inverse[ATTN2C_SCALES_TOGETHER];                                  \
      const int count = whole - j < ATTN2C_SCALES_TOGETHER ? whole - j : ATTN2C_SCALES_TOGETHER;             \
      attn2c_block_scales(scale, inverse, (in) + j * ATTN2C_SCALE_BLOCK, count);                             \
      for (int b = 0; b < count; b++)                                                                        \
        round((out) + j + b, (in) + (j + b) * ATTN2C_SCALE_BLOCK, scale[b], inverse[b]);                     \
    }                                                                                                        \
    for (int j = whole; j < blocks; j++) {                                                                   \
      const int left = (cols)-j * ATTN2C_SCALE_BLOCK;                                                        \
      quantise((out) + j, left > 0 ? (in) + j * ATTN2C_SCALE_BLOCK : (in), left > 0 ? left : 0);             \
    }                                                                                                        \
  } while (0)

/* Writes x[rows][cols] as rows of pairs of blocks; rows of x are ldx floats apart, rows of y ldy inputs. */
ATTN2C_INLINE void attn2c_quantise_blocks(uint16_t *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    attn2c_x8 *out = (attn2c_x8 *)(void *)(y + (ptrdiff_t)i * ldy);
    const float *in = x + (ptrdiff_t)i * ldx;
    ATTN2C_QUANTISE_ROW(out, in, cols, attn2c_round_block, attn2c_quantise_block);
  }
}

/* Returns the place of input i among the words of a fine block. */
ATTN2C_INLINE int attn2c_fine_place(int i) { return (i & ~3) + 2 * (i & 1) + (i >> 1 & 1); }

/* Writes x[32] as a fine block, from the scale that it would have with 8 bits. */
ATTN2C_INLINE void attn2c_round_fine_block(attn2c_x15 *y, const float *x, float scale, float inverse) {
  const float least = ATTN2C_INT8_LEAST_SCALE * ATTN2C_FINE_PARTS;
  if (scale < least) scale = least, inverse = 1.0f / least;
  scale *= 1.0f / ATTN2C_FINE_PARTS, inverse *= ATTN2C_FINE_PARTS;
  int32_t number[ATTN2C_SCALE_BLOCK];
  for (int i = 0; i < ATTN2C_SCALE_BLOCK; i++)
    number[i] = (int32_t)(attn2c_bits(x[i] * inverse + ATTN2C_INT8_ROUNDER) << 16) >> 16;
#if ATTN2C_FINE_WORDS
  int16_t words[ATTN2C_SCALE_BLOCK];
  for (int i = 0; i < ATTN2C_SCALE_BLOCK; i++) words[attn2c_fine_place(i)] = (int16_t)number[i];
  memcpy(y->x, words, sizeof words);
#else
  for (int i = 0; i < ATTN2C_SCALE_BLOCK; i++) {
    const int32_t high = (number[i] + ATTN2C_FINE_PARTS / 2) >> 7;
    y->x[i] = (int8_t)high;
    y->x[ATTN2C_SCALE_BLOCK + i] = (int8_t)(number[i] - ATTN2C_FINE_PARTS * high);
  }
#endif
  int32_t low = 0, high = 0;
#pragma omp simd reduction(+ : low, high)
  for (int i = 0; i < 16; i++) low += number[i], high += number[i + 16];
  y->scale = scale;
  y->sum = scale * (float)(low + high);
  y->zero8 = -ATTN2C_FINE_OFFSET * (low + high);
  y->zero4 = -8 * (low + high);
  y->zero4_half[0] = -8 * low;
  y->zero4_half[1] = -8 * high;
  y->sum_half[0] = scale * (float)low;
  y->sum_half[1] = scale * (float)high;
}

/* Writes x[count] as a fine block, with zeros from `count` on. The scale is the largest magnitude / 127 /
 * 128, at least ATTN2C_INT8_LEAST_SCALE. A NaN or an infinity does what it does in attn2c_quantise_block. */
ATTN2C_INLINE void attn2c_quantise_fine_block(attn2c_x15 *y, const float *x, int count) {
  float inverse, part[ATTN2C_SCALE_BLOCK];
  x = attn2c_whole_block(part, x, count);
  const float scale = attn2c_row_scale(x, NULL, ATTN2C_SCALE_BLOCK, &inverse);
  attn2c_round_fine_block(y, x, scale, inverse);
}

/* Returns input i of a fine block, without its scale. */
ATTN2C_INLINE int32_t attn2c_fine_at(const attn2c_x15 *x, int i) {
#if ATTN2C_FINE_WORDS
  int16_t words[ATTN2C_SCALE_BLOCK];
  memcpy(words, x->x, sizeof words);
  return words[attn2c_fine_place(i)];
#else
  return ATTN2C_FINE_PARTS * x->x[i] + x->x[ATTN2C_SCALE_BLOCK + i];
#endif
}

/* Rows of fine blocks are arrays of uint32_t to their callers, four bytes an input. */
ATTN2C_INLINE const attn2c_x15 *attn2c_fine_blocks(const uint32_t *x) {
  return (const attn2c_x15 *)(const void *)x;
}

/* Does what attn2c_quantise_blocks does, with fine blocks. */
ATTN2C_INLINE void attn2c_quantise_blocks_finely(uint32_t *y, const float *x, int rows, int cols, int ldx,
                                                 int ldy) {
  for (int i = 0; i < rows; i++) {
    attn2c_x15 *out = (attn2c_x15 *)(void *)(y + (ptrdiff_t)i * ldy);
    const float *in = x + (ptrdiff_t)i * ldx;
    ATTN2C_QUANTISE_ROW(out, in, cols, attn2c_round_fine_block, attn2c_quantise_fine_block);
  }
}

/* y[rows][cols] = the numbers of fine blocks, scale * q. */
ATTN2C_INLINE void attn2c_widen_x15(float *y, const uint32_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const attn2c_x15 *in = attn2c_fine_blocks(x + (ptrdiff_t)i * ldx);
    for (int j = 0; j < cols; j++) {
      const attn2c_x15 *block = in + j / ATTN2C_SCALE_BLOCK;
      out[j] = block->scale * (float)attn2c_fine_at(block, j % ATTN2C_SCALE_BLOCK);
    }
  }
}

/* y[rows][cols] = the numbers of blocks, scale * x. */
ATTN2C_INLINE void attn2c_widen_x8(float *y, const uint16_t *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const attn2c_x8 *in = attn2c_blocks(x + (ptrdiff_t)i * ldx);
    for (int j = 0; j < cols; j++)
      out[j] = in[j / ATTN2C_SCALE_BLOCK].scale * (float)in[j / ATTN2C_SCALE_BLOCK].x[j % ATTN2C_SCALE_BLOCK];
  }
}

/* Returns the float of an f16's bits; exact. A denormal is made without f32's, which may be flushed. */
ATTN2C_INLINE float attn2c_from_half(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, size = half & 0x7fffu;
  if (size < 0x400u) return attn2c_from_bits(sign | attn2c_bits((float)size * 0x1p-24f));
  return attn2c_from_bits(sign | ((size << 13) + (size < 0x7c00u ? 112u << 23 : 224u << 23)));
}

/* How blocks are stored. A block is its scales, its minima, then its integers in words of four bytes: inputs
 * 0 to 3, then the next four. Integers of 4 or 2 bits share a byte, the first inputs' in its low
 * bits; 3, 5 and 6 bits are a plane of 2 or 4 bits, then one of the high bits. Before the blocks are the
 * units of every eight (gen/data/types.lua). */

ATTN2C_INLINE float attn2c_scale_at(const uint8_t *at, int bytes) {
  uint16_t half;
  float whole;
  if (bytes == 1) return attn2c_from_bits((uint32_t)*at << 23); /* the exponent of a power of two */
  if (bytes == 4) {
    memcpy(&whole, at, sizeof whole);
    return whole;
  }
  memcpy(&half, at, sizeof half);
  return attn2c_from_half(half);
}

/* Reads the scale of a part of a block, and its minimum or 0. unit: the place of the scales' unit; apart:
 * bytes from there to that of minima. */
ATTN2C_INLINE void attn2c_scales_at(const attn2c_type_facts *facts, const uint8_t *scale,
                                    const uint8_t *minimum, const uint8_t *unit, ptrdiff_t apart, float *of,
                                    float *least) {
  *least = 0.0f;
  if (!facts->unit) {
    *of = attn2c_scale_at(scale, facts->scale_bytes);
    if (facts->has_minimum) *least = attn2c_scale_at(minimum, facts->scale_bytes);
    return;
  }
  const int number = facts->unit == 4 ? *scale & 15 : (int8_t)*scale;
  *of = attn2c_scale_at(unit, 2) * facts->step * (float)number;
  if (facts->has_minimum)
    *least = attn2c_scale_at(unit + apart, 2) * (float)(facts->unit == 4 ? *scale >> 4 : (int8_t)*minimum);
}

/* Returns the bits of an integer's low plane. */
ATTN2C_INLINE int attn2c_low_plane(int bits) { return bits == 8 ? 8 : bits >= 4 ? 4 : 2; }

/* Returns the number that is added to an integer before it is stored. */
ATTN2C_INLINE int attn2c_integer_offset(const attn2c_type_facts *facts) {
  return facts->bits == 8 ? 128 : facts->has_minimum ? 0 : 1 << (facts->bits - 1);
}

/* Returns integer i of a block. words: the output's first word; apart: bytes from one to the next. */
ATTN2C_INLINE int attn2c_integer_at(const attn2c_type_facts *facts, const uint8_t *words, ptrdiff_t apart,
                                    int i) {
  const int low = attn2c_low_plane(facts->bits), high = facts->bits - low, four = i / 4;
  int code = words[four * low / 8 * apart + i % 4] >> four * low % 8 & ((1 << low) - 1);
  if (high)
    code |= (words[(low + four * high / 8) * apart + i % 4] >> four * high % 8 & ((1 << high) - 1)) << low;
  return facts->value_count ? facts->values[code] : code - attn2c_integer_offset(facts);
}

/* attn2c_embed of ops/gather.h for a table in scale blocks. In panels, blocks come in pairs, whose scales,
 * minima and words are together. */
ATTN2C_INLINE void attn2c_embed_scaled(float *y, const uint8_t *table, const int32_t *ids, attn2c_table of,
                                       int rows, int cols, int ldy, attn2c_type type) {
  const attn2c_type_facts *facts = attn2c_facts_of(type);
  const int each = ATTN2C_SCALE_BLOCK / facts->scales, together = of.line == 1 ? 1 : 2;
  const ptrdiff_t blocks = (cols + ATTN2C_SCALE_BLOCK * together - 1) / (ATTN2C_SCALE_BLOCK * together);
  const ptrdiff_t units_bytes = attn2c_units_bytes(facts, blocks * together);
  for (int i = 0; i < rows; i++) {
    const attn2c_table_row row = attn2c_table_find(of, ids[i]);
    const ptrdiff_t leading = row.leading, part_bytes = leading * facts->scale_bytes;
    const ptrdiff_t scales = facts->scales * part_bytes,
                    words = ATTN2C_SCALE_BLOCK * facts->bits / 8 * leading;
    const uint8_t *units = table + 4 * row.panel;
    float *out = y + (ptrdiff_t)i * ldy;
    for (int j = 0; j < cols; j += each) {
      const int number = j / ATTN2C_SCALE_BLOCK, within = number % together;
      const int part = facts->scales == 2 ? j / each % 2 : 0, count = cols - j < each ? cols - j : each;
      const uint8_t *pair = units + units_bytes * leading +
                            (ptrdiff_t)(number / together) * together * facts->block_bytes * leading;
      const uint8_t *scale_place =
          pair + within * scales + part * part_bytes + row.column * facts->scale_bytes;
      const uint8_t *integers = pair + together * (facts->block_bytes * leading - words) + within * words;
      float scale, least;
      attn2c_scales_at(facts, scale_place, scale_place + together * scales,
                       units + (ptrdiff_t)(j / ATTN2C_SCALE_UNIT) * facts->unit_bytes * leading +
                           2 * row.column,
                       2 * leading, &scale, &least);
      for (int l = 0; l < count; l++) {
        const float of_integer =
            scale * (float)attn2c_integer_at(facts, integers + 4 * row.column, 4 * leading, part * each + l);
        out[j + l] = facts->has_minimum ? of_integer + least : of_integer;
      }
    }
  }
}
