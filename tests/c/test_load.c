/* test_load.c - weights of all kinds of panels, read and packed by one thread and by several,
 * against the layout as descriptor.h states it, element by element; and what a failing source
 * or allocation gives. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "faults.h"
#include "model/load.h"
#include "safetensors_write.h"
#include "scratch.h"
#include "packing/pack.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 6 };

static const attn2c_tensor tensors[TENSORS] = {
    {.name = "panels", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {150, 37}},
    {.name = "large", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {1100, 2050}},
    {.name = "vector", .kind = ATTN2C_WEIGHT, .rank = 1, .shape = {21}},
    {.name = "rows", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {700, 301}},
    {.name = "narrow", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {5, 1}},
    {.name = "wide", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {40, 9001}},
};
static const char *const names[TENSORS][2] = {{"panels"}, {"large"},  {"vector"},
                                              {"rows"},   {"narrow"}, {"wide"}};

/* Floats of each in the packed block, as the panels say: 2 x 64 + 16 + 6 of 37 inputs, and so on. */
enum {
  AT_PANELS = 0,
  AT_LARGE = AT_PANELS + 37 * (64 + 64 + 16 + 16),
  AT_VECTOR = AT_LARGE + 2050 * (8 * 128 + 64 + 16),
  AT_ROWS = AT_VECTOR + 32,
  AT_NARROW = AT_ROWS + (700 * 301 + 15) / 16 * 16,
  AT_WIDE = AT_NARROW + 16,
  ALL = AT_WIDE + 9001 * (32 + 16)
};

#define WEIGHT(number, place)                                                                                \
  {                                                                                                          \
    .tensor = number, .first_view = number, .view_count = 1, .random_deviation = 1, .offset = place,         \
    PANELS_##number                                                                                          \
  }
#define PANELS_0 .panel = 64, .panel_count = 2, .tail = {16, 6}
#define PANELS_1 .panel = 128, .panel_count = 8, .tail = {64, 12}
#define PANELS_2 .panel = 0
#define PANELS_3 .panel = 0
#define PANELS_4 .panel = 64, .tail = {5, 0}
#define PANELS_5 .panel = 32, .panel_count = 1, .tail = {8, 0}
static const attn2c_weight weights[TENSORS] = {
    WEIGHT(0, AT_PANELS), WEIGHT(1, AT_LARGE),  WEIGHT(2, AT_VECTOR),
    WEIGHT(3, AT_ROWS),   WEIGHT(4, AT_NARROW), WEIGHT(5, AT_WIDE),
};
#define STORED(number, dimensions, ...)                                                                      \
  {                                                                                                          \
    .names = names[number], .rank = dimensions, .shape = { __VA_ARGS__ }                                     \
  }
static const attn2c_stored stored[TENSORS] = {STORED(0, 2, 150, 37), STORED(1, 2, 1100, 2050),
                                              STORED(2, 1, 21),      STORED(3, 2, 700, 301),
                                              STORED(4, 2, 5, 1),    STORED(5, 2, 40, 9001)};
#define VIEW(number, height, width)                                                                          \
  { .stored = number, .rows = height, .columns = width, .row_step = width, .column_step = 1, .factor = 1 }
static const attn2c_view views[TENSORS] = {VIEW(0, 150, 37),  VIEW(1, 1100, 2050), VIEW(2, 21, 1),
                                           VIEW(3, 700, 301), VIEW(4, 5, 1),       VIEW(5, 40, 9001)};
static const attn2c_descriptor model = {.readers = &all_readers,
                                        .tensors = tensors,
                                        .weights = weights,
                                        .stored = stored,
                                        .views = views,
                                        .stored_count = TENSORS,
                                        .tensor_count = TENSORS,
                                        .weight_count = TENSORS,
                                        .weight_floats = ALL};

static char text[1000];
static float *packed, *expected;

