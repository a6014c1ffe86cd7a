/* test_rowops.c - the operations of runtime/ops/rowops.h against plain loops in double, at odd
 * sizes known to the compiler, as emitted code has them, with padded rows, NaN and infinity,
 * and a page without access right after every buffer. */
#define _DEFAULT_SOURCE
#include "ops/rowops.h"
#include "guarded.h"
#include "shapes.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#define EPSILON 0x1p-23

static const int row_counts[] = {1, 2, 3, 8, 9, 17};
static const int paddings[] = {0, 3, 16};

/* One function a size, as the wrappers of emitted code. */
#define COLUMNS(each) each(1) each(15) each(16) each(17) each(40) each(64) each(127)

#define SIZED(cols)                                                                                          \
  NOINLINE void softmax_##cols(float *s, int rows, int ld, float scale) {                                    \
    attn2c_softmax(s, rows, cols, ld, scale);                                                                \
  }                                                                                                          \
  NOINLINE void band_##cols(float *s, int rows, int ld, int lo, int hi) {                                    \
    attn2c_mask_band(s, rows, cols, ld, lo, hi);                                                             \
  }                                                                                                          \
  NOINLINE void length_##cols(float *s, int rows, int ld, int valid) {                                       \
    attn2c_mask_length(s, rows, cols, ld, valid);                                                            \
  }                                                                                                          \
  NOINLINE void repair_##cols(float *c, const float *p, const float *v, int rows, int keys, int ldc,         \
                              int ldp, int ldv, int lo, int hi, int valid) {                                 \
    attn2c_context_repair(c, p, v, rows, keys, cols, ldc, ldp, ldv, lo, hi, valid);                          \
  }                                                                                                          \
  NOINLINE void norm_##cols(float *y, const float *x, const float *gain, const float *bias, int rows,        \
                            int ldx, int ldy, float eps) {                                                   \
    if (gain && bias)                                                                                        \
      attn2c_layer_norm(y, x, gain, bias, rows, cols, ldx, ldy, eps);                                        \
    else if (gain)                                                                                           \
      attn2c_layer_norm(y, x, gain, NULL, rows, cols, ldx, ldy, eps);                                        \
    else if (bias)                                                                                           \
      attn2c_layer_norm(y, x, NULL, bias, rows, cols, ldx, ldy, eps);                                        \
    else                                                                                                     \
      attn2c_layer_norm(y, x, NULL, NULL, rows, cols, ldx, ldy, eps);                                        \
  }                                                                                                          \
  NOINLINE void transpose_##cols(float *y, const float *x, int rows, int ldx, int ldy) {                     \
    attn2c_transpose(y, x, rows, cols, ldx, ldy);                                                            \
  }                                                                                                          \
  NOINLINE void copy_##cols(float *y, const float *x, int rows, int ldx, int ldy) {                          \
    attn2c_copy(y, x, rows, cols, ldx, ldy);                                                                 \
  }                                                                                                          \
  NOINLINE void gather_##cols(float *y, const float *x, const float *order, int rows, int ldx, int ldy) {    \
    attn2c_gather_columns(y, x, order, rows, cols, ldx, ldy);                                                \
  }                                                                                                          \
  NOINLINE void embed_##cols(float *y, const float *table, const int32_t *ids, attn2c_table of, int rows,    \
                             int ldy) {                                                                      \
    attn2c_embed(y, table, ids, of, rows, cols, ldy);                                                        \
  }                                                                                                          \
  NOINLINE void embed_bf16_##cols(float *y, const uint16_t *table, const int32_t *ids, attn2c_table of,      \
                                  int rows, int ldy) {                                                       \
    attn2c_embed_bf16(y, table, ids, of, rows, cols, ldy);                                                   \
  }                                                                                                          \
  NOINLINE void embed_i8_##cols(float *y, const int8_t *table, const float *scale, const int32_t *ids,       \
                                attn2c_table of, int rows, int ldy) {                                        \
    attn2c_embed_i8(y, table, scale, ids, of, rows, cols, ldy);                                              \
  }                                                                                                          \
  NOINLINE void mean_##cols(float *y, const float *x, int rows, int ldx) {                                   \
    attn2c_pool_mean(y, x, rows, cols, ldx);                                                                 \
  }                                                                                                          \
  NOINLINE void max_##cols(float *y, const float *x, int rows, int ldx) {                                    \
    attn2c_pool_max(y, x, rows, cols, ldx);                                                                  \
  }                                                                                                          \
  NOINLINE void row_##cols(float *y, const float *x) { attn2c_pool_row(y, x, cols); }                        \
  NOINLINE void argmax_##cols(int32_t *y, const float *x, int rows, int ldx) {                               \
    attn2c_argmax(y, x, rows, cols, ldx);                                                                    \
  }
