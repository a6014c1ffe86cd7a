/* test_taps.c - the weight of a convolution, [out][in][taps], as rows that have the inputs tap by tap: by
 * itself, and as a value and a gain for each tap (reading/taps.c); whole, by rows, and where memory fails. */
#define _DEFAULT_SOURCE
#include "readers.h"
#include "faults.h"
#include "safetensors_write.h"
#include "scratch.h"
#include "weights/weights.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { OUT = 3, IN = 2, TAPS = 4, COLUMNS = IN * TAPS };
static const attn2c_tensor tensors[] = {
    {.name = "plain", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {OUT, COLUMNS}},
    {.name = "normed", .kind = ATTN2C_WEIGHT, .rank = 2, .shape = {OUT, COLUMNS}},
};
static const char *const plain_names[] = {"weight", NULL};
static const char *const value_names[] = {"weight_v", NULL};
static const char *const gain_names[] = {"weight_g", NULL};
static const attn2c_stored stored[] = {
    {.names = plain_names, .rank = 3, .shape = {OUT, IN, TAPS}},
    {.names = value_names, .rank = 3, .shape = {OUT, IN, TAPS}},
    {.names = gain_names, .rank = 1, .shape = {TAPS}},
};
#define BOX(number, more, step, by)                                                                          \
  {                                                                                                          \
    .stored = number, .flags = ATTN2C_VIEW_TAPS | (more), .rows = OUT, .columns = COLUMNS, .row_step = step, \
    .column_step = TAPS, .factor = by                                                                        \
  }
static const attn2c_view views[] = {BOX(0, 0, COLUMNS, 0.5), BOX(1, 0, COLUMNS, 1),
                                    BOX(1, ATTN2C_VIEW_TIMES | ATTN2C_VIEW_UNIT, COLUMNS, 1),
                                    BOX(2, ATTN2C_VIEW_TIMES, 0, 1)};
static const attn2c_weight weights[] = {{.tensor = 0, .first_view = 0, .view_count = 1},
                                        {.tensor = 1, .first_view = 1, .view_count = 3}};
static const attn2c_descriptor model = {.readers = &all_readers,
                                        .tensors = tensors,
                                        .weights = weights,
                                        .stored = stored,
                                        .views = views,
                                        .tensor_count = 2,
                                        .weight_count = 2,
                                        .stored_count = 3};
static char text[1024];
static float values[OUT * COLUMNS], gains[TAPS] = {0.5f, -2, 3, 0};

TestSuite(taps, .init = scratch_open, .fini = scratch_close);

/* Writes a file whose weight and value are 1, 2, 3, ...; gain: the elements of weight_g. */
static const char *write_file(int64_t gain) {
  static const int64_t shape[] = {OUT, IN, TAPS};
  const int64_t of_gain[] = {1, 1, gain};
  const safetensors_item items[] = {
      {"weight", 3, shape, values}, {"weight_v", 3, shape, values}, {"weight_g", 3, of_gain, gains}};
  for (int i = 0; i < OUT * COLUMNS; i++) values[i] = (float)(i + 1);
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(safetensors_write(scratch_path("file"), items, 3, &message), ATTN2C_OK, "%s", text);
  return scratch_path("file");
}

static int open_file(const char *path, attn2c_source **source) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_source_file(path, &model, source, &message);
}

/* Element (o, t, c) of a weight. */
static double want(int weight, int o, int t, int c) {
  const double value = values[(o * IN + c) * TAPS + t];
  double squares = 0;
  if (weight == 0) return value / 2;
  for (int i = 0; i < OUT * IN; i++) squares += (double)values[i * TAPS + t] * (double)values[i * TAPS + t];
  return (double)gains[t] * value / sqrt(squares);
}

Test(taps, are_in_order_whole_and_by_rows) {
  attn2c_source *source;
  cr_assert_eq(open_file(write_file(TAPS), &source), ATTN2C_OK, "%s", text);
  for (int first = OUT - 1; first >= 0; first--)
    for (int count = 1; first + count <= OUT; count++)
      for (int w = 0; w < 2; w++) {
        float rows[OUT * COLUMNS];
        attn2c_message message = attn2c_message_make(text, sizeof text);
        cr_assert_eq(attn2c_source_read_rows(source, w, first, count, rows, &message), ATTN2C_OK, "%s", text);
        for (int i = 0; i < count * COLUMNS; i++) {
          const double is = want(w, first + i / COLUMNS, i % COLUMNS / IN, i % IN);
          cr_assert(fabs((double)rows[i] - is) <= 2e-7 * fabs(is), "weight %d, %d from row %d: %g, not %g", w,
                    i, first, (double)rows[i], is);
        }
      }
  attn2c_source_close(source);
}

Test(taps, need_a_gain_each) {
  attn2c_source *source;
  cr_assert_eq(open_file(write_file(TAPS - 1), &source), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(text, "weight_g"), "%s", text);
}

Test(taps, the_nth_allocation_or_read_fails) {
  const char *path = write_file(TAPS);
  for (int reads = 0; reads < 2; reads++) {
    int nth = 1;
    for (;; nth++) {
      float rows[OUT * COLUMNS];
      attn2c_source *source = NULL;
      faults_clear();
      if (reads)
        faults_read(nth, FAULT_ERROR, 0);
      else
        faults_allocation(nth, 0);
      int status = open_file(path, &source);
      attn2c_message message = attn2c_message_make(text, sizeof text);
      for (int w = 0; w < 2 && !status; w++) status = attn2c_source_read(source, w, rows, &message);
      attn2c_source_close(source);
      cr_assert_eq(faults_live_blocks(), 0);
      if (faults_met() == 0) break;
      cr_assert_eq(status, reads ? ATTN2C_IO : ATTN2C_MEMORY, "%d: %d, %s", nth, status, text);
    }
    cr_assert(nth > 4, "%d were made", nth - 1);
  }
}
