/* test_rowops_softmax.c - the softmax of an output's rows and its logarithm (runtime/ops/softmax_rows.h)
 * against plain loops in double, at odd sizes known to the compiler, with padded rows, NaN and infinity. */
#define _DEFAULT_SOURCE
#include "ops/rowops.h"
#include "guarded.h"
#include "shapes.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

/* One function a size, as the wrappers of emitted code. */
#define COLUMNS(each)                                                                                        \
  each(1) each(2) each(15) each(16) each(17) each(63) each(255) each(256) each(257) each(1000)

#define SIZED(cols)                                                                                          \
  NOINLINE void softmax_##cols(float *y, const float *x, int rows, int ldx, int ldy) {                       \
    attn2c_softmax_rows(y, x, rows, cols, ldx, ldy);                                                         \
  }                                                                                                          \
  NOINLINE void logarithm_##cols(float *y, const float *x, int rows, int ldx, int ldy) {                     \
    attn2c_log_softmax(y, x, rows, cols, ldx, ldy);                                                          \
  }
COLUMNS(SIZED)

typedef void function(float *, const float *, int, int, int);

static const struct {
  int cols;
  function *functions[2];
} sized[] = {
#define ENTRY(cols) {cols, {softmax_##cols, logarithm_##cols}},
    COLUMNS(ENTRY)};

static void expect(const float *y, const float *x, int cols, int logarithm) {
  double largest = -INFINITY, sum = 0;
  for (int j = 0; j < cols; j++) largest = x[j] > largest ? x[j] : largest;
  for (int j = 0; j < cols; j++) sum += exp(x[j] - largest);
  for (int j = 0; j < cols; j++) {
    const double t = x[j] - largest, want = logarithm ? t - log(sum) : exp(t) / sum;
    const double allowed = logarithm ? (6 + fabs(want)) * FLT_EPSILON
                                     : (6 + fmin(fabs(t), 1e3) / 2) * want * FLT_EPSILON + FLT_MIN;
    if (isnan(want))
      cr_assert(isnan(y[j]), "%d of %d: expected NaN, got %g", j, cols, y[j]);
    else if (isinf(want))
      cr_assert_eq(y[j], want);
    else
      cr_assert(fabs(y[j] - want) <= allowed, "%d of %d: expected %.9g, got %.9g", j, cols, want, y[j]);
  }
}

Test(softmax_rows, against_double) {
  static const float cases[][2] = {{0, 1}, {100, 1}, {-3, 30}, {0, 1e-3f}, {0, 1e4f}};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t k = 0; k < COUNT_OF(cases); k++)
      for (int rows = 1; rows <= 3; rows += 2)
        for (int logarithm = 0; logarithm < 2; logarithm++) {
          const int cols = sized[s].cols, ld = cols + 3 * (rows - 1);
          float *x = guarded_matrix(rows, cols, ld, (uint32_t)(s + k), cases[k][0], cases[k][1]);
          float *y = guarded_matrix(rows, cols, ld + 1, 1, 0.0f, 1.0f);
          sized[s].functions[logarithm](y, x, rows, ld, ld + 1);
          for (int i = 0; i < rows; i++) expect(y + i * (ld + 1), x + i * ld, cols, logarithm);
          cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
          sized[s].functions[logarithm](x, x, rows, ld, ld); /* in place: the same bits */
          for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) cr_assert_eq(x[i * ld + j], y[i * (ld + 1) + j]);
          guarded_matrix_free(x, rows, cols, ld);
          guarded_matrix_free(y, rows, cols, ld + 1);
        }
}

Test(softmax_rows, special_values_stay_in_their_row) {
  static const float values[] = {NAN, INFINITY, -INFINITY};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t v = 0; v < COUNT_OF(values); v++)
      for (int at = 0; at < sized[s].cols; at += 1 + sized[s].cols / 40)
        for (int logarithm = 0; logarithm < 2; logarithm++) {
          const int cols = sized[s].cols;
          float *x = guarded_matrix(3, cols, cols, 9, 0.0f, 1.0f);
          float *y = guarded_matrix(3, cols, cols, 9, 0.0f, 1.0f);
          x[cols + at] = values[v];
          sized[s].functions[logarithm](y, x, 3, cols, cols);
          for (int i = 0; i < 3; i++) expect(y + i * cols, x + i * cols, cols, logarithm);
          guarded_matrix_free(x, 3, cols, cols);
          guarded_matrix_free(y, 3, cols, cols);
        }
}

/* Where one number leads by far, its logarithm is that of 1 and not that of a rounded probability. */
Test(log_softmax, keeps_what_a_probability_loses) {
  float x[2] = {0.0f, -200.0f}, y[2];
  logarithm_2(y, x, 1, 2, 2);
  cr_assert_eq(y[0], 0.0f);
  cr_assert_eq(y[1], -200.0f);
}

Test(log_softmax, of_sums_up_to_a_million) {
  for (float sum = 1.0f; sum < 2e6f; sum *= 1.0007f) {
    const double want = log((double)sum);
    cr_assert(fabs(attn2c_log(sum) - want) <= 1.5 * FLT_EPSILON * fmax(want, 0.2), "%.9g", sum);
  }
}