COLUMNS(SIZED)

static const struct {
  int cols;
  void (*softmax)(float *, int, int, float);
  void (*band)(float *, int, int, int, int);
  void (*length)(float *, int, int, int);
  void (*repair)(float *, const float *, const float *, int, int, int, int, int, int, int, int);
  void (*norm)(float *, const float *, const float *, const float *, int, int, int, float);
  void (*transpose)(float *, const float *, int, int, int);
  void (*copy)(float *, const float *, int, int, int);
  void (*gather)(float *, const float *, const float *, int, int, int);
  void (*embed)(float *, const float *, const int32_t *, attn2c_table, int, int);
  void (*embed_bf16)(float *, const uint16_t *, const int32_t *, attn2c_table, int, int);
  void (*embed_i8)(float *, const int8_t *, const float *, const int32_t *, attn2c_table, int, int);
  void (*mean)(float *, const float *, int, int);
  void (*max)(float *, const float *, int, int);
  void (*row)(float *, const float *);
  void (*argmax)(int32_t *, const float *, int, int);
} sized[] = {
#define ENTRY(cols)                                                                                          \
  {cols,          softmax_##cols, band_##cols,       length_##cols,                                          \
   repair_##cols, norm_##cols,    transpose_##cols,  copy_##cols,                                            \
   gather_##cols, embed_##cols,   embed_bf16_##cols, embed_i8_##cols,                                        \
   mean_##cols,   max_##cols,     row_##cols,        argmax_##cols},
    COLUMNS(ENTRY)};

/* ---- softmax ---- */

/* The row's softmax in double by the definition, with a fully masked row 0. */
static void softmax_reference(double *p, const float *s, int cols, double scale) {
  double max = -INFINITY, sum = 0;
  for (int j = 0; j < cols; j++)
    if (isnan(s[j]) || s[j] > max) max = s[j];
  for (int j = 0; j < cols; j++) sum += p[j] = exp(scale * ((double)s[j] - max));
  for (int j = 0; j < cols; j++) p[j] = max == -INFINITY ? 0 : p[j] / sum;
}

static void expect_softmax(const float *p, const float *s, int cols, float scale) {
  double expected[128], largest = 0, sum = 0;
  softmax_reference(expected, s, cols, scale);
  for (int j = 0; j < cols; j++) {
    if (expected[j] > largest) largest = expected[j];
    sum += p[j];
  }
  for (int j = 0; j < cols; j++) {
    if (isnan(expected[j])) {
      cr_assert(isnan(p[j]), "%d of %d: expected NaN, got %g", j, cols, p[j]);
      continue;
    }
    const double error = fabs(p[j] - expected[j]);
    const double limit = expected[j] > largest * FLT_MIN
                             ? expected[j] * (5 + 0.5 * fabs(log(expected[j] / largest))) * EPSILON
                             : 2 * FLT_MIN;
    cr_assert(error <= limit, "%d of %d, scale %g: expected %a, got %a", j, cols, scale, expected[j], p[j]);
  }
  if (largest > 0) cr_assert(fabs(sum - 1) <= (cols + 4) * EPSILON, "the sum of %d is %a", cols, sum);
}

Test(softmax, against_double) {
  static const float scales[] = {0.125f, 1.0f, 0.17677669f, 7.3f}, spreads[] = {1.0f, 20.0f, 3000.0f};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(scales); k++) for (size_t m = 0; m < COUNT_OF(spreads); m++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 0.5f, spreads[m]);
    float *y = guarded_matrix(rows, cols, ld, seed, 0.5f, spreads[m]);
    sized[s].softmax(y, rows, ld, scales[k]);
    for (int i = 0; i < rows; i++) expect_softmax(y + i * ld, x + i * ld, cols, scales[k]);
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld);
  }
}

/* Beyond 2^20 by the scale a row is shifted first. */
Test(softmax, of_scores_far_from_zero) {
  static const float scales[] = {0.125f, 7.3f, 1e-30f, 1e30f},
                     means[] = {300, -4e4f, 7.2e5f, 3e7f, -1e12f, 2e38f};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t k = 0; k < COUNT_OF(scales); k++)
      for (size_t m = 0; m < COUNT_OF(means); m++) {
        const int cols = sized[s].cols;
        const float spread = fminf(20.0f / scales[k], 1e38f);
        float *x = guarded_matrix(9, cols, cols, 5, means[m], spread);
        float *y = guarded_matrix(9, cols, cols, 5, means[m], spread);
        sized[s].softmax(y, 9, cols, scales[k]);
        for (int i = 0; i < 9; i++) expect_softmax(y + i * cols, x + i * cols, cols, scales[k]);
        guarded_matrix_free(x, 9, cols, cols);
        guarded_matrix_free(y, 9, cols, cols);
      }
}

