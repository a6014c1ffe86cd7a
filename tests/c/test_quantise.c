/* test_quantise.c - rows as bf16 and int8 and back, and pairs for products of bf16: every element as plain C
 * has it, at odd sizes, in guarded buffers, with NaN, infinity and denormals. */
#define _DEFAULT_SOURCE
#include "ops/pairs.h"
#include "ops/quantise.h"
#include "ops/softmax.h"
#include "base/processor.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define COUNT_OF(a) (int)(sizeof(a) / sizeof *(a))

/* vcvtneps2bf16, by arithmetic: the nearest of the neighbours, to the even one of two. */
static uint16_t rounded(float x) {
  const uint32_t bits = attn2c_bits(x);
  if (isnan(x)) return (uint16_t)(bits >> 16 | 0x40);
  if (fabsf(x) < 0x1p-126f) return bits >> 31 ? 0x8000 : 0;
  const uint16_t below = (uint16_t)(bits >> 16); /* nearer to zero */
  if (isinf(x)) return below;
  const double size = fabs((double)x), low = attn2c_from_bits((uint32_t)(below & 0x7fff) << 16);
  const double unit = ldexp(1.0, (int)(below >> 7 & 0xff) - 127 - 7);
  const double over = size - low;
  const int up = over > unit / 2 || (over == unit / 2 && below & 1);
  return (uint16_t)(below + up);
}

static const uint32_t special[] = {0,           0x80000000u, 1,           0x807fffffu, 0x00800000u,
                                   0x7f800000u, 0xff800000u, 0x7fc12345u, 0x7f800001u, 0xffa00000u,
                                   0x7f7fffffu, 0x7f7f7fffu, 0x3f808000u, 0x3f818000u, 0x3f808001u,
                                   0xbf80ffffu, 0x007f8000u};

Test(bf16, every_upper_half_and_ties) {
  for (uint32_t high = 0; high < 0x10000; high++)
    for (int i = 0; i < 6; i++) {
      static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
      const float x = attn2c_from_bits(high << 16 | low[i]);
      cr_assert_eq(attn2c_to_bf16(x), rounded(x), "%08x: %04x, not %04x", attn2c_bits(x), attn2c_to_bf16(x),
                   rounded(x));
    }
  float row[COUNT_OF(special)];
  for (int i = 0; i < COUNT_OF(special); i++) {
    const float x = row[i] = attn2c_from_bits(special[i]);
    cr_assert_eq(attn2c_to_bf16(x), rounded(x), "%08x", special[i]);
  }
  attn2c_round_floats(row, COUNT_OF(special));
  for (int i = 0; i < COUNT_OF(special); i++)
    cr_assert_eq(attn2c_bits(row[i]), (uint32_t)rounded(attn2c_from_bits(special[i])) << 16, "%08x",
                 special[i]);
}

static const int sizes[][2] = {{1, 1},  {2, 3},  {3, 2},  {16, 32}, {17, 33}, {31, 64}, {64, 5}, {33, 31},
                               {1, 40}, {1, 63}, {40, 1}, {15, 66}, {48, 63}, {33, 48}, {16, 16}};

Test(bf16, rows_of_all_lengths) {
  for (int cols = 1; cols < 70; cols++) {
    float *x = guarded_allocate(sizeof *x * (size_t)cols);
    uint16_t *y = guarded_allocate(sizeof *y * (size_t)cols);
    for (int first = 0; first < COUNT_OF(special); first++) {
      for (int j = 0; j < cols; j++) x[j] = attn2c_from_bits(special[(first + j) % COUNT_OF(special)]);
      attn2c_round_row(y, x, cols);
      for (int j = 0; j < cols; j++)
        cr_assert_eq(y[j], rounded(x[j]), "%d of %d: %08x: %04x", j, cols, attn2c_bits(x[j]), y[j]);
    }
    guarded_free(x, sizeof *x * (size_t)cols);
    guarded_free(y, sizeof *y * (size_t)cols);
  }
}

/* The weights of a softmax that rounds them are another softmax's, rounded: NaN and rows without a
 * key, too.
 */
