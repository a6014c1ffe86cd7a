#include "packing/scale_blocks.h"
#include "ops/scaled.h"
#include "packing/scale_search.h"

#include <math.h>

/* The range of a type's integers. */
static void range(const attn2c_type_facts *facts, int *least, int *most) {
  const int count = facts->value_count;
  *least = count ? facts->values[0] : facts->bits == 8 && !facts->has_minimum ? -127 : -128;
  if (!count && facts->bits < 8) *least = -attn2c_integer_offset(facts);
  *most = count ? facts->values[count - 1] : facts->bits == 8 ? 127 : *least + (1 << facts->bits) - 1;
}

/* Returns the integer of a type that is nearest to x. */
static int nearest_integer(const attn2c_type_facts *facts, double x) {
  int least, most, best = 0;
  range(facts, &least, &most);
  if (!facts->value_count) return (int)rint(x < least ? least : x > most ? most : x);
  for (int i = 1; i < facts->value_count; i++)
    if (fabs(x - facts->values[i]) < fabs(x - facts->values[best])) best = i;
  return facts->values[best];
}

/* Sets the integers of a part of a block from x[count], by its scale and minimum; the others are near 0. */
static void set_integers(const attn2c_type_facts *facts, const float *x, int count, float scale, float least,
                         int8_t *integers) {
  const int is_number = scale != 0 && isfinite(scale) && isfinite(least);
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS / facts->scales; i++) {
    const double of = is_number && i < count ? ((double)x[i] - (double)least) / (double)scale : 0;
    integers[i] = (int8_t)nearest_integer(facts, of);
  }
}

/* Finds the scale and minimum of x[count], the part of a block that shares them. */
static void scale_part(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                       float *scale, float *least) {
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
  if (attn2c_is_searched(facts) && is_finite && count > 0)
    attn2c_search_scale(facts, x, powers, count, scale, least);
}

/* Rounds x[count] to numbers of E2M1, doubled. The largest magnitude has the exponent of the largest ones. */
static void round_e2m1(const float *x, int count, float *scale, int8_t *integers) {
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

/* Returns the integer of a scale or minimum. */
static int in_units(const attn2c_type_facts *facts, float x, float unit) {
  if (!isfinite(unit)) return 1;
  const double of = unit == 0 ? 0 : rint((double)x / (double)unit);
  const int most = facts->unit == 8 ? 127 : 15, least = facts->unit == 8 ? -128 : 0;
  return (int)(of < least ? least : of > most ? most : of);
}

/* Returns the unit of the scales of blocks, or of their minima. */
static float unit_of(const attn2c_type_facts *facts, const attn2c_scale_block *blocks, int count,
                     int of_minima) {
  const int is_least = of_minima && facts->unit == 4; /* all minima are at most 0 */
  float most = 0;
  for (int i = 0; i < count * ATTN2C_BLOCK_PARTS; i++) {
    const attn2c_scale_block *block = &blocks[i / ATTN2C_BLOCK_PARTS];
    const float x = (of_minima ? block->least : block->scale)[i % ATTN2C_BLOCK_PARTS];
    if (!isfinite(x)) return NAN;
    const float size = is_least ? -x : facts->unit == 8 ? fabsf(x) : x;
    if (size > most) most = size;
  }
  most /= facts->unit == 8 ? 127.0f : 15.0f;
  return attn2c_from_half(attn2c_to_half(is_least ? -most : most / (of_minima ? 1.0f : facts->step)));
}

/* Makes the scales and minima of blocks multiples of units. */
static void round_to_units(const attn2c_type_facts *facts, attn2c_scale_block *blocks, int count) {
  const float unit = unit_of(facts, blocks, count, 0);
  const float least_unit = facts->has_minimum ? unit_of(facts, blocks, count, 1) : 0;
  for (int i = 0; i < count; i++) {
    attn2c_scale_block *block = &blocks[i];
    block->unit = unit, block->least_unit = least_unit;
    for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++) {
      block->scale[part] =
          unit * facts->step * (float)in_units(facts, block->scale[part], unit * facts->step);
      block->least[part] = least_unit * (float)in_units(facts, block->least[part], least_unit);
    }
  }
}

