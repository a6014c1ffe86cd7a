/* test_pack_types.c - weights packed as bf16 and int8: the layout as descriptor.h states it, element by
 * element, the scales that packing makes, and what unpacking gives. */
#include "readers.h"
#include "faults.h"
#include "model/load.h"
#include "ops/round.h"
#include "packing/packed_header.h"
#include "packing/pack.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  TENSORS = 8,
  BF16 = 0,
  SCALES = 1,
  INT8 = 2,
  LARGE_SCALES = 3,
  LARGE = 4,
  BF16_ROWS = 5,
  ROW_SCALES = 6,
  INT8_ROWS = 7
};

static const attn2c_tensor tensors[TENSORS] = {
    {.name = "bf16", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {150, 37}},
    {.name = "scales", .kind = ATTN2C_CONSTANT, .rank = 1, .shape = {70}},
    {.name = "int8", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {70, 131}},
    {.name = "large scales", .kind = ATTN2C_CONSTANT, .rank = 1, .shape = {140}},
    {.name = "large", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {140, 3000}},
    {.name = "bf16 rows", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {2101, 37}},
    {.name = "row scales", .kind = ATTN2C_CONSTANT, .rank = 1, .shape = {2101}},
    {.name = "int8 rows", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {2101, 131}},
};

/* Words of each: 2 x 64 + 16 + 16 of 19 groups; 48 + 32 of 33 groups and two rows before; 2 x 64 + 16 of 750.
 */
enum {
  AT_SCALES = 19 * (64 + 64 + 16 + 16),
  AT_INT8 = AT_SCALES + 80,
  AT_LARGE_SCALES = AT_INT8 + 35 * (48 + 32),
  AT_LARGE = AT_LARGE_SCALES + 144,
  AT_BF16_ROWS = AT_LARGE + 752 * (64 + 64 + 16),
  AT_ROW_SCALES = AT_BF16_ROWS + (2101 * 19 + 15) / 16 * 16,
  AT_INT8_ROWS = AT_ROW_SCALES + 2112,
  ALL = AT_INT8_ROWS + (2101 * 33 + 15) / 16 * 16
};
static const attn2c_weight weights[TENSORS] = {
    {.tensor = 0,
     .view_count = 1,
     .random_deviation = 1,
     .offset = 0,
     .panel = 64,
     .panel_count = 2,
     .tail = {16, 6}},
    {.tensor = 1, .formula = "scales int8", .offset = AT_SCALES},
    {.tensor = 2,
     .view_count = 1,
     .random_deviation = 1,
     .offset = AT_INT8,
     .panel = 48,
     .panel_count = 1,
     .tail = {22}},
    {.tensor = 3, .formula = "scales large", .offset = AT_LARGE_SCALES},
    {.tensor = 4,
     .view_count = 1,
     .random_deviation = 2,
     .offset = AT_LARGE,
     .panel = 64,
     .panel_count = 2,
     .tail = {12}},
    {.tensor = 5, .view_count = 1, .random_deviation = 1, .offset = AT_BF16_ROWS},
    {.tensor = 6, .formula = "scales int8 rows", .offset = AT_ROW_SCALES},
    {.tensor = 7, .view_count = 1, .random_deviation = 1, .offset = AT_INT8_ROWS},
};
static const attn2c_packing packings[TENSORS] = {
    {ATTN2C_BF16, -1},         {ATTN2C_F32, -1},  {ATTN2C_I8, SCALES}, {ATTN2C_F32, -1},
    {ATTN2C_I8, LARGE_SCALES}, {ATTN2C_BF16, -1}, {ATTN2C_F32, -1},    {ATTN2C_I8, ROW_SCALES}};
static const char *const names[] = {"x", NULL};
static const attn2c_stored stored[] = {{.names = names, .rank = 2, .shape = {150, 37}}};
static const attn2c_view views[] = {{.stored = 0}};
static const attn2c_descriptor model = {.readers = &all_readers,
                                        .tensors = tensors,
                                        .weights = weights,
                                        .packings = packings,
                                        .stored = stored,
                                        .views = views,
                                        .tensor_count = TENSORS,
                                        .weight_count = TENSORS,
                                        .weight_floats = ALL};

static char text[1000];
static float packed[ALL];

static float *values_of(attn2c_source *source, int weight) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  float *values = malloc((size_t)attn2c_elements(&tensors[weight]) * sizeof *values);
  cr_assert_eq(attn2c_source_read(source, weight, values, &message), ATTN2C_OK, "%s", text);
  return values;
}