/* Rows [begin, begin + width) of one weight as a panel: [columns][leading]; the number of floats. */
static int64_t expect_panel(const float *values, int64_t columns, int64_t begin, int64_t width, float *to) {
  const int64_t leading = (width + 15) / 16 * 16;
  for (int64_t i = 0; i < columns; i++)
    for (int64_t j = 0; j < width; j++) to[i * leading + j] = values[(begin + j) * columns + i];
  return columns * leading;
}

/* The block as descriptor.h has it; padding is zero. */
static void fill_expected(attn2c_source *source) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  memset(expected, 0, ALL * sizeof *expected);
  for (int w = 0; w < TENSORS; w++) {
    const attn2c_weight *weight = &weights[w];
    const int64_t rows = tensors[w].shape[0], elements = attn2c_elements(&tensors[w]);
    float *values = malloc((size_t)elements * sizeof *values), *to = expected + weight->offset;
    cr_assert_eq(attn2c_source_read(source, w, values, &message), ATTN2C_OK);
    int64_t row = 0;
    for (int64_t p = 0; weight->panel && row < rows; p++) {
      const int64_t width = p < weight->panel_count ? weight->panel : weight->tail[p - weight->panel_count];
      to += expect_panel(values, elements / rows, row, width, to);
      row += width;
    }
    if (!weight->panel) memcpy(to, values, (size_t)elements * sizeof *values);
    free(values);
  }
}

static void setup(void) {
  scratch_open();
  packed = malloc(ALL * sizeof *packed);
  expected = malloc(ALL * sizeof *expected);
}

static void teardown(void) {
  faults_clear();
  free(packed);
  free(expected);
  scratch_close();
}

TestSuite(load, .init = setup, .fini = teardown);

static attn2c_source *random_source(void) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  cr_assert_eq(attn2c_source_random(3, &model, &source, &message), ATTN2C_OK, "%s", text);
  return source;
}

static attn2c_source *file_source(void) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source = random_source();
  safetensors_item items[TENSORS];
  float *values[TENSORS];
  for (int w = 0; w < TENSORS; w++) {
    values[w] = malloc((size_t)attn2c_elements(&tensors[w]) * sizeof(float));
    cr_assert_eq(attn2c_source_read(source, w, values[w], &message), ATTN2C_OK);
    items[w] = (safetensors_item){names[w][0], tensors[w].rank, tensors[w].shape, values[w]};
  }
  attn2c_source_close(source);
  const char *path = scratch_path("weights");
  cr_assert_eq(safetensors_write(path, items, TENSORS, &message), ATTN2C_OK, "%s", text);
  for (int w = 0; w < TENSORS; w++) free(values[w]);
  cr_assert_eq(attn2c_source_file(path, &model, &source, &message), ATTN2C_OK, "%s", text);
  return source;
}

static int load_with(attn2c_source *source, int workers) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  memset(packed, 0xff, ALL * sizeof *packed);
  return attn2c_load_weights(&model, source, packed, workers, &message);
}

Test(load, every_float_by_any_number_of_threads) {
  static const int workers[] = {1, 2, 3, 64};
  for (int from_file = 0; from_file < 2; from_file++) {
    attn2c_source *source = from_file ? file_source() : random_source();
    fill_expected(source);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
      cr_assert_eq(load_with(source, workers[i]), ATTN2C_OK, "%s", text);
      for (int64_t j = 0; j < ALL; j++)
        cr_assert(memcmp(&packed[j], &expected[j], sizeof *packed) == 0,
                  "float %lld by %d threads: %g, not %g", (long long)j, workers[i], packed[j], expected[j]);
    }
    attn2c_source_close(source);
  }
}

static int gather(void *block, int64_t offset, const float *floats, int64_t count, attn2c_message *message) {
  (void)message;
  cr_assert_leq(offset + count, ALL);
  memcpy((float *)block + offset, floats, (size_t)count * sizeof *floats);
  return ATTN2C_OK;
}

static int refuse(void *block, int64_t offset, const float *floats, int64_t count, attn2c_message *message) {
  (void)block, (void)floats, (void)count, (void)message;
  return offset >= AT_VECTOR ? ATTN2C_IO : ATTN2C_OK;
}

