/* test_scale_blocks.c - weights in scale blocks: rounding to each type, that stored blocks stay or are
 * rounded, and the place of every bit in a panel and in a row. */
#include "base/floats.h"
#include "reference/types.h"
#include "ops/scaled.h"
#include "packing/pack.h"
#include "packing/scale_blocks.h"
#include "packing/scale_search.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* All types after the first in blocks have blocks. */
enum { FIRST = ATTN2C_Q8, N = ATTN2C_BLOCK_NUMBERS };

static uint32_t state = 1;

/* Returns a number from -1 to 1. */
static float number(void) {
  state = state * 1664525u + 1013904223u;
  return (float)(int32_t)state * 0x1p-31f;
}

/* Writes numbers around a middle, all of a size. */
static void draw(float *x, float middle, float size) {
  for (int i = 0; i < N; i++) x[i] = middle + size * number();
}

Test(scale_blocks, every_half_is_read_as_a_checkpoint_reads_it) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const uint16_t half = (uint16_t)bits;
    float wanted;
    attn2c_floats_from_f16(&half, &wanted, 1);
    const float got = attn2c_from_half(half);
    cr_assert(isnan(wanted) ? isnan(got) : attn2c_bits(wanted) == attn2c_bits(got), "%04x", bits);
  }
}

/* Half a step of the integers, and what rounding scale and minimum to the type's floats adds. */
static double allowed(const attn2c_type_facts *facts, const attn2c_scale_block *block, int i) {
  const int part = i / ATTN2C_PART_NUMBERS;
  const double unit = facts->scale_bytes == 2 ? 0x1p-11 : 0x1p-24, scale = fabs(block->scale[part]);
  const int steps = facts->has_minimum || facts->bits == 8 ? 255 : 15;
  return scale * (0.5 + steps * unit) + fabs(block->least[part]) * unit * 2 + 0x1p-24;
}

Test(scale_blocks, numbers_are_rounded_to_the_nearest_that_the_type_has) {
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    for (int round = 0; round < 200; round++) {
      float x[N];
      attn2c_scale_block block, again;
      draw(x, facts->has_minimum ? 3 * number() : 0, 0.5f + (float)(round % 3));
      attn2c_blocks_round(facts, x, NULL, N, &block);
      cr_assert(attn2c_blocks_fit(facts, &block, 1), "%s", facts->word);
      for (int i = 0; i < N && facts->bits == 8; i++) {
        const double error = fabs((double)x[i] - (double)attn2c_block_number(&block, i));
        const double most = allowed(facts, &block, i);
        cr_assert(error <= most, "%s: %g is %g, more than %g apart", facts->word, x[i],
                  attn2c_block_number(&block, i), most);
      }
      for (int i = 0; i < N; i++) x[i] = attn2c_block_number(&block, i);
      attn2c_blocks_round(facts, x, NULL, N, &again);
      if (facts->bits == 8 && !facts->has_minimum)
        cr_assert_eq(memcmp(&block, &again, sizeof block), 0, "%s", facts->word);
    }
  }
}

/* Returns the sum of weighted squared errors of a block. */
static double error_of(const float *x, const signed char *powers, const attn2c_scale_block *block) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    const double error = (double)x[i] - (double)attn2c_block_number(block, i);
    sum += ldexp(error * error, powers[i]);
  }
  return sum;
}

/* Returns the same of the plain scale and minimum of 4 bits, as floats. */
static double plain_error(int has_minimum, const float *x, const signed char *powers) {
  double low = (double)x[0], high = low, sum = 0;
  for (int i = 0; i < N; i++) low = fmin(low, (double)x[i]), high = fmax(high, (double)x[i]);
  const double scale = has_minimum ? (high - low) / 15 : (high > -low ? high : low) / -8;
  for (int i = 0; i < N; i++) {
    const double from = has_minimum ? low : 0, q = rint(((double)x[i] - from) / scale);
    const double error =
        (double)x[i] - from - scale * fmax(has_minimum ? 0 : -8, fmin(has_minimum ? 15 : 7, q));
    sum += ldexp(error * error, powers[i]);
  }
  return sum;
}

/* Blocks of several shapes: of few different magnitudes, far from 0, with an outlier, tiny and huge. */
static void draw_shape(float *x, int shape) {
  static const float sizes[] = {1, 0x1p-30f, 0x1p20f, 1e-3f};
  draw(x, shape % 5 == 1 ? 100 : 0, 1);
  if (shape % 5 == 2) x[shape % N] *= 30;
  for (int i = 0; i < N; i++)
    x[i] = (shape % 5 == 3 ? rintf(3 * x[i]) : x[i] * x[i] * x[i]) * sizes[shape % 4];
}

