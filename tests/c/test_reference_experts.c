/* test_reference_experts.c - the reference of mixtures of experts, and the row operations of emitted code
 * (runtime/ops/experts.h), against numbers worked out by hand. */
#include "one_op.h"
#include "ops/experts.h"

Test(pick, numbers_of_the_chosen) {
  float x[] = {1, 2, 3, 4, 5, 6}, y[4];
  int32_t chosen[] = {2, 0, 1, 1};
  start("pick");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.operands[1] = tensor("chosen", ATTN2C_I32, chosen, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){3, 1, 5, 5}, 4, 0);
  chosen[3] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "an expert that is not there");
  chosen[3] = -1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a negative expert");
}

Test(group_rows, keeps_the_choice) {
  int32_t chosen[] = {2, 0, 1, 2}, y[4] = {0};
  start("group_rows");
  attribute(0, "experts", 3, NULL);
  op.operands[0] = tensor("chosen", ATTN2C_I32, chosen, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_I32, y, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 4; i++) cr_assert_eq(y[i], chosen[i]);
  attribute(0, "experts", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "an expert that is not there");
}

Test(spread, once_for_each_expert) {
  float x[] = {1, 2, 3, 4}, y[8];
  int32_t groups[] = {0, 1, 1, 0};
  start("spread");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 2, 0, 0);
  op.operands[1] = tensor("groups", ATTN2C_I32, groups, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 4, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, 2, 1, 2, 3, 4, 3, 4}, 8, 0);
}

/* Two experts of two outputs and two inputs; one row with both, in descending order. */
static float parts[] = {1, 2, 3, 4}, weight[] = {1, 10, 2, 20, 3, 30, 4, 40};
static int32_t both[] = {1, 0};

Test(linear_experts, each_part_by_the_rows_of_its_expert) {
  float bias[] = {0.5, 1, 2, -3}, y[4], magnitude[4];
  start("linear_experts");
  op.operands[0] = tensor("x", ATTN2C_F32, parts, 1, 4, 0, 0);
  op.operands[1] = tensor("groups", ATTN2C_I32, both, 1, 2, 0, 0);
  op.operands[2] = tensor("weight", ATTN2C_F32, weight, 4, 2, 0, 0);
  op.operands[3] = tensor("bias", ATTN2C_F32, bias, 4, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 4, 0, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){65, 81, 43.5, 87}, 4, 0);
  assert_near(magnitude, (double[]){65, 87, 43.5, 87}, 4, 0);
  both[0] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "an expert that is not there");
  both[0] = 1;
}

Test(linear_experts_integers, and_their_scales) {
  int32_t sums[4];
  float row_scale[] = {0.5, 0.25}, scale[] = {1, 2, 4, 8}, bias[] = {1, 1, -1, -1}, y[4], magnitude[4];
  start("linear_experts_integers");
  op.operands[0] = tensor("x", ATTN2C_F32, parts, 1, 4, 0, 0);
  op.operands[1] = tensor("groups", ATTN2C_I32, both, 1, 2, 0, 0);
  op.operands[2] = tensor("weight", ATTN2C_F32, weight, 4, 2, 0, 0);
  op.result = tensor("sums", ATTN2C_I32, sums, 1, 4, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const int32_t want[] = {63, 84, 43, 86};
  for (int i = 0; i < 4; i++) cr_assert_eq(sums[i], want[i]);
  start("dequantise_experts");
  op.operands[0] = tensor("x", ATTN2C_I32, sums, 1, 4, 0, 0);
  op.operands[1] = tensor("row_scale", ATTN2C_F32, row_scale, 1, 2, 0, 0);
  op.operands[2] = tensor("scale", ATTN2C_F32, scale, 4, 0, 0, 0);
  op.operands[3] = tensor("groups", ATTN2C_I32, both, 1, 2, 0, 0);
  op.operands[4] = tensor("bias", ATTN2C_F32, bias, 4, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 4, 0, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){63 * 0.5 * 4 - 1, 84 * 0.5 * 8 - 1, 43 * 0.25 + 1, 86 * 0.25 * 2 + 1}, 4, 0);
  assert_near(magnitude, (double[]){127, 337, 11.75, 44}, 4, 0);
}

Test(combine, weighted_sum_of_parts) {
  float weights[] = {0.5, 2}, y[2], magnitude[2], x[] = {1, -2, 3, 4};
  int32_t groups[] = {1, 0};
  start("combine");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 4, 0, 0);
  op.operands[1] = tensor("weights", ATTN2C_F32, weights, 1, 2, 0, 0);
  op.operands[2] = tensor("groups", ATTN2C_I32, groups, 1, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a factor");
  attribute(0, "factor", 2, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){13, 14}, 2, 0);
  assert_near(magnitude, (double[]){13, 18}, 2, 0);
}

