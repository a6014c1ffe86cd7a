/* test_dispatch.c - calls of any size through entries of 1 x 2, 1 x 4 and 3 x 4: which is called, what stands
 * in its inputs, and what comes out. The entries keep what they are given, and write numbers that say where.
 */
#include "model/dispatch.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { PAST = 2, EXTRA = 1, MOST_BATCH = 3, MOST_SEQ = 4, ROWS = MOST_SEQ * 2, IN = 5, OUT = 3, ENTRIES = 3 };
enum { IDS, LENGTHS, KEEP, BIAS, COUNTS, Y, PAIRS, ONE, TENSORS };

#define NO_ARENA -1, 0
#define ENTRY(batch, seq)                                                                                    \
  {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {batch, seq}, 5, 100, NO_ARENA},                                      \
      {"lengths", ATTN2C_INPUT, ATTN2C_I32, 1, {batch}, 1, (seq) + 1, NO_ARENA},                             \
      {"keep", ATTN2C_INPUT, ATTN2C_I32, 2, {batch, PAST + (seq)}, 0, 2, NO_ARENA},                          \
      {"bias", ATTN2C_SHARED_INPUT, ATTN2C_F32, 2, {seq, PAST + (seq)}, 0, 0, NO_ARENA},                     \
      {"rows", ATTN2C_ROWS_INPUT, ATTN2C_I32, 1, {batch}, 1, (seq) + 1, NO_ARENA},                           \
      {"y", ATTN2C_OUTPUT, ATTN2C_F32, 3, {seq, batch, 2}, 0, 0, NO_ARENA},                                  \
      {"pairs", ATTN2C_OUTPUT, ATTN2C_F32, 3, {batch, seq, PAST + (seq) + EXTRA}, 0, 0, NO_ARENA}, {         \
    "one", ATTN2C_OUTPUT, ATTN2C_I32, 1, {batch}, 0, 0, NO_ARENA                                             \
  }

static const attn2c_tensor tensors[] = {ENTRY(1, 2), ENTRY(1, 4), ENTRY(3, 4)};
static const attn2c_axes input_axes[] = {{0, 1, -1, ATTN2C_FILL_LEAST},
                                         {0, -1, -1, ATTN2C_FILL_COUNT},
                                         {0, -1, 1, ATTN2C_FILL_KEPT},
                                         {-1, 0, 1, ATTN2C_FILL_MASKED},
                                         {0, -1, -1, ATTN2C_FILL_COUNT}};
static const attn2c_axes output_axes[] = {
    {1, 0, -1, ATTN2C_FILL_LEAST}, {0, 1, 2, ATTN2C_FILL_LEAST}, {0, -1, -1, ATTN2C_FILL_LEAST}};
static const attn2c_size sizes[] = {{1, 2}, {1, 4}, {3, 4}};

/* The inputs of the last calls of entries. */
static int calls, called[16];
static int32_t ids[MOST_BATCH * MOST_SEQ], lengths[MOST_BATCH], keep[MOST_BATCH * (PAST + MOST_SEQ)],
    rows[MOST_BATCH];
static float bias[MOST_SEQ * (PAST + MOST_SEQ)];

static int record(int number, const void *const *in, void *const *out) {
  const int64_t b = sizes[number].batch, s = sizes[number].seq, k = PAST + s;
  called[calls++] = number;
  memcpy(ids, in[0], (size_t)(b * s) * 4), memcpy(lengths, in[1], (size_t)b * 4);
  memcpy(keep, in[2], (size_t)(b * k) * 4), memcpy(bias, in[3], (size_t)(s * k) * 4);
  memcpy(rows, in[4], (size_t)b * 4);
  float *y = out[0], *pairs = out[1];
  int32_t *one = out[2];
  for (int64_t i = 0; y && i < s * b; i++) { /* which row of which sequence: the id there */
    y[2 * i] = (float)ids[i % b * s + i / b];
    y[2 * i + 1] = (float)(i / b);
  }
  for (int64_t i = 0; pairs && i < b * s * (k + EXTRA); i++) pairs[i] = (float)(i % (k + EXTRA));
  for (int64_t i = 0; one && i < b; i++) one[i] = ids[i * s];
  return ids[0] == 99 ? ATTN2C_FORMAT : ATTN2C_OK;
}

static int run_0(const attn2c_call *call) { return record(0, call->in, call->out); }
static int run_1(const attn2c_call *call) { return record(1, call->in, call->out); }
static int run_2(const attn2c_call *call) { return record(2, call->in, call->out); }

#define INDICES(at)                                                                                          \
  { (at) + IDS, (at) + LENGTHS, (at) + KEEP, (at) + BIAS, (at) + COUNTS }
static const int inputs[ENTRIES][IN] = {INDICES(0), INDICES(TENSORS), INDICES(2 * TENSORS)};
static const int outputs[ENTRIES][OUT] = {{Y, PAIRS, ONE},
                                          {TENSORS + Y, TENSORS + PAIRS, TENSORS + ONE},
                                          {2 * TENSORS + Y, 2 * TENSORS + PAIRS, 2 * TENSORS + ONE}};
