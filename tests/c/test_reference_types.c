/* test_reference_types.c - the reference of rounding, row scales, integers and their sums, against numbers
 * worked out by hand. */
#include "one_op.h"
#include "reference/types.h"
#include "ops/kept.h"
#include "ops/quantise.h"
#include "ops/round.h"

#include <float.h>

Test(round, to_the_nearest_and_of_two_to_the_even_one) {
  float x[] = {1.0f,         1.00390625f, 1.01171875f, -1.00390625f, 0x1.010002p0f,
               0x1.fe8p127f, FLT_MAX,     0x1p-127f,   NAN};
  float y[9];
  start("round");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 9, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 9, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const float want[] = {1.0f, 1.0f, 1.015625f, -1.0f, 1.0078125f, INFINITY, INFINITY, 0.0f};
  for (int i = 0; i < 8; i++) cr_assert_eq(y[i], i == 5 ? 0x1.fep127f : want[i], "%d: %a", i, y[i]);
  cr_assert(isnan(y[8]));
}

Test(round, is_that_of_emitted_code) {
  uint32_t bits = 1;
  for (int i = 0; i < 200000; i++) {
    bits = bits * 1664525u + 1013904223u;
    const float x = attn2c_from_bits(bits), emitted = attn2c_from_bf16(attn2c_to_bf16(x));
    const float want = attn2c_reference_bf16(x);
    if (isnan(x))
      cr_assert(isnan(emitted) && isnan(want));
    else
      cr_assert(emitted == want && !signbit(emitted) == !signbit(want), "%a: %a, and %a", x, emitted, want);
  }
}

Test(int8, a_scale_a_row_and_integers) {
  float x[] = {127, -63.5f, 0.5f, 1.5f, 0, 0, 0, 0, NAN, 1, 2, 3}, scale[3], y[12];
  start("row_scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 4, 0, 0);
  op.result = tensor("s", ATTN2C_F32, scale, 3, 1, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(scale[0] == 1 && scale[1] == 0x1p-125f && isnan(scale[2]));
  start("quantise");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 4, 0, 0);
  op.operands[1] = tensor("s", ATTN2C_F32, scale, 3, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 3, 4, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){127, -64, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}, 12, 0);
}