static attn2c_source *load(int workers) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  cr_assert_eq(attn2c_source_random(5, &model, &source, &message), ATTN2C_OK, "%s", text);
  memset(packed, 0xff, sizeof packed);
  cr_assert_eq(attn2c_load_weights(&model, source, packed, workers, &message), ATTN2C_OK, "%s", text);
  return source;
}

/* Where panels of a weight begin, in words: visit of each output. */
typedef struct {
  const unsigned char *first; /* the output's first group */
  const unsigned char *panel; /* the output's word of the first row */
  int64_t leading;            /* words */
} place;

static place place_of(int weight, int64_t output, int64_t rows) {
  int64_t begin = 0, at = weights[weight].offset;
  for (int64_t p = 0;; p++) {
    const int64_t tail = p - weights[weight].panel_count;
    const int64_t width = tail < 0 ? weights[weight].panel : weights[weight].tail[tail];
    const int64_t leading = (width + 15) / 16 * 16, before = packings[weight].type == ATTN2C_I8 ? 2 : 0;
    if (output < begin + width) {
      const float *word = packed + at + output - begin;
      return (place){(const unsigned char *)(word + before * leading), (const unsigned char *)word, leading};
    }
    begin += width, at += rows * leading;
  }
}

Test(pack_types, bf16_in_pairs) {
  attn2c_source *source = load(1);
  float *values = values_of(source, BF16);
  for (int64_t o = 0; o < 150; o++) {
    const place at = place_of(BF16, o, 19);
    for (int64_t i = 0; i < 38; i++) {
      uint16_t got;
      memcpy(&got, at.first + 4 * (i / 2 * at.leading) + 2 * (i % 2), sizeof got);
      cr_assert_eq(got, i < 37 ? attn2c_to_bf16(values[o * 37 + i]) : 0, "[%d][%d]", (int)o, (int)i);
    }
  }
  for (int64_t i = 0; i < 19; i++) /* after the last tail's outputs */
    for (int64_t j = 6; j < 16; j++) cr_assert_eq(attn2c_bits(packed[19 * 144 + i * 16 + j]), 0);
  free(values);
  attn2c_source_close(source);
}

static void expect_int8(attn2c_source *source, int weight, int scales) {
  const int64_t outputs = tensors[weight].shape[0], inputs = tensors[weight].shape[1];
  float *values = values_of(source, weight);
  for (int64_t o = 0; o < outputs; o++) {
    float largest = 0;
    for (int64_t i = 0; i < inputs; i++) largest = fmaxf(largest, fabsf(values[o * inputs + i]));
    const float scale = packed[weights[scales].offset + o];
    cr_assert_eq(scale, largest / 127.0f, "%s %d", tensors[weight].name, (int)o);
    const place at = place_of(weight, o, (inputs + 3) / 4 + 2);
    int32_t before[2], sum = 0, below = 0;
    for (int64_t i = 0; i < (inputs + 3) / 4 * 4; i++) {
      const int8_t got = (int8_t)at.first[4 * (i / 4 * at.leading) + i % 4];
      const float wanted = i < inputs ? nearbyintf(values[o * inputs + i] * (1.0f / scale)) : 0;
      cr_assert_eq((float)got, wanted, "[%d][%d]: %d, not %g", (int)o, (int)i, got, wanted);
      sum += got, below += got < 0 ? -got : 0;
    }
    for (int row = 0; row < 2; row++) memcpy(&before[row], at.panel + 4 * row * at.leading, sizeof *before);
    cr_assert_eq(before[0], -128 * sum);
    cr_assert_eq(before[1], below);
  }
  for (int64_t o = outputs; o % 16 != 0; o++)
    cr_assert_eq(attn2c_bits(packed[weights[scales].offset + o]), 0, "after the scales");
  free(values);
}

Test(pack_types, int8_in_fours_with_scales_by_any_number_of_threads) {
  for (int workers = 1; workers <= 3; workers++) {
    attn2c_source *source = load(workers);
    expect_int8(source, INT8, SCALES);
    expect_int8(source, LARGE, LARGE_SCALES);
    attn2c_source_close(source);
  }
}

