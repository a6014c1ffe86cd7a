/* test_rowops_rows.c - norms without a mean, tables in panels, adapters, fills, patches, rows around rows,
 * convolutions and means over heads of runtime/ops/rowops.h against plain loops in double, at odd sizes known
 * to the compiler, with padded rows, NaN and infinity, and a page without access right after every buffer. */
#define _DEFAULT_SOURCE
#include "ops/rowops.h"
#include "guarded.h"
#include "shapes.h"

#include <criterion/criterion.h>
#include <math.h>

static const int row_counts[] = {1, 3, 8, 17};
static const int paddings[] = {0, 3, 16};

/* One function a size, as the wrappers of emitted code. */
#define COLUMNS(each)                                                                                        \
  each(1) each(2) each(15) each(16) each(17) each(40) each(63) each(65) each(127) each(768)

#define SIZED(cols)                                                                                          \
  NOINLINE void rms_##cols(float *y, const float *x, const float *gain, int rows, int ldx, int ldy,          \
                           float eps) {                                                                      \
    if (gain)                                                                                                \
      attn2c_rms_norm(y, x, gain, rows, cols, ldx, ldy, eps);                                                \
    else                                                                                                     \
      attn2c_rms_norm(y, x, NULL, rows, cols, ldx, ldy, eps);                                                \
  }                                                                                                          \
  NOINLINE void normalise_##cols(float *y, const float *x, int rows, int ldx, int ldy, float eps) {          \
    attn2c_normalise(y, x, rows, cols, ldx, ldy, eps);                                                       \
  }                                                                                                          \
  NOINLINE void row_length_##cols(float *y, const float *x, int rows, int ldx, int ldy) {                    \
    attn2c_row_length(y, x, rows, cols, ldx, ldy);                                                           \
  }                                                                                                          \
  NOINLINE void sparsify_##cols(float *y, const float *x, int rows, int ldx, int ldy, float factor) {        \
    attn2c_sparsify(y, x, rows, cols, ldx, ldy, factor);                                                     \
  }                                                                                                          \
  NOINLINE void fill_##cols(float *y, int rows, int ldy, float value) {                                      \
    attn2c_fill(y, rows, cols, ldy, value);                                                                  \
  }                                                                                                          \
  NOINLINE void mean_##cols(float *y, const float *x, int heads, int rows, int stride, int ldx, int ldy) {   \
    attn2c_mean_heads(y, x, heads, rows, cols, stride, ldx, ldy);                                            \
  }
COLUMNS(SIZED)

static const struct {
  int cols;
  void (*rms)(float *, const float *, const float *, int, int, int, float);
  void (*normalise)(float *, const float *, int, int, int, float);
  void (*row_length)(float *, const float *, int, int, int);
  void (*sparsify)(float *, const float *, int, int, int, float);
  void (*fill)(float *, int, int, float);
  void (*mean)(float *, const float *, int, int, int, int, int);
} sized[] = {
#define ENTRY(cols)                                                                                          \
  {cols, rms_##cols, normalise_##cols, row_length_##cols, sparsify_##cols, fill_##cols, mean_##cols},
    COLUMNS(ENTRY)};

/* y = x / divisor * gain, where every result has the same small relative error. */
static void expect_divided(const float *y, const float *x, const float *gain, int cols, double divisor) {
  for (int j = 0; j < cols; j++) {
    const double expected = x[j] / divisor * (gain ? gain[j] : 1);
    if (isnan(expected))
      cr_assert(isnan(y[j]), "%d of %d: expected NaN, got %g", j, cols, y[j]);
    else
      cr_assert(fabs(y[j] - expected) <= 5e-7 * fabs(expected), "%d of %d: expected %.9g, got %.9g", j, cols,
                expected, y[j]);
  }
}

static double square_sum(const float *x, int cols) {
  double squares = 0;
  for (int j = 0; j < cols; j++) squares += (double)x[j] * x[j];
  return squares;
}

static void expect_rms(const float *y, const float *x, const float *gain, int cols, double eps) {
  expect_divided(y, x, gain, cols, sqrt(square_sum(x, cols) / cols + eps));
}

static void expect_length_one(const float *y, const float *x, int cols, double eps) {
  const double norm = sqrt(square_sum(x, cols));
  expect_divided(y, x, NULL, cols, norm < eps ? eps : norm);
}

Test(rms_norm, against_double) {
  static const struct {
    float mean, scale, eps;
  } cases[] = {{0.0f, 1.0f, 1e-6f}, {100.0f, 1.04f, 1e-5f}, {0.0f, 1e-3f, 1e-5f}, {0.0f, 1e4f, 1e-12f}};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(cases); k++) for (int form = 0; form < 2; form++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, cases[k].mean, cases[k].scale);
    float *y = guarded_matrix(rows, cols, ld + 1, seed, 0.0f, 1.0f);
    float *gain = guarded_matrix(1, cols, cols, seed + 1, 1.0f, 0.5f);
    const float *g = form ? gain : NULL;
    sized[s].rms(y, x, g, rows, ld, ld + 1, cases[k].eps);
    for (int i = 0; i < rows; i++) expect_rms(y + i * (ld + 1), x + i * ld, g, cols, cases[k].eps);
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    sized[s].rms(x, x, g, rows, ld, ld, cases[k].eps); /* in place: the same bits */
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(x[i * ld + j], y[i * (ld + 1) + j]));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld + 1);
    guarded_matrix_free(gain, 1, cols, cols);
  }
}

