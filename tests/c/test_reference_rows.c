/* test_reference_rows.c - the reference of products, norms and moves of rows, against numbers worked out by
 * hand: multiply, scale, convolve, logarithm, channel_factors, scale_columns, rms_norm, normalise,
 * softmax_rows, log_softmax, patches, join, swap, recurrent, match_labels, drop_tokens and embed_boxes. */
#include "one_op.h"
#include "reference/table.h"

Test(multiply, rounds_once) {
  float a[] = {3, -0.1f, NAN, 1e30f, 1e-30f}, b[] = {2, 0.3f, 0, 1e30f, 1e-30f}, y[5];
  start("multiply");
  op.operands[0] = tensor("a", ATTN2C_F32, a, 5, 0, 0, 0);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 5, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 5, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){6, -0.1f * 0.3f, NAN, INFINITY, 0}, 5, 0);
  attribute(0, "plus_one", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){8, (1 - 0.1) * 0.3, NAN, INFINITY, 1e-30}, 5, 1e-7);
  tensors[1].shape[0] = 4;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(scale, leaves_what_is_masked) {
  float x[] = {4, -INFINITY, INFINITY, NAN, 0.3f}, y[5];
  start("scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 5, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 5, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a factor");
  attribute(0, "factor", 0.1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.1f * 4, -INFINITY, INFINITY, NAN, 0.1f * 0.3f}, 5, 0);
  attribute(0, "factor", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){0, -INFINITY, NAN, NAN, 0}, 5, 0);
  attribute(0, "factor", -2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){-8, -INFINITY, -INFINITY, NAN, -0.6f}, 5, 0);
}

/* Two sequences of two rows: the first has the second adapter, of rank 2; then none and the first, of rank 1.
 */
Test(adapt, adds_what_a_sequence_has) {
  float x[] = {1, 2, 3, 4}, rows[] = {1, 0, 0, 1, 1, 1, 2, -1}, y[4], magnitude[4];
  float inputs[] = {1, 2, 3, 4, 5, 6}, outputs[] = {10, 100, -1};
  int32_t adapters[] = {2, 0};
  start("adapt");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 2, 1, 0);
  op.operands[1] = tensor("rows", ATTN2C_F32, rows, 2, 2, 2, 0);
  op.operands[2] = tensor("inputs", ATTN2C_F32, inputs, 3, 2, 0, 0);
  op.operands[3] = tensor("outputs", ATTN2C_F32, outputs, 3, 1, 0, 0);
  op.operands[4] = tensor("adapters", ATTN2C_I32, adapters, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 1, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without first");
  attribute(0, "first", 0, "0, 1, 3");
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1 + 300 - 5, 2 + 400 - 6, 3, 4}, 4, 0);
  assert_near(magnitude, (double[]){306, 408, 3, 4}, 4, 0);
  adapters[0] = 0, adapters[1] = 1;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){1, 2, 33, 4}, 4, 0);
  adapters[1] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a third adapter");
  attribute(0, "first", 0, "0, 1, 4");
  adapters[1] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a rank after the last");
}

/* Two groups of two columns, each with one output; a row reads itself and the row before it. */
Test(convolve, reads_rows_of_the_sequence_alone) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, NAN, 11, 12}, weight[] = {1, 10, 100, 1000, 1, 2, 3, 4};
  float bias[] = {0.5, -1}, y[6];
  int32_t lengths[] = {2};
  start("convolve");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 4, 0);
  op.operands[1] = tensor("weight", ATTN2C_F32, weight, 2, 4, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 2, 0, 0, 0);
  op.operands[3] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 2, 0);
  attribute(0, "kernel", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without groups");
  attribute(1, "groups", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){2100.5, 24, 6521.5, 63, 65.5, 22}, 6, 0);
  op.operands[2] = op.operands[3] = -1, x[9] = 10;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){2100, 25, 6521, 64, 10965, 104}, 6, 0);
  tensors[1].shape[1] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* Two sequences of three rows; the weights of the earlier tap come first. */