Test(share, of_the_sum) {
  float x[] = {1, 3, 0, 0}, y[4];
  start("share");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  attribute(0, "eps", 1e-20, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.25, 0.75, 0, 0}, 4, 0);
  attribute(0, "eps", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){0.125, 0.375, 0, 0}, 4, 0);
}

Test(gate_rows, a_number_a_row) {
  float a[] = {1, 2, 3, 4}, b[] = {2, -1}, y[4];
  start("gate_rows");
  op.operands[0] = tensor("a", ATTN2C_F32, a, 2, 2, 0, 0);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 2, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){2, 4, -3, -4}, 4, 0);
}

Test(gate_rows, a_column_of_numbers) {
  float a[] = {1, 2, 3, 4}, b[] = {7, 2, 8, -1}, y[4];
  start("gate_rows");
  op.operands[0] = tensor("a", ATTN2C_F32, a, 2, 2, 0, 0);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  attribute(0, "column", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){2, 4, -3, -4}, 4, 0);
  attribute(0, "column", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "there are two columns");
}

Test(pick, from_numbers_of_all_rows) {
  float x[] = {5, 6, 7}, y[4];
  int32_t chosen[] = {2, 0, 1, 1};
  start("pick");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 0, 0, 0);
  op.operands[1] = tensor("chosen", ATTN2C_I32, chosen, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){7, 5, 6, 6}, 4, 0);
}

/* Three rows with two of four experts each; expert 2 has none. */
static const int32_t rows_chosen[] = {3, 1, 99, 0, 3, 99, 3, 1, 99};

Test(rows_of_experts, are_sorted_and_moved) {
  int32_t place[6], order[6], first[5], experts[6];
  attn2c_group_rows(place, order, first, rows_chosen, 3, 2, 5, 3);
  const int32_t want_order[] = {2, 1, 5, 0, 3, 4}, want_first[] = {0, 1, 3, 3, 6};
  const int32_t want_experts[] = {3, 1, 0, 3, 3, 1};
  for (int i = 0; i < 6; i++) {
    cr_assert_eq(order[i], want_order[i], "place %d", i);
    cr_assert_eq(order[place[i]], i, "choice %d", i);
  }
  for (int e = 0; e < 5; e++) cr_assert_eq(first[e], want_first[e], "expert %d", e);
  attn2c_experts_of_groups(experts, order, first, 3, 2, 5);
  for (int i = 0; i < 6; i++) cr_assert_eq(experts[i], want_experts[i], "choice %d", i);
  const float x[] = {1, 2, 0, 3, 4, 0, 5, 6, 0};
  float spread[12], back[12], sum[6];
  float apart[] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  attn2c_spread(apart, x, order, 3, 2 * sizeof(float), 2, 3, 3 * sizeof(float), 3 * sizeof(float));
  assert_near(apart, (double[]){3, 4, 9, 1, 2, 9, 5, 6, 9, 1, 2, 9, 3, 4, 9, 5, 6, 9}, 18, 0);
  attn2c_scatter_parts(back, apart, order, 3, 2, 2, 3, 3);
  assert_near(back, (double[]){1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6}, 12, 0);
  attn2c_spread(spread, x, order, 3, 2 * sizeof(float), 2, 3, 3 * sizeof(float), 2 * sizeof(float));
  assert_near(spread, (double[]){3, 4, 1, 2, 5, 6, 1, 2, 3, 4, 5, 6}, 12, 0);
  attn2c_scatter_parts(back, spread, order, 3, 2, 2, 3, 2);
  assert_near(back, (double[]){1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6}, 12, 0);
  attn2c_scatter_choices(back, spread, order, 6, 1, 2, 2);
  assert_near(back, (double[]){1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6}, 12, 0);
  const float weights[] = {1, 2, 3, 4, 5, 6};
  attn2c_combine(sum, spread, weights, place, 3, 2, 2, 3, 2, 2, 0.5f);
  assert_near(sum, (double[]){1.5, 3, 10.5, 14, 27.5, 33}, 6, 0);
  float picked[4], numbers[] = {10, 11, 12, 13, 20, 21, 22, 23};
  attn2c_pick(picked, numbers, rows_chosen, 2, 2, 4, 3, 2);
  assert_near(picked, (double[]){13, 11, 20, 23}, 4, 0);
  attn2c_share(picked, numbers, 1, 2, 4, 2, 1e-20f);
  assert_near(picked, (double[]){10.0f / 21, 11.0f / 21}, 2, 1e-7);
}
