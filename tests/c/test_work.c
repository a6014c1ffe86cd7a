/* test_work.c - the work of calls of other lengths: pairs that masks leave, rows, more tokens of a sequence,
 * and the bytes of weights and of kept keys that a token reads. */
#include "measure/work.h"

#include <criterion/criterion.h>

enum { ROWS, POOLED, TABLE, MATRIX, KEYS, VALUES };

static const attn2c_tensor tensors[] = {
    [ROWS] = {.name = "rows", .rank = 3},
    [POOLED] = {.name = "pooled", .rank = 2},
    [TABLE] = {.name = "table", .rank = 2, .shape = {20, 4}},
    [MATRIX] = {.name = "matrix", .rank = 2, .shape = {4, 5}},
    [KEYS] = {.name = "keys", .rank = 3},
    [VALUES] = {.name = "values", .rank = 3},
};

#define NO_OPERANDS                                                                                          \
  { -1, -1, -1, -1, -1, -1 }
static const attn2c_attribute window[] = {{"left", 2, NULL}, {"causal", 1, NULL}, {NULL, 0, NULL}},
                              beside[] = {{"right", 1, NULL}, {NULL, 0, NULL}}, none[] = {{NULL, 0, NULL}};
/* For 10 tokens: 100 for each, 8 for each of 27 and 64 pairs. */
static const attn2c_op ops[] = {
    {"embed", "input", ROWS, {TABLE, -1, -1, -1, -1, -1}, none, 0.0, ATTN2C_NO_ROLE},
    {"linear", "layer 0", ROWS, {ROWS, MATRIX, -1, -1, -1, -1}, none, 1000.0, ATTN2C_NO_ROLE},
    {"scores", "layer 0", ROWS, {ROWS, KEYS, -1, -1, -1, -1}, window, 8.0 * 27, ATTN2C_MAKES_SCORES},
    {"context", "layer 0", ROWS, {ROWS, VALUES, -1, -1, -1, -1}, window, 8.0 * 27, ATTN2C_READS_WEIGHTS},
    {"scores", "layer 1", ROWS, NO_OPERANDS, beside, 8.0 * 64, ATTN2C_MAKES_SCORES},
    {"linear", "output", POOLED, NO_OPERANDS, none, 50.0, ATTN2C_NO_ROLE},
};
static const attn2c_size sizes[] = {{1, 10}};
static const attn2c_lengths lengths = {.sizes = sizes};
static const attn2c_weight weights[] = {{.tensor = TABLE, .offset = 0}, {.tensor = MATRIX, .offset = 96}};
static const attn2c_state_part kept[] = {{.tensor = KEYS, .page_floats = 64},
                                         {.tensor = VALUES, .page_floats = 32}};
static const attn2c_continued continued = {.page = 16, .kept = kept, .kept_count = 2};
static const attn2c_descriptor model = {.tensors = tensors,
                                        .lengths = &lengths,
                                        .weights = weights,
                                        .weight_count = 2,
                                        .weight_floats = 120,
                                        .continued = &continued};
static const attn2c_entry entry = {.ops = ops, .op_count = 6, .flops = 7.0};

Test(work, goes_by_pairs_that_a_mask_leaves_or_by_rows) {
  cr_expect_eq(attn2c_op_work(&model, &ops[1], 4), 400.0);
  cr_expect_eq(attn2c_op_work(&model, &ops[2], 4), 8.0 * 9);
  cr_expect_eq(attn2c_op_work(&model, &ops[3], 2), 8.0 * 3);
  cr_expect_eq(attn2c_op_work(&model, &ops[4], 3), 8.0 * 8);
  cr_expect_eq(attn2c_op_work(&model, &ops[5], 3), 50.0, "a row for each sequence");
  cr_expect_eq(attn2c_op_work(&model, &ops[2], 0), 8.0 * 27, "the entry's own size");
  cr_expect_eq(attn2c_entry_work(&model, &entry, 0), 7.0);
  cr_expect_eq(attn2c_entry_work(&model, &entry, 10), 1000.0 + 2 * 8 * 27 + 8 * 64 + 50);
}

Test(work, of_more_tokens_is_that_of_new_rows_and_one_row_of_logits) {
  cr_expect_eq(attn2c_op_tokens_work(&model, &ops[1], 3, 2), 200.0);
  cr_expect_eq(attn2c_op_tokens_work(&model, &ops[2], 3, 1), 8.0 * 3);
  cr_expect_eq(attn2c_op_tokens_work(&model, &ops[2], 0, 3), 8.0 * 6);
  cr_expect_eq(attn2c_tokens_work(&model, &entry, 3, 1), 100.0 + 2 * 8 * 3 + 8 * 5 + 50);
}

Test(work, reads_weights_once_and_rows_of_tables) {
  const double matrix = 24 * sizeof(float), row = 96.0 / 20 * sizeof(float);
  cr_expect_float_eq(attn2c_bytes_of_weights(&model, &entry, 1), matrix + row, 1e-9);
  cr_expect_float_eq(attn2c_bytes_of_weights(&model, &entry, 3), matrix + 3 * row, 1e-9);
  cr_expect_float_eq(attn2c_bytes_of_weights(&model, &entry, 50), matrix + 20 * row, 1e-9, "no row twice");
}

/* Four experts of 2 outputs, of which each row has 2. */
Test(work, reads_the_experts_that_tokens_choose) {
  static const attn2c_tensor of_experts[] = {{.name = "parts", .rank = 3, .shape = {1, 10, 4}},
                                             {.name = "weight", .rank = 2, .shape = {8, 5}}};
  static const attn2c_op op[] = {
      {"linear_experts", "layer 0", 0, {0, 0, 1, -1, -1, -1}, none, 400.0, ATTN2C_NO_ROLE}};
  static const attn2c_weight weight[] = {{.tensor = 1, .offset = 0}};
  static const attn2c_entry products = {.ops = op, .op_count = 1};
  const attn2c_descriptor mixture = {
      .tensors = of_experts, .weights = weight, .weight_count = 1, .weight_floats = 40};
  const double all = 40 * sizeof(float);
  cr_expect_float_eq(attn2c_bytes_of_weights(&mixture, &products, 1), all / 2, 1e-9);
  cr_expect_float_eq(attn2c_bytes_of_weights(&mixture, &products, 3), all, 1e-9, "no expert twice");
}

Test(work, reads_the_keys_and_values_that_a_window_leaves) {
  const double each = (64.0 + 32.0) / 16 * sizeof(float);
  cr_expect_float_eq(attn2c_bytes_of_kept(&model, &entry, 2, 0), 2 * each, 1e-9);
  cr_expect_float_eq(attn2c_bytes_of_kept(&model, &entry, 9, 0), 3 * each, 1e-9);
}