Test(convolve_columns, reads_rows_before_and_none_of_others) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, weight[] = {100, 1000, 1, 10}, bias[] = {0.5, -1},
        y[12];
  start("convolve_columns");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
  op.operands[1] = tensor("weight", ATTN2C_F32, weight, 1, 4, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 2, 0);
  tensors[1].rank = 2, tensors[1].shape[0] = 1, tensors[1].shape[1] = 4;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a kernel");
  attribute(0, "kernel", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1.5, 19, 103.5, 2039, 305.5, 4059, 7.5, 79, 709.5, 8099, 911.5, 10119}, 12, 0);
  op.operands[2] = -1, x[0] = NAN;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){NAN, 20, NAN, 2040, 305, 4060, 7, 80, 709, 8100, 911, 10120}, 12, 0);
  tensors[1].shape[1] = 6;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* A factor for each column, as well as one for each element. */
Test(multiply, repeats_its_second_operand) {
  float x[] = {1, 2, 3, 4}, by[] = {10, -1}, y[4];
  start("multiply");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 2, 0);
  op.operands[1] = tensor("by", ATTN2C_F32, by, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){10, -2, 30, -4}, 4, 0);
  tensors[1].shape[0] = 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(logarithm, of_what_is_not_too_small) {
  float x[] = {1, 100, 0.001f, 0, -3, -INFINITY, INFINITY, NAN}, y[8];
  start("logarithm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 4, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 4, 0);
  attribute(0, "least", 0.01, NULL);
  attribute(1, "factor", 0.5, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a shift");
  attribute(2, "shift", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const double hundred = 4 + log(10), least = 4 + 0.5 * log(0.01f);
  assert_near(y, (double[]){4, hundred, least, least, least, least, INFINITY, NAN}, 8, 1e-6);
  static const double wrong[][3] = {{0, 1, 0}, {-1, 1, 0}, {NAN, 1, 0}, {1, INFINITY, 0}, {1, 1, NAN}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    attribute(0, "least", wrong[i][0], NULL);
    attribute(1, "factor", wrong[i][1], NULL);
    attribute(2, "shift", wrong[i][2], NULL);
    cr_assert_eq(run(NULL), ATTN2C_USAGE, "case %zu", i);
  }
}

/* Two sequences of three rows: means, then two rows whose squares are summed. */
Test(channel_factors, of_means_and_roots) {
  float x[] = {1, 2, 3, 0, 4, 0, -6, NAN, 0, 2, 2, 0}, gain[] = {2, -3}, bias[] = {0.5f, 1}, y[8],
        magnitude[8];
  start("channel_factors");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 2, 0, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without eps");
  attribute(0, "eps", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a channel of equal numbers would be divided by 0");
  attribute(0, "eps", 0.25, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  const double first = 2 / sqrt(25.25), second = 2 / sqrt(4.25), third = -3 / sqrt(4.25);
  assert_near(y, (double[]){first, -6, 0.5 - first, 13, second, third, 0.5 + 6 * second, NAN}, 8, 1e-6);
  const double size = 0.5 + 6 * second;
  assert_near(magnitude, (double[]){first, 6, 0.5 + first, 13, second, -third, size}, 7, 1e-6);
  tensors[1].shape[0] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "gains of another width");
}

Test(scale_columns, each_sequence_by_its_factors) {
  float x[] = {1, 2, 3, 4, 5, NAN, INFINITY, 8}, factors[] = {2, -1, 10, 20, 0.5f, 0, -1, -2}, y[8],
        magnitude[8];
  start("scale_columns");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 2, 2, 0);
  op.operands[1] = tensor("factors", ATTN2C_F32, factors, 2, 2, 2, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 2, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){12, 18, 16, 16, 1.5, NAN, INFINITY, -2}, 8, 0);
  assert_near(magnitude, (double[]){12, 22, 16, 24, 3.5}, 5, 0);
  cr_assert_eq(magnitude[7], 2);
  tensors[1].shape[1] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "two rows of factors a sequence");
}

Test(rms_norm, mean_of_squares_and_gain) {
  /* squares: 1 + 9 + 25 + 1 = 36, mean 9, and 7 of eps: divisor 4 */
  float x[] = {1, -3, 5, 1, 0, 0, 0, 0, 2, NAN, 2, 2}, gain[] = {1, 2, 4, -8}, y[12];
  start("rms_norm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 4, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 4, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 4, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without eps");
  attribute(0, "eps", 7, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.25, -1.5, 5, -2, 0, 0, 0, 0, NAN, NAN, NAN, NAN}, 12, 0);
  op.operands[1] = -1;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){0.25, -0.75, 1.25, 0.25, 0, 0, 0, 0, NAN, NAN, NAN, NAN}, 12, 0);
  op.operands[1] = 1, tensors[1].shape[0] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* The same numbers as two heads of width 2, with one gain: squares 10 and 26, 8 and 0. */