/* Each special row stands between ordinary ones. */
Test(softmax, special_values) {
  const float negative_nan = attn2c_from_bits(0xffc00000u);
  const float values[] = {NAN, negative_nan, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 0x1p-149f};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t v = 0; v < COUNT_OF(values); v++)
      for (int rest = 0; rest < 3; rest++)
        for (int at = 0; at < sized[s].cols; at++) {
          const int cols = sized[s].cols;
          float *x = guarded_matrix(3, cols, cols, 7, 0.0f, 3.0f),
                *y = guarded_matrix(3, cols, cols, 7, 0.0f, 3.0f);
          for (int j = 0; j < cols; j++)
            if (rest) x[cols + j] = y[cols + j] = rest == 1 ? -INFINITY : values[v];
          x[cols + at] = y[cols + at] = values[v];
          sized[s].softmax(y, 3, cols, 0.125f);
          for (int i = 0; i < 3; i++) expect_softmax(y + i * cols, x + i * cols, cols, 0.125f);
          guarded_matrix_free(x, 3, cols, cols);
          guarded_matrix_free(y, 3, cols, cols);
        }
}

/* Masked columns after a row, and 16 before it, change no bit of it. */
Test(softmax, is_the_same_with_masked_columns) {
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t t = s + 1; t < COUNT_OF(sized); t++)
      for (size_t row_index = 0; row_index < COUNT_OF(row_counts); row_index++)
        for (int before = 0; before <= sized[t].cols - sized[s].cols; before += 16) {
          const int rows = row_counts[row_index], cols = sized[s].cols, wide = sized[t].cols;
          float *x = guarded_matrix(rows, cols, cols, (uint32_t)(s + 1), 0.0f, 2.0f);
          float *y = guarded_matrix(rows, wide, wide, 1, 0.0f, 2.0f);
          for (int i = 0; i < rows; i++)
            for (int j = 0; j < wide; j++)
              y[i * wide + j] = j >= before && j < before + cols ? x[i * cols + j - before] : -INFINITY;
          sized[s].softmax(x, rows, cols, 0.7f);
          sized[t].softmax(y, rows, wide, 0.7f);
          for (int i = 0; i < rows; i++)
            for (int j = 0; j < wide; j++) {
              const float expected = j >= before && j < before + cols ? x[i * cols + j - before] : 0.0f;
              cr_assert(same(y[i * wide + j], expected), "%d of %d in %d, %d before", j, cols, wide, before);
            }
          guarded_matrix_free(x, rows, cols, cols);
          guarded_matrix_free(y, rows, wide, wide);
        }
}

/* ---- masks ---- */

static const int edges[] = {INT32_MIN / 4, -130, -17, -1, 0, 1, 5, 16, 64, 127, 300, INT32_MAX / 4};

Test(mask, band) {
  EACH_SHAPE for (size_t l = 0; l < COUNT_OF(edges); l++) for (size_t h = 0; h < COUNT_OF(edges); h++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f),
          *y = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    for (int i = 0; i < rows; i++) x[i * ld + i % cols] = y[i * ld + i % cols] = NAN;
    const int lo = edges[l], hi = edges[h];
    sized[s].band(y, rows, ld, lo, hi);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < cols; j++) {
        const int keep = lo + r <= j && j < hi + r;
        cr_assert(same(y[r * ld + j], keep ? x[r * ld + j] : -INFINITY),
                  "[%d][%d] of %d x %d, band %d %d: %g", r, j, rows, cols, lo, hi, y[r * ld + j]);
      }
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld);
  }
}

Test(mask, length) {
  EACH_SHAPE for (size_t l = 0; l < COUNT_OF(edges); l++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f),
          *y = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    sized[s].length(y, rows, ld, edges[l]);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < cols; j++)
        cr_assert(same(y[r * ld + j], j < edges[l] ? x[r * ld + j] : -INFINITY), "[%d][%d] of %d, valid %d",
                  r, j, cols, edges[l]);
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld);
  }
}

/* The value of a masked key is NaN or inf: after a plain product and the repair, the context is that of the
 * keys that are left; a NaN in one of those stays. Rows that are finite keep their bits. */