void attn2c_blocks_round(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                         attn2c_scale_block *blocks) {
  const int each = ATTN2C_BLOCK_NUMBERS / facts->scales, parts = facts->scales;
  const int all = (int)attn2c_blocks_of(count);
  for (int i = 0; i < all; i++) {
    memset(&blocks[i], 0, sizeof *blocks);
    if (attn2c_has_powers(facts)) {
      round_e2m1(x, count, &blocks[i].scale[0], blocks[i].integers);
      blocks[i].scale[1] = blocks[i].scale[0];
      return;
    }
    for (int part = 0; part < parts; part++) {
      const int at = i * ATTN2C_BLOCK_NUMBERS + part * each, left = count - at;
      scale_part(facts, left > 0 ? x + at : x, powers && left > 0 ? powers + at : NULL,
                 left < 0      ? 0
                 : left < each ? left
                               : each,
                 &blocks[i].scale[part], &blocks[i].least[part]);
    }
    if (parts == 1) blocks[i].scale[1] = blocks[i].scale[0], blocks[i].least[1] = blocks[i].least[0];
  }
  if (facts->unit) round_to_units(facts, blocks, all);
  for (int i = 0; i < all * parts; i++) {
    const int left = count - i * each;
    set_integers(facts, x + (left > 0 ? i * each : 0),
                 left < 0      ? 0
                 : left < each ? left
                               : each,
                 blocks[i / parts].scale[i % parts], blocks[i / parts].least[i % parts],
                 blocks[i / parts].integers + i % parts * each);
  }
}

/* True if x is an integer times a unit. */
static int has_unit(const attn2c_type_facts *facts, float x, float unit) {
  return isfinite(unit) && x == unit * (float)in_units(facts, x, unit);
}

static int block_fits(const attn2c_type_facts *facts, const attn2c_scale_block *block) {
  int first, last;
  range(facts, &first, &last);
  if (facts->bits == 8) first = -128;
  for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++) {
    if (facts->unit && !has_unit(facts, block->scale[part], block->unit * facts->step)) return 0;
    if (facts->unit && !has_unit(facts, block->least[part], block->least_unit)) return 0;
    if (block->scale[part] != attn2c_to_scale(facts, block->scale[part])) return 0; /* also if it is a NaN */
    if (block->least[part] != (facts->has_minimum ? attn2c_to_scale(facts, block->least[part]) : 0)) return 0;
  }
  if (facts->scales == 1 && (block->scale[0] != block->scale[1] || block->least[0] != block->least[1]))
    return 0;
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS; i++) {
    const int integer = block->integers[i];
    if (integer < first || integer > last) return 0;
    if (facts->value_count && nearest_integer(facts, integer) != integer) return 0;
  }
  return 1;
}

int attn2c_blocks_fit(const attn2c_type_facts *facts, const attn2c_scale_block *blocks, int count) {
  for (int i = 0; i < count; i++) {
    if (!block_fits(facts, &blocks[i])) return 0;
    if (facts->unit && (blocks[i].unit != blocks[0].unit || blocks[i].least_unit != blocks[0].least_unit))
      return 0;
  }
  return !facts->unit || (attn2c_from_half(attn2c_to_half(blocks[0].unit)) == blocks[0].unit &&
                          attn2c_from_half(attn2c_to_half(blocks[0].least_unit)) == blocks[0].least_unit);
}

/* Places of a block. Blocks of a panel come in pairs, whose scales, minima and words are together; a row's
 * blocks come one by one. Units are before all blocks. */
typedef struct {
  unsigned char *scale, *minimum, *unit; /* of the first part; the unit of scales */
  unsigned char *words;                  /* the first word of the integers */
  int64_t next_part, next_word, next_unit;
} block_places;

