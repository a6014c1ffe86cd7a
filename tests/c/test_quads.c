/* test_quads.c - an attention in int8 (ops/quads.h): rows, columns, panels and weights as plain loops have
 * them, at odd sizes, in guarded buffers, with NaN and infinity. */
#define _DEFAULT_SOURCE
#include "ops/quads.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>

static uint32_t state = 7;

/* Returns a number from -most to most. */
static float next(float most) {
  state = state * 1664525u + 1013904223u;
  return ((float)(state >> 8) / 8388608.0f - 1.0f) * most;
}

static float *numbers(size_t count, float most) {
  float *x = guarded_allocate(count * sizeof *x);
  for (size_t i = 0; i < count; i++) x[i] = next(most);
  return x;
}

static int integer_in_row(int8_t stored) {
  return ATTN2C_INT8_ZERO ? (uint8_t)stored - ATTN2C_INT8_ZERO : stored;
}

Test(quads, rows_have_a_scale_for_each_head) {
  enum { ROWS = 5, HEADS = 3, WIDTH = 7, ALL = HEADS * WIDTH, OTHER = 4 };
  float *x = numbers(ROWS * ALL, 3), *guard = numbers(ROWS * HEADS * OTHER, 1);
  float *scale = guarded_allocate(ROWS * HEADS * sizeof *scale);
  int8_t *y = guarded_allocate(ROWS * ALL);
  for (int j = 0; j < WIDTH; j++) x[ALL + WIDTH + j] = 0; /* row 1, head 1 */
  x[2 * ALL] = NAN;                                       /* row 2, head 0 */
  guard[(3 * HEADS + 2) * OTHER + 3] = -INFINITY;         /* row 3, head 2 */
  attn2c_quantise_guarded(y, scale, x, guard, ROWS, HEADS, WIDTH, OTHER, ALL, ALL, HEADS, HEADS * OTHER);
  for (int i = 0; i < ROWS; i++)
    for (int h = 0; h < HEADS; h++) {
      const float *from = x + i * ALL + h * WIDTH, got = scale[i * HEADS + h];
      const int is_nan = (i == 2 && h == 0) || (i == 3 && h == 2);
      float largest = 0;
      for (int j = 0; j < WIDTH; j++) largest = fmaxf(largest, fabsf(from[j]));
      cr_assert(is_nan ? isnan(got) : got == fmaxf(largest / 127.0f, 0x1p-125f), "%d, %d: %a", i, h, got);
      for (int j = 0; j < WIDTH; j++)
        cr_assert_eq(integer_in_row(y[i * ALL + h * WIDTH + j]),
                     is_nan ? 0 : (int)rintf(from[j] * (1.0f / got)));
    }
  guarded_free(x, ROWS * ALL * sizeof *x);
  guarded_free(guard, ROWS * HEADS * OTHER * sizeof *guard);
  guarded_free(scale, ROWS * HEADS * sizeof *scale);
  guarded_free(y, ROWS * ALL);
}

static void check_columns(int rows, int valid, int cols) {
  const size_t count = (size_t)rows * (size_t)cols;
  float *x = numbers(count, 5), *centred = guarded_allocate(count * sizeof *x);
  float *scale = guarded_allocate((size_t)cols * sizeof *scale);
  int8_t *y = guarded_allocate(count);
  x[cols - 1] = INFINITY;
  attn2c_column_scale(scale, x, valid, cols, cols);
  attn2c_quantise_columns(y, x, scale, rows, valid, cols, cols, cols);
  attn2c_centre(centred, x, rows, valid, cols, cols, cols);
  for (int j = 0; j < cols; j++) {
    float largest = 0;
    double sum = 0;
    for (int i = 0; i < valid; i++) {
      if (isfinite(x[i * cols + j])) largest = fmaxf(largest, fabsf(x[i * cols + j]));
      sum += x[i * cols + j];
    }
    cr_assert_eq(scale[j], fmaxf(largest / 127.0f, 0x1p-125f));
    for (int i = 0; i < rows; i++) {
      const float v = x[i * cols + j];
      cr_assert_eq(y[i * cols + j], i < valid && isfinite(v) ? (int)rintf(v * (1.0f / scale[j])) : 0);
      if (j < cols - 1) cr_assert_float_eq(centred[i * cols + j], (float)(v - sum / valid), 1e-5f);
    }
  }
  guarded_free(x, count * sizeof *x);
  guarded_free(centred, count * sizeof *x);
  guarded_free(scale, (size_t)cols * sizeof *scale);
  guarded_free(y, count);
}