Test(mask, repair) {
  enum { KEYS = 37, LDP = 41 };
  static const struct {
    int lo, hi, valid, bad; /* bad: a key whose value is not finite */
  } cases[] = {{-100, 1, KEYS, 20},  {-3, 4, KEYS, 12}, {-100, 200, 30, 33},  {-100, 1, 5, 8},
               {-100, 200, KEYS, 6}, {-2, 1, 3, 30},    {-100, 200, 0, 0},    {-100, 200, -5, 0},
               {-100, 200, 900, 36}, {50, 60, KEYS, 1}, {-100, 200, KEYS, -1}};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t k = 0; k < COUNT_OF(cases); k++)
      for (size_t padding = 0; padding < COUNT_OF(paddings); padding++) {
        const int rows = 17, width = sized[s].cols, ld = width + paddings[padding];
        float *p = guarded_matrix(rows, KEYS, LDP, 5, 0.5f, 0.5f);
        float *v = guarded_matrix(KEYS, width, ld, 6, 0.0f, 1.0f);
        float *c = guarded_matrix(rows, width, ld, 7, 0.0f, 1.0f);
        float *before = guarded_matrix(rows, width, ld, 7, 0.0f, 1.0f);
        const int lo = cases[k].lo, hi = cases[k].hi, valid = cases[k].valid, bad = cases[k].bad;
        if (bad >= 0) v[bad * ld + width / 2] = padding == 1 ? -INFINITY : NAN;
        for (int r = 0; r < rows; r++) /* rows 3, 8, 13 were hit by it */
          if (r % 5 == 3) c[r * ld + width / 2] = padding == 1 ? -INFINITY : NAN;
        sized[s].repair(c, p, v, rows, KEYS, ld, LDP, ld, lo, hi, valid);
        for (int r = 0; r < rows; r++)
          for (int d = 0; d < width; d++) {
            const float got = c[r * ld + d];
            if (r % 5 != 3) {
              cr_assert(same(got, before[r * ld + d]), "a finite row was changed");
              continue;
            }
            double expected = 0, size = 0;
            for (int j = 0; j < KEYS; j++)
              if (lo + r <= j && j < hi + r && j < valid) {
                expected += (double)p[r * LDP + j] * v[j * ld + d];
                size += fabs((double)p[r * LDP + j] * v[j * ld + d]);
              }
            if (isfinite(expected))
              cr_assert(fabs(got - expected) <= KEYS * EPSILON * size, "[%d][%d]: expected %g, got %g", r, d,
                        expected, got);
            else
              cr_assert(same(got, (float)expected), "[%d][%d]: expected %g, got %g", r, d, expected, got);
          }
        cr_assert(guarded_padding_kept(c, rows, width, ld));
        guarded_matrix_free(p, rows, KEYS, LDP);
        guarded_matrix_free(v, KEYS, width, ld);
        guarded_matrix_free(c, rows, width, ld);
        guarded_matrix_free(before, rows, width, ld);
      }
}

/* ---- transpose ---- */

#define TRANSPOSED(r, c)                                                                                     \
  NOINLINE void fixed_##r##_##c(float *y, const float *x) { attn2c_transpose(y, x, r, c, c + 5, r + 9); }
TRANSPOSED(64, 64)
TRANSPOSED(64, 16)
TRANSPOSED(32, 40)
TRANSPOSED(128, 64)
TRANSPOSED(31, 29)

static void expect_transposed(const float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++)
      cr_assert(same(y[c * ldy + r], x[r * ldx + c]), "[%d][%d] of %d x %d", r, c, rows, cols);
  cr_assert(guarded_padding_kept(y, cols, rows, ldy), "padding of %d x %d", rows, cols);
}

Test(transpose, any_shape) {
  EACH_SHAPE {
    SHAPE
    for (size_t k = 0; k < COUNT_OF(paddings); k++)
      for (int tall = 0; tall < 2; tall++) {
        const int height = tall ? rows * 7 + 3 : rows, ldy = height + paddings[k];
        float *x = guarded_matrix(height, cols, ld, seed, 0.0f, 1.0f);
        float *y = guarded_matrix(cols, height, ldy, seed + 1, 0.0f, 1.0f);
        sized[s].transpose(y, x, height, ld, ldy);
        expect_transposed(y, x, height, cols, ld, ldy);
        guarded_matrix_free(x, height, cols, ld);
        guarded_matrix_free(y, cols, height, ldy);
      }
  }
}

Test(transpose, fixed_shapes) {
  static const struct {
    int rows, cols;
    void (*run)(float *, const float *);
  } fixed[] = {{64, 64, fixed_64_64},
               {64, 16, fixed_64_16},
               {32, 40, fixed_32_40},
               {128, 64, fixed_128_64},
               {31, 29, fixed_31_29}};
  for (size_t k = 0; k < COUNT_OF(fixed); k++) {
    const int rows = fixed[k].rows, cols = fixed[k].cols;
    float *x = guarded_matrix(rows, cols, cols + 5, 3, 0.0f, 1.0f);
    float *y = guarded_matrix(cols, rows, rows + 9, 4, 0.0f, 1.0f);
    fixed[k].run(y, x);
    expect_transposed(y, x, rows, cols, cols + 5, rows + 9);
    guarded_matrix_free(x, rows, cols, cols + 5);
    guarded_matrix_free(y, cols, rows, rows + 9);
  }
}

