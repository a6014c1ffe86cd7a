/* test_kept.c - keys and values that a state keeps as integers (ops/kept.h): scores and contexts of pages to
 * which rows were added, and the repair of a context, as plain loops have them; rounding to odd integers; and
 * the Hadamard matrix (ops/hadamard.h). Sizes are odd, buffers guarded, some numbers NaN. */
#define _DEFAULT_SOURCE
#include "ops/hadamard.h"
#include "ops/kept.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST_PANEL = 128, MOST_COLS = 64, PAGES = 2, MOST_ROWS = 7, MOST_KEYS = PAGES * MOST_PANEL };

static uint32_t state = 11;

/* Returns a number from -most to most. */
static float next(float most) {
  state = state * 1664525u + 1013904223u;
  return ((float)(state >> 8) / 8388608.0f - 1.0f) * most;
}

/* Keys or values of a head, in pages, and as floats. */
typedef struct {
  int panel, cols, bits;
  ptrdiff_t page; /* bytes */
  int8_t *pages;
  float number[MOST_KEYS][MOST_COLS];
} kept;

typedef void (*add_rows)(int8_t *, const int8_t *, const float *, int, int, int, int, int, int, int);

/* Adds keys of random integers, `step` at a time; a key with the number `odd` has a scale that is infinite.
 */
static void fill(kept *k, add_rows add, int keys, int step, int odd) {
  for (int first = 0; first < keys; first += step) {
    const int rows = keys - first < step ? keys - first : step, ldx = k->cols + 3, lds = 2;
    int8_t *x = guarded_allocate((size_t)((rows - 1) * ldx + k->cols));
    float *scale = guarded_allocate((size_t)((rows - 1) * lds + 1) * sizeof *scale);
    for (int i = 0; i < rows; i++) {
      scale[i * lds] = first + i == odd ? INFINITY : fabsf(next(3)) + 0.01f;
      for (int j = 0; j < k->cols; j++) {
        const int integer = k->bits == 4 ? 2 * (int)(next(7.9f) + 8) - 15 : (int)next(127.9f);
        x[i * ldx + j] = (int8_t)(uint8_t)(integer + ATTN2C_INT8_ZERO);
        k->number[first + i][j] = first + i == odd ? NAN : (float)integer * scale[i * lds];
      }
    }
    for (int i = 0; i < rows;) { /* the rows of one page at a time */
      const int key = first + i, left = k->panel - key % k->panel;
      const int count = rows - i < left ? rows - i : left;
      add(k->pages + key / k->panel * k->page, x + i * ldx, scale + i * lds, key % k->panel, count, k->cols,
          ldx, lds, k->panel, k->bits);
      i += count;
    }
    guarded_free(x, (size_t)((rows - 1) * ldx + k->cols));
    guarded_free(scale, (size_t)((rows - 1) * lds + 1) * sizeof *scale);
  }
}

static void begin(kept *k, int cols, int bits, int panel, int are_keys) {
  k->panel = panel, k->cols = cols, k->bits = bits;
  k->page = are_keys ? attn2c_kept_key_page(cols, bits, panel) : attn2c_kept_value_page(cols, bits, panel);
  k->pages = guarded_allocate((size_t)(PAGES * k->page));
  memset(k->pages, 0x5a, (size_t)(PAGES * k->page));
}

/* Functions for one head width, bits and panel, which emitted code calls with constants. */
#define SHAPES(each)                                                                                         \
  each(64, 8, 64) each(64, 4, 64) each(7, 8, 16) each(7, 4, 16) each(20, 8, 64) each(20, 4, 64)              \
      each(33, 4, 128) each(48, 8, 128) each(1, 8, 16) each(40, 4, 64)

#define FUNCTIONS(cols, bits, panel)                                                                         \
  __attribute__((noinline)) static void scores_##cols##_##bits(                                              \
      float *s, const int8_t *q, const int8_t *page, int rows, int keys, int lds, int ldq) {                 \
    attn2c_scores_of_page(s, q, page, rows, keys, cols, lds, ldq, panel, bits);                              \
  }                                                                                                          \
  __attribute__((noinline)) static void context_##cols##_##bits(                                             \
      float *c, const float *p, const int8_t *page, int rows, int keys, int ldc, int ldp) {                  \
    attn2c_context_of_page(c, p, page, rows, keys, cols, ldc, ldp, panel, bits);                             \
  }                                                                                                          \
  __attribute__((noinline)) static void repair_##cols##_##bits(float *c, const float *p, const int8_t *v,    \
                                                               int rows, int keys, int ldc, int ldp, int lo, \
                                                               int hi, int valid) {                          \
    attn2c_context_repair_bytes(c, p, v, rows, keys, cols, ldc, ldp, panel, bits, lo, hi, valid);            \
  }
