/* test_batches.c - any number of sequences through an entry of 3 x 4: what is in its inputs, and what comes
 * out. The entry keeps what it is given, and writes numbers that say where. */
#include "model/sequences.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BATCH = 3, SEQ = 4, WIDTH = 2, MOST = 7, IN = 4, OUT = 2 };
enum { IDS, LENGTHS, BIAS, TYPES, Y, ONE, TENSORS };

#define NO_ARENA -1, 0
static const attn2c_tensor tensors[] = {
    {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {BATCH, SEQ}, 5, 100, NO_ARENA},
    {"lengths", ATTN2C_INPUT, ATTN2C_I32, 1, {BATCH}, 1, SEQ + 1, NO_ARENA},
    {"bias", ATTN2C_SHARED_INPUT, ATTN2C_F32, 2, {SEQ, SEQ}, 0, 0, NO_ARENA},
    {"types", ATTN2C_ZEROS_INPUT, ATTN2C_I32, 2, {BATCH, SEQ}, 0, 2, NO_ARENA},
    {"y", ATTN2C_OUTPUT, ATTN2C_F32, 3, {SEQ, BATCH, WIDTH}, 0, 0, NO_ARENA}, /* sequences are the second axis
                                                                               */
    {"one", ATTN2C_OUTPUT, ATTN2C_I32, 1, {BATCH}, 0, 0, NO_ARENA},
};
static const attn2c_axes input_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING},
                                         {0, -1, -1, ATTN2C_HIDES_AFTER},
                                         {-1, 0, 1, ATTN2C_HIDES_NOTHING},
                                         {0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_axes output_axes[] = {{1, 0, -1, ATTN2C_HIDES_NOTHING},
                                          {0, -1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_size size = {BATCH, SEQ};
static const attn2c_lengths lengths = {input_axes, output_axes, &size, 1, NULL};

/* The inputs of the last call. */
static int calls;
static int32_t ids[BATCH * SEQ], counts[BATCH], types[BATCH * SEQ];
static float bias[SEQ * SEQ];

static int run(const attn2c_call *call) {
  calls++;
  memcpy(ids, call->in[IDS], sizeof ids), memcpy(counts, call->in[LENGTHS], sizeof counts);
  memcpy(bias, call->in[BIAS], sizeof bias), memcpy(types, call->in[TYPES], sizeof types);
  float *y = call->out[0];
  int32_t *one = call->out[1];
  for (int i = 0; y && i < SEQ * BATCH; i++) { /* the id of a row, and which row it is */
    y[2 * i] = (float)ids[i % BATCH * SEQ + i / BATCH];
    y[2 * i + 1] = (float)(i / BATCH);
  }
  for (int i = 0; one && i < BATCH; i++) one[i] = ids[i * SEQ];
  return ids[0] == 99 ? ATTN2C_FORMAT : ATTN2C_OK;
}

static const int inputs[] = {IDS, LENGTHS, BIAS, TYPES}, outputs[] = {Y, ONE};
static const attn2c_entry entry = {"forward", NULL, 0, inputs, outputs, IN, OUT, 1200, run};
static const attn2c_descriptor descriptor = {
    .entries = &entry, .tensors = tensors, .entry_count = 1, .tensor_count = TENSORS, .arena_floats = 16};
static const attn2c_model model = {.descriptor = &descriptor, .workers = 1};
static attn2c_context *context;

static void open(void) {
  calls = 0;
  cr_assert_eq(attn2c_context_create(&model, &context), ATTN2C_OK);
}

static void close(void) { attn2c_context_destroy(context); }

static int32_t my_ids[MOST * SEQ], my_counts[MOST], my_types[MOST * SEQ], my_one[MOST];
static float my_bias[SEQ * SEQ], my_y[SEQ * MOST * WIDTH];
static const void *const in[] = {my_ids, my_counts, my_bias, my_types}, *const without_types[] = {
                                                                            my_ids, my_counts, my_bias, NULL};
static void *const out[] = {my_y, my_one}, *const only_one[] = {NULL, my_one};

static void fill(int count) {
  for (int i = 0; i < count * SEQ; i++) my_ids[i] = 10 + i, my_types[i] = 1;
  for (int i = 0; i < count; i++) my_counts[i] = 1 + i % SEQ;
  for (int i = 0; i < SEQ * SEQ; i++) my_bias[i] = (float)i;
  memset(my_y, 0, sizeof my_y), memset(my_one, 0, sizeof my_one);
}

static void outputs_are_right(int count) {
  for (int i = 0; i < count; i++) cr_expect_eq(my_one[i], 10 + i * SEQ, "%d of %d", i, count);
  for (int row = 0; row < SEQ; row++)
    for (int i = 0; i < count; i++) {
      const float *y = &my_y[(row * count + i) * WIDTH];
      cr_expect_eq((int)y[0], 10 + i * SEQ + row, "row %d of sequence %d of %d", row, i, count);
      cr_expect_eq((int)y[1], row);
    }
}

Test(batches, any_number_of_sequences_takes_as_few_calls_as_it_can, .init = open, .fini = close) {
  for (int count = 1; count <= MOST; count++) {
    calls = 0;
    fill(count);
    cr_assert_eq(attn2c_batches_run(context, &lengths, count, in, out), ATTN2C_OK);
    cr_expect_eq(calls, (count + BATCH - 1) / BATCH);
    outputs_are_right(count);
  }
}

Test(batches, a_call_that_is_not_full_gets_allowed_values, .init = open, .fini = close) {
  fill(4);
  cr_assert_eq(attn2c_batches_run(context, &lengths, 4, in, out), ATTN2C_OK);
  cr_expect_eq(counts[0], 4);
  cr_expect_eq(bias[5], 5);
  for (int i = 0; i < SEQ; i++) cr_expect_eq(ids[i], 10 + 3 * SEQ + i);
  for (int i = SEQ; i < BATCH * SEQ; i++) cr_expect_eq(ids[i], 5);
  for (int i = 1; i < BATCH; i++) cr_expect_eq(counts[i], 1);
}

Test(batches, what_is_left_out_is_zero_or_not_made, .init = open, .fini = close) {
  fill(MOST);
  memset(types, 1, sizeof types);
  cr_assert_eq(attn2c_batches_run(context, &lengths, MOST, without_types, only_one), ATTN2C_OK);
  for (int i = 0; i < BATCH * SEQ; i++) cr_expect_eq(types[i], 0);
  for (int i = 0; i < MOST; i++) cr_expect_eq(my_one[i], 10 + i * SEQ);
  for (int i = 0; i < SEQ * MOST * WIDTH; i++) cr_expect_eq((int)my_y[i], 0);
}

Test(batches, the_status_of_a_call_ends_them, .init = open, .fini = close) {
  fill(MOST);
  my_ids[BATCH * SEQ] = 99;
  cr_expect_eq(attn2c_batches_run(context, &lengths, MOST, in, out), ATTN2C_FORMAT);
  cr_expect_eq(calls, 2);
}

Test(batches, says_that_there_is_no_memory, .init = open, .fini = close) {
  fill(4);
  int status = ATTN2C_MEMORY;
  for (long nth = 1; status == ATTN2C_MEMORY; nth++) {
    cr_assert_lt(nth, 50);
    faults_clear();
    faults_allocation(nth, 0);
    status = attn2c_batches_run(context, &lengths, 4, without_types, out);
    cr_expect_eq(faults_live_blocks(), 0);
    faults_clear();
  }
  outputs_are_right(4);
}