Test(bf16, weights_of_a_softmax) {
  enum { ROWS = 19, MOST = 70 };
  for (int cols = 1; cols < MOST; cols += 3)
    for (int with_nan = 0; with_nan < 2; with_nan++) {
      float exact[ROWS * MOST], scratch[ROWS * MOST];
      uint16_t y[ROWS * MOST];
      for (int i = 0; i < ROWS * MOST; i++) exact[i] = (float)((i * 7919) % 401) / 30.0f - 6.0f;
      for (int j = 0; j < cols; j++) exact[3 * MOST + j] = -INFINITY;
      exact[5 * MOST] = NAN;
      memcpy(scratch, exact, sizeof exact);
      if (with_nan) {
        attn2c_softmax_nan(exact, ROWS, cols, MOST, 0.25f);
        attn2c_softmax_nan_rounded(y, scratch, ROWS, cols, MOST, MOST, 0.25f);
      } else {
        attn2c_softmax(exact, ROWS, cols, MOST, 0.25f);
        attn2c_softmax_rounded(y, scratch, ROWS, cols, MOST, MOST, 0.25f);
      }
      for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < cols; j++)
          cr_assert_eq(y[i * MOST + j], attn2c_to_bf16(exact[i * MOST + j]), "%d, %d of %d", i, j, cols);
    }
}

/* [rows][cols] of bf16, guarded, from floats that are guarded. */
static uint16_t *halves_of(const float *x, int rows, int cols, int ld) {
  uint16_t *y = guarded_allocate(2 * ((size_t)(rows - 1) * (size_t)ld + (size_t)cols));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) y[i * ld + j] = rounded(x[i * ld + j]);
  return y;
}

Test(pairs, of_columns_and_rows_at_all_sizes) {
  for (int s = 0; s < COUNT_OF(sizes); s++)
    for (int of_rows = 0; of_rows < 2; of_rows++)
      for (int narrow = 0; narrow < 2; narrow++) {
        const int rows = sizes[s][0], cols = sizes[s][1], ldx = cols + 3;
        const int height = of_rows ? (rows + 1) / 2 : (cols + 1) / 2, width = of_rows ? cols : rows;
        const int ldy = width + 2;
        const size_t x_bytes = guarded_matrix_bytes(rows, cols, ldx) / 2;
        const size_t bytes = guarded_matrix_bytes(height, width, ldy);
        float *x = guarded_matrix(rows, cols, ldx, 7, 0, 1);
        x[0] = NAN;
        uint16_t *halves = halves_of(x, rows, cols, ldx), *y = guarded_allocate(bytes);
        if (of_rows && narrow)
          attn2c_pairs_of_bf16_rows(y, halves, rows, cols, ldx, ldy);
        else if (of_rows)
          attn2c_pairs_of_rows(y, x, rows, cols, ldx, ldy);
        else if (narrow)
          attn2c_pairs_of_bf16_columns(y, halves, rows, cols, ldx, ldy);
        else
          attn2c_pairs_of_columns(y, x, rows, cols, ldx, ldy);
        for (int i = 0; i < height; i++)
          for (int j = 0; j < width; j++)
            for (int h = 0; h < 2; h++) {
              const int row = of_rows ? 2 * i + h : j, col = of_rows ? j : 2 * i + h;
              const uint16_t wanted = row < rows && col < cols ? halves[row * ldx + col] : 0;
              cr_assert_eq(y[2 * (i * ldy + j) + h], wanted, "%d x %d, of rows %d, bf16 %d: [%d][%d][%d]",
                           rows, cols, of_rows, narrow, i, j, h);
            }
        guarded_matrix_free(x, rows, cols, ldx);
        guarded_free(halves, x_bytes);
        guarded_free(y, bytes);
      }
}

/* Rows that are added one, two and three at a time give the pairs of all rows at once. */
Test(pairs, of_rows_that_are_added) {
  enum { ROWS = 12, COLS = 5, LDX = 7, LDY = 16 };
  uint16_t x[ROWS * LDX], whole[ROWS * LDY], added[ROWS * LDY];
  for (int i = 0; i < ROWS * LDX; i++) x[i] = (uint16_t)(1000 + i);
  attn2c_pairs_of_bf16_rows(whole, x, ROWS, COLS, LDX, LDY);
  for (int each = 1; each <= 3; each++) {
    memset(added, 0xff, sizeof added);
    for (int first = 0; first < ROWS; first += each)
      attn2c_add_pairs_of_bf16_rows(added, x + first * LDX, first, each, COLS, LDX, LDY);
    for (int pair = 0; pair < ROWS / 2; pair++)
      cr_assert_arr_eq(added + 2 * pair * LDY, whole + 2 * pair * LDY, 4 * COLS, "%d at a time, pair %d",
                       each, pair);
  }
}

