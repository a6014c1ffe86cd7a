/* test_rowops_topk.c - the k largest of rows (runtime/ops/topk.h) against a plain sort, at odd sizes known to
 * the compiler, with padded rows, equal numbers, NaN and infinity, and guard pages after every buffer. */
#define _DEFAULT_SOURCE
#include "ops/rowops.h"
#include "guarded.h"
#include "shapes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* One function a size, as the wrappers of emitted code: columns, and how many of them. */
#define SIZES(each)                                                                                          \
  each(1, 1) each(2, 1) each(2, 2) each(17, 5) each(40, 40) each(300, 1) each(300, 7) each(2000, 1024)

#define SIZED(cols, k)                                                                                       \
  NOINLINE void values_##cols##_##k(float *y, const float *x, int rows, int ldx, int ldy) {                  \
    attn2c_topk_values(y, x, rows, cols, k, ldx, ldy);                                                       \
  }                                                                                                          \
  NOINLINE void indices_##cols##_##k(int32_t *y, const float *x, int rows, int ldx, int ldy) {               \
    attn2c_topk_indices(y, x, rows, cols, k, ldx, ldy);                                                      \
  }
SIZES(SIZED)

static const struct {
  int cols, k;
  void (*values)(float *, const float *, int, int, int);
  void (*indices)(int32_t *, const float *, int, int, int);
} sized[] = {
#define ENTRY(cols, k) {cols, k, values_##cols##_##k, indices_##cols##_##k},
    SIZES(ENTRY)};

static const float *sorted_row;

/* Falling; NaN first; the first of equals first. */
static int in_order(const void *left, const void *right) {
  const int i = *(const int *)left, j = *(const int *)right;
  const float a = sorted_row[i], b = sorted_row[j];
  if (isnan(a) != isnan(b)) return isnan(a) ? -1 : 1;
  if (a > b || a < b) return a > b ? -1 : 1;
  return i - j;
}

static void expect(size_t s, int form, uint32_t seed) {
  const int rows = 3, cols = sized[s].cols, k = sized[s].k, ld = cols + form % 3, ldy = k + form % 2;
  float *x = guarded_matrix(rows, cols, ld, seed, 0.0f, form == 1 ? 1e30f : 2.0f);
  float *values = guarded_matrix(rows, k, ldy, 1, 0.0f, 1.0f);
  int32_t *indices = guarded_allocate((size_t)(rows * ldy) * sizeof *indices);
  for (int e = 0; e < (rows - 1) * ld + cols; e++) {
    if (form == 2) x[e] = roundf(x[e]); /* many equals, 0 of both signs */
    if (form == 3 && e % 7 == 0) x[e] = e % 2 ? NAN : -INFINITY;
    if (form == 3 && e % 11 == 0) x[e] = INFINITY;
    if (form == 4) x[e] = (float)e; /* rising: each is the largest so far */
    if (form == 5) x[e] = 1.0f;
  }
  sized[s].values(values, x, rows, ld, ldy);
  sized[s].indices(indices, x, rows, ld, ldy);
  int *order = malloc((size_t)cols * sizeof *order);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < cols; j++) order[j] = j;
    sorted_row = x + i * ld;
    qsort(order, (size_t)cols, sizeof *order, in_order);
    for (int j = 0; j < k; j++) {
      cr_assert_eq(indices[i * ldy + j], order[j], "form %d, %d of %d: %d, not %d", form, j, cols,
                   indices[i * ldy + j], order[j]);
      const float want = sorted_row[order[j]], got = values[i * ldy + j];
      cr_assert(isnan(want) ? isnan(got) : want == got, "form %d, %d of %d: %g, not %g", form, j, cols, got,
                want);
    }
  }
  free(order);
  guarded_free(indices, (size_t)(rows * ldy) * sizeof *indices);
  guarded_matrix_free(values, rows, k, ldy);
  guarded_matrix_free(x, rows, cols, ld);
}

Test(topk, against_a_sort) {
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (int form = 0; form < 6; form++) expect(s, form, (uint32_t)(10 * s) + (uint32_t)form);
}