Test(quads, columns_have_a_scale_and_a_mean_of_the_rows_that_count) {
  check_columns(9, 9, 130);
  check_columns(6, 4, 64);
  check_columns(3, 1, 5);
}

/* A panel of keys: scales, what sums begin with, groups; zeros after the last key. */
static void check_keys(int rows, int cols, int lanes) {
  enum { LD = 32 };
  const int all = (rows + lanes - 1) / lanes * lanes, groups = (cols + 3) / 4;
  const size_t size = (size_t)(3 + groups) * LD * 4;
  int8_t *x = guarded_allocate((size_t)rows * (size_t)cols), *y = guarded_allocate(size);
  float *scale = numbers((size_t)rows, 1);
  for (int i = 0; i < rows * cols; i++) x[i] = (int8_t)((int)next(127.4f) + ATTN2C_INT8_ZERO);
  attn2c_quads_of_keys(y, x, scale, rows, cols, cols, 1, LD, lanes);
  for (int r = 0; r < all; r++) {
    float of_key;
    int32_t start, wanted = 0;
    memcpy(&of_key, y + 4 * r, sizeof of_key);
    cr_assert_eq(of_key, r < rows ? scale[r] : 0.0f);
    for (int c = 0; c < 4 * groups; c++) {
      const int number = r < rows && c < cols ? integer_in_row(x[r * cols + c]) : 0;
      cr_assert_eq(y[4 * ((3 + c / 4) * LD + r) + c % 4], number, "key %d column %d", r, c);
#if ATTN2C_INT8_ZERO
      wanted -= 128 * number;
#elif defined(__AVX2__)
      wanted += number < 0 ? -number : 0;
#endif
    }
    memcpy(&start, y + 4 * ((ATTN2C_INT8_ZERO ? 1 : 2) * LD + r), sizeof start);
    if (ATTN2C_LANES > 4 || ATTN2C_INT8_ZERO) cr_assert_eq(start, wanted, "key %d: %d", r, start);
  }
  guarded_free(x, (size_t)rows * (size_t)cols);
  guarded_free(y, size);
  guarded_free(scale, (size_t)rows * sizeof *scale);
}

Test(quads, keys_are_packed_with_their_scales) {
  check_keys(32, 32, 1);
  check_keys(17, 7, 16);
  check_keys(1, 66, 1);
}

static void check_values(int rows, int cols, int ld) {
  const size_t size = ((size_t)((rows + 3) / 4 - 1) * (size_t)ld + (size_t)cols) * 4;
  int8_t *x = guarded_allocate((size_t)rows * (size_t)cols), *y = guarded_allocate(size);
  for (int i = 0; i < rows * cols; i++) x[i] = (int8_t)next(127.4f);
  attn2c_quads_of_values(y, x, rows, cols, cols, ld);
  for (int r = 0; r < (rows + 3) / 4 * 4; r++)
    for (int c = 0; c < cols; c++)
      cr_assert_eq(y[4 * (r / 4 * ld + c) + r % 4], r < rows ? x[r * cols + c] : 0, "row %d column %d", r, c);
  guarded_free(x, (size_t)rows * (size_t)cols);
  guarded_free(y, size);
}

Test(quads, values_are_packed_four_rows_at_a_time) {
  check_values(8, 16, 16);
  check_values(7, 33, 48);
  check_values(1, 5, 16);
  check_values(6, 64, 64);
}

/* A shipped step rounds and sums at once; a trace does the same in three steps. The scores are within `most`
 * of `from`. */
