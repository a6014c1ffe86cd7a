/* test_kept.c - keys and values that a state keeps as integers (ops/kept.h): what is added to pages and
 * widened again, and the repair of a context, as plain loops have them, at odd sizes, in guarded buffers,
 * with NaN. */
#define _DEFAULT_SOURCE
#include "ops/kept.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>

enum { PANEL = 16, COLS = 7, ROWS = 5, LDX = COLS + 3, LDS = 2, PAGE = PANEL * ((int)sizeof(float) + COLS) };

static uint32_t state = 11;

/* Returns a number from -most to most. */
static float next(float most) {
  state = state * 1664525u + 1013904223u;
  return ((float)(state >> 8) / 8388608.0f - 1.0f) * most;
}

/* Returns an integer of a row as attn2c_quantise stores it. */
static int8_t stored(int integer) { return (int8_t)(uint8_t)(integer + ATTN2C_INT8_ZERO); }

typedef void (*add_rows)(int8_t *, const int8_t *, const float *, int, int, int, int, int, int);
typedef void (*widen)(float *, const int8_t *, int, int, int);

/* Adds rows from key `first` on and from key `first + ROWS` on, in that order, as two calls do. The scale of
 * one is infinite. Compares the widened page with integer times scale; at(key, column): the place of an
 * element. */
static void check_page(add_rows add, widen widened, int first, int rows, int (*at)(int, int)) {
  int8_t *page = guarded_allocate(PAGE);
  int8_t *x = guarded_allocate((ROWS - 1) * LDX + COLS);
  float *scale = guarded_allocate(((ROWS - 1) * LDS + 1) * sizeof *scale);
  float *y = guarded_allocate(PANEL * COLS * sizeof *y), want[PANEL][COLS];
  memset(page, 0, PAGE);
  for (int call = 0; call < 2; call++) {
    const int begin = first + call * ROWS;
    for (int i = 0; i < ROWS; i++) {
      scale[i * LDS] = call == 1 && i == 2 ? INFINITY : fabsf(next(3)) + 0.01f;
      for (int j = 0; j < COLS; j++) {
        const int integer = (int)next(127);
        x[i * LDX + j] = stored(integer);
        want[begin + i][j] = call == 1 && i == 2 ? NAN : (float)integer * scale[i * LDS];
      }
    }
    add(page, x, scale, begin, ROWS, COLS, LDX, LDS, PANEL);
  }
  widened(y, page, rows, COLS, PANEL);
  for (int key = first; key < first + 2 * ROWS; key++)
    for (int j = 0; j < COLS; j++) {
      const float got = y[at(key, j)];
      cr_assert(isnan(want[key][j]) ? isnan(got) : got == want[key][j], "key %d, column %d: %a, not %a", key,
                j, (double)got, (double)want[key][j]);
    }
  guarded_free(page, PAGE);
  guarded_free(x, (ROWS - 1) * LDX + COLS);
  guarded_free(scale, ((ROWS - 1) * LDS + 1) * sizeof *scale);
  guarded_free(y, PANEL * COLS * sizeof *y);
}

static int key_at(int key, int column) { return column * PANEL + key; }
static int value_at(int key, int column) { return key * COLS + column; }

Test(kept, keys_are_widened_as_they_were_added) {
  for (int first = 0; first <= PANEL - 2 * ROWS; first++)
    check_page(attn2c_add_bytes_of_keys, attn2c_widen_keys, first, PANEL, key_at);
}

Test(kept, values_are_widened_as_they_were_added) {
  for (int first = 0; first <= PANEL - 2 * ROWS; first++)
    check_page(attn2c_add_bytes_of_values, attn2c_widen_values, first, PANEL, value_at);
}

/* Row r sees keys [lo + r, hi + r) below `valid`, over two pages; a masked value is NaN. A row that is finite
 * stays. */
Test(kept, a_context_is_repaired_over_the_keys_that_its_mask_keeps) {
  enum { KEYS = 2 * PANEL, LO = 3, HI = 20, VALID = 21 };
  int8_t *pages = guarded_allocate(2 * PAGE), row[COLS];
  float value[KEYS][COLS], p[ROWS * KEYS];
  memset(pages, 0, 2 * PAGE);
  for (int key = 0; key < KEYS; key++) {
    const float scale = key < LO || key >= VALID ? NAN : fabsf(next(2)) + 0.01f;
    for (int j = 0; j < COLS; j++) {
      const int integer = (int)next(127);
      row[j] = stored(integer), value[key][j] = (float)integer * scale;
    }
    attn2c_add_bytes_of_values(pages + key / PANEL * PAGE, row, &scale, key % PANEL, 1, COLS, COLS, 1, PANEL);
  }
  float *c = guarded_allocate(ROWS * COLS * sizeof *c);
  for (int i = 0; i < ROWS * KEYS; i++) p[i] = fabsf(next(1));
  for (int i = 0; i < ROWS * COLS; i++) c[i] = i / COLS == 1 ? 7.0f : NAN;
  attn2c_context_repair_bytes(c, p, pages, ROWS, KEYS, COLS, COLS, KEYS, PANEL, LO, HI, VALID);
  for (int r = 0; r < ROWS; r++)
    for (int j = 0; j < COLS; j++) {
      float sum = 0;
      for (int key = LO + r; key < HI + r && key < VALID; key++)
        sum = ATTN2C_FMA(p[r * KEYS + key], value[key][j], sum);
      cr_assert(c[r * COLS + j] == (r == 1 ? 7.0f : sum), "row %d, column %d: %a, not %a", r, j,
                (double)c[r * COLS + j], (double)sum);
    }
  guarded_free(pages, 2 * PAGE);
  guarded_free(c, ROWS * COLS * sizeof *c);
}
