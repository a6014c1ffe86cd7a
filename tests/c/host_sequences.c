/* host_sequences.c - a user of a model of any length, in C and in C++: sequences of different lengths in one
 * call, and calls that are refused. The model is that of tests/spec/whole/sequences_spec.lua. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixed.h"

enum { SEQUENCES = 7, ROWS = 1 + 70 + 2 + 35 + 69 + 13 + 64 };

static const int32_t lengths[SEQUENCES] = {1, 70, 2, 35, 69, 13, 64};
static int32_t ids[ROWS], types[ROWS], zeros[ROWS];
static float states[ROWS * MIXED_OUT_STATES], means[SEQUENCES * MIXED_OUT_MEANS],
    other[ROWS * MIXED_OUT_STATES], other_means[SEQUENCES * MIXED_OUT_MEANS];
static mixed_ctx *ctx;

static void expect(int is_true, const char *what) {
  if (is_true) return;
  printf("%s\n", what);
  exit(1);
}

static int call(int64_t sequences, const int32_t *rows, const int32_t *tokens, const int32_t *kinds,
                float *to, float *mean) {
  mixed_forward_in in;
  mixed_forward_out out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  in.sequences = sequences, in.lengths = rows, in.ids = tokens, in.token_types = kinds;
  out.states = to, out.means = mean;
  return mixed_forward(ctx, &in, &out);
}

/* Each sequence by itself has the bits that it has among the others, in any order. */
static void compare(void) {
  int32_t row = 0;
  for (int i = 0; i < SEQUENCES; i++) {
    const size_t bytes = sizeof(float) * (size_t)lengths[i] * MIXED_OUT_STATES;
    expect(call(1, lengths + i, ids + row, types + row, other, other_means) == 0, "one sequence");
    expect(memcmp(other, states + row * MIXED_OUT_STATES, bytes) == 0,
           "a sequence by itself has other states");
    expect(memcmp(other_means, means + i * MIXED_OUT_MEANS, sizeof(float) * MIXED_OUT_MEANS) == 0,
           "a sequence by itself has another mean");
    row += lengths[i];
  }
  int32_t order[2] = {lengths[1], lengths[0]};
  int32_t swapped[71], kinds[71];
  memcpy(swapped, ids + 1, sizeof(int32_t) * 70), memcpy(kinds, types + 1, sizeof(int32_t) * 70);
  swapped[70] = ids[0], kinds[70] = types[0];
  expect(call(2, order, swapped, kinds, other, NULL) == 0, "two sequences");
  expect(memcmp(other, states + MIXED_OUT_STATES, sizeof(float) * 70 * MIXED_OUT_STATES) == 0,
         "another order");
  expect(memcmp(other + 70 * MIXED_OUT_STATES, states, sizeof(float) * MIXED_OUT_STATES) == 0,
         "another order");
}

/* Outputs and token types may be left out. */
static void leave_out(void) {
  expect(call(SEQUENCES, lengths, ids, types, NULL, other_means) == 0, "no states");
  expect(memcmp(other_means, means, sizeof means) == 0, "means without states");
  expect(call(SEQUENCES, lengths, ids, types, NULL, NULL) == 0, "no outputs");
  expect(call(SEQUENCES, lengths, ids, NULL, states, means) == 0, "no types");
  expect(call(SEQUENCES, lengths, ids, zeros, other, NULL) == 0, "types of zeros");
  expect(memcmp(other, states, sizeof states) == 0, "no types differ from zeros");
}

static void refuse(void) {
  int32_t bad[2] = {3, 0}, token = ids[5];
  expect(call(0, lengths, ids, types, states, means) == 2, "no sequences");
  expect(call(-1, lengths, ids, types, states, means) == 2, "fewer sequences than none");
  expect(call(2, NULL, ids, types, states, means) == 2, "no lengths");
  expect(call(2, lengths, NULL, types, states, means) == 2, "no ids");
  expect(call(2, bad, ids, types, states, means) == 3, "a sequence without rows");
  bad[1] = -1;
  expect(call(2, bad, ids, types, states, means) == 3, "a length below 0");
  bad[1] = MIXED_SEQ + 1;
  expect(call(2, bad, ids, types, states, means) == 3, "a length above the most");
  ids[5] = 90;
  expect(call(SEQUENCES, lengths, ids, types, states, means) == 3, "a token that the table has not");
  ids[5] = token;
  mixed_forward_in in;
  mixed_forward_out out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  expect(mixed_forward(NULL, &in, &out) == 2 && mixed_forward(ctx, NULL, &out) == 2 &&
             mixed_forward(ctx, &in, NULL) == 2,
         "NULL");
}

int main(int argc, char **argv) {
  char message[1000];
  mixed_model *model;
  if (argc < 2) return 2;
  const int status = mixed_open(argv[1], &model, message, sizeof message);
  expect(status == 0 && mixed_create(model, &ctx) == 0, message);
  for (int i = 0; i < ROWS; i++) ids[i] = i * 37 % 90, types[i] = i % 3 == 1;
  expect(call(SEQUENCES, lengths, ids, types, states, means) == 0, "seven sequences");
  compare();
  refuse();
  leave_out();
  mixed_destroy(ctx);
  mixed_close(model);
  printf("%d rows\n", ROWS);
  return 0;
}