Test(scale_blocks, four_bits_take_the_scale_of_the_least_weighted_error_as_the_reference_does) {
  double ratios[2][2] = {{0}};
  int blocks[2][2] = {{0}};
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    for (int round = 0; round < 800; round++) {
      float x[N], row[N];
      signed char powers[N] = {0};
      attn2c_scale_block block;
      const int count = round % 7 == 6 ? 1 + round % N : N, is_weighed = round % 2;
      draw_shape(x, round);
      for (int i = 0; i < N && is_weighed; i++) powers[i] = (signed char)(12 * number());
      memcpy(row, x, sizeof row);
      attn2c_blocks_round(facts, x, is_weighed ? powers : NULL, count, &block);
      attn2c_reference_blocks(facts, NULL, is_weighed ? powers : NULL, row, count);
      for (int i = 0; i < count; i++)
        cr_assert_eq(row[i], attn2c_block_number(&block, i), "%s, %d: %d is %a, the reference's %a",
                     facts->word, round, i, attn2c_block_number(&block, i), row[i]);
      /* an f16 holds only scales of some of the sizes */
      if (facts->bits != 4 || facts->value_count || facts->unit || round % 5 || round % 4 == 1 ||
          round % 4 == 2 || count < N)
        continue;
      ratios[facts->has_minimum][is_weighed] +=
          error_of(x, powers, &block) / plain_error(facts->has_minimum, x, powers);
      blocks[facts->has_minimum][is_weighed]++;
    }
  }
  for (int m = 0; m < 2; m++)
    for (int w = 0; w < 2; w++)
      cr_assert(ratios[m][w] < (w ? 0.7 : 0.93) * blocks[m][w], "%d %d: %g of %d", m, w, ratios[m][w],
                blocks[m][w]);
}

Test(scale_blocks, numbers_on_a_grid_of_four_bits_stay) {
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    for (int round = 0; round < 200 && attn2c_is_searched(facts) && facts->bits == 4 && !facts->unit;
         round++) {
      float x[N];
      signed char powers[N];
      attn2c_scale_block block = {.scale = {0.375f, 0.375f}}, got;
      if (facts->has_minimum) block.least[0] = block.least[1] = -1.25f;
      for (int i = 0; i < N; i++) {
        block.integers[i] = (int8_t)(facts->has_minimum ? (int)(8 + 8 * number()) : (int)(8 * number()));
        powers[i] = (signed char)(9 * number());
      }
      /* the ends of the integers, between which the plain scale lies; of those without a minimum 7 will do */
      block.integers[round % N] = facts->has_minimum ? 0 : round % 2 ? -8 : 7;
      block.integers[(round + 1) % N] = facts->has_minimum ? (int8_t)(15 - round % 2) : 3;
      for (int i = 0; i < N; i++) x[i] = attn2c_block_number(&block, i);
      attn2c_blocks_round(facts, x, powers, N, &got);
      for (int i = 0; i < N; i++) cr_assert_eq(attn2c_block_number(&got, i), x[i], "%s", facts->word);
    }
  }
}

/* E2M1: the largest magnitude of a block is from 4 to 8 scales, and halves go to the even code. */
Test(scale_blocks, numbers_of_four_bits_with_an_exponent) {
  static const float meant[][2] = {{6, 6},         {0.25f, 0}, {0.75f, 1},   {1.25f, 1},   {1.75f, 2},
                                   {2.5f, 2},      {3.5f, 4},  {5, 4},       {-5.01f, -6}, {0.26f, 0.5f},
                                   {-0.3f, -0.5f}, {7.99f, 6}, {-4.99f, -4}, {1.5f, 1.5f}, {-3, -3}};
  enum { COUNT = sizeof meant / sizeof *meant };
  const attn2c_type_facts *facts = attn2c_facts_of(ATTN2C_FP4);
  for (int power = -120; power <= 120; power += 8) {
    float x[N] = {0};
    attn2c_scale_block block;
    for (int i = 0; i < COUNT; i++) x[i] = ldexpf(meant[i][0], power);
    attn2c_blocks_round(facts, x, NULL, N, &block);
    for (int i = 0; i < COUNT; i++)
      cr_assert_eq(attn2c_block_number(&block, i), ldexpf(meant[i][1], power), "%g: %g", meant[i][0],
                   ldexpf(attn2c_block_number(&block, i), -power));
  }
  attn2c_scale_block tiny = {.scale = {0x1p-126f, 0x1p-126f}, .integers = {12, -1}};
  cr_assert(attn2c_blocks_fit(facts, &tiny, 1));
  tiny.scale[0] = tiny.scale[1] = 0x1p-127f;
  cr_assert_not(attn2c_blocks_fit(facts, &tiny, 1), "the exponent of a normal number is stored");
  tiny.scale[0] = tiny.scale[1] = 1;
  tiny.integers[3] = 5;
  cr_assert_not(attn2c_blocks_fit(facts, &tiny, 1), "2.5 is no number of E2M1");
}