/* Rows of whole groups, one after the other, with zeros up to the next weight, by any number of threads. */
Test(pack_types, rows_in_their_order) {
  for (int workers = 1; workers <= 3; workers++) {
    attn2c_source *source = load(workers);
    for (int w = BF16_ROWS; w <= INT8_ROWS; w += 2) {
      const int64_t rows = tensors[w].shape[0], columns = tensors[w].shape[1];
      const int64_t groups = w == BF16_ROWS ? 19 : 33, each = w == BF16_ROWS ? 2 : 4;
      float *values = values_of(source, w);
      for (int64_t r = 0; r < rows; r++) {
        const unsigned char *row = (const unsigned char *)(packed + weights[w].offset + r * groups);
        float largest = 0;
        for (int64_t i = 0; i < columns; i++) largest = fmaxf(largest, fabsf(values[r * columns + i]));
        const float scale = largest / 127.0f;
        if (w == INT8_ROWS) cr_assert_eq(packed[AT_ROW_SCALES + r], scale, "%d", (int)r);
        for (int64_t i = 0; i < groups * each; i++) {
          const float value = i < columns ? values[r * columns + i] : 0;
          uint16_t half;
          memcpy(&half, row + 2 * (w == BF16_ROWS ? i : 0), sizeof half);
          if (w == BF16_ROWS)
            cr_assert_eq(half, attn2c_to_bf16(value), "[%d][%d]", (int)r, (int)i);
          else
            cr_assert_eq((float)(int8_t)row[i], nearbyintf(value * (1.0f / scale)), "[%d][%d]", (int)r,
                         (int)i);
        }
      }
      for (int64_t i = rows * groups; i % 16; i++)
        cr_assert_eq(attn2c_bits(packed[weights[w].offset + i]), 0, "after the rows");
      free(values);
    }
    attn2c_source_close(source);
  }
}

Test(pack_types, leaves_no_byte_unwritten) {
  static float first[ALL];
  attn2c_source_close(load(1));
  memcpy(first, packed, sizeof packed);
  for (int64_t i = 0; i < ALL; i++) cr_assert_neq(attn2c_bits(first[i]), 0xffffffffu, "word %d", (int)i);
}

Test(pack_types, unpacking_gives_what_was_rounded) {
  attn2c_source *source = load(1);
  const int all[] = {BF16, INT8, LARGE, BF16_ROWS, INT8_ROWS};
  for (size_t number = 0; number < sizeof all / sizeof *all; number++) {
    const int w = all[number], is_bf16 = w == BF16 || w == BF16_ROWS;
    const int64_t rows = tensors[w].shape[0], columns = tensors[w].shape[1], first = 45, count = 23;
    float *values = values_of(source, w), *got = malloc((size_t)(rows * columns) * sizeof *got);
    attn2c_unpack(&model, w, packed, 0, rows, got);
    for (int64_t o = 0; o < rows; o++) {
      const float scale = is_bf16 ? 1 : packed[weights[w - 1].offset + o];
      for (int64_t i = 0; i < columns; i++) {
        const float x = values[o * columns + i], unit = is_bf16 ? fabsf(x) * 0x1p-7f : scale;
        cr_assert_leq(fabsf(got[o * columns + i] - x), unit * 0.50001f, "%s [%d][%d]", tensors[w].name,
                      (int)o, (int)i);
      }
    }
    float *part = malloc((size_t)(count * columns) * sizeof *part);
    attn2c_unpack(&model, w, packed, first, count, part);
    cr_assert_eq(memcmp(part, got + first * columns, (size_t)(count * columns) * sizeof *part), 0);
    free(part);
    free(values);
    free(got);
  }
  attn2c_source_close(source);
}