SHAPES(FUNCTIONS)

static const struct {
  int cols, bits, panel;
  void (*scores)(float *, const int8_t *, const int8_t *, int, int, int, int);
  void (*context)(float *, const float *, const int8_t *, int, int, int, int);
  void (*repair)(float *, const float *, const int8_t *, int, int, int, int, int, int, int);
} shapes[] = {
#define ENTRY(cols, bits, panel)                                                                             \
  {cols, bits, panel, scores_##cols##_##bits, context_##cols##_##bits, repair_##cols##_##bits},
    SHAPES(ENTRY)};

enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

/* Queries have 16 bits: an error of a 65,024th of the largest of each query, and roundings of floats. */
static double limit(const float *x, const float *y, int count, int stride) {
  double largest = 0, others = 0, magnitude = 0;
  for (int i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)x[i]));
    others += fabs((double)y[i * stride]);
    magnitude += fabs((double)x[i] * (double)y[i * stride]);
  }
  return 0.52 * largest / 127 / 256 * others + 8 * 6e-8 * magnitude;
}

Test(kept, scores_are_those_of_the_keys_that_were_added) {
  static kept k;
  for (int shape = 0; shape < SHAPE_COUNT; shape++)
    for (int rows = 1; rows <= MOST_ROWS; rows++) {
      const int cols = shapes[shape].cols, panel = shapes[shape].panel, keys = panel - 3;
      const int ldq = ATTN2C_KEPT_HEAD + ATTN2C_KEPT_EACH_BYTES * attn2c_kept_all(cols), lds = panel + 16;
      const int padded = (keys + 15) / 16 * 16;
      begin(&k, cols, shapes[shape].bits, panel, 1);
      fill(&k, attn2c_add_bytes_of_keys, keys, rows, 5);
      float *q = guarded_allocate((size_t)(rows * cols) * sizeof *q);
      int8_t *integers = guarded_allocate((size_t)(rows * ldq));
      float *s = guarded_allocate((size_t)(rows * lds) * sizeof *s);
      for (int i = 0; i < rows * cols; i++) q[i] = next(2);
      attn2c_integers_of_queries(integers, q, rows, cols, cols, ldq);
      shapes[shape].scores(s, integers, k.pages, rows, padded, lds, ldq);
      for (int r = 0; r < rows; r++)
        for (int key = 0; key < keys; key++) {
          double sum = 0;
          for (int j = 0; j < cols; j++) sum += (double)q[r * cols + j] * (double)k.number[key][j];
          const float got = s[r * lds + key];
          cr_assert(key == 5 ? isnan(got)
                             : fabs((double)got - sum) <= limit(q + r * cols, k.number[key], cols, 1),
                    "shape %d, row %d of %d, key %d: %.9g, not %.9g", shape, r, rows, key, (double)got, sum);
        }
      guarded_free(q, (size_t)(rows * cols) * sizeof *q);
      guarded_free(integers, (size_t)(rows * ldq));
      guarded_free(s, (size_t)(rows * lds) * sizeof *s);
      guarded_free(k.pages, (size_t)(PAGES * k.page));
    }
}

/* The product of the scales of such keys and of a query is too small for a float. So is a score of keys this
 * large, divided by the scale of a query. */
Test(kept, scores_of_tiny_and_of_large_scales) {
  static const struct {
    float key, query;
  } of[] = {{0x1p-125f, 2}, {0x1p-125f, 0x1p-20f}, {0x1p-125f, 0x1p120f}, {0x1p100f, 0x1p-110f}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    static kept k;
    float q[64], s[64];
    int8_t integers[ATTN2C_KEPT_HEAD + ATTN2C_KEPT_EACH_BYTES * 64];
    begin(&k, 64, 8, 64, 1);
    fill(&k, attn2c_add_bytes_of_keys, 64, 64, -1);
    for (int key = 0; key < 64; key++) {
      float *scale = (float *)(void *)k.pages + key;
      for (int j = 0; j < 64; j++) k.number[key][j] = k.number[key][j] / *scale * of[i].key;
      *scale = of[i].key;
    }
    for (int j = 0; j < 64; j++) q[j] = next(of[i].query);
    attn2c_integers_of_queries(integers, q, 1, 64, 64, sizeof integers);
    scores_64_8(s, integers, k.pages, 1, 64, 64, sizeof integers);
    for (int key = 0; key < 64; key++) {
      double sum = 0;
      for (int j = 0; j < 64; j++) sum += (double)q[j] * (double)k.number[key][j];
      cr_assert(fabs((double)s[key] - sum) <= limit(q, k.number[key], 64, 1) + 0x1p-140, "%zu: %g, not %g", i,
                (double)s[key], sum);
    }
    guarded_free(k.pages, (size_t)(PAGES * k.page));
  }
}