Test(load, one_weight_after_the_other_needs_memory_for_the_largest) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source = random_source();
  fill_expected(source);
  for (int workers = 1; workers <= 2; workers++) {
    memset(packed, 0, ALL * sizeof *packed);
    faults_clear();
    cr_assert_eq(attn2c_load_each(&model, source, workers, gather, packed, &message), ATTN2C_OK, "%s", text);
    cr_assert_lt(faults_largest_block(), ALL * sizeof *packed);
    cr_assert_eq(faults_live_blocks(), 0);
    cr_assert_arr_eq(packed, expected, ALL * sizeof *packed);
    cr_assert_eq(attn2c_load_each(&model, source, workers, refuse, packed, &message), ATTN2C_IO);
    for (long nth = 1; nth <= 2; nth++) {
      faults_clear();
      faults_allocation(nth, 0);
      cr_assert_eq(attn2c_load_each(&model, source, workers, gather, packed, &message), ATTN2C_MEMORY);
      cr_assert_eq(faults_live_blocks(), 0);
    }
  }
  faults_clear();
  attn2c_source_close(source);
}

Test(load, a_failing_read_ends_it_once) {
  attn2c_source *source = file_source();
  for (int workers = 1; workers <= 3; workers += 2) {
    long nth = 1;
    for (;; nth += nth < 8 ? 1 : 7) {
      faults_clear();
      faults_read(nth, FAULT_ERROR, 0);
      const int status = load_with(source, workers);
      const long met = faults_met();
      faults_clear();
      cr_assert_eq(status, met ? ATTN2C_IO : ATTN2C_OK, "read %ld: %d", nth, status);
      cr_assert_null(strchr(text, '\n'), "read %ld: %s", nth, text);
      if (!met) break;
    }
    cr_expect_gt(nth, 30);
  }
  attn2c_source_close(source);
}

Test(load, holds_little_and_says_when_there_is_no_memory) {
  attn2c_source *source = random_source();
  faults_clear();
  cr_assert_eq(load_with(source, 1), ATTN2C_OK);
  cr_expect_lt(faults_largest_block(), 1 << 20, "%lu bytes at once", faults_largest_block());
  cr_expect_eq(faults_live_blocks(), 0);
  faults_allocation(1, 0);
  cr_expect_eq(load_with(source, 1), ATTN2C_MEMORY);
  cr_expect_str_eq(text, "no memory for reading the weights");
  attn2c_source_close(source);
}

/* All rows at once, and a few from anywhere, over the ends of panels. */
Test(load, unpacking_gives_what_was_packed) {
  static const int64_t some[][2] = {{0, 1},   {0, 65},   {1, 63},  {60, 9},
                                    {127, 2}, {128, 22}, {144, 6}, {149, 1}};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source = random_source();
  cr_assert_eq(load_with(source, 1), ATTN2C_OK);
  for (int w = 0; w < TENSORS; w++) {
    const int64_t rows = tensors[w].shape[0], elements = attn2c_elements(&tensors[w]), row = elements / rows;
    float *values = malloc((size_t)elements * sizeof *values), *got = malloc((size_t)elements * sizeof *got);
    cr_assert_eq(attn2c_source_read(source, w, values, &message), ATTN2C_OK);
    attn2c_unpack(&model, w, packed, 0, rows, got);
    cr_assert_eq(memcmp(values, got, (size_t)elements * sizeof *got), 0, "%s", tensors[w].name);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
      const int64_t first = some[i][0], count = some[i][1];
      if (first + count > rows) continue;
      float *part = malloc((size_t)(count * row) * sizeof *part);
      attn2c_unpack(&model, w, packed, first, count, part);
      cr_assert_eq(memcmp(values + first * row, part, (size_t)(count * row) * sizeof *part), 0,
                   "%s: %lld of %lld", tensors[w].name, (long long)count, (long long)first);
      free(part);
    }
    free(values);
    free(got);
  }
  attn2c_source_close(source);
}