static attn2c_entry entries[] = {
    {"forward_1x2", NULL, 0, inputs[0], outputs[0], IN, OUT, 200, run_0},
    {"forward_1x4", NULL, 0, inputs[1], outputs[1], IN, OUT, 400, run_1},
    {"forward_3x4", NULL, 0, inputs[2], outputs[2], IN, OUT, 1200, run_2},
};
static const attn2c_weight weights[] = {
    {.tensor = 0, .panel = 16}}; /* of two elements: 32 operations a call */
static const attn2c_descriptor descriptor = {.entries = entries,
                                             .tensors = tensors,
                                             .weights = weights,
                                             .entry_count = ENTRIES,
                                             .tensor_count = ENTRIES * TENSORS,
                                             .weight_count = 1,
                                             .arena_floats = 16};
static const attn2c_model model = {.descriptor = &descriptor, .workers = 1};
static attn2c_lengths any = {input_axes, output_axes, sizes, PAST, 1, NULL};
static attn2c_context *context;

static void open(void) {
  calls = 0;
  cr_assert_eq(attn2c_dispatch_create(&model, &any, &context), ATTN2C_OK);
}

static void close(void) { attn2c_context_destroy(context); }

/* The caller's arrays, of up to 7 x 4. */
enum { MOST = 7 };
static int32_t my_ids[MOST * MOST_SEQ], my_lengths[MOST], my_keep[MOST * (PAST + MOST_SEQ)], my_one[MOST];
static float my_bias[MOST_SEQ * (PAST + MOST_SEQ)], my_y[MOST * ROWS],
    my_pairs[MOST * MOST_SEQ * (PAST + MOST_SEQ + EXTRA)];
static const int32_t *my_rows;

static int call(int batch, int seq) {
  for (int i = 0; i < batch * seq; i++) my_ids[i] = 10 + i;
  for (int i = 0; i < batch; i++) my_lengths[i] = seq > 0 ? 1 + i % seq : 1;
  for (int i = 0; i < batch * (PAST + seq); i++) my_keep[i] = i % 2;
  for (int i = 0; i < seq * (PAST + seq); i++) my_bias[i] = (float)i;
  const void *const in[] = {my_ids, my_lengths, my_keep, my_bias, my_rows};
  void *const out[] = {my_y, my_pairs, my_one};
  return attn2c_dispatch(context, batch, seq, in, out);
}

Test(dispatch, calls_an_entry_that_fits_as_it_is, .init = open, .fini = close) {
  cr_assert_eq(call(1, 4), ATTN2C_OK);
  cr_assert_eq(calls, 1);
  cr_assert_eq(called[0], 1);
  for (int i = 0; i < 4; i++) cr_assert_eq(my_y[2 * i], 10 + i);
  cr_assert_eq(rows[0], 4, "rows that are not given are all");
  cr_assert_eq(call(1, 2), ATTN2C_OK);
  cr_assert_eq(called[1], 0);
}

Test(dispatch, pads_and_masks_a_shorter_sequence, .init = open, .fini = close) {
  cr_assert_eq(call(1, 3), ATTN2C_OK);
  cr_assert_eq(called[0], 1);
  const int32_t want_ids[] = {10, 11, 12, 5}, want_keep[] = {0, 1, 0, 1, 0, 0};
  cr_assert_arr_eq(ids, want_ids, sizeof want_ids);
  cr_assert_arr_eq(keep, want_keep, sizeof want_keep);
  cr_assert_eq(lengths[0], 1);
  cr_assert_eq(rows[0], 3);
  for (int s = 0; s < 4; s++) {
    for (int k = 0; k < PAST + 4; k++) {
      const float want = k == PAST + 3 ? -INFINITY : s == 3 ? 0 : (float)(s * (PAST + 3) + k);
      cr_assert_eq(bias[s * (PAST + 4) + k], want, "bias[%d][%d] is %g", s, k,
                   (double)bias[s * (PAST + 4) + k]);
    }
  }
  for (int i = 0; i < 3; i++) cr_assert_eq(my_y[2 * i], 10 + i);
  for (int s = 0; s < 3; s++) { /* past and new keys, and then the one after all of them */
    const float want[] = {0, 1, 2, 3, 4, 6};
    cr_assert_arr_eq(my_pairs + s * 6, want, sizeof want);
  }
}