static block_places places_of(const attn2c_type_facts *facts, const attn2c_block_place *place,
                              int64_t number) {
  const int64_t together = place->leading == 1 ? 1 : 2, within = number % together, leading = place->leading;
  const int64_t part = leading * facts->scale_bytes, scales = together * facts->scales * part;
  const int64_t words = ATTN2C_BLOCK_NUMBERS * facts->bits / 8 * leading;
  const int64_t all = together * facts->block_bytes * leading;
  unsigned char *begin =
      place->begin + attn2c_units_bytes(facts, place->blocks) * leading + number / together * all;
  unsigned char *own = begin + within * facts->scales * part + place->column * facts->scale_bytes;
  return (block_places){.scale = own,
                        .minimum = own + scales,
                        .unit = place->begin + number / ATTN2C_UNIT_BLOCKS * facts->unit_bytes * leading +
                                2 * place->column,
                        .words = begin + all - together * words + within * words + 4 * place->column,
                        .next_part = part,
                        .next_word = 4 * leading,
                        .next_unit = 2 * leading};
}

unsigned char *attn2c_block_scale(const attn2c_type_facts *facts, const attn2c_block_place *place,
                                  int64_t number) {
  const block_places at = places_of(facts, place, number);
  return facts->unit ? at.unit : at.scale;
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

/* Writes the scale and minimum of a part as integers. */
static void put_in_units(const attn2c_type_facts *facts, const block_places *at, int part,
                         const attn2c_scale_block *block) {
  const int scale = in_units(facts, block->scale[part], block->unit * facts->step);
  const int least = in_units(facts, block->least[part], block->least_unit);
  at->scale[part * at->next_part] = (unsigned char)(facts->unit == 4 ? scale | least << 4 : scale);
  if (facts->has_minimum && facts->unit == 8) at->minimum[part * at->next_part] = (unsigned char)least;
}

/* Writes a plane of codes, of `bits` bits from bit `from` on, as words. */
static void put_plane(const uint8_t *codes, int from, int bits, unsigned char *words, int64_t next_word) {
  for (int byte = 0; byte < 4 * bits; byte++) {
    int packed = 0;
    for (int i = 0; i < 8 / bits; i++) {
      const int code = codes[(byte / 4 * (8 / bits) + i) * 4 + byte % 4];
      packed |= (code >> from & ((1 << bits) - 1)) << i * bits;
    }
    words[byte / 4 * next_word + byte % 4] = (unsigned char)packed;
  }
}

void attn2c_block_put(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number,
                      const attn2c_scale_block *block) {
  const block_places at = places_of(facts, place, number);
  const int low = attn2c_low_plane(facts->bits), high = facts->bits - low;
  uint8_t codes[ATTN2C_BLOCK_NUMBERS];
  for (int part = 0; part < facts->scales; part++) {
    if (facts->unit) {
      put_in_units(facts, &at, part, block);
      continue;
    }
    put_scale(facts, at.scale + part * at.next_part, block->scale[part]);
    if (facts->has_minimum) put_scale(facts, at.minimum + part * at.next_part, block->least[part]);
  }
  const uint16_t units[] = {attn2c_to_half(block->unit), attn2c_to_half(block->least_unit)};
  for (int i = 0; i < facts->unit_bytes / 2; i++)
    memcpy(at.unit + i * at.next_unit, &units[i], sizeof *units);
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS; i++) {
    int code = block->integers[i] + attn2c_integer_offset(facts);
    for (int value = 0; value < facts->value_count; value++)
      if (facts->values[value] == block->integers[i]) code = value;
    codes[i] = (uint8_t)code;
  }
  put_plane(codes, 0, low, at.words, at.next_word);
  if (high) put_plane(codes, low, high, at.words + low * at.next_word, at.next_word);
}

void attn2c_block_get(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number,
                      attn2c_scale_block *block) {
  const block_places at = places_of(facts, place, number);
  memset(block, 0, sizeof *block);
  for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++) {
    const int64_t stored = facts->scales == 1 ? 0 : part * at.next_part;
    attn2c_scales_at(facts, at.scale + stored, at.minimum + stored, at.unit, at.next_unit,
                     &block->scale[part], &block->least[part]);
  }
  if (facts->unit) block->unit = attn2c_scale_at(at.unit, 2);
  if (facts->unit && facts->has_minimum) block->least_unit = attn2c_scale_at(at.unit + at.next_unit, 2);
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS; i++)
    block->integers[i] = (int8_t)attn2c_integer_at(facts, at.words, at.next_word, i);
}