/* Tiny rows, and those whose scale is hardly one: what emitted code makes of them, too. */
Test(int8, rows_are_those_of_emitted_code) {
  enum { ROWS = 12, COLS = 5 };
  static const float largest[ROWS] = {0,
                                      0x1p-149f,
                                      0x1.8p-127f,
                                      0x1p-121f,
                                      0x1.fcp-120f,
                                      0x1.fbfffep-120f,
                                      0x1.fcp-119f,
                                      0x1.fc0002p-119f,
                                      0x1p-100f,
                                      1,
                                      FLT_MAX,
                                      INFINITY};
  float x[ROWS * COLS], scale[ROWS], y[ROWS * COLS], emitted_scale[ROWS], back[ROWS * COLS];
  int8_t emitted[ROWS * COLS];
  for (int i = 0; i < ROWS * COLS; i++) x[i] = largest[i / COLS] / (float)(i % COLS + 1);
  attn2c_quantise(emitted, emitted_scale, x, ROWS, COLS, COLS, COLS, 1);
  attn2c_widen_i8(back, emitted, ROWS, COLS, COLS, COLS);
  start("row_scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, ROWS, COLS, 0, 0);
  op.result = tensor("s", ATTN2C_F32, scale, ROWS, 1, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  start("quantise");
  op.operands[0] = tensor("x", ATTN2C_F32, x, ROWS, COLS, 0, 0);
  op.operands[1] = tensor("s", ATTN2C_F32, scale, ROWS, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, ROWS, COLS, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < ROWS; i++)
    cr_assert_eq(scale[i], emitted_scale[i], "%a: %a, and %a", (double)largest[i], (double)emitted_scale[i],
                 (double)scale[i]);
  for (int i = 0; i < ROWS * COLS; i++)
    cr_assert_eq(y[i], back[i], "%a: %g, and %g", (double)x[i], (double)back[i], (double)y[i]);
}

/* Odd integers of 4 bits: of rows of every size, and as the emitted loop has them, also where two are as
 * near. */
Test(int4, rows_become_the_nearest_odd_integers) {
  enum { ROWS = 6, COLS = 16 };
  const float largest[ROWS] = {0, 0x1p-126f, 1, 16, FLT_MAX, INFINITY};
  float x[ROWS * COLS], scale[ROWS], y[ROWS * COLS], emitted_scale[ROWS], back[ROWS * COLS];
  int8_t emitted[ROWS * COLS];
  for (int i = 0; i < ROWS * COLS; i++) x[i] = largest[i / COLS] * (float)(2 * (i % COLS) - 15) / 16;
  x[2 * COLS] = -1, x[3 * COLS] = 16;
  x[3 * COLS + 8] = 2, x[3 * COLS + 9] = -4, x[3 * COLS + 10] = 0;
  attn2c_quantise_odd(emitted, emitted_scale, x, ROWS, 1, COLS, COLS, COLS, 1);
  attn2c_widen_i8(back, emitted, ROWS, COLS, COLS, COLS);
  start("row_scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, ROWS, COLS, 0, 0);
  op.result = tensor("s", ATTN2C_F32, scale, ROWS, 1, 0, 0);
  attribute(0, "bits", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  start("quantise");
  op.operands[0] = tensor("x", ATTN2C_F32, x, ROWS, COLS, 0, 0);
  op.operands[1] = tensor("s", ATTN2C_F32, scale, ROWS, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, ROWS, COLS, 0, 0);
  attribute(0, "bits", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < ROWS; i++) cr_assert_eq(scale[i], emitted_scale[i], "%a", (double)largest[i]);
  for (int i = 0; i < ROWS * COLS; i++)
    cr_assert_eq(y[i], back[i], "%a: %g, and %g", (double)x[i], (double)back[i], (double)y[i]);
  for (int i = 0; i < COLS; i++) cr_assert_eq(y[2 * COLS + i], 2 * i - 15, "%g", (double)y[2 * COLS + i]);
  cr_assert_eq(scale[3], 1);
  assert_near(y + 3 * COLS + 8, (double[]){1, -3, 1}, 3, 0);
}

Test(int8, a_factor_a_column_comes_first) {
  float x[] = {1, 127, -64, 0.125f, 8, 0}, factors[] = {64, 0.25f, 1}, short_ones[] = {1, 1}, scale[2], y[6];
  start("row_scale");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.operands[1] = tensor("f", ATTN2C_F32, factors, 3, 0, 0, 0);
  op.result = tensor("s", ATTN2C_F32, scale, 2, 1, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert(scale[0] == 64 / 127.0f && scale[1] == 8 / 127.0f);
  start("quantise");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.operands[1] = tensor("s", ATTN2C_F32, scale, 2, 1, 0, 0);
  op.operands[2] = tensor("f", ATTN2C_F32, factors, 3, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){127, 63, -127, 127, 32, 0}, 6, 0);
  tensors[2].shape[0] = 2, values[2] = short_ones;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "%s", text);
}

Test(int8, sums_and_what_they_stand_for) {
  float x[] = {1, -127, 3, 0, 2, 127}, weight[] = {127, -127, 1, 0, 1, -1}, row_scale[] = {0.5f, 2},
        scale[] = {1, 0.25f}, bias[] = {1, -1}, y[4], magnitude[4];
  int32_t sums[4];
  start("linear_integers");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.operands[1] = tensor("w", ATTN2C_F32, weight, 2, 3, 0, 0);
  op.result = tensor("sums", ATTN2C_I32, sums, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const int32_t want[] = {16259, -130, -127, -125};
  for (int i = 0; i < 4; i++) cr_assert_eq(sums[i], want[i], "%d: %d", i, sums[i]);
  start("dequantise");
  op.operands[0] = tensor("sums", ATTN2C_I32, sums, 2, 2, 0, 0);
  op.operands[1] = tensor("r", ATTN2C_F32, row_scale, 2, 1, 0, 0);
  op.operands[2] = tensor("s", ATTN2C_F32, scale, 2, 0, 0, 0);
  op.operands[3] = tensor("b", ATTN2C_F32, bias, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){8130.5, -17.25, -253, -63.5}, 4, 0);
  assert_near(magnitude, (double[]){8130.5, 17.25, 255, 63.5}, 4, 0);
}