Test(dispatch, takes_the_cheapest_entries_for_any_number_of_sequences, .init = open, .fini = close) {
  /* 1 x 4 costs 432, 3 x 4 costs 1232: the latter for three sequences, the former for one and for each of
   * two. */
  static const struct {
    int batch, calls, first;
  } cases[] = {{1, 1, 1}, {2, 2, 1}, {3, 1, 2}, {4, 2, 2}, {5, 3, 2}, {7, 3, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int batch = cases[i].batch;
    calls = 0;
    cr_assert_eq(attn2c_dispatch_entry(context, batch, 4), cases[i].first);
    cr_assert_eq(call(batch, 4), ATTN2C_OK);
    cr_assert_eq(calls, cases[i].calls, "%d sequences take %d calls", batch, calls);
    cr_assert_eq(called[0], cases[i].first);
    for (int b = 0; b < batch; b++) {
      cr_assert_eq(my_one[b], 10 + b * 4);
      for (int s = 0; s < 4; s++) cr_assert_eq(my_y[(s * batch + b) * 2], 10 + b * 4 + s);
    }
  }
}

Test(dispatch, fills_up_a_batch_through_a_given_entry, .init = open, .fini = close) {
  cr_assert_eq(call(1, 3), ATTN2C_OK); /* for the arrays */
  const void *const in[] = {my_ids, my_lengths, my_keep, my_bias, NULL};
  void *const out[] = {my_y, NULL, my_one};
  calls = 0;
  cr_assert_eq(attn2c_dispatch_through(context, 2, 1, 3, in, out), ATTN2C_OK);
  cr_assert_eq(called[0], 2);
  const int32_t want_rows[] = {3, 1, 1}, want_ids[] = {10, 11, 12, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  cr_assert_arr_eq(rows, want_rows, sizeof want_rows);
  cr_assert_arr_eq(ids, want_ids, sizeof want_ids);
  const int32_t want_keep[] = {1, 1, 1, 1, 1, 0};
  cr_assert_arr_eq(keep + PAST + 4, want_keep, sizeof want_keep);
  for (int i = 0; i < 3; i++) cr_assert_eq(my_y[2 * i], 10 + i);
  cr_assert_eq(attn2c_dispatch_through(context, 0, 1, 3, in, out), ATTN2C_USAGE, "it is too short");
  cr_assert_eq(attn2c_dispatch_through(context, ENTRIES, 1, 3, in, out), ATTN2C_USAGE);
}

Test(dispatch, takes_rows_of_the_caller, .init = open, .fini = close) {
  const int32_t given[] = {2, 3, 1};
  my_rows = given;
  cr_assert_eq(call(3, 3), ATTN2C_OK);
  cr_assert_arr_eq(rows, given, sizeof given);
  const int32_t above[] = {2, 4, 1}, none[] = {2, 3, 0};
  my_rows = above;
  cr_expect_eq(call(3, 3), ATTN2C_FORMAT);
  my_rows = none;
  cr_expect_eq(call(3, 3), ATTN2C_FORMAT);
  my_rows = NULL;
}

Test(dispatch, refuses_what_does_not_fit, .init = open, .fini = close) {
  cr_expect_eq(call(1, 0), ATTN2C_USAGE);
  cr_expect_eq(call(0, 2), ATTN2C_USAGE);
  const void *in[] = {my_ids, my_lengths, my_keep, NULL, NULL};
  void *const out[] = {my_y, my_pairs, my_one};
  cr_expect_eq(attn2c_dispatch(context, 1, 2, in, out), ATTN2C_USAGE, "an input is missing");
  in[3] = my_bias;
  cr_expect_eq(attn2c_dispatch(context, 1, 5, in, out), ATTN2C_USAGE, "longer than any entry");
  cr_expect_eq(attn2c_dispatch(context, -1, 2, in, out), ATTN2C_USAGE);
  cr_expect_eq(calls, 0);
  cr_expect_eq(attn2c_dispatch_entry(context, 1, 5), -1);
  cr_expect_eq(attn2c_dispatch_entry(context, 0, 4), -1);
  my_ids[0] = 99;
  cr_expect_eq(attn2c_dispatch(context, 1, 2, in, out), ATTN2C_FORMAT, "what the entry says");
  attn2c_context *plain;
  cr_assert_eq(attn2c_context_create(&model, &plain), ATTN2C_OK);
  cr_expect_eq(attn2c_dispatch(plain, 1, 2, in, out), ATTN2C_USAGE, "it is not prepared");
  attn2c_context_destroy(plain);
}

Test(dispatch, keeps_to_the_lengths_that_are_allowed) {
  any.exact = "no reason";
  open();
  cr_expect_eq(call(1, 4), ATTN2C_OK);
  cr_expect_eq(call(1, 2), ATTN2C_OK);
  cr_expect_eq(call(1, 3), ATTN2C_USAGE);
  cr_expect_eq(call(2, 4), ATTN2C_OK, "a batch may be filled up");
  cr_expect_eq(attn2c_shortest(&any), 2);
  close();
  any.exact = NULL, any.least = 2;
  open();
  cr_expect_eq(call(1, 1), ATTN2C_USAGE);
  cr_expect_eq(call(1, 3), ATTN2C_OK);
  cr_expect_eq(attn2c_shortest(&any), 2);
  cr_expect_eq(attn2c_longest(&descriptor, &any), 4);
  close();
  any.least = 1;
}

Test(dispatch, says_that_there_is_no_memory) {
  for (long nth = 1; nth <= 3; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    cr_assert_eq(attn2c_dispatch_create(&model, &any, &context), ATTN2C_MEMORY, "allocation %ld", nth);
    cr_assert_null(context);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  faults_clear();
}