Test(rms_norm, of_each_head) {
  float x[] = {1, -3, 5, 1, 2, 2, 0, 0}, gain[] = {2, -1}, y[8];
  start("rms_norm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 4, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 4, 0);
  attribute(0, "eps", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "the gain is as wide as a head");
  attribute(1, "heads", 2, NULL);
  attribute(0, "eps", 12, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const double first = sqrt(17);
  assert_near(y, (double[]){2 / first, 3 / first, 2, -0.2, 1, -0.5, 0, 0}, 8, 1e-7);
  attribute(1, "heads", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "4 is not divisible by 3");
}

Test(layer_norm, of_each_head) {
  float x[] = {1, 3, 5, 1}, gain[] = {2, 1}, bias[] = {0, 1}, y[4];
  start("layer_norm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 1, 4, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 2, 0, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 1, 4, 0);
  attribute(0, "eps", 0, NULL);
  attribute(1, "heads", 2, NULL); /* deviations 1 and 2 */
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){-2, 2, 2, 0}, 4, 1e-7);
}

/* The same rows with a gain of each head. */
Test(layer_norm, of_each_head_with_a_gain_of_its_own) {
  float x[] = {1, 3, 5, 1}, gain[] = {2, 1, -1, 4}, y[4];
  start("layer_norm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 1, 4, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 1, 4, 0);
  attribute(0, "eps", 0, NULL);
  attribute(1, "heads", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "one gain is expected");
  attribute(2, "each", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){-2, 1, -1, -4}, 4, 1e-7);
}

Test(rms_norm, of_each_head_with_a_gain_of_its_own) {
  float x[] = {1, -3, 5, 1}, gain[] = {2, -1, 3, 4}, y[4];
  start("rms_norm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 1, 4, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 1, 4, 0);
  attribute(0, "eps", 12, NULL);
  attribute(1, "heads", 2, NULL);
  attribute(2, "each", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const double first = sqrt(17);
  assert_near(y, (double[]){2 / first, 3 / first, 3, 0.8}, 4, 1e-7);
}

Test(clamp, limits_both_sides) {
  float x[] = {0.5f, -0.5f, 3, -3, INFINITY, NAN}, y[6];
  start("clamp");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a limit");
  attribute(0, "limit", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.5, -0.5, 2, -2, 2, NAN}, 6, 0);
  attribute(1, "only_above", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.5, -0.5, 2, -3, 2, NAN}, 6, 0);
}

Test(softcap, bends_rows) {
  float x[] = {0, 2, -2, 1e30f, -INFINITY, NAN}, y[6];
  start("softcap");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a cap");
  attribute(0, "cap", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const double one = 2 * tanh(1);
  assert_near(y, (double[]){0, one, -one, 2, -2, NAN}, 6, 1e-6);
  op.result = tensor("z", ATTN2C_F32, y, 6, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "another shape");
}

/* The second op of an entry whose first one makes scores. */
Test(softcap, leaves_scores_that_a_mask_hides) {
  float x[] = {1, -INFINITY, -INFINITY, 2}, y[4];
  int32_t lengths[] = {1};
  attn2c_attribute causal[] = {{"causal", 1, NULL}, {NULL, 0, NULL}};
  start("softcap");
  const int scores = tensor("scores", ATTN2C_F32, x, 1, 1, 2, 2),
            result = tensor("y", ATTN2C_F32, y, 1, 1, 2, 2);
  const int length = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  attribute(0, "cap", 2, NULL);
  attn2c_op ops[] = {op, op};
  ops[0].op = "scores", ops[0].role = ATTN2C_MAKES_SCORES, ops[0].attributes = causal, ops[0].result = scores;
  ops[1].role = ATTN2C_SCORES_TO_SCORES, ops[1].operands[0] = scores, ops[1].result = result;
  const attn2c_entry entry = {.name = "forward", .ops = ops, .op_count = 2};
  model.entries = &entry, model.entry_count = 1;
  cr_assert_eq(attn2c_reference_op(&model, &ops[1], values, NULL, &message), ATTN2C_OK, "%s", text);
  const double half = 2 * tanh(0.5), one = 2 * tanh(1);
  assert_near(y, (double[]){half, -INFINITY, -2, one}, 4, 1e-6);
  ops[0].attributes = &causal[1], ops[0].operands[2] = length;
  cr_assert_eq(attn2c_reference_op(&model, &ops[1], values, NULL, &message), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){half, -INFINITY, -2, 2}, 4, 1e-6);
}

Test(normalise, length_one_but_for_next_to_nothing) {
  float x[] = {3, -4, 0, 0.25f, 0, 0, 0, 0, 0, INFINITY, 1, 0, 1, NAN, 0}, y[15];
  start("normalise");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 5, 3, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 5, 3, 0, 0);
  attribute(0, "eps", 0.5, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.6, -0.8, 0, 0.5, 0, 0, 0, 0, 0, NAN, 0, 0, NAN, NAN, NAN}, 15, 1e-7);
  attribute(0, "eps", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "zeros would be divided by 0");
}