/* ---- layer norm ---- */

static void expect_norm(const float *y, const float *x, const float *gain, const float *bias, int cols,
                        double eps) {
  double mean = 0, variance = 0;
  for (int j = 0; j < cols; j++) mean += x[j];
  mean /= cols;
  for (int j = 0; j < cols; j++) variance += (x[j] - mean) * (x[j] - mean);
  variance /= cols;
  for (int j = 0; j < cols; j++) {
    const double v = (x[j] - mean) / sqrt(variance + eps), g = gain ? gain[j] : 1, b = bias ? bias[j] : 0;
    const double expected = v * g + b;
    /* The escape: where x is next to the mean, v is what cancellation leaves of values of the size 1. */
    const double limit = 5e-7 * fabs(g) * (fabs(v) > 1 ? fabs(v) : 1) + 0x1p-23 * fabs(b);
    if (isnan(expected))
      cr_assert(isnan(y[j]), "%d of %d: expected NaN, got %g", j, cols, y[j]);
    else
      cr_assert(fabs(y[j] - expected) <= limit, "%d of %d: expected %.9g, got %.9g", j, cols, expected, y[j]);
  }
}

Test(layer_norm, against_double) {
  static const struct {
    float mean, scale, eps;
  } cases[] = {{0.0f, 1.0f, 1e-12f},  {100.0f, 1.04f, 1e-5f}, {-3e4f, 1.0f, 1e-5f},
               {0.1f, 1e-3f, 1e-12f}, {0.0f, 1e4f, 1e-5f},    {5.0f, 0.0f, 1e-5f}};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(cases); k++) for (int form = 0; form < 4; form++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, cases[k].mean, cases[k].scale);
    float *y = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    float *gain = guarded_matrix(1, cols, cols, seed + 1, 1.0f, 0.5f);
    float *bias = guarded_matrix(1, cols, cols, seed + 2, 0.0f, 0.5f);
    const float *g = form & 1 ? gain : NULL, *b = form & 2 ? bias : NULL;
    sized[s].norm(y, x, g, b, rows, ld, ld, cases[k].eps);
    for (int i = 0; i < rows; i++) expect_norm(y + i * ld, x + i * ld, g, b, cols, cases[k].eps);
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    sized[s].norm(x, x, g, b, rows, ld, ld, cases[k].eps); /* in place: the same bits */
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(x[i * ld + j], y[i * ld + j]));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld);
    guarded_matrix_free(gain, 1, cols, cols);
    guarded_matrix_free(bias, 1, cols, cols);
  }
}

NOINLINE void norm_768(float *y, const float *x, const float *gain, const float *bias) {
  attn2c_layer_norm(y, x, gain, bias, 5, 768, 784, 768, 1e-12f);
}

Test(layer_norm, wide_rows) {
  float *x = guarded_matrix(5, 768, 784, 1, 100.0f, 1.04f), *y = guarded_matrix(5, 768, 768, 1, 0.0f, 1.0f);
  float *gain = guarded_matrix(1, 768, 768, 2, 1.0f, 0.5f),
        *bias = guarded_matrix(1, 768, 768, 3, 0.0f, 0.5f);
  norm_768(y, x, gain, bias);
  for (int i = 0; i < 5; i++) expect_norm(y + i * 768, x + i * 784, gain, bias, 768, 1e-12);
  guarded_matrix_free(x, 5, 768, 784);
  guarded_matrix_free(y, 5, 768, 768);
  guarded_matrix_free(gain, 1, 768, 768);
  guarded_matrix_free(bias, 1, 768, 768);
}

/* The mean of equal numbers is rounded, and its error would be divided by a deviation of 0. */
Test(layer_norm, equal_numbers_give_the_bias) {
  static const float values[] = {60000.0f, -0.1f, 1e30f, 3e-30f, 0.0f};
  EACH_SHAPE for (size_t v = 0; v < COUNT_OF(values); v++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    float *gain = guarded_matrix(1, cols, cols, seed + 1, 6e4f, 1.0f);
    float *bias = guarded_matrix(1, cols, cols, seed + 2, 0.0f, 0.5f);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) x[i * ld + j] = values[v];
    sized[s].norm(x, x, gain, bias, rows, ld, ld, 1e-12f);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        cr_assert_eq(x[i * ld + j], bias[j], "%d of %d, all %g: %g", j, cols, values[v],
                     x[i * ld + j] - bias[j]);
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(gain, 1, cols, cols);
    guarded_matrix_free(bias, 1, cols, cols);
  }
}