/* Keys of a panel: zeros up to a multiple of 16, 8 or 4 keys, and nothing beyond that is written. */
Test(pairs, of_keys_that_end_within_a_vector) {
  enum { PANEL = 64 };
  for (int lanes = 4; lanes <= 16; lanes *= 2)
    for (int rows = 1; rows <= PANEL; rows++)
      for (int cols = 1; cols <= 97; cols += 16) {
        const int groups = (cols + 1) / 2, padded = (rows + lanes - 1) / lanes * lanes, ldx = cols + 3;
        const size_t bytes = guarded_matrix_bytes(groups, padded, PANEL);
        float *x = guarded_matrix(rows, cols, ldx, 7, 0, 1);
        uint16_t *halves = halves_of(x, rows, cols, ldx), *y = guarded_allocate(bytes);
        memset(y, 0x55, bytes);
        attn2c_pairs_of_bf16_keys(y, halves, rows, cols, ldx, PANEL, lanes);
        for (int i = 0; i < groups; i++)
          for (int j = 0; j < (i + 1 < groups ? PANEL : padded); j++)
            for (int h = 0; h < 2; h++) {
              const int wanted = j >= padded                    ? 0x5555
                                 : j < rows && 2 * i + h < cols ? halves[j * ldx + 2 * i + h]
                                                                : 0;
              cr_assert_eq(y[2 * (i * PANEL + j) + h], wanted, "%d x %d in vectors of %d: [%d][%d][%d]", rows,
                           cols, lanes, i, j, h);
            }
        guarded_matrix_free(x, rows, cols, ldx);
        guarded_free(halves, guarded_matrix_bytes(rows, cols, ldx) / 2);
        guarded_free(y, bytes);
      }
}

static int integer_of(int8_t stored) {
  return ATTN2C_INT8_ZERO ? (int)(uint8_t)stored - ATTN2C_INT8_ZERO : stored;
}

Test(int8, rows_and_their_scales) {
  for (int s = 0; s < COUNT_OF(sizes); s++) {
    const int rows = sizes[s][0], cols = sizes[s][1], ldx = cols + 1, ldy = cols + 2, lds = 3;
    const size_t bytes = (size_t)(rows - 1) * (size_t)ldy + (size_t)cols;
    const size_t scale_bytes = sizeof(float) * ((size_t)(rows - 1) * (size_t)lds + 1);
    float *x = guarded_matrix(rows, cols, ldx, 11, 0, 3), *scale = guarded_allocate(scale_bytes);
    float *back = malloc(sizeof *back * (size_t)(rows * cols));
    int8_t *y = guarded_allocate(bytes);
    for (int j = 0; rows > 2 && j < cols; j++) x[2 * ldx + j] = j % 2 ? 0.0f : -0.0f;
    if (rows > 16 && cols > 1) x[3 * ldx + cols - 1] = 1e30f, x[4 * ldx] = -0x1p-130f;
    attn2c_quantise(y, scale, x, rows, cols, ldx, ldy, lds);
    attn2c_widen_i8(back, y, rows, cols, ldy, cols);
    for (int i = 0; i < rows; i++) {
      float largest = 0;
      for (int j = 0; j < cols; j++) largest = fmaxf(largest, fabsf(x[i * ldx + j]));
      cr_assert_eq(scale[i * lds], fmaxf(largest / 127.0f, 0x1p-125f));
      for (int j = 0; j < cols; j++) {
        const float wanted = nearbyintf(x[i * ldx + j] * (1.0f / scale[i * lds]));
        cr_assert_eq((float)integer_of(y[i * ldy + j]), wanted, "[%d][%d] of %d x %d", i, j, rows, cols);
        cr_assert_eq(back[i * cols + j], wanted);
        cr_assert_leq(fabsf(wanted), 127);
      }
    }
    guarded_matrix_free(x, rows, cols, ldx);
    guarded_free(scale, scale_bytes);
    guarded_free(y, bytes);
    free(back);
  }
}