Test(row_length, of_each_row) {
  float x[] = {3, -4, 0, 0, NAN, 1}, y[3];
  start("row_length");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 3, 1, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){5, 0, NAN}, 3, 0);
}

/* Mean 3, deviation 2; equal numbers, which exceed no cutoff; NaN. */
Test(sparsify, keeps_what_exceeds_the_cutoff) {
  float x[] = {1, 1, 5, 5, 7, 7, 7, 7, 0, NAN, 0, 0}, y[12];
  start("sparsify");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 4, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 3, 4, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a factor");
  attribute(0, "factor", 0.5, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0, 0, 1, 1, 0, 0, 0, 0, NAN, NAN, NAN, NAN}, 12, 0);
  attribute(0, "factor", -2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){2, 2, 6, 6, 0, 0, 0, 0, NAN, NAN, NAN, NAN}, 12, 0);
}

/* exp(x): 1, 3; 2, 2, 1 of five; a lead that leaves nothing of the others; NaN and infinities. */
Test(softmax_rows, and_its_logarithm_by_hand) {
  float x[] = {0, 0,   1.0986123f, 0.69314718f, 0.69314718f, 0,        90, -110,      90,
               0, NAN, 1,          0,           1,           INFINITY, 2,  -INFINITY, 2};
  float y[18];
  start("softmax_rows");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 6, 3, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 6, 3, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(
      y, (double[]){0.2, 0.2, 0.6, 0.4, 0.4, 0.2, 0.5, 0, 0.5, NAN, NAN, NAN, NAN, NAN, NAN, 0.5, 0, 0.5}, 18,
      1e-7);
  op.op = "log_softmax";
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y,
              (double[]){-1.6094379, -1.6094379, -0.5108256, -0.9162907, -0.9162907, -1.6094379, -0.6931472,
                         -200.6931472, -0.6931472, NAN, NAN, NAN, NAN, NAN, NAN, -0.6931472, -INFINITY,
                         -0.6931472},
              18, 1e-5);
  tensors[1].shape[1] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(patches, row_major_over_the_image) {
  /* two channels of 4 x 6, in patches of 2: element value = channel * 100 + row * 10 + column */
  float x[48], y[48];
  for (int c = 0; c < 2; c++)
    for (int r = 0; r < 4; r++)
      for (int e = 0; e < 6; e++) x[(c * 4 + r) * 6 + e] = (float)(c * 100 + r * 10 + e);
  start("patches");
  op.operands[0] = tensor("image", ATTN2C_F32, x, 1, 2, 4, 6);
  op.result = tensor("y", ATTN2C_F32, y, 1, 6, 8, 0);
  attribute(0, "patch", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0,  1,  10, 11, 100, 101, 110, 111, 2,  3,  12, 13, 102, 103, 112, 113,
                            4,  5,  14, 15, 104, 105, 114, 115, 20, 21, 30, 31, 120, 121, 130, 131,
                            22, 23, 32, 33, 122, 123, 132, 133, 24, 25, 34, 35, 124, 125, 134, 135},
              48, 0);
  attribute(0, "patch", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "6 is no multiple of 4");
  attribute(0, "patch", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "other sizes of the result");
}

