/* scale_blocks.c - rounds floats to scale blocks, and moves blocks to and from packed weights. */
#include "packing/scale_blocks.h"
#include "ops/scaled.h"
#include "packing/scale_search.h"

#include <math.h>

/* Returns the integer that is stored as a byte or four bits. */
static int integer_of(const attn2c_type_facts *facts, int stored) {
  return attn2c_stored_integer(stored, facts->bits, facts->scale_bytes, facts->has_minimum);
}

/* The range of a type's integers. */
static void range(const attn2c_type_facts *facts, int *least, int *most) {
  *least = facts->bits == 8 ? (facts->has_minimum ? -128 : -127) : facts->has_minimum ? 0 : -8;
  *most = facts->bits == 8 ? 127 : facts->has_minimum ? 15 : 7;
}

/* Rounds x[count] to codes of E2M1. The largest magnitude has the exponent of the largest codes. */
static void round_levels(const float *x, int count, float *scale, int8_t *integers) {
  float largest = 0;
  for (int i = 0; i < count && isfinite(largest); i++)
    if (!(fabsf(x[i]) <= largest)) largest = fabsf(x[i]);
  *scale = isfinite(largest) ? 0 : NAN;
  if (largest == 0 || !isfinite(largest)) return;
  const int power = ilogbf(largest) - 3; /* 8 to 16 are units of the largest magnitude */
  *scale = ldexpf(1, power < -126 ? -126 : power);
  for (int i = 0; i < count; i++) {
    const float size = fabsf(x[i]) / *scale, step = size < 4 ? 1 : size < 8 ? 2 : 4;
    const float nearest = fminf(rintf(size / step) * step, 12);
    integers[i] = (int8_t)(x[i] < 0 ? -nearest : nearest);
  }
}

/* Rounds x[count] to the part of a block that shares a scale, integers[count]. */
static void round_part(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                       float *scale, float *least, int8_t *integers) {
  float low = 0, high = 0;
  int first = 0, last = 0, is_finite = 1;
  range(facts, &first, &last);
  if (count > 0) low = high = x[0];
  for (int i = 0; i < count; i++) {
    is_finite = is_finite && isfinite(x[i]);
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  *least = 0;
  if (!is_finite) {
    *scale = NAN;
  } else if (facts->has_minimum) {
    *scale = attn2c_to_scale(facts, (float)(((double)high - (double)low) / (last - first)));
    *least = attn2c_to_scale(facts, (float)((double)low - first * (double)*scale));
  } else if (facts->bits == 8) {
    *scale = attn2c_to_scale(facts, (high > -low ? high : -low) / (float)last);
  } else {
    *scale = attn2c_to_scale(facts, (high > -low ? high : low) / (float)first);
  }
  if (facts->bits == 4 && is_finite && count > 0) attn2c_search_scale(facts, x, powers, count, scale, least);
  for (int i = 0; i < count; i++) {
    double nearest = is_finite && *scale != 0 ? rint(((double)x[i] - (double)*least) / (double)*scale) : 0;
    nearest = nearest < first ? first : nearest > last ? last : nearest;
    integers[i] = (int8_t)nearest;
  }
}

void attn2c_block_round(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                        attn2c_scale_block *block) {
  memset(block, 0, sizeof *block);
  const int each = ATTN2C_BLOCK_NUMBERS / facts->scales;
  for (int part = 0; part < facts->scales; part++) {
    const int left = count - part * each, some = left < 0 ? 0 : left < each ? left : each;
    const int at = some ? part * each : 0;
    if (facts->scale_bytes == 1) {
      round_levels(x, some, &block->scale[part], block->integers);
      continue;
    }
    round_part(facts, x + at, powers ? powers + at : NULL, some, &block->scale[part], &block->least[part],
               block->integers + part * each);
  }
  if (facts->scales == 1) block->scale[1] = block->scale[0], block->least[1] = block->least[0];
}

/* Returns how an integer of a type is stored: a byte, or four bits. */
static int stored_of(const attn2c_type_facts *facts, int integer) {
  if (facts->scale_bytes > 1) return integer + (facts->bits == 8 ? 128 : facts->has_minimum ? 0 : 8);
  const int size = integer < 0 ? -integer : integer;
  int code = 0;
  while (code < 7 && integer_of(facts, code) < size) code++;
  return integer < 0 ? code + 8 : code;
}

int attn2c_block_fits(const attn2c_type_facts *facts, const attn2c_scale_block *block) {
  int first, last;
  range(facts, &first, &last);
  if (facts->bits == 8) first = -128;
  for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++) {
    if (block->scale[part] != attn2c_to_scale(facts, block->scale[part])) return 0; /* also if it is a NaN */
    if (block->least[part] != (facts->has_minimum ? attn2c_to_scale(facts, block->least[part]) : 0)) return 0;
  }
  if (facts->scales == 1 && (block->scale[0] != block->scale[1] || block->least[0] != block->least[1]))
    return 0;
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS; i++) {
    const int integer = block->integers[i];
    if (facts->scale_bytes == 1 ? integer_of(facts, stored_of(facts, integer)) != integer
                                : integer < first || integer > last)
      return 0;
  }
  return 1;
}