static void check_weights_from(int rows, int cols, float scale, float most, float from) {
  const size_t count = (size_t)rows * (size_t)cols;
  float *s = numbers(count, most), *exact = guarded_allocate(count * sizeof *s);
  float *factors = guarded_allocate((size_t)rows * sizeof *factors);
  float *of_trace = guarded_allocate((size_t)rows * sizeof *factors);
  uint8_t *y = guarded_allocate(count), *w = guarded_allocate(count);
  for (size_t i = 0; i < count; i++) s[i] += from;
  if (rows > 2) {
    for (int j = 0; j < cols; j++) s[cols + j] = -INFINITY;
    s[2 * cols + cols / 2] = NAN;
    s[cols - 1] = cols > 1 ? -INFINITY : s[0];
  }
  if (rows > 3) s[3 * cols] = INFINITY;
  memcpy(exact, s, count * sizeof *s);
  attn2c_exponentials(exact, rows, cols, cols, scale);
  attn2c_round_to_bytes(w, exact, rows, cols, cols, cols);
  attn2c_weight_scale(of_trace, w, exact, rows, cols, cols, cols);
  for (int i = 0; i < rows; i++) {
    double max = -INFINITY, sum = 0;
    const int is_nan = rows > 2 && (i == 2 || i == 3);
    for (int j = 0; j < cols; j++) max = fmax(max, s[i * cols + j]);
    for (int j = 0; j < cols; j++) {
      const float got = exact[i * cols + j];
      const double argument = scale * ((double)s[i * cols + j] - max), want = 255 * exp(argument);
      if (is_nan) {
        cr_assert(isnan(got));
      } else if (max == -INFINITY || s[i * cols + j] == -INFINITY) {
        cr_assert_eq(got, 0);
      } else {
        cr_assert(fabs(got - want) <= (1.5e-4 + (10 + fabs(argument)) * 0x1p-23) * want + 255 * 0x1p-126,
                  "row %d column %d: %.9g, not %.9g", i, j, got, want);
      }
      cr_assert_eq(w[i * cols + j], is_nan ? 0 : (int)rintf(got));
      sum += w[i * cols + j];
    }
    cr_assert(is_nan ? isnan(of_trace[i]) : of_trace[i] == (float)(1 / fmax(sum, 1)));
  }
  attn2c_exponentials_rounded(y, factors, s, rows, cols, cols, cols, scale);
  for (int i = 0; i < rows; i++) {
    cr_assert(isnan(of_trace[i]) ? isnan(factors[i]) : factors[i] == of_trace[i], "row %d", i);
    for (int j = 0; j < cols && !isnan(factors[i]); j++) cr_assert_eq(y[i * cols + j], w[i * cols + j]);
  }
  guarded_free(s, count * sizeof *s);
  guarded_free(exact, count * sizeof *s);
  guarded_free(factors, (size_t)rows * sizeof *factors);
  guarded_free(of_trace, (size_t)rows * sizeof *factors);
  guarded_free(y, count);
  guarded_free(w, count);
}

static void check_weights(int rows, int cols, float scale, float most) {
  check_weights_from(rows, cols, scale, most, 0);
}

/* Without fused multiply-adds the products with c are rounded, the more the farther the scores are from 0. */
Test(quads, weights_of_scores_far_from_zero_keep_their_digits) {
  for (float from = 1000; from < 1e7f; from *= 1.7f) {
    check_weights_from(16, 512, 1.0f, 40, from);
    check_weights_from(16, 512, 0.05f, 400, -from);
  }
}

Test(quads, weights_are_rounded_exponentials) {
  for (int cols = 1; cols < 70; cols++) check_weights(5, cols, 0.25f, 40);
  check_weights(16, 512, 0.125f, 60);
  check_weights(8, 130, 1.0f, 1e7f);
  check_weights(2, 70000 / 16, 0.01f, 3);
  check_weights(16, 512, 1.0f, 48); /* powers below the smallest normal number */
}