Test(patches, images_one_behind_the_other) {
  float x[2 * 3 * 9], y[2 * 3 * 9];
  for (int i = 0; i < 54; i++) x[i] = (float)i;
  start("patches");
  op.operands[0] = tensor("image", ATTN2C_F32, x, 2, 3, 3, 3);
  op.result = tensor("y", ATTN2C_F32, y, 2, 1, 27, 0);
  attribute(0, "patch", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 54; i++) cr_assert_eq(y[i], x[i], "one patch is the image itself");
}

Test(join, rows_and_zeros) {
  float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8, 9, 10, 11, 12}, y[20];
  start("join");
  op.operands[0] = tensor("a", ATTN2C_F32, a, 2, 1, 2, 0);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 2, 2, 2, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 2, 0);
  attribute(0, "zeros", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}, 12, 0);
  tensors[2].shape[1] = 5, attribute(0, "zeros", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 5, 6, 7, 8, 0, 0, 0, 0, 3, 4, 9, 10, 11, 12, 0, 0, 0, 0}, 20, 0);
  attribute(0, "zeros_before", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0, 0, 0, 0, 1, 2, 5, 6, 7, 8, 0, 0, 0, 0, 3, 4, 9, 10, 11, 12}, 20, 0);
  tensors[2].shape[1] = 4;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  attribute(0, "zeros_before", -1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(join, repeats_what_has_no_batch) {
  float a[] = {1, 2}, b[] = {5, 6, 7, 8}, y[12];
  start("join");
  op.operands[0] = tensor("class", ATTN2C_F32, a, 1, 2, 0, 0);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 2, 1, 2, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 5, 6, 1, 2, 7, 8}, 8, 0);
  op.operands[0] = 1, op.operands[1] = 0;
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){5, 6, 1, 2, 7, 8, 1, 2}, 8, 0);
  op.operands[1] = -1, attribute(0, "zeros", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){5, 6, 0, 0, 7, 8, 0, 0}, 8, 0);
}

Test(join, rows_that_come_by_head) {
  float a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, NAN},
        b[] = {-1, -2, -3, -4, -5, -6, -7, -8};
  float y[24];
  start("join");
  op.operands[0] = tensor("past", ATTN2C_F32, a, 2, 2, 2, 2);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 2, 1, 4, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 4, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(
      y, (double[]){1, 2, 5, 6, 3, 4, 7, 8, -1, -2, -3, -4, 9, 10, 13, 14, 11, 12, 15, NAN, -5, -6, -7, -8},
      24, 0);
  tensors[0].shape[3] = 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "heads of another width");
}