/* Bytes from the beginning of a panel or row. Blocks of a panel come in pairs, whose scales, minima and words
 * are together; a row's blocks come one by one. */
typedef struct {
  int64_t scale, minimum; /* of the first part */
  int64_t words;          /* the first word of the integers */
  int64_t next_part, next_word;
} block_bytes;

static block_bytes bytes_of(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number) {
  const int64_t together = place->leading == 1 ? 1 : 2, within = number % together, leading = place->leading;
  const int64_t part = leading * facts->scale_bytes, scales = together * facts->scales * part;
  const int64_t begin = number / together * together * facts->block_bytes * leading;
  const int64_t own = within * facts->scales * part + place->column * facts->scale_bytes;
  const int64_t words = ATTN2C_BLOCK_NUMBERS * facts->bits / 8 * leading;
  return (block_bytes){.scale = begin + own,
                       .minimum = begin + scales + own,
                       .words =
                           begin + scales * (1 + facts->has_minimum) + within * words + 4 * place->column,
                       .next_part = part,
                       .next_word = 4 * leading};
}

static void put_scale(const attn2c_type_facts *facts, unsigned char *at, float x) {
  const uint16_t half = attn2c_to_half(x);
  if (facts->scale_bytes == 1)
    *at = (unsigned char)(attn2c_bits(x) >> 23 & 255);
  else if (facts->scale_bytes == 2)
    memcpy(at, &half, sizeof half);
  else
    memcpy(at, &x, sizeof x);
}

void attn2c_block_put(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number,
                      const attn2c_scale_block *block) {
  const block_bytes at = bytes_of(facts, place, number);
  const int words = facts->bits;
  for (int part = 0; part < facts->scales; part++) {
    put_scale(facts, place->begin + at.scale + part * at.next_part, block->scale[part]);
    if (facts->has_minimum)
      put_scale(facts, place->begin + at.minimum + part * at.next_part, block->least[part]);
  }
  for (int word = 0; word < words; word++)
    for (int i = 0; i < 4; i++) {
      const int first = facts->bits == 8 ? 4 * word + i : 8 * word + i;
      const int low = stored_of(facts, block->integers[first]);
      const int high = facts->bits == 8 ? 0 : stored_of(facts, block->integers[first + 4]);
      place->begin[at.words + word * at.next_word + i] = (unsigned char)(low | high << 4);
    }
}

void attn2c_block_get(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number,
                      attn2c_scale_block *block) {
  const block_bytes at = bytes_of(facts, place, number);
  memset(block, 0, sizeof *block);
  for (int part = 0; part < facts->scales; part++) {
    block->scale[part] = attn2c_scale_at(place->begin + at.scale + part * at.next_part, facts->scale_bytes);
    if (facts->has_minimum)
      block->least[part] =
          attn2c_scale_at(place->begin + at.minimum + part * at.next_part, facts->scale_bytes);
  }
  if (facts->scales == 1) block->scale[1] = block->scale[0], block->least[1] = block->least[0];
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS; i++) {
    const int word = facts->bits == 8 ? i / 4 : i / 8;
    const int stored = place->begin[at.words + word * at.next_word + i % 4];
    const int integer = facts->bits == 8 ? stored : stored >> 4 * (i / 4 % 2) & 15;
    block->integers[i] = (int8_t)integer_of(facts, integer);
  }
}