Test(scale_blocks, parts_of_rows_zeros_and_what_is_not_finite) {
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    attn2c_scale_block block;
    float x[N];
    draw(x, 0, 1);
    attn2c_blocks_round(facts, x, NULL, 5, &block);
    for (int i = 5; i < N && !facts->value_count; i++) cr_assert_eq(block.integers[i], 0, "%s", facts->word);
    memset(x, 0, sizeof x);
    attn2c_blocks_round(facts, x, NULL, N, &block);
    for (int i = 0; i < N; i++) cr_assert_eq(attn2c_block_number(&block, i), 0, "%s", facts->word);
    x[3] = INFINITY;
    attn2c_blocks_round(facts, x, NULL, N, &block);
    cr_assert(isnan(attn2c_block_number(&block, 3)), "%s", facts->word);
    x[3] = 1e38f;
    attn2c_blocks_round(facts, x, NULL, N, &block);
    cr_assert(isfinite(attn2c_block_number(&block, 3)), "%s", facts->word);
  }
}

/* Blocks of very different sizes, one of zeros, and rows that end within blocks that are together. */
Test(scale_blocks, blocks_that_share_a_unit_are_rounded_as_the_reference_does) {
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    for (int round = 0; round < 300; round++) {
      float x[ATTN2C_UNIT_NUMBERS], row[ATTN2C_UNIT_NUMBERS];
      attn2c_scale_block blocks[ATTN2C_UNIT_BLOCKS];
      const int most = ATTN2C_UNIT_NUMBERS / ATTN2C_UNIT_BLOCKS * attn2c_blocks_together(facts);
      const int count = round % 3 ? most : 1 + round * 37 % most;
      double error = 0, size = 0;
      for (int b = 0; b < ATTN2C_UNIT_BLOCKS; b++)
        draw(x + b * N, round % 4 == 1 ? -number() : 0, b == round % 8 ? 0 : ldexpf(1, -(b * round) % 5));
      if (round % 50 == 49) x[round % count] = NAN;
      memcpy(row, x, sizeof row);
      attn2c_blocks_round(facts, x, NULL, count, blocks);
      attn2c_reference_blocks(facts, NULL, NULL, row, count);
      for (int i = 0; i < count; i++) {
        const float got = attn2c_block_number(&blocks[i / N], i % N);
        cr_assert(isnan(row[i]) ? isnan(got) : row[i] == got, "%s, %d: %d is %a, the reference's %a",
                  facts->word, round, i, got, row[i]);
        error += ((double)x[i] - (double)got) * ((double)x[i] - (double)got),
            size += (double)x[i] * (double)x[i];
      }
      if (!isnan(error)) cr_assert(attn2c_blocks_fit(facts, blocks, (count + N - 1) / N), "%s", facts->word);
      /* minima above 0 become 0 in units of 4 bits */
      if (!isnan(error) && count == most && round % 4 != 1)
        cr_assert(error <= 0.12 * size, "%s: %g of %g", facts->word, error, size);
    }
  }
}

Test(scale_blocks, units_hold_what_blocks_share) {
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    attn2c_scale_block blocks[2] = {{{0}, {0}, 0, 0, {0}}};
    if (!facts->unit) continue;
    for (int b = 0; b < 2; b++) {
      const float scale = 0.5f * facts->step * (float)(3 + 4 * b);
      blocks[b] = (attn2c_scale_block){.scale = {scale, scale}, .unit = 0.5f};
      if (facts->has_minimum) blocks[b].least_unit = -0.25f, blocks[b].least[0] = blocks[b].least[1] = -0.75f;
      for (int i = 0; i < N; i++)
        blocks[b].integers[i] = (int8_t)(facts->value_count ? facts->values[i % facts->value_count] : i % 2);
    }
    cr_assert(attn2c_blocks_fit(facts, blocks, 2), "%s", facts->word);
    blocks[1].scale[0] = blocks[1].scale[1] = 0.3f;
    cr_assert_not(attn2c_blocks_fit(facts, blocks, 2), "%s: 0.3 is no multiple", facts->word);
    blocks[1].unit = 0.25f, blocks[1].scale[0] = blocks[1].scale[1] = 0.25f * facts->step;
    cr_assert_not(attn2c_blocks_fit(facts, blocks, 2), "%s: two units", facts->word);
    cr_assert(attn2c_blocks_fit(facts, blocks + 1, 1), "%s", facts->word);
    blocks[1].unit = blocks[1].scale[0] = blocks[1].scale[1] = 0.1f;
    cr_assert_not(attn2c_blocks_fit(facts, blocks + 1, 1), "%s: 0.1 is no f16", facts->word);
  }
}