/* Heads of 7 columns in rows of 21 and 35: each is what a norm of only its columns makes, and the padding
 * stays. */
#define HEADS(count)                                                                                         \
  NOINLINE void rms_of_##count(float *y, const float *x, const float *gain, int rows, int ld) {              \
    attn2c_rms_norm_heads(y, x, gain, rows, count, 7, ld, ld, 1e-6f);                                        \
  }                                                                                                          \
  NOINLINE void layer_of_##count(float *y, const float *x, const float *gain, int rows, int ld) {            \
    attn2c_layer_norm_heads(y, x, gain, gain, rows, count, 7, ld, ld, 1e-6f);                                \
  }                                                                                                          \
  NOINLINE void rms_of_each_##count(float *y, const float *x, const float *gain, int rows, int ld) {         \
    attn2c_rms_norm_each(y, x, gain, rows, count, 7, ld, ld, 1e-6f);                                         \
  }                                                                                                          \
  NOINLINE void layer_of_each_##count(float *y, const float *x, const float *gain, int rows, int ld) {       \
    attn2c_layer_norm_each(y, x, gain, rows, count, 7, ld, ld, 1e-6f);                                       \
  }
#define COUNTS(each) each(3) each(5)
COUNTS(HEADS)

Test(norms, of_heads_are_those_of_their_columns) {
  static const struct {
    int heads;
    void (*rms)(float *, const float *, const float *, int, int);
    void (*layer)(float *, const float *, const float *, int, int);
  } of[] = {{3, rms_of_3, layer_of_3}, {5, rms_of_5, layer_of_5}};
  for (size_t k = 0; k < COUNT_OF(of); k++)
    for (int kind = 0; kind < 2; kind++) {
      const int rows = 11, cols = 7 * of[k].heads, ld = cols + 3;
      float *x = guarded_matrix(rows, cols, ld, 5, 0.5f, 2.0f), *y = guarded_matrix(rows, cols, ld, 5, 0, 1);
      float *gain = guarded_matrix(1, 7, 7, 6, 1.0f, 0.5f), want[11 * 7];
      (kind ? of[k].layer : of[k].rms)(y, x, gain, rows, ld);
      cr_assert(guarded_padding_kept(y, rows, cols, ld));
      for (int head = 0; head < of[k].heads; head++) {
        if (kind)
          attn2c_layer_norm(want, x + 7 * head, gain, gain, rows, 7, ld, 7, 1e-6f);
        else
          attn2c_rms_norm(want, x + 7 * head, gain, rows, 7, ld, 7, 1e-6f);
        for (int i = 0; i < rows; i++)
          for (int j = 0; j < 7; j++)
            cr_assert(fabsf(y[i * ld + 7 * head + j] - want[7 * i + j]) <= 1e-5f, "head %d", head);
      }
      (kind ? of[k].layer : of[k].rms)(x, x, gain, rows, ld); /* in place: the same bits */
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) cr_assert(same(x[i * ld + j], y[i * ld + j]));
      guarded_matrix_free(x, rows, cols, ld);
      guarded_matrix_free(y, rows, cols, ld);
      guarded_matrix_free(gain, 1, 7, 7);
    }
}