Test(split_heads, heads_before_rows) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y[12];
  start("split_heads");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 6, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 2, 2);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12}, 12, 0);
  tensors[0].shape[0] = 2, tensors[0].shape[1] = 1, tensors[1].shape[0] = 2, tensors[1].shape[2] = 1;
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 12, 0);
  tensors[1].shape[2] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "other rows");
}

Test(patches_of_columns, apart_by_strides) {
  /* 3 rows x 5 columns, column by column: element value = column * 10 + row */
  float x[15], y[12];
  for (int i = 0; i < 15; i++) x[i] = (float)(i / 3 * 10 + i % 3);
  start("patches_of_columns");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 5, 3, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 4, 0);
  attribute(0, "patch", 2, NULL);
  attribute(1, "row_stride", 2, NULL);
  attribute(2, "column_stride", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0, 10, 1, 11, 30, 40, 31, 41}, 8, 0);
  attribute(1, "row_stride", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "two rows of patches more");
  attribute(2, "column_stride", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "no stride");
}

Test(windows, rows_side_by_side) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, NAN, 9, 10}, y[8];
  start("windows");
  attribute(0, "kernel", 2, NULL);
  attribute(1, "stride", 2, NULL);
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 5, 2, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 4, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 3, 4, 5, 6, 7, NAN}, 8, 0);
  attribute(1, "stride", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 3, 4, 7, NAN, 9, 10}, 8, 0);
  static const int wrong[][2] = {{2, 1}, {6, 1}, {2, 0}, {0, 2}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    attribute(0, "kernel", wrong[i][0], NULL);
    attribute(1, "stride", wrong[i][1], NULL);
    cr_assert_eq(run(NULL), ATTN2C_USAGE, "kernel %d, stride %d", wrong[i][0], wrong[i][1]);
  }
}

Test(gather_columns, columns_in_another_order) {
  float x[] = {1, 2, 3, 4, 5, NAN}, order[] = {2, 0, 1}, y[6];
  start("gather_columns");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 3, 0);
  op.operands[1] = tensor("order", ATTN2C_F32, order, 3, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 3, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){3, 1, 2, NAN, 4, 5}, 6, 0);
  static const float wrong[] = {3, -1, 0.5f, NAN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    order[1] = wrong[i];
    cr_assert_eq(run(NULL), ATTN2C_FORMAT, "%g", (double)wrong[i]);
  }
  order[1] = 0, tensors[1].shape[0] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "another width");
}

Test(swap, the_first_two_axes) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, NAN}, y[12];
  start("swap");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
  op.result = tensor("y", ATTN2C_F32, y, 3, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, NAN}, 12, 0);
  tensors[1].shape[0] = 2, tensors[1].shape[1] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* A label, a word, and a row that is neither; halves of one number, and a hidden layer of two. */
