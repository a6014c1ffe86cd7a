/* test_reference_integers.c - the reference of an attention in int8, against numbers worked out by hand. */
#include "one_op.h"

Test(centre, is_less_the_mean_of_the_rows_that_count) {
  float x[] = {1, 10, 3, 20, 100, 1000}, y[6], magnitude[6];
  int32_t lengths[] = {2};
  start("centre");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 2, 0);
  op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 2, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){-1, -5, 1, 5, 98, 985}, 6, 0);
  assert_near(magnitude, (double[]){1 + 2 + 4, 10 + 15 + 30}, 2, 0);
}

Test(columns, have_scales_of_finite_numbers_and_zeros_after_the_sequence) {
  float x[] = {127, NAN, 0, -63.6f, 254, 0, 999, 999, 999}, scale[3], y[9];
  int32_t lengths[] = {2};
  start("column_scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 3, 0);
  op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.result = tensor("scale", ATTN2C_F32, scale, 1, 1, 3, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(scale[0] == 1 && scale[1] == 2 && scale[2] == 0x1p-125f);
  start("quantise_columns");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 3, 0);
  op.operands[1] = tensor("scale", ATTN2C_F32, scale, 1, 1, 3, 0);
  op.operands[2] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 3, 3, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){127, 0, 0, -64, 127, 0, 0, 0, 0}, 9, 0);
}

Test(row_scale, of_heads_with_a_guard) {
  float x[] = {127, 0, 254, 1}, guard[] = {0, 0, 0, 0, 0, INFINITY}, scale[2];
  start("row_scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 1, 4, 0);
  op.operands[2] = tensor("guard", ATTN2C_F32, guard, 1, 1, 6, 0);
  op.result = tensor("scale", ATTN2C_F32, scale, 1, 1, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(scale[0] == 1 && isnan(scale[1]));
}

/* Two queries of one head of width 2, three keys; query 0 does not see key 2. */
Test(scores_of_integers, are_scaled_and_masked) {
  float q[] = {1, 2, 3, -4}, k[] = {5, 6, 7, 8, 9, 10}, of_q[] = {0.5f, 2}, of_k[] = {1, 3, NAN}, s[6];
  start("scores_of_integers");
  op.operands[0] = tensor("q", ATTN2C_F32, q, 1, 2, 2, 0);
  op.operands[1] = tensor("k", ATTN2C_F32, k, 1, 3, 2, 0);
  op.operands[2] = tensor("q_scale", ATTN2C_F32, of_q, 1, 2, 1, 0);
  op.operands[3] = tensor("k_scale", ATTN2C_F32, of_k, 1, 3, 1, 0);
  op.result = tensor("s", ATTN2C_F32, s, 1, 1, 2, 3);
  attribute(0, "heads", 1, NULL);
  attribute(1, "right", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(s, (double[]){17 * 0.5, 23 * 1.5, -INFINITY, -9 * 2, -11 * 6, NAN}, 6, 0);
}

Test(weights, are_exponentials_rounded_with_a_scale) {
  float s[] = {0, -1, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 1, NAN, 0}, e[9], w[9], scale[3];
  start("exponentials");
  op.operands[0] = tensor("s", ATTN2C_F32, s, 3, 3, 0, 0);
  op.result = tensor("e", ATTN2C_F32, e, 3, 3, 0, 0);
  attribute(0, "scale", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(e, (double[]){255, 255 * exp(-2), 0, 0, 0, 0, NAN, NAN, NAN}, 9, 1e-5);
  start("round_to_bytes");
  op.operands[0] = tensor("e", ATTN2C_F32, e, 3, 3, 0, 0);
  op.result = tensor("w", ATTN2C_F32, w, 3, 3, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(w, (double[]){255, 35, 0, 0, 0, 0, 0, 0, 0}, 9, 0);
  start("weight_scale");
  op.operands[0] = tensor("w", ATTN2C_F32, w, 3, 3, 0, 0);
  op.operands[1] = tensor("e", ATTN2C_F32, e, 3, 3, 0, 0);
  op.result = tensor("scale", ATTN2C_F32, scale, 3, 1, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(scale[0] == 1 / 290.0f && scale[1] == 1 && isnan(scale[2]));
}

/* Two heads of queries share one of values. */
Test(context_of_integers, sums_weights_and_values) {
  float w[] = {255, 1, 2, 3}, v[] = {1, -2, 3, 4}, of_w[] = {0.5f, 0.25f}, of_v[] = {1, 2}, c[4];
  start("context_of_integers");
  op.operands[0] = tensor("w", ATTN2C_F32, w, 1, 2, 1, 2);
  op.operands[1] = tensor("v", ATTN2C_F32, v, 1, 2, 2, 0);
  op.operands[2] = tensor("weight_scale", ATTN2C_F32, of_w, 1, 2, 1, 1);
  op.operands[3] = tensor("v_scale", ATTN2C_F32, of_v, 1, 1, 2, 0);
  op.result = tensor("c", ATTN2C_F32, c, 1, 1, 4, 0);
  attribute(0, "heads", 2, NULL);
  attribute(1, "kv_heads", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(c, (double[]){258 * 0.5, -506, 11 * 0.25, 8 * 0.5}, 4, 0);
  tensors[2].shape[1] = 1; /* a scale is missing */
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  cr_assert(strstr(text, "a scale a row of weights"), "%s", text);
}