Test(norms, of_heads_with_a_gain_each) {
  static const struct {
    int heads;
    void (*rms)(float *, const float *, const float *, int, int);
    void (*layer)(float *, const float *, const float *, int, int);
  } of[] = {{3, rms_of_each_3, layer_of_each_3}, {5, rms_of_each_5, layer_of_each_5}};
  for (size_t k = 0; k < COUNT_OF(of); k++)
    for (int kind = 0; kind < 2; kind++) {
      const int rows = 11, cols = 7 * of[k].heads, ld = cols + 3;
      float *x = guarded_matrix(rows, cols, ld, 5, 0.5f, 2.0f), *y = guarded_matrix(rows, cols, ld, 5, 0, 1);
      float *gain = guarded_matrix(1, cols, cols, 6, 1.0f, 0.5f), want[11 * 7];
      (kind ? of[k].layer : of[k].rms)(y, x, gain, rows, ld);
      cr_assert(guarded_padding_kept(y, rows, cols, ld));
      for (int head = 0; head < of[k].heads; head++) {
        if (kind)
          attn2c_layer_norm(want, x + 7 * head, gain + 7 * head, NULL, rows, 7, ld, 7, 1e-6f);
        else
          attn2c_rms_norm(want, x + 7 * head, gain + 7 * head, rows, 7, ld, 7, 1e-6f);
        for (int i = 0; i < rows; i++)
          for (int j = 0; j < 7; j++)
            cr_assert(fabsf(y[i * ld + 7 * head + j] - want[7 * i + j]) <= 1e-5f, "head %d", head);
      }
      guarded_matrix_free(x, rows, cols, ld);
      guarded_matrix_free(y, rows, cols, ld);
      guarded_matrix_free(gain, 1, cols, cols);
    }
}

/* The largest error of max(x - mean - factor deviation, 0), as runtime/check/tolerance.c derives it. */
static void expect_sparse(const float *y, const float *x, int cols, double factor) {
  double mean = 0, variance = 0;
  for (int j = 0; j < cols; j++) mean += (double)x[j] / cols;
  for (int j = 0; j < cols; j++) variance += (x[j] - mean) * (x[j] - mean) / cols;
  const double spread = fabs(factor) * sqrt(variance), rms = sqrt(mean * mean + variance);
  for (int j = 0; j < cols; j++) {
    const double above = x[j] - mean - factor * sqrt(variance), expected = above < 0 ? 0 : above;
    const double off = 5e-7 * (fabs(x[j] - mean) + spread) + 0x1p-22 * rms * (1 + fabs(factor)) + 1e-37;
    if (isnan(expected))
      cr_assert(isnan(y[j]), "%d of %d: expected NaN, got %g", j, cols, y[j]);
    else
      cr_assert(fabs(y[j] - expected) <= (above < -off ? 0 : off), "%d of %d: expected %.9g, got %.9g", j,
                cols, expected, y[j]);
  }
}

Test(sparsify, against_double) {
  static const struct {
    float mean, scale, factor;
  } cases[] = {{0.0f, 1.0f, 1.6448536f}, {100.0f, 1.0f, 0.3f}, {-3.0f, 1e-3f, -1.0f}, {0.0f, 0.0f, 2.0f}};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(cases); k++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, cases[k].mean, cases[k].scale);
    float *y = guarded_matrix(rows, cols, ld + 1, seed, 0.0f, 1.0f);
    if (k == 0) x[0] = NAN;
    sized[s].sparsify(y, x, rows, ld, ld + 1, cases[k].factor);
    for (int i = 0; i < rows; i++) expect_sparse(y + i * (ld + 1), x + i * ld, cols, (double)cases[k].factor);
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    sized[s].sparsify(x, x, rows, ld, ld, cases[k].factor); /* in place: the same bits */
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(x[i * ld + j], y[i * (ld + 1) + j]));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld + 1);
  }
}

Test(row_length, against_double) {
  EACH_SHAPE {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 0.5f, 2.0f),
          *y = guarded_matrix(rows, 1, 3, seed, 0.0f, 1.0f);
    sized[s].row_length(y, x, rows, ld, 3);
    for (int i = 0; i < rows; i++) {
      const double expected = sqrt(square_sum(x + i * ld, cols));
      cr_assert(fabs(y[i * 3] - expected) <= 5e-7 * expected, "%d: expected %.9g, got %.9g", cols, expected,
                y[i * 3]);
    }
    cr_assert(guarded_padding_kept(y, rows, 1, 3));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, 1, 3);
  }
}