/* A query with a number that is not finite has no scores. */
Test(kept, scores_of_an_infinite_query_are_nan) {
  static kept k;
  float q[64] = {1, 2, INFINITY}, s[64];
  int8_t integers[ATTN2C_KEPT_HEAD + ATTN2C_KEPT_EACH_BYTES * 64];
  begin(&k, 64, 8, 64, 1);
  fill(&k, attn2c_add_bytes_of_keys, 64, 64, -1);
  attn2c_integers_of_queries(integers, q, 1, 64, 64, sizeof integers);
  scores_64_8(s, integers, k.pages, 1, 64, 64, sizeof integers);
  for (int i = 0; i < 64; i++) cr_assert(isnan(s[i]), "%d", i);
  guarded_free(k.pages, (size_t)(PAGES * k.page));
}

/* A row has the same bits beside others as by itself, and with keys after it whose weights are 0. */
Test(kept, contexts_are_those_of_the_values_that_were_added) {
  static kept k;
  for (int shape = 0; shape < SHAPE_COUNT; shape++)
    for (int rows = 1; rows <= MOST_ROWS; rows++) {
      const int cols = shapes[shape].cols, panel = shapes[shape].panel, keys = 2 * panel - 5, ldc = cols + 1;
      begin(&k, cols, shapes[shape].bits, panel, 0);
      fill(&k, attn2c_add_bytes_of_values, keys, 2 * rows + 1, -1);
      float *p = guarded_allocate((size_t)(rows * keys) * sizeof *p);
      float *c = guarded_allocate((size_t)(rows * ldc) * sizeof *c), alone[MOST_COLS] = {0};
      memset(c, 0, (size_t)(rows * ldc) * sizeof *c);
      for (int i = 0; i < rows * keys; i++) p[i] = fabsf(next(1));
      for (int i = 0; i < 9; i++) p[rows * keys - 1 - i] = 0;
      shapes[shape].context(c, p, k.pages, rows, panel, ldc, keys);
      shapes[shape].context(c, p + panel, k.pages + k.page, rows, keys - panel, ldc, keys);
      for (int r = 0; r < rows; r++)
        for (int j = 0; j < cols; j++) {
          double sum = 0, allowed = 0;
          for (int key = 0; key < keys; key++) sum += (double)p[r * keys + key] * (double)k.number[key][j];
          const int together = panel < 64 ? panel : 64; /* whose weights times scales are rounded together */
          for (int first = 0; first < keys; first += together) {
            double largest = 0, others = 0;
            for (int key = first; key < first + together && key < keys; key++) {
              const float *page = (const float *)(const void *)(k.pages + key / panel * k.page);
              const double scale = page[key % panel];
              largest = fmax(largest, (double)p[r * keys + key] * scale);
              others += fabs((double)k.number[key][j]) / scale;
            }
            allowed += 0.52 * largest / 127 / 256 * others;
          }
          for (int key = 0; key < keys; key++)
            allowed += 12 * 6e-8 * fabs((double)p[r * keys + key] * (double)k.number[key][j]);
          const float got = c[r * ldc + j];
          cr_assert(fabs((double)got - sum) <= allowed, "shape %d, row %d of %d, column %d: %.9g, not %.9g",
                    shape, r, rows, j, (double)got, sum);
        }
      const float *last = p + (rows - 1) * keys;
      shapes[shape].context(alone, last, k.pages, 1, panel, cols, keys);
      shapes[shape].context(alone, last + panel, k.pages + k.page, 1, keys - panel - 9, cols, keys);
      cr_assert(memcmp(alone, c + (rows - 1) * ldc, (size_t)cols * sizeof *c) == 0, "shape %d", shape);
      guarded_free(p, (size_t)(rows * keys) * sizeof *p);
      guarded_free(c, (size_t)(rows * ldc) * sizeof *c);
      guarded_free(k.pages, (size_t)(PAGES * k.page));
    }
}

/* Row r sees keys [lo + r, hi + r) below `valid`, over two pages; a value that no row sees is NaN. A repaired
 * row has the bits that it would have had without NaN. A row that is finite stays. */