Test(match, follows_pairs_and_their_errors) {
  float x[] = {9, 9, 0.5f, -2, 9, 9}, l[] = {0.25f, 3, 9, 9, 9, 9},
        weight[] = {1, -1, 2, 0.5f, -0.5f, 4, 0.125f, 8}, out[] = {0.75f, 5, -0.25f}, y[3], magnitude[3];
  int32_t marks[] = {2, 1, 0}, lengths[] = {3};
  start("match_labels");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 2, 0);
  op.operands[1] = tensor("labels", ATTN2C_F32, l, 1, 3, 2, 0);
  op.operands[2] = tensor("weight", ATTN2C_F32, weight, 4, 2, 0, 0);
  op.operands[3] = tensor("out", ATTN2C_F32, out, 3, 1, 0, 0);
  op.operands[4] = tensor("marks", ATTN2C_I32, marks, 1, 3, 0, 0);
  op.operands[5] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 1, 0);
  attribute(0, "most", 1, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  /* 0.5 + 2 * 0.25 + 6 * 0.5 + 0.125 = 4.125, and -0.5 + 0.125 - 24 + 8, below 0 */
  assert_near(y, (double[]){0, 0.75 * 4.125 - 0.25, 0}, 3, 1e-6);
  cr_assert(magnitude[0] == 0 && magnitude[2] == 0 && magnitude[1] > 1e-7f && magnitude[1] < 1e-5f, "%g",
            (double)magnitude[1]);
  lengths[0] = 1;
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(y[1] == 0, "after the length");
  lengths[0] = 3, tensors[op.operands[3]].shape[0] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* One unit of an LSTM in two directions, whose second row is passed over. */
Test(recurrent, follows_states_and_their_errors) {
  float x[24], weight[] = {0.5f, 0.25f, -1, 2, -0.5f, 1, 0.75f, 0.125f}, y[6], magnitude[6];
  int32_t marks[] = {1, 0, 1}, lengths[] = {3};
  for (int i = 0; i < 24; i++) x[i] = (float)(2 * (i % 5) - 3) / 8;
  start("recurrent");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 8, 0);
  op.operands[1] = tensor("weight", ATTN2C_F32, weight, 2, 4, 0, 0);
  op.operands[2] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.operands[3] = tensor("marks", ATTN2C_I32, marks, 1, 3, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 2, 0);
  attribute(0, "directions", 2, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  for (int d = 0; d < 2; d++) {
    double h = 0, cell = 0, h_error = 0, cell_error = 0;
    for (int t = 0; t < 3; t += 2) { /* the row in the middle is passed over */
      const int row = d ? 2 - t : t;
      const float *z = x + 8 * row + 4 * d, *w = weight + 4 * d;
      double sum[4], error[4], s[4], e[4];
      for (int g = 0; g < 4; g++) {
        const double rounding = 4 * sqrt(2.0) * 0x1p-24 * (fabs((double)z[g]) + fabs(h * (double)w[g]));
        sum[g] = (double)z[g] + h * (double)w[g], error[g] = hypot((double)w[g] * h_error, rounding);
        s[g] = g == 2 ? tanh(sum[g]) : 1 / (1 + exp(-sum[g]));
        e[g] = g == 2 ? ATTN2C_ERROR_TANH * fabs(s[g]) + (1 - s[g] * s[g]) * error[g]
                      : ATTN2C_ERROR_SIGMOID * s[g] + s[g] * (1 - s[g]) * error[g];
      }
      cell_error = fabs(s[0]) * e[2] + fabs(s[2]) * e[0] + s[1] * cell_error + fabs(cell) * e[1];
      cell = s[1] * cell + s[0] * s[2];
      h = s[3] * tanh(cell);
      h_error = s[3] * (ATTN2C_ERROR_TANH * fabs(tanh(cell)) + (1 - tanh(cell) * tanh(cell)) * cell_error) +
                fabs(tanh(cell)) * e[3];
      cr_assert_float_eq((double)y[2 * row + d], h, 1e-6, "row %d, direction %d", row, d);
      cr_assert_float_eq((double)magnitude[2 * row + d], h_error, 0.01 * h_error, "row %d, direction %d", row,
                         d);
    }
  }
  cr_assert(y[2] == 0 && y[3] == 0 && magnitude[2] == 0 && magnitude[3] == 0);
  lengths[0] = 1, marks[2] = 1;
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(y[4] == 0 && y[5] == 0, "after the length");
  lengths[0] = 4;
  cr_assert_eq(run(NULL), ATTN2C_FORMAT);
  lengths[0] = 3;
  attribute(0, "directions", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* Two sequences of ids, of which 7 is dropped: one of three tokens, and two tokens of which both are dropped.
 */
Test(drop_tokens, scales_what_is_left) {
  float x[] = {1, 2, 3, 4, 5, 6}, y[6];
  int32_t ids[] = {7, 1, 2, 7, 7, 3}, lengths[] = {3, 2};
  start("drop_tokens");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 1, 0);
  op.operands[1] = tensor("ids", ATTN2C_I32, ids, 2, 3, 0, 0);
  op.operands[2] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 1, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without an id");
  attribute(0, "id", 7, NULL);
  attribute(1, "share", 0.25, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0, 2 * 0.75 * 1.5, 3 * 0.75 * 1.5, 0, 0, 0}, 6, 0);
  lengths[1] = 4;
  cr_assert_eq(run(NULL), ATTN2C_FORMAT);
}

/* Sides of two places: (1, 2) and (3, 4) across, (5, 6) and (7, 8) down; heights 10 and 20, widths 30 and 40.
 */
Test(embed_boxes, side_by_side) {
  float table[] = {1, 2, 3, 4, 5, 6, 7, 8}, sizes[] = {10, 20, 30, 40}, y[20];
  int32_t boxes[] = {0, 1, 1, 1, 1, 1, 0, 0}; /* the second's corners change places: its sizes are 0 */
  start("embed_boxes");
  op.operands[0] = tensor("boxes", ATTN2C_I32, boxes, 1, 2, 4, 0);
  op.operands[1] = tensor("table", ATTN2C_F32, table, 4, 2, 0, 0);
  op.operands[2] = tensor("sizes", ATTN2C_F32, sizes, 4, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 10, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 7, 8, 3, 4, 7, 8, 10, 40, 3, 4, 7, 8, 1, 2, 5, 6, 10, 30}, 20, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 9, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 10, 0);
  boxes[7] = 2;
  cr_assert_eq(run(NULL), ATTN2C_FORMAT);
}