Test(normalise, against_double) {
  static const struct {
    float mean, scale, eps;
  } cases[] = {{0.0f, 1.0f, 1e-12f},
               {5.0f, 0.1f, 1e-12f},
               {0.0f, 1e-13f, 1e-12f},
               {0.0f, 0.0f, 1e-12f},
               {0.0f, 1e6f, 1e-3f}};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(cases); k++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, cases[k].mean, cases[k].scale);
    float *y = guarded_matrix(rows, cols, ld + 1, seed, 0.0f, 1.0f);
    sized[s].normalise(y, x, rows, ld, ld + 1, cases[k].eps);
    for (int i = 0; i < rows; i++) expect_length_one(y + i * (ld + 1), x + i * ld, cols, cases[k].eps);
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    sized[s].normalise(x, x, rows, ld, ld, cases[k].eps);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(x[i * ld + j], y[i * (ld + 1) + j]));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld + 1);
  }
}

Test(norms, special_values_stay_in_their_row) {
  static const float values[] = {NAN, INFINITY, -INFINITY};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t v = 0; v < COUNT_OF(values); v++)
      for (int at = 0; at < sized[s].cols; at++) {
        const int cols = sized[s].cols;
        float *x = guarded_matrix(3, cols, cols, 9, 0.0f, 1.0f),
              *y = guarded_matrix(3, cols, cols, 9, 0.0f, 1.0f);
        x[cols + at] = values[v];
        sized[s].rms(y, x, NULL, 3, cols, cols, 1e-5f);
        for (int i = 0; i < 3; i++) expect_rms(y + i * cols, x + i * cols, NULL, cols, 1e-5);
        sized[s].normalise(y, x, 3, cols, cols, 1e-12f);
        for (int i = 0; i < 3; i++) expect_length_one(y + i * cols, x + i * cols, cols, 1e-12);
        guarded_matrix_free(x, 3, cols, cols);
        guarded_matrix_free(y, 3, cols, cols);
      }
}

enum { ADAPTERS = 3 };
static const int first_ranks[ADAPTERS + 1] = {0, 5, 5, 69}; /* ranks 5, 0 and 64 */

NOINLINE void adapt_any(float *y, const float *x, const float *r, const float *a, const float *b,
                        const int32_t *adapters, int rows, int in, int cols, int ldy, int ldx, int ldr,
                        int lda) {
  attn2c_adapt(y, x, r, a, b, adapters, rows, in, cols, ldy, ldx, ldr, lda, first_ranks);
}

/* Row i of [rows][cols]; sum: what its adapter adds, in double; size: of the terms. */
static void expect_adapted(const float *y, const float *x, const float *r, const float *a, const float *b,
                           int adapter, int in, int cols) {
  for (int j = 0; j < cols; j++) {
    double sum = x[j], size = fabs(x[j]);
    for (int k = adapter ? first_ranks[adapter - 1] : 0; k < (adapter ? first_ranks[adapter] : 0); k++) {
      double part = 0, magnitude = 0;
      for (int i = 0; i < in; i++)
        part += (double)r[i] * a[k * in + i], magnitude += fabs((double)r[i] * a[k * in + i]);
      sum += part * b[k * cols + j], size += magnitude * fabs((double)b[k * cols + j]);
    }
    cr_assert(fabs(y[j] - sum) <= 4e-6 * size, "column %d of %d: %.9g, not %.9g", j, cols, y[j], sum);
  }
}

/* Rows of one sequence, and rows that are each of another one, in place: a row has the bits that it has by
 * itself. */