Test(scale_blocks, a_type_holds_what_it_can) {
  attn2c_scale_block block = {.scale = {0.5f, 0.5f}};
  for (int i = 0; i < N; i++) block.integers[i] = (int8_t)(i % 16 - 8);
  cr_assert(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q8), &block, 1));
  cr_assert(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q4), &block, 1));
  cr_assert_not(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q4M), &block, 1), "-8 is no integer from 0 to 15");
  block.scale[1] = 0.25f;
  cr_assert_not(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q8), &block, 1));
  cr_assert(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q8H), &block, 1));
  block.scale[0] = block.scale[1] = 0.1f;
  cr_assert_not(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q8), &block, 1), "0.1 is no f16");
  cr_assert(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q8F), &block, 1));
  block.scale[0] = block.scale[1] = NAN;
  cr_assert_not(attn2c_blocks_fit(attn2c_facts_of(ATTN2C_Q8), &block, 1));
}

/* Writes blocks of 16 outputs to a panel, and checks that each comes back, that every byte is written, and
 * that a row has the bytes that a look-up reads. */
Test(scale_blocks, every_block_has_its_own_bits) {
  enum { BLOCKS = 18, OUTPUTS = 16, MOST = BLOCKS * OUTPUTS * 40 + 4 };
  for (int t = FIRST; t < ATTN2C_TYPES; t++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)t);
    unsigned char panel[MOST], row[MOST];
    attn2c_scale_block blocks[OUTPUTS][BLOCKS], got;
    const int together = attn2c_blocks_together(facts);
    memset(panel, 0xa5, sizeof panel);
    for (int o = 0; o < OUTPUTS; o++)
      for (int b = 0; b < BLOCKS; b += together) {
        float x[ATTN2C_UNIT_NUMBERS];
        const int count = b + together < BLOCKS ? together : BLOCKS - b;
        for (int i = 0; i < count; i++) draw(x + i * N, 0, (float)(1 + i));
        attn2c_blocks_round(facts, x, NULL, count * N, &blocks[o][b]);
        for (int i = b; i < b + count; i++)
          attn2c_block_put(facts, &(attn2c_block_place){panel, OUTPUTS, o, BLOCKS}, i, &blocks[o][i]);
      }
    for (int o = 0; o < OUTPUTS; o++)
      for (int b = 0; b < BLOCKS; b++) {
        attn2c_block_get(facts, &(attn2c_block_place){panel, OUTPUTS, o, BLOCKS}, b, &got);
        cr_assert_eq(memcmp(&got, &blocks[o][b], sizeof got), 0, "%s, output %d, block %d", facts->word, o,
                     b);
      }
    const int64_t all = OUTPUTS * (BLOCKS * facts->block_bytes + attn2c_units_bytes(facts, BLOCKS));
    cr_assert(all <= 4 * OUTPUTS * attn2c_blocks_floats(facts, BLOCKS));
    for (int64_t i = all; i < MOST; i++) cr_assert_eq(panel[i], 0xa5);
    for (int b = 0; b < BLOCKS; b++)
      attn2c_block_put(facts, &(attn2c_block_place){row, 1, 0, BLOCKS}, b, &blocks[2][b]);
    const int groups = (int)attn2c_blocks_floats(facts, BLOCKS);
    const attn2c_table packings[] = {attn2c_table_rows(groups),
                                     attn2c_table_panels(groups, 0, OUTPUTS, 1, 0, 0)};
    const int32_t ids[] = {0, 2};
    for (int p = 0; p < 2; p++) {
      float values[BLOCKS * N - 3];
      attn2c_embed_scaled(values, p ? panel : row, &ids[p], packings[p], 1, BLOCKS * N - 3, 0,
                          (attn2c_type)t);
      for (int i = 0; i < BLOCKS * N - 3; i++)
        cr_assert_eq(values[i], attn2c_block_number(&blocks[2][i / N], i % N), "%s, %d", facts->word, i);
    }
  }
}