/* Scales are read as packing makes them. */
Test(pack_types, scales_are_read) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source = load(1);
  float scales[23];
  cr_assert_eq(attn2c_source_read_rows(source, SCALES, 40, 23, scales, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(memcmp(scales, packed + AT_SCALES + 40, sizeof scales), 0);
  attn2c_source_close(source);
}

/* Columns of a matrix and elements of a vector are multiplied by powers of two, whatever rows are read, and
 * scales are as what comes out has. */
Test(pack_types, factors_are_multiplied_in_when_weights_are_read) {
  static signed char powers[150];
  attn2c_factors factors[TENSORS] = {[INT8] = {powers, 1, 0}};
  attn2c_descriptor smoothed = model;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *plain, *source;
  for (int i = 0; i < 150; i++) powers[i] = (signed char)(i % 7 - 3);
  smoothed.factors = factors;
  cr_assert_eq(attn2c_source_random(7, &model, &plain, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_source_random(7, &smoothed, &source, &message), ATTN2C_OK, "%s", text);
  const int64_t columns = tensors[INT8].shape[1];
  float *values = values_of(plain, INT8), *got = values_of(source, INT8);
  for (int64_t i = 0; i < attn2c_elements(&tensors[INT8]); i++)
    cr_assert_eq(got[i], ldexpf(values[i], powers[i % columns]), "%d", (int)i);
  float part[131], scales[3];
  cr_assert_eq(attn2c_source_read_rows(source, INT8, 11, 1, part, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(memcmp(part, got + 11 * columns, (size_t)columns * sizeof *part), 0);
  cr_assert_eq(attn2c_source_read_rows(source, SCALES, 10, 3, scales, &message), ATTN2C_OK, "%s", text);
  float largest = 0;
  for (int64_t i = 0; i < columns; i++) largest = fmaxf(largest, fabsf(part[i]));
  cr_assert_eq(scales[1], largest / 127.0f);
  cr_assert_neq(attn2c_layout(&smoothed), attn2c_layout(&model));
  free(values);
  free(got);
  attn2c_source_close(plain);
  attn2c_source_close(source);
}

/* The same weights in other numbers are another block. */
Test(pack_types, are_in_the_layout) {
  attn2c_packing others[TENSORS];
  attn2c_descriptor other = model;
  const uint64_t layout = attn2c_layout(&model);
  memcpy(others, packings, sizeof others);
  others[BF16].type = ATTN2C_F32;
  other.packings = others;
  cr_assert_neq(attn2c_layout(&other), layout);
  other.packings = NULL;
  cr_assert_neq(attn2c_layout(&other), layout);
}

static int gather(void *block, int64_t offset, const float *floats, int64_t count, attn2c_message *message) {
  (void)message;
  cr_assert_leq(offset + count, ALL);
  memcpy((float *)block + offset, floats, (size_t)count * sizeof *floats);
  return ATTN2C_OK;
}

Test(pack_types, one_weight_after_the_other_gives_the_same_block) {
  static float one[ALL];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  for (int workers = 1; workers <= 3; workers += 2) {
    attn2c_source *source = load(workers);
    memset(one, 0, sizeof one);
    cr_assert_eq(attn2c_load_each(&model, source, workers, gather, one, &message), ATTN2C_OK, "%s", text);
    cr_assert_arr_eq(one, packed, sizeof one);
    attn2c_source_close(source);
  }
}

Test(pack_types, weights_in_scale_blocks_one_after_the_other_too) {
  /* 96 inputs are three blocks, the last of which is half of a pair */
  static const attn2c_tensor each[] = {{.name = "a", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {40, 96}},
                                       {.name = "b", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {5, 96}},
                                       {.name = "c", .kind = ATTN2C_WEIGHT, .rank = 1, .shape = {9}}};
  const attn2c_view view = {.rows = 1, .columns = 1};
  attn2c_packing of_blocks[] = {{ATTN2C_Q4, -1}, {ATTN2C_Q8, -1}, {ATTN2C_F32, -1}};
  attn2c_weight kept[] = {
      {.tensor = 0, .view_count = 1, .random_deviation = 1, .panel = 16, .panel_count = 2, .tail = {8, 0}},
      {.tensor = 1, .view_count = 1, .random_deviation = 1},
      {.tensor = 2, .view_count = 1, .random_deviation = 1}};
  attn2c_descriptor blocks = {.readers = &all_readers,
                              .tensors = each,
                              .weights = kept,
                              .views = &view,
                              .packings = of_blocks,
                              .tensor_count = 3,
                              .weight_count = 3};
  for (int w = 0; w < 3; w++) {
    kept[w].offset = blocks.weight_floats;
    blocks.weight_floats += attn2c_packed_floats(&blocks, w);
  }
  cr_assert_eq(kept[1].offset, 3 * 16 * 4 * 18 / 4, "two pairs of blocks of 18 bytes for each of 48 outputs");
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  float *whole = calloc((size_t)blocks.weight_floats, sizeof *whole),
        *one = calloc((size_t)blocks.weight_floats, sizeof *one);
  cr_assert_eq(attn2c_source_random(5, &blocks, &source, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_load_weights(&blocks, source, whole, 1, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_load_each(&blocks, source, 1, gather, one, &message), ATTN2C_OK, "%s", text);
  cr_assert_arr_eq(one, whole, (size_t)blocks.weight_floats * sizeof *one);
  attn2c_source_close(source);
  free(whole), free(one);
}