Test(adapt, against_double) {
  static const int counts[] = {1, 3, 8, 9, 20}, inputs[] = {1, 15, 16, 33, 100}, columns[] = {1, 17, 64, 300};
  for (size_t n = 0; n < COUNT_OF(counts) * COUNT_OF(inputs) * COUNT_OF(columns); n++) {
    const int rows = counts[n % 5], in = inputs[n / 5 % 5], cols = columns[n / 25],
              all = first_ranks[ADAPTERS];
    const uint32_t seed = (uint32_t)n;
    float *x = guarded_matrix(rows, cols, cols, seed, 0, 1),
          *y = guarded_matrix(rows, cols, cols + 3, seed, 0, 1);
    float *r = guarded_matrix(rows, in, in, seed + 1, 0, 1), *a = guarded_matrix(all, in, in, seed + 2, 0, 1);
    float *b = guarded_matrix(all, cols, cols, seed + 3, 0, 1);
    int32_t *adapters = guarded_allocate((size_t)rows * sizeof *adapters);
    for (int i = 0; i < rows; i++) adapters[i] = (i + (int)n) % (ADAPTERS + 1);
    adapt_any(y, x, r, a, b, adapters, rows, in, cols, cols + 3, cols, in, 1);
    cr_assert(guarded_padding_kept(y, rows, cols, cols + 3));
    for (int i = 0; i < rows; i++) {
      const float *from = x + i * cols;
      expect_adapted(y + i * (cols + 3), from, r + i * in, a, b, adapters[i], in, cols);
      if (adapters[i] == 0) cr_assert_arr_eq(y + i * (cols + 3), from, (size_t)cols * sizeof *x);
    }
    for (int32_t adapter = 0; adapter <= ADAPTERS; adapter++) {
      float *together = guarded_matrix(rows, cols, cols, seed, 0, 1);
      adapt_any(together, together, r, a, b, &adapter, rows, in, cols, cols, cols, in, 0);
      for (int i = 0; i < rows; i++)
        if (adapters[i] == adapter)
          cr_assert_arr_eq(together + i * cols, y + i * (cols + 3), (size_t)cols * sizeof *y);
      guarded_matrix_free(together, rows, cols, cols);
    }
    guarded_free(adapters, (size_t)rows * sizeof *adapters);
    guarded_matrix_free(b, all, cols, cols);
    guarded_matrix_free(a, all, in, in);
    guarded_matrix_free(r, rows, in, in);
    guarded_matrix_free(y, rows, cols, cols + 3);
    guarded_matrix_free(x, rows, cols, cols);
  }
}

Test(gather, fill) {
  static const float values[] = {0.0f, -INFINITY, NAN, 1.5f};
  EACH_SHAPE for (size_t v = 0; v < COUNT_OF(values); v++) {
    SHAPE
    float *y = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    sized[s].fill(y, rows, ld, values[v]);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(y[i * ld + j], values[v]));
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(y, rows, cols, ld);
  }
}

/* Heads whose rows are padded, and which lie further apart than their rows. */
Test(gather, mean_over_heads) {
  static const int head_counts[] = {1, 2, 3, 12};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(head_counts); k++) {
    SHAPE
    const int heads = head_counts[k], height = rows + 2, stride = height * ld;
    float *x = guarded_matrix(heads * height, cols, ld, seed, 0.2f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld + 1, seed + 1, 0.0f, 1.0f);
    x[cols / 2] = NAN;
    sized[s].mean(y, x, heads, rows, stride, ld, ld + 1);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < cols; j++) {
        double sum = 0, size = 0;
        for (int h = 0; h < heads; h++) {
          sum += x[h * stride + r * ld + j];
          size += fabs(x[h * stride + r * ld + j]);
        }
        const float got = y[r * (ld + 1) + j];
        if (r == 0 && j == cols / 2)
          cr_assert(isnan(got));
        else
          cr_assert(fabs(got - sum / heads) <= 0x1p-23 * size, "%d heads, [%d][%d] of %d", heads, r, j, cols);
      }
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    guarded_matrix_free(x, heads * height, cols, ld);
    guarded_matrix_free(y, rows, cols, ld + 1);
  }
}

/* ---- patches ---- */

#define IMAGES(each)                                                                                         \
  each(3, 8, 12, 4) each(1, 3, 3, 1) each(2, 32, 16, 16) each(3, 15, 10, 5) each(1, 7, 7, 7)

#define PATCHES(channels, height, width, patch)                                                              \
  NOINLINE void patches_##channels##_##height##_##width(float *y, const float *x, int first, int rows,       \
                                                        int ldy) {                                           \
    attn2c_patches(y, x, channels, height, width, patch, first, rows, ldy);                                  \
  }
IMAGES(PATCHES)