Test(kept, a_context_is_repaired_over_the_keys_that_its_mask_keeps) {
  static kept k;
  for (int shape = 0; shape < SHAPE_COUNT; shape++) {
    enum { ROWS = 5 };
    const int cols = shapes[shape].cols, panel = shapes[shape].panel, keys = 2 * panel;
    const int lo = panel - 9, hi = panel + 4, valid = panel + 6;
    float p[ROWS * MOST_KEYS], c[ROWS * MOST_COLS], want[MOST_COLS];
    begin(&k, cols, shapes[shape].bits, panel, 0);
    fill(&k, attn2c_add_bytes_of_values, keys, panel, lo - 1);
    for (int i = 0; i < ROWS * keys; i++) p[i] = fabsf(next(1));
    for (int i = 0; i < ROWS * cols; i++) c[i] = i / cols == 1 ? 7.0f : NAN;
    shapes[shape].repair(c, p, k.pages, ROWS, keys, cols, keys, lo, hi, valid);
    const float nothing = 0;
    memcpy(k.pages + (lo - 1) * (int)sizeof nothing, &nothing, sizeof nothing); /* the scale that was NaN */
    for (int r = 0; r < ROWS; r++) {
      float seen[MOST_KEYS] = {0};
      memset(want, 0, sizeof want);
      for (int key = lo + r; key < hi + r && key < valid; key++) seen[key] = p[r * keys + key];
      shapes[shape].context(want, seen, k.pages, 1, panel, cols, keys);
      shapes[shape].context(want, seen + panel, k.pages + k.page, 1, panel, cols, keys);
      for (int j = 0; j < cols; j++)
        cr_assert(c[r * cols + j] == (r == 1 ? 7.0f : want[j]), "shape %d, row %d, column %d: %a, not %a",
                  shape, r, j, (double)c[r * cols + j], (double)want[j]);
    }
    guarded_free(k.pages, (size_t)(PAGES * k.page));
  }
}

Test(kept, rows_become_odd_integers) {
  enum { ROWS = 3, HEADS = 2, WIDTH = 9, LDX = HEADS * WIDTH + 1, LDY = HEADS * WIDTH + 2, LDS = 3 };
  float x[ROWS * LDX], scale[ROWS * LDS];
  int8_t y[ROWS * LDY];
  for (int i = 0; i < ROWS * LDX; i++) x[i] = next(i < LDX ? 1e-3f : 5);
  memset(x + LDX, 0, WIDTH * sizeof *x);
  x[2 * LDX + 3] = NAN;
  attn2c_quantise_odd(y, scale, x, ROWS, HEADS, WIDTH, LDX, LDY, LDS);
  for (int r = 0; r < ROWS; r++)
    for (int h = 0; h < HEADS; h++) {
      double largest = 0;
      const float own = scale[r * LDS + h];
      for (int j = 0; j < WIDTH; j++) largest = fmax(largest, fabs((double)x[r * LDX + h * WIDTH + j]));
      if (r == 2 && h == 0) {
        cr_assert(isnan(own));
        continue;
      }
      cr_assert_float_eq(own, fmax(largest / 16, 0x1p-125), largest * 1e-7);
      for (int j = 0; j < WIDTH; j++) {
        const int integer = (int8_t)(uint8_t)((uint8_t)y[r * LDY + h * WIDTH + j] - ATTN2C_INT8_ZERO);
        cr_assert(integer % 2 != 0 && integer >= -15 && integer <= 15, "%d", integer);
        cr_assert(fabs(integer * (double)own - (double)x[r * LDX + h * WIDTH + j]) <= (double)own * 1.00001);
      }
    }
}

/* H[i][j] is -1 to the power of the number of bits that i and j share. */
Test(hadamard, turns_each_block_and_undoes_itself) {
  static const struct {
    int heads, width, block;
  } sizes[] = {{1, 2, 2}, {3, 20, 4}, {2, 64, 64}, {1, 128, 128}, {2, 48, 16}, {1, 512, 256}};
  for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
    const int heads = sizes[size].heads, width = sizes[size].width, block = sizes[size].block;
    const int cols = heads * width, ld = cols + 3;
    const float factor = (float)(1 / sqrt(block));
    float *x = guarded_allocate((size_t)(ld + cols) * sizeof *x);
    float *y = guarded_allocate((size_t)(ld + cols) * sizeof *y);
    for (int i = 0; i < ld + cols; i++) x[i] = next(3);
    attn2c_hadamard(y, x, 2, heads, width, block, factor, ld, ld);
    for (int r = 0; r < 2; r++)
      for (int i = 0; i < cols; i++) {
        const float *in = x + r * ld + i / block * block;
        double sum = 0, magnitude = 0;
        for (int j = 0; j < block; j++) {
          sum += __builtin_parity((unsigned)(i % block & j)) ? -(double)in[j] : (double)in[j];
          magnitude += fabs((double)in[j]);
        }
        cr_assert(fabs((double)y[r * ld + i] - sum * (double)factor) <=
                  12 * 6e-8 * magnitude * (double)factor);
      }
    attn2c_hadamard(y, y, 2, heads, width, block, factor, ld, ld);
    for (int r = 0; r < 2; r++)
      for (int i = 0; i < cols; i++) cr_assert_float_eq(y[r * ld + i], x[r * ld + i], 1e-5);
    guarded_free(x, (size_t)(ld + cols) * sizeof *x);
    guarded_free(y, (size_t)(ld + cols) * sizeof *y);
  }
}