/* Tables of two places: 1 and 2, 10 and 20, 100 and 200, 1000 and 2000. */
Test(embed_boxes, six_rows_of_four_tables) {
  float table[] = {1, 2, 10, 20, 100, 200, 1000, 2000}, y[3];
  int32_t boxes[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0};
  start("embed_boxes");
  op.operands[0] = tensor("boxes", ATTN2C_I32, boxes, 1, 3, 4, 0);
  op.operands[1] = tensor("table", ATTN2C_F32, table, 8, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 1, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1122, 3 + 40 + 100 + 2000, 3 + 30 + 200 + 2000}, 3, 0);
  boxes[5] = 2;
  cr_assert_eq(run(NULL), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "boxes: box 1 has a side at 2, but 0 to 1 is allowed");
}

/* Two sequences of three rows, of which the first two are taken. */
Test(join, the_first_rows) {
  float a[] = {1, 2, 3, 4, 5, 6}, y[4];
  start("join");
  op.operands[0] = tensor("a", ATTN2C_F32, a, 2, 3, 1, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 1, 0);
  attribute(0, "zeros", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "all rows");
  attribute(1, "rows", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 4, 5}, 4, 0);
  attribute(1, "rows", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "more rows than a has");
}

Test(hadamard, by_hand_a_block_at_a_time) {
  float x[] = {1, 2, 3, 4, 5, -6, 7, 0.5f}, y[8], magnitude[8];
  start("hadamard");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 8, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 8, 0, 0);
  attribute(0, "heads", 2, NULL);
  attribute(1, "block", 4, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){5, -1, -2, 0, 3.25, 8.75, -4.25, 2.25}, 8, 0);
  assert_near(magnitude, (double[]){5, 5, 5, 5, 9.25, 9.25, 9.25, 9.25}, 8, 0);
  attribute(1, "block", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){3 * sqrt(0.5), -sqrt(0.5), 7 * sqrt(0.5), -sqrt(0.5)}, 4, 1e-6);
  attribute(1, "block", 8, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "more than a head has");
  attribute(1, "block", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "no power of two");
}