static const struct {
  int channels, height, width, patch;
  void (*run)(float *, const float *, int, int, int);
} images[] = {
#define IMAGE(channels, height, width, patch)                                                                \
  {channels, height, width, patch, patches_##channels##_##height##_##width},
    IMAGES(IMAGE)};

Test(gather, patches_of_an_image) {
  for (size_t s = 0; s < COUNT_OF(images); s++) {
    const int channels = images[s].channels, height = images[s].height, width = images[s].width;
    const int p = images[s].patch, across = width / p, all = height / p * across, cols = channels * p * p;
    float *x = guarded_matrix(channels * height, width, width, 3, 0.0f, 1.0f);
    for (int first = 0; first < all; first++)
      for (int rows = 1; first + rows <= all; rows += 2) {
        float *y = guarded_matrix(rows, cols, cols + 5, 4, 0.0f, 1.0f);
        images[s].run(y, x, first, rows, cols + 5);
        for (int c = 0; c < channels; c++)
          for (int r = 0; r < height; r++)
            for (int e = 0; e < width; e++) {
              const int row = r / p * across + e / p - first, column = c * p * p + r % p * p + e % p;
              if (row < 0 || row >= rows) continue;
              cr_assert_eq(y[row * (cols + 5) + column], x[(c * height + r) * width + e],
                           "channel %d, pixel %d %d", c, r, e);
            }
        cr_assert(guarded_padding_kept(y, rows, cols, cols + 5));
        guarded_matrix_free(y, rows, cols, cols + 5);
      }
    guarded_matrix_free(x, channels * height, width, width);
  }
}

/* ---- rows around rows ---- */

/* Element [i][c] of what attn2c_pad writes. */
static float padded(const float *x, int i, int c, int first, int valid, int kernel, int ldx) {
  const int row = first + i - kernel / 2;
  return row >= 0 && row < valid ? x[row * ldx + c] : 0;
}

Test(pad, rows_of_the_sequence_and_zeros) {
  enum { ALL = 9, COLS = 7, LDX = 11 };
  static const int kernels[] = {1, 2, 5, 16};
  float *x = guarded_matrix(ALL, COLS, LDX, 3, 0.0f, 1.0f);
  uint16_t words[ALL * LDX];
  for (int i = 0; i < ALL * LDX; i++) words[i] = (uint16_t)(i + 1);
  for (size_t k = 0; k < COUNT_OF(kernels); k++)
    for (int first = 0; first < ALL; first++)
      for (int rows = 1; first + rows <= ALL; rows++)
        for (int valid = 0; valid <= ALL + 2; valid++) {
          const int kernel = kernels[k], end = valid < ALL ? valid : ALL;
          float *y = guarded_matrix(rows + kernel - 1, COLS, COLS, 4, 0.0f, 1.0f);
          uint16_t of_words[(ALL + 16) * COLS];
          attn2c_pad(y, x, rows, first, valid, ALL, COLS, kernel, LDX, COLS);
          attn2c_pad_bf16(of_words, words, rows, first, valid, ALL, COLS, kernel, LDX, COLS);
          for (int i = 0; i < rows + kernel - 1; i++)
            for (int c = 0; c < COLS; c++) {
              const int row = first + i - kernel / 2;
              cr_assert_eq(y[i * COLS + c], padded(x, i, c, first, end, kernel, LDX));
              cr_assert_eq(of_words[i * COLS + c], row >= 0 && row < end ? words[row * LDX + c] : 0);
            }
          guarded_matrix_free(y, rows + kernel - 1, COLS, COLS);
        }
  guarded_matrix_free(x, ALL, COLS, LDX);
}

/* Both directions of an LSTM against plain doubles; rows that are passed over are as if they were not there.
 */
Test(recurrent, passes_rows_over) {
  enum { ROWS = 9, WIDTH = 5, LDX = 4 * WIDTH + 3, LDY = WIDTH + 2 };
  float x[ROWS * LDX], weight[WIDTH * 4 * WIDTH], y[ROWS * LDY];
  static const int32_t marks[ROWS] = {1, 0, 1, 2, 1, 1, 0, 1, 1};
  for (int i = 0; i < ROWS * LDX; i++) x[i] = (float)(i * 7 % 23 - 11) / 8;
  for (int i = 0; i < WIDTH * 4 * WIDTH; i++) weight[i] = (float)(i * 5 % 17 - 8) / 8;
  for (int way = 0; way < 4; way++) {
    const int backward = way & 1, valid = way & 2 ? 8 : ROWS;
    double h[WIDTH] = {0}, cell[WIDTH] = {0};
    attn2c_recurrent(y, x, weight, way ? marks : NULL, ROWS, WIDTH, LDX, LDY, backward, valid);
    for (int t = 0; t < ROWS; t++) {
      const int i = backward ? ROWS - 1 - t : t, is_read = i < valid && (!way || marks[i] == 1);
      double next[WIDTH];
      for (int j = 0; j < WIDTH && is_read; j++) {
        double z[4];
        for (int g = 0; g < 4; g++) {
          z[g] = x[i * LDX + g * WIDTH + j];
          for (int k = 0; k < WIDTH; k++) z[g] += h[k] * weight[k * 4 * WIDTH + g * WIDTH + j];
        }
        cell[j] = cell[j] / (1 + exp(-z[1])) + tanh(z[2]) / (1 + exp(-z[0]));
        next[j] = tanh(cell[j]) / (1 + exp(-z[3]));
      }
      if (is_read) memcpy(h, next, sizeof h);
      for (int j = 0; j < WIDTH; j++)
        cr_assert_float_eq(y[i * LDY + j], is_read ? h[j] : 0, 1e-5, "way %d, row %d, column %d", way, i, j);
    }
  }
}

/* Against plain doubles: more words than are taken together, more columns than are at hand, more labels than
 * there are scores for, and rows that do not count. */
Test(match, scores_words_for_labels) {
  enum {
    ROWS = 23,
    WIDTH = 7,
    HIDDEN = 300,
    SCORES = 3,
    MOST = 2,
    LDX = 2 * WIDTH + 3,
    LDL = LDX + 2,
    COLS = MOST * SCORES,
    LDY = COLS + 1
  };
  static float x[ROWS * LDX], l[ROWS * LDL], weight[(3 * WIDTH + 1) * HIDDEN], out[(HIDDEN + 1) * SCORES],
      y[ROWS * LDY];
  int32_t marks[ROWS];
  for (int i = 0; i < ROWS * LDX; i++) x[i] = (float)(i * 7 % 23 - 11) / 8;
  for (int i = 0; i < ROWS * LDL; i++) l[i] = (float)(i * 5 % 19 - 9) / 8;
  for (int i = 0; i < (3 * WIDTH + 1) * HIDDEN; i++) weight[i] = (float)(i * 5 % 17 - 8) / 8;
  for (int i = 0; i < (HIDDEN + 1) * SCORES; i++) out[i] = (float)(i * 3 % 13 - 6) / 64;
  for (int i = 0; i < ROWS; i++) marks[i] = i % 5 == 4 ? 0 : i == 2 || i == 11 || i == 12 || i == 22 ? 2 : 1;
  for (int valid = 10; valid <= ROWS; valid += 13) {
    attn2c_match_labels(y, x, l, weight, out, marks, ROWS, COLS, WIDTH, HIDDEN, SCORES, LDX, LDL, LDY, valid);
    for (int i = 0; i < ROWS; i++) {
      double want[COLS] = {0};
      for (int c = 0, n = 0; c < valid && n < MOST && i < valid && marks[i] == 1; c++) {
        if (marks[c] != 2) continue;
        for (int s = 0; s < SCORES; s++) want[n * SCORES + s] = out[HIDDEN * SCORES + s];
        for (int j = 0; j < HIDDEN; j++) {
          double h = weight[3 * WIDTH * HIDDEN + j];
          for (int k = 0; k < WIDTH; k++)
            h += (double)x[i * LDX + k] * weight[k * HIDDEN + j] +
                 (double)l[c * LDL + k] * weight[(WIDTH + k) * HIDDEN + j] +
                 (double)x[i * LDX + WIDTH + k] * l[c * LDL + WIDTH + k] *
                     weight[(2 * WIDTH + k) * HIDDEN + j];
          for (int s = 0; s < SCORES && h > 0; s++) want[n * SCORES + s] += h * out[j * SCORES + s];
        }
        n++;
      }
      for (int j = 0; j < COLS; j++)
        cr_assert_float_eq(y[i * LDY + j], want[j], 1e-3, "%d valid, row %d, column %d", valid, i, j);
    }
  }
}

/* Rows of whole numbers, so that every order of a sum has the same result; the last rows of a longer call. */
Test(convolve_columns, reads_rows_before) {
  enum { COLS = 17, KERNEL = 4, ROWS = 9, LD = COLS + 3 };
  float x[ROWS * LD], weight[KERNEL * LD], bias[COLS], whole[ROWS * LD], some[ROWS * LD];
  for (int i = 0; i < ROWS * LD; i++) x[i] = (float)(i * 7 % 23 - 11);
  for (int i = 0; i < KERNEL * LD; i++) weight[i] = (float)(i * 5 % 17 - 8);
  for (int j = 0; j < COLS; j++) bias[j] = (float)(j % 3);
  attn2c_convolve_columns(whole, x, weight, bias, ROWS, COLS, KERNEL, LD, LD, LD, 0);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++) {
      double sum = bias[j];
      for (int t = 0; t < KERNEL; t++)
        if (i + t >= KERNEL - 1) sum += (double)weight[t * LD + j] * x[(i + t - KERNEL + 1) * LD + j];
      cr_assert_eq(whole[i * LD + j], (float)sum, "row %d, column %d", i, j);
    }
  for (int before = 0; before < ROWS; before++) {
    attn2c_convolve_columns(some, x, weight, bias, ROWS - before, COLS, KERNEL, LD, LD, LD, before);
    for (int i = before; i < ROWS; i++)
      cr_assert_arr_eq(some + (i - before) * LD, whole + i * LD, COLS * sizeof *some, "%d rows before",
                       before);
  }
  attn2c_convolve_columns(some, x, weight, NULL, 1, COLS, 1, LD, LD, LD, ROWS - 1);
  for (int j = 0; j < COLS; j++) cr_assert_eq(some[j], weight[j] * x[(ROWS - 1) * LD + j]);
}