Test(layer_norm, special_values_stay_in_their_row) {
  static const float values[] = {NAN, INFINITY, -INFINITY};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t v = 0; v < COUNT_OF(values); v++)
      for (int at = 0; at < sized[s].cols; at++) {
        const int cols = sized[s].cols;
        float *x = guarded_matrix(3, cols, cols, 9, 0.0f, 1.0f),
              *y = guarded_matrix(3, cols, cols, 9, 0.0f, 1.0f);
        x[cols + at] = values[v];
        sized[s].norm(y, x, NULL, NULL, 3, cols, cols, 1e-5f);
        for (int i = 0; i < 3; i++) expect_norm(y + i * cols, x + i * cols, NULL, NULL, cols, 1e-5);
        guarded_matrix_free(x, 3, cols, cols);
        guarded_matrix_free(y, 3, cols, cols);
      }
}

/* ---- copy, embed, pool, argmax ---- */

Test(gather, copy) {
  EACH_SHAPE {
    SHAPE
    float *a = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld + 1, seed + 2, 0.0f, 1.0f);
    a[cols / 2] = NAN;
    sized[s].copy(y, a, rows, ld, ld + 1);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(y[i * (ld + 1) + j], a[i * ld + j]));
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    guarded_matrix_free(a, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld + 1);
  }
}

Test(gather, columns) {
  EACH_SHAPE {
    SHAPE
    float *a = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld + 1, seed + 2, 0.0f, 1.0f);
    float *order = guarded_allocate((size_t)cols * sizeof *order);
    for (int j = 0; j < cols; j++) order[j] = (float)(cols - 1 - j);
    a[cols / 2] = NAN;
    sized[s].gather(y, a, order, rows, ld, ld + 1);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(y[i * (ld + 1) + j], a[i * ld + cols - 1 - j]));
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    guarded_matrix_free(a, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld + 1);
    guarded_free(order, (size_t)cols * sizeof *order);
  }
}

Test(gather, embed) {
  enum { VOCABULARY = 50 };
  EACH_SHAPE {
    SHAPE
    float *table = guarded_matrix(VOCABULARY, cols, cols, seed, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld, seed + 2, 0.0f, 1.0f);
    int32_t *ids = guarded_allocate((size_t)rows * sizeof *ids);
    for (int i = 0; i < rows; i++) ids[i] = i == 0 ? VOCABULARY - 1 : (i * 31 + (int)s) % VOCABULARY;
    sized[s].embed(y, table, ids, attn2c_table_rows(cols), rows, ld);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) cr_assert(same(y[i * ld + j], table[ids[i] * cols + j]));
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(table, VOCABULARY, cols, cols);
    guarded_matrix_free(y, rows, cols, ld);
    guarded_free(ids, (size_t)rows * sizeof *ids);
  }
}

/* Tables of other numbers: the last row ends with the allocation, but for what makes it whole groups. */
Test(gather, embed_types) {
  enum { VOCABULARY = 50 };
  EACH_SHAPE {
    SHAPE
    const int pairs = (cols + 1) / 2 * 2, fours = (cols + 3) / 4 * 4;
    const size_t of_halves = VOCABULARY * (size_t)pairs * sizeof(uint16_t);
    uint16_t *halves = guarded_allocate(of_halves);
    int8_t *bytes = guarded_allocate(VOCABULARY * (size_t)fours);
    float *scale = guarded_matrix(1, VOCABULARY, VOCABULARY, seed, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld, seed + 2, 0.0f, 1.0f);
    int32_t *ids = guarded_allocate((size_t)rows * sizeof *ids);
    for (int i = 0; i < VOCABULARY * pairs; i++) halves[i] = (uint16_t)(0x3f00 + i * 7 % 500);
    for (int i = 0; i < VOCABULARY * fours; i++) bytes[i] = (int8_t)(i * 11 % 255 - 127);
    for (int i = 0; i < rows; i++) ids[i] = i == 0 ? VOCABULARY - 1 : (i * 31 + (int)s) % VOCABULARY;
    sized[s].embed_bf16(y, halves, ids, attn2c_table_rows(pairs / 2), rows, ld);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        cr_assert(same(y[i * ld + j], attn2c_from_bf16(halves[ids[i] * pairs + j])));
    sized[s].embed_i8(y, bytes, scale, ids, attn2c_table_rows(fours / 4), rows, ld);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        cr_assert(same(y[i * ld + j], (float)bytes[ids[i] * fours + j] * scale[ids[i]]));
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_free(halves, of_halves);
    guarded_free(bytes, VOCABULARY * (size_t)fours);
    guarded_matrix_free(scale, 1, VOCABULARY, VOCABULARY);
    guarded_matrix_free(y, rows, cols, ld);
    guarded_free(ids, (size_t)rows * sizeof *ids);
  }
}