Test(scale_blocks, rows_of_inputs_have_their_sums) {
  for (int cols = 1; cols < 140; cols += 7) {
    float x[140];
    uint16_t rows[8 * N] __attribute__((aligned(64)));
    for (int i = 0; i < cols; i++) x[i] = number() * (float)(1 + i / N);
    attn2c_quantise_blocks(rows, x, 1, cols, 140, 6 * N);
    const attn2c_x8 *blocks = attn2c_blocks(rows);
    for (int b = 0; b < (cols + 2 * N - 1) / (2 * N) * 2; b++) {
      int sum = 0;
      float largest = 0;
      for (int i = 0; i < N; i++) {
        const int at = b * N + i;
        const float wanted = at < cols ? x[at] : 0;
        sum += blocks[b].x[i];
        largest = fmaxf(largest, fabsf(wanted));
        cr_assert(fabsf(wanted - blocks[b].scale * (float)blocks[b].x[i]) <= blocks[b].scale * 0.5001f);
      }
      cr_assert_float_eq(blocks[b].scale, fmaxf(largest / 127, 0x1p-125f), 0);
      cr_assert_eq(blocks[b].zero4, -8 * sum);
      cr_assert_eq(blocks[b].zero4, blocks[b].zero4_half[0] + blocks[b].zero4_half[1]);
      for (int half = 0; half < 2; half++)
        cr_assert_eq(blocks[b].sum_half[half], blocks[b].scale * (float)(blocks[b].zero4_half[half] / -8));
      cr_assert_eq(blocks[b].sum, blocks[b].scale * (float)sum);
    }
  }
}

/* Fine rows have the nearest multiples of a block's scale, on which the sums depend. */
Test(scale_blocks, fine_rows_of_inputs_have_their_sums) {
  for (int cols = 1; cols < 140; cols += 7) {
    float x[140], wide[140];
    uint32_t rows[6 * N] __attribute__((aligned(64)));
    for (int i = 0; i < cols; i++) x[i] = number() * ldexpf(1, cols % 3 == 0 ? -120 : i / N);
    attn2c_quantise_blocks_finely(rows, x, 1, cols, 140, 6 * N);
    attn2c_widen_x15(wide, rows, 1, cols, 6 * N, 140);
    const attn2c_x15 *blocks = attn2c_fine_blocks(rows);
    for (int b = 0; b < (cols + 2 * N - 1) / (2 * N) * 2; b++) {
      int sum = 0;
      float largest = 0;
      for (int i = 0; i < N; i++) {
        const int at = b * N + i, q = attn2c_fine_at(blocks + b, i);
        const float wanted = at < cols ? x[at] : 0;
        sum += q;
        largest = fmaxf(largest, fabsf(wanted));
        cr_assert(fabsf(wanted - blocks[b].scale * (float)q) <= blocks[b].scale * 0.502f);
        if (at < cols) cr_assert_eq(wide[at], blocks[b].scale * (float)q);
      }
      cr_assert_float_eq(blocks[b].scale, fmaxf(largest / 127 / 128, 0x1p-125f), 0);
      cr_assert_eq(blocks[b].zero4, -8 * sum);
      cr_assert_eq(blocks[b].zero8, -ATTN2C_FINE_OFFSET * sum);
      cr_assert_eq(blocks[b].zero4, blocks[b].zero4_half[0] + blocks[b].zero4_half[1]);
      for (int half = 0; half < 2; half++)
        cr_assert_eq(blocks[b].sum_half[half], blocks[b].scale * (float)(blocks[b].zero4_half[half] / -8));
      cr_assert_eq(blocks[b].sum, blocks[b].scale * (float)sum);
    }
  }
}

Test(scale_blocks, fine_rows_have_integers_of_15_bits) {
  float x[N] = {1, -1, 0.5f, -0.00389f};
  attn2c_x15 block;
  attn2c_quantise_fine_block(&block, x, N);
  cr_assert_eq(attn2c_fine_at(&block, 0), 16256);
  cr_assert_eq(attn2c_fine_at(&block, 1), -16256);
  cr_assert_eq(attn2c_fine_at(&block, 2), 8128);
  cr_assert_eq(attn2c_fine_at(&block, 3), -63);
  x[7] = INFINITY;
  attn2c_quantise_fine_block(&block, x, N);
  cr_assert(isinf(block.scale));
  for (int i = 0; i < N; i++) cr_assert_eq(attn2c_fine_at(&block, i), 0);
  x[9] = NAN;
  attn2c_quantise_fine_block(&block, x, N);
  cr_assert(isnan(block.scale));
}