enum { TABLE = 50 /* rows of a table in panels */ };

/* Returns a table in panels, whose groups are the rows' groups; the other bytes are no numbers. */
static uint32_t *panels_of(attn2c_table of, const uint32_t *rows, int groups, size_t *bytes) {
  const int widths[] = {of.panel, of.panel, of.panel, of.tail, of.rest};
  int first = 0;
  *bytes = 0;
  uint32_t *panels = guarded_allocate((size_t)of.groups * 2 * TABLE * sizeof *panels), *to = panels;
  memset(panels, 0xff, (size_t)of.groups * 2 * TABLE * sizeof *panels);
  for (int p = 3 - of.count; p < 5; p++) {
    const int leading = (widths[p] + 15) / 16 * 16;
    for (int i = 0; i < widths[p]; i++)
      for (int g = 0; g < groups; g++) to[(of.start + g) * leading + i] = rows[(first + i) * groups + g];
    first += widths[p];
    to += of.groups * leading;
  }
  cr_assert_eq(first, TABLE);
  *bytes = (size_t)of.groups * 2 * TABLE * sizeof *panels;
  return panels;
}

/* A row in panels has the numbers of the same row in rows, in each panel and each tail. */
Test(tables, panels) {
  static const int packings[][4] = {
      {16, 3, 2, 0}, {48, 0, 32, 18}, {32, 1, 18, 0}, {48, 1, 2, 0}, {64, 0, 50, 0}};
  EACH_SHAPE for (size_t p = 0; p < COUNT_OF(packings); p++) for (int each = 1; each <= 4; each *= 2) {
    SHAPE
    const int groups = (cols + each - 1) / each, start = each == 4 ? 2 : 0;
    const attn2c_table of = attn2c_table_panels(groups + start, start, packings[p][0], packings[p][1],
                                                packings[p][2], packings[p][3]);
    const attn2c_table of_rows = attn2c_table_rows(groups);
    float *numbers = guarded_matrix(TABLE, groups, groups, seed, 0.0f, 1.0f);
    float *scale = guarded_matrix(1, TABLE, TABLE, seed, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld, seed + 2, 0.0f, 1.0f),
          *z = guarded_matrix(rows, cols, ld, seed, 0, 1);
    int32_t *ids = guarded_allocate((size_t)rows * sizeof *ids);
    size_t bytes;
    uint32_t *panels = panels_of(of, (const uint32_t *)(const void *)numbers, groups, &bytes);
    const void *wide = panels, *plain = numbers;
    for (int i = 0; i < rows; i++) ids[i] = i == 0 ? TABLE - 1 : (i * 31 + (int)s) % TABLE;
    for (int in_panels = 0; in_panels < 2; in_panels++) {
      const void *table = in_panels ? wide : plain;
      const attn2c_table packing = in_panels ? of : of_rows;
      float *to = in_panels ? y : z;
      if (each == 1) attn2c_embed(to, table, ids, packing, rows, cols, ld);
      if (each == 2) attn2c_embed_bf16(to, table, ids, packing, rows, cols, ld);
      if (each == 4) attn2c_embed_i8(to, table, scale, ids, packing, rows, cols, ld);
    }
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        cr_assert(same(y[i * ld + j], z[i * ld + j]), "row %d, column %d", ids[i], j);
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_free(panels, bytes);
    guarded_free(ids, (size_t)rows * sizeof *ids);
    guarded_matrix_free(numbers, TABLE, groups, groups);
    guarded_matrix_free(scale, 1, TABLE, TABLE);
    guarded_matrix_free(y, rows, cols, ld);
    guarded_matrix_free(z, rows, cols, ld);
  }
}