/* Powers of two, by which columns are multiplied first, have the bits of rows that are multiplied before. */
Test(int8, rows_with_factors) {
  for (int s = 0; s < COUNT_OF(sizes); s++) {
    const int rows = sizes[s][0], cols = sizes[s][1], ldx = cols + 1, ldy = cols + 2, lds = 3;
    const size_t bytes = (size_t)(rows - 1) * (size_t)ldy + (size_t)cols, one_a_column = 4 * (size_t)cols;
    const size_t scale_bytes = sizeof(float) * ((size_t)(rows - 1) * (size_t)lds + 1);
    float *x = guarded_matrix(rows, cols, ldx, 12, 0, 3), *factors = guarded_allocate(one_a_column);
    float *scale = guarded_allocate(scale_bytes), *other_scale = guarded_allocate(scale_bytes);
    int8_t *y = guarded_allocate(bytes), *other = guarded_allocate(bytes);
    for (int j = 0; j < cols; j++) factors[j] = ldexpf(1.0f, (j * 5) % 9 - 4);
    if (rows > 2) x[2 * ldx + cols / 2] = NAN;
    attn2c_quantise_smoothed(y, scale, x, factors, rows, cols, ldx, ldy, lds);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) x[i * ldx + j] *= factors[j];
    attn2c_quantise(other, other_scale, x, rows, cols, ldx, ldy, lds);
    for (int i = 0; i < rows; i++) {
      cr_assert_eq(attn2c_bits(scale[i * lds]), attn2c_bits(other_scale[i * lds]), "row %d", i);
      cr_assert_eq(memcmp(y + i * ldy, other + i * ldy, (size_t)cols), 0, "row %d of %d x %d", i, rows, cols);
    }
    guarded_matrix_free(x, rows, cols, ldx);
    guarded_free(factors, one_a_column);
    guarded_free(scale, scale_bytes);
    guarded_free(other_scale, scale_bytes);
    guarded_free(y, bytes);
    guarded_free(other, bytes);
  }
}

/* Ties go to the even integer: with 127 in the row, numbers are integers already. */
Test(int8, ties_to_even) {
  static const float x[] = {127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -126.5f, 125.5f, 126.5f, -127};
  static const int wanted[] = {127, 0, 2, 2, 0, -2, -126, 126, 126, -127};
  int8_t y[COUNT_OF(x)];
  float scale;
  attn2c_quantise(y, &scale, x, 1, COUNT_OF(x), COUNT_OF(x), COUNT_OF(x), 1);
  cr_assert_eq(scale, 1.0f);
  for (int j = 0; j < COUNT_OF(x); j++) cr_assert_eq(integer_of(y[j]), wanted[j], "%g", x[j]);
}

/* A row with NaN or infinity never becomes numbers again; its integers are 0. */
Test(int8, rows_that_have_no_scale) {
  enum { COLS = 37 };
  static const float odd[] = {NAN, INFINITY, -INFINITY};
  for (int place = 0; place < COLS; place += 6)
    for (int i = 0; i < COUNT_OF(odd); i++) {
      float x[COLS], scale;
      int8_t y[COLS];
      for (int j = 0; j < COLS; j++) x[j] = (float)(j - 20);
      x[place] = odd[i];
      attn2c_quantise(y, &scale, x, 1, COLS, COLS, COLS, 1);
      for (int j = 0; j < COLS; j++)
        if (!isnan(x[j])) cr_assert_eq(integer_of(y[j]), 0);
      cr_assert(!isfinite(scale));
      if (i == 0) cr_assert(isnan(scale));
    }
}

/* Rows of tiny numbers have the least scale, keep what it can tell, and are the same integers where denormals
 * count as zero: each is off by the smallest normal float at most. */
Test(int8, rows_of_tiny_numbers) {
  enum { COLS = 37 };
  static const float largest[] = {0x1p-149f, 0x1.8p-127f,  0x1p-126f,         0x1p-121f,
                                  0x1p-120f, 0x1.fcp-120f, 0x1.fbffffcp-120f, 0x1.fcp-119f};
  for (int i = 0; i < COUNT_OF(largest); i++) {
    float x[COLS], scales[2];
    int8_t y[2][COLS];
    for (int j = 0; j < COLS; j++) x[j] = (j % 2 ? -1.0f : 1.0f) * largest[i] / (float)(1 << j % 11);
    x[5] = -0x1.8p-127f;
    for (int flushed = 0; flushed < 2; flushed++) {
      const attn2c_flush modes = flushed ? attn2c_flush_on() : 0;
      attn2c_quantise(y[flushed], &scales[flushed], x, 1, COLS, COLS, COLS, 1);
      if (flushed) attn2c_flush_restore(modes);
    }
    cr_assert(scales[0] == 0x1p-125f && scales[1] == scales[0], "%a: %a, %a", (double)largest[i],
              (double)scales[0], (double)scales[1]);
    cr_assert_arr_eq(y[0], y[1], sizeof y[0]);
    for (int j = 0; j < COLS; j++) {
      const double back = (double)integer_of(y[0][j]) * (double)scales[0];
      cr_assert_leq(fabs(back - (double)x[j]), 0x1p-126, "%a: %a, not %a", (double)largest[i], back,
                    (double)x[j]);
    }
  }
}