Test(gather, pool) {
  EACH_SHAPE {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 1.0f, 2.0f),
          *y = guarded_matrix(1, cols, cols, seed, 0.0f, 1.0f);
    sized[s].mean(y, x, rows, ld);
    for (int j = 0; j < cols; j++) {
      double sum = 0, size = 0;
      for (int i = 0; i < rows; i++) sum += x[i * ld + j], size += fabs(x[i * ld + j]);
      cr_assert(fabs(y[j] - sum / rows) <= (rows / 4 + 4) * EPSILON * size / rows, "mean %d of %d rows", j,
                rows);
    }
    for (int with_nan = 0; with_nan < 2; with_nan++) {
      if (with_nan) x[(rows / 2) * ld + cols / 2] = NAN;
      sized[s].max(y, x, rows, ld);
      for (int j = 0; j < cols; j++) {
        float largest = -INFINITY;
        for (int i = 0; i < rows; i++)
          if (isnan(x[i * ld + j]) || x[i * ld + j] > largest) largest = x[i * ld + j];
        if (with_nan && j == cols / 2) largest = NAN;
        cr_assert(same(y[j], largest), "max %d of %d rows: expected %g, got %g", j, rows, largest, y[j]);
      }
    }
    sized[s].mean(y, x, rows, ld);
    for (int j = 0; j < cols; j++) cr_assert(!isnan(y[j]) == (j != cols / 2));
    sized[s].row(y, x + (rows - 1) * ld);
    for (int j = 0; j < cols; j++) cr_assert(same(y[j], x[(rows - 1) * ld + j]));
    sized[s].mean(y, x, 0, ld);
    for (int j = 0; j < cols; j++) cr_assert(same(y[j], 0.0f));
    sized[s].max(y, x, 0, ld);
    for (int j = 0; j < cols; j++) cr_assert(same(y[j], -INFINITY));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, 1, cols, cols);
  }
}

/* Row i is kept where `kept` of the three says so; the others hold NaN, and must not be seen. */
Test(gather, pool_of_kept_rows) {
  EACH_SHAPE for (int kept = 0; kept < 3; kept++) for (int keeps = 0; keeps < 2; keeps++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 1.0f, 2.0f),
          *y = guarded_matrix(1, cols, cols, seed, 0.0f, 1.0f);
    int32_t *mask = guarded_allocate((size_t)rows * sizeof *mask);
    int count = 0, last = -1, weights = 0;
    for (int i = 0; i < rows; i++) {
      const int is_kept = kept == 2 || (kept == 1 && i % 3 != 1);
      mask[i] = is_kept == keeps;
      if (is_kept) count++, last = i, weights += i + 1;
      for (int j = 0; !is_kept && j < cols; j++) x[i * ld + j] = NAN;
    }
    for (int kind = 0; kind < 3; kind++) {
      attn2c_pool_kept_sum(y, x, mask, rows, cols, ld, keeps, kind == 1, kind == 2);
      const double by = count == 0 ? 1 : kind == 0 ? count : kind == 1 ? weights : sqrt(count);
      for (int j = 0; j < cols; j++) {
        double sum = 0, size = 0;
        for (int i = 0; i < rows; i++) {
          const double v = (mask[i] != 0) == keeps ? x[i * ld + j] * (kind == 1 ? i + 1.0 : 1.0) : 0;
          sum += v, size += fabs(v);
        }
        cr_assert(fabs(y[j] - sum / by) <= (rows + 4) * EPSILON * size / by, "sum %d of %d rows", j, rows);
      }
    }
    attn2c_pool_kept_max(y, x, mask, rows, cols, ld, keeps);
    for (int j = 0; j < cols; j++) {
      float largest = count ? -INFINITY : 0;
      for (int i = 0; i < rows; i++) largest = x[i * ld + j] > largest ? x[i * ld + j] : largest;
      cr_assert(same(y[j], largest), "max %d of %d rows: expected %g, got %g", j, rows, largest, y[j]);
    }
    attn2c_pool_kept_last(y, x, mask, rows, cols, ld, keeps);
    for (int j = 0; j < cols; j++) cr_assert(same(y[j], last < 0 ? 0 : x[last * ld + j]));
    if (last >= 0) {
      x[last * ld + cols / 2] = NAN;
      attn2c_pool_kept_max(y, x, mask, rows, cols, ld, keeps);
      for (int j = 0; j < cols; j++) cr_assert(isnan(y[j]) == (j == cols / 2));
    }
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, 1, cols, cols);
    guarded_free(mask, (size_t)rows * sizeof *mask);
  }
}

/* The last row whose token is not 5, and the first row whose token is 5 or the largest, that the mask, if
 * there is one, keeps; else the first. */
Test(gather, pools_of_rows_by_their_ids) {
  EACH_SHAPE for (int kind = 0; kind < 4; kind++) for (int keeps = 0; keeps < 2; keeps++) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 1.0f, 2.0f),
          *y = guarded_matrix(1, cols, cols, seed, 0.0f, 1.0f);
    int32_t *ids = guarded_allocate((size_t)rows * sizeof *ids),
            *mask = guarded_allocate((size_t)rows * sizeof *mask);
    int last = 0, ending[2] = {-1, -1};
    for (int i = 0; i < rows; i++) {
      ids[i] = kind == 1 || i > rows / 2 ? 5 : i % 4 + 3;
      const int is_kept = kind < 2 || i % 2 == kind % 2;
      mask[i] = is_kept == keeps;
      if (ids[i] != 5 && is_kept) last = i;
      if (ids[i] == 5 && is_kept && ending[0] < 0) ending[0] = i;
      if (is_kept && (ending[1] < 0 || ids[i] > ids[ending[1]])) ending[1] = i;
    }
    attn2c_pool_last_but(y, x, ids, kind < 2 ? NULL : mask, rows, cols, ld, 5, keeps);
    for (int j = 0; j < cols; j++) cr_assert(same(y[j], x[last * ld + j]), "row %d of %d", last, rows);
    for (int k = 0; k < 2; k++) {
      const int row = ending[k] < 0 ? 0 : ending[k];
      attn2c_pool_ending(y, x, ids, kind < 2 ? NULL : mask, rows, cols, ld, k ? -1 : 5, keeps);
      for (int j = 0; j < cols; j++) cr_assert(same(y[j], x[row * ld + j]), "ending %d: row %d", k, row);
    }
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, 1, cols, cols);
    guarded_free(ids, (size_t)rows * sizeof *ids);
    guarded_free(mask, (size_t)rows * sizeof *mask);
  }
}

Test(gather, argmax) {
  /* what row i holds besides random values of [-1, 1): two values, the first at j, the second at 2j */
  const float negative_nan = attn2c_from_bits(0xffc00000u);
  const float pairs[][2] = {{2, 2}, {2, 3},         {NAN, INFINITY}, {INFINITY, NAN},  {NAN, negative_nan},
                            {0, 0}, {INFINITY, -2}, {-INFINITY, -2}, {1e-45f, 1e-45f}, {negative_nan, 3}};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(pairs); k++) for (int mean = -2; mean <= 2; mean += 2) {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, (float)mean, 1.0f);
    int32_t *y = guarded_allocate((size_t)rows * sizeof *y);
    for (int i = 0; i < rows; i++) {
      x[i * ld + (i * 5 + (int)k) % cols] = pairs[k][0];
      x[i * ld + (i * 5 + (int)k) * 2 % cols] = pairs[k][1];
    }
    sized[s].argmax(y, x, rows, ld);
    for (int i = 0; i < rows; i++) {
      int best = 0;
      for (int j = 1; j < cols && !isnan(x[i * ld + best]); j++)
        if (isnan(x[i * ld + j]) || x[i * ld + j] > x[i * ld + best]) best = j;
      cr_assert_eq(y[i], best, "row %d of %d columns: expected %d, got %d", i, cols, best, y[i]);
    }
    guarded_matrix_free(x, rows, cols, ld);
    guarded_free(y, (size_t)rows * sizeof *y);
  }
}

Test(gather, argmax_of_equals_is_the_first) {
  static const float values[] = {0.0f, -0.0f, -INFINITY, INFINITY, NAN, -FLT_MAX};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t v = 0; v < COUNT_OF(values); v++) {
      float *x = guarded_matrix(1, sized[s].cols, sized[s].cols, 1, 0.0f, 1.0f);
      int32_t y;
      for (int j = 0; j < sized[s].cols; j++) x[j] = j % 2 && values[v] == 0 ? -values[v] : values[v];
      sized[s].argmax(&y, x, 1, sized[s].cols);
      cr_assert_eq(y, 0, "of %d times %g: %d", sized[s].cols, values[v], y);
      guarded_matrix_free(x, 1, sized[s].cols, sized[s].cols);
    }
}
