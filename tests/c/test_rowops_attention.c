/* test_rowops_attention.c - rotations, tables of distances, gates, additive scores, masks with a prefix, and
 * what becomes of rows without a key, in runtime/ops/rowops.h, against plain loops in double, at odd sizes
 * known to the compiler, with padded rows, NaN and infinity, and a page without access right after every
 * buffer.
 */
#define _DEFAULT_SOURCE
#include "base/processor.h"
#include "ops/rowops.h"
#include "guarded.h"
#include "shapes.h"

#include <criterion/criterion.h>
#include <math.h>

#define ROUNDOFF 0x1p-24

static const int row_counts[] = {1, 2, 3, 8, 9, 17};
static const int paddings[] = {0, 3, 16};

/* One function a size, as the wrappers of emitted code. */
#define COLUMNS(each) each(1) each(15) each(16) each(17) each(40) each(64) each(127)

#define SIZED(cols)                                                                                          \
  NOINLINE void band_##cols(float *s, int rows, int ld, int lo, int hi, int keep) {                          \
    attn2c_mask_band_prefix(s, rows, cols, ld, lo, hi, keep);                                                \
  }                                                                                                          \
  NOINLINE void nan_##cols(float *s, int rows, int ld, float scale) {                                        \
    attn2c_softmax_nan(s, rows, cols, ld, scale);                                                            \
  }                                                                                                          \
  NOINLINE void zero_##cols(float *s, int rows, int ld, float scale) {                                       \
    attn2c_softmax(s, rows, cols, ld, scale);                                                                \
  }                                                                                                          \
  NOINLINE void repair_##cols(float *c, const float *p, const float *v, int rows, int keys, int ldc,         \
                              int ldp, int ldv) {                                                            \
    /* The keys in two stretches. */                                                                         \
    const int half = keys / 2;                                                                               \
    const int ranges[2][3] = {{0, 0, half}, {half, half, keys - half}};                                      \
    attn2c_context_repair_nonzero(c, p, v, rows, cols, ldc, ldp, ldv, ranges, 2);                            \
  }                                                                                                          \
  NOINLINE void additive_##cols(float *s, const float *q, const float *keys, const float *v, int rows,       \
                                int head_dim, int lds, int ldq, int ldk) {                                   \
    attn2c_additive_scores(s, q, keys, v, rows, cols, head_dim, lds, ldq, ldk);                              \
  }                                                                                                          \
  NOINLINE void table_##cols(float *y, const float *table, const float *index, int buckets, int heads,       \
                             int ldy) {                                                                      \
    attn2c_bucket_table(y, table, index, buckets, heads, cols, ldy);                                         \
  }
COLUMNS(SIZED)

static const struct {
  int cols;
  void (*band)(float *, int, int, int, int, int);
  void (*softmax_nan)(float *, int, int, float);
  void (*softmax)(float *, int, int, float);
  void (*repair)(float *, const float *, const float *, int, int, int, int, int);
  void (*additive)(float *, const float *, const float *, const float *, int, int, int, int, int);
  void (*table)(float *, const float *, const float *, int, int, int);
} sized[] = {
#define ENTRY(cols)                                                                                          \
  {cols, band_##cols, nan_##cols, zero_##cols, repair_##cols, additive_##cols, table_##cols},
    COLUMNS(ENTRY)};

/* ---- rotations ---- */

#define HEADS(each)                                                                                          \
  each(1, 2, 2) each(3, 8, 8) each(2, 64, 64) each(2, 64, 32) each(1, 15, 6) each(3, 40, 40) each(2, 17, 16) \
      each(1, 128, 126) each(2, 5, 0)

#define ROTATED(heads, width, dimension)                                                                     \
  NOINLINE void rotate_##heads##_##width##_##dimension(float *y, const float *x, const float *cosines,       \
                                                       const float *sines, int rows, int pairs, int ldx,     \
                                                       int ldy, int ldr) {                                   \
    if (pairs)                                                                                               \
      attn2c_rotate(y, x, cosines, sines, rows, heads, width, dimension, 1, ldx, ldy, ldr);                  \
    else                                                                                                     \
      attn2c_rotate(y, x, cosines, sines, rows, heads, width, dimension, 0, ldx, ldy, ldr);                  \
  }
HEADS(ROTATED)

static const struct {
  int heads, width, dimension;
  void (*run)(float *, const float *, const float *, const float *, int, int, int, int, int);
} rotations[] = {
#define ROTATION(heads, width, dimension) {heads, width, dimension, rotate_##heads##_##width##_##dimension},
    HEADS(ROTATION)};

Test(rotate, against_double_and_in_place) {
  for (size_t s = 0; s < COUNT_OF(rotations); s++)
    for (size_t row_index = 0; row_index < COUNT_OF(row_counts); row_index++)
      for (size_t padding = 0; padding < COUNT_OF(paddings); padding++)
        for (int form = 0; form < 4; form++) {
          const int heads = rotations[s].heads, width = rotations[s].width, half = rotations[s].dimension / 2;
          const int pairs = form % 2, ldr = form < 2 ? half : 0; /* 0: all rows have the same angles */
          const int rows = row_counts[row_index], cols = heads * width, ld = cols + paddings[padding];
          float *x = guarded_matrix(rows, cols, ld, 5, 0.0f, 2.0f);
          float *y = guarded_matrix(rows, cols, ld + 1, 6, 0.0f, 1.0f);
          float *cosines = guarded_matrix(ldr ? rows : 1, half, half, 7, 0.0f, 1.0f);
          float *sines = guarded_matrix(ldr ? rows : 1, half, half, 8, 0.0f, 1.0f);
          x[cols - 1] = NAN; /* of head heads - 1, row 0 */
          rotations[s].run(y, x, cosines, sines, rows, pairs, ld, ld + 1, ldr);
          for (int r = 0; r < rows; r++)
            for (int h = 0; h < heads; h++)
              for (int e = 0; e < width; e++) {
                const float *in = x + r * ld + h * width;
                const float got = y[r * (ld + 1) + h * width + e];
                if (e >= 2 * half) {
                  cr_assert(same(got, in[e]), "what is not rotated stays");
                  continue;
                }
                const int d = pairs ? e / 2 : e % half, second = pairs ? e % 2 : e >= half;
                const double x1 = in[pairs ? 2 * d : d], x2 = in[pairs ? 2 * d + 1 : d + half];
                const double c = cosines[r * ldr + d], n = sines[r * ldr + d];
                const double expected = second ? x2 * c + x1 * n : x1 * c - x2 * n;
                const double size = second ? fabs(x2 * c) + fabs(x1 * n) : fabs(x1 * c) + fabs(x2 * n);
                if (isnan(expected))
                  cr_assert(isnan(got));
                else
                  cr_assert(fabs(got - expected) <= 2.01 * ROUNDOFF * size,
                            "%d heads of %d, pairs %d, [%d][%d][%d]: expected %.9g, got %.9g", heads, width,
                            pairs, r, h, e, expected, got);
              }
          cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
          rotations[s].run(x, x, cosines, sines, rows, pairs, ld, ld, ldr);
          for (int r = 0; r < rows; r++)
            for (int e = 0; e < cols; e++) cr_assert(same(x[r * ld + e], y[r * (ld + 1) + e]), "in place");
          cr_assert(guarded_padding_kept(x, rows, cols, ld));
          guarded_matrix_free(x, rows, cols, ld);
          guarded_matrix_free(y, rows, cols, ld + 1);
          guarded_matrix_free(cosines, ldr ? rows : 1, half, half);
          guarded_matrix_free(sines, ldr ? rows : 1, half, half);
        }
}

Test(bucket_table, heads_in_rows) {
  static const int head_counts[] = {1, 3, 16};
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t k = 0; k < COUNT_OF(head_counts); k++) {
      const int buckets = 32, heads = head_counts[k], count = sized[s].cols, ld = count + 3;
      float *table = guarded_matrix(buckets, heads, heads, 1, 0.0f, 1.0f);
      float *index = guarded_matrix(1, count, count, 2, 0.0f, 1.0f);
      float *y = guarded_matrix(heads, count, ld, 3, 0.0f, 1.0f);
      for (int d = 0; d < count; d++) index[d] = (float)((d * 7 + 31) % buckets);
      sized[s].table(y, table, index, buckets, heads, ld);
      for (int h = 0; h < heads; h++)
        for (int d = 0; d < count; d++)
          cr_assert_eq(y[h * ld + d], table[(d * 7 + 31) % buckets * heads + h]);
      cr_assert(guarded_padding_kept(y, heads, count, ld));
      guarded_matrix_free(table, buckets, heads, heads);
      guarded_matrix_free(index, 1, count, count);
      guarded_matrix_free(y, heads, count, ld);
    }
}

/* Rows of other grids than the table's, against sums over all places. */
Test(grid_positions, against_double) {
  static const int32_t shapes[][2] = {{1, 1}, {3, 4}, {7, 2}, {1, 13}, {5, 5}};
  const int grid = 5, rows = 13, cols = 19, ldt = 21, ldy = 23;
  float *table = guarded_matrix(grid * grid, cols, ldt, 1, 0.0f, 1.0f);
  for (size_t s = 0; s < COUNT_OF(shapes); s++) {
    float *y = guarded_matrix(rows, cols, ldy, 2, 0.0f, 1.0f);
    const int h = shapes[s][0], w = shapes[s][1];
    attn2c_grid_positions(y, table, shapes[s], rows, cols, grid, ldt, ldy);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) {
        double sum = 0, weights = 0;
        for (int place = 0; place < grid * grid && i < h * w; place++) {
          const double down =
              fabs(place / grid - ((i / w + 0.5) * grid / h - 0.5)) / fmax(1, (double)grid / h);
          const double across =
              fabs(place % grid - ((i % w + 0.5) * grid / w - 0.5)) / fmax(1, (double)grid / w);
          const double weight = fmax(0, 1 - down) * fmax(0, 1 - across);
          sum += weight * table[place * ldt + j], weights += weight;
        }
        cr_assert_float_eq(y[i * ldy + j], i < h * w ? sum / weights : 0, 1e-6, "%zu %d", s, i);
      }
    cr_assert(guarded_padding_kept(y, rows, cols, ldy));
    guarded_matrix_free(y, rows, cols, ldy);
  }
  guarded_matrix_free(table, grid * grid, cols, ldt);
}

Test(add_places, against_double) {
  static const int widths[] = {1, 7, 64};
  for (size_t r = 0; r < COUNT_OF(row_counts); r++)
    for (size_t k = 0; k < COUNT_OF(widths); k++)
      for (int distances = 5; distances < 50; distances += 22) {
        const int rows = row_counts[r], cols = widths[k], ld = cols + 3, all = rows + cols;
        const int most = distances / 2;
        float *s = guarded_matrix(rows, cols, ld, 1, 0.0f, 2.0f),
              *before = guarded_matrix(rows, cols, ld, 1, 0.0f, 2.0f);
        float *across = guarded_matrix(1, distances, distances, 2, 0.0f, 1.0f);
        float *down = guarded_matrix(1, distances, distances, 3, 0.0f, 1.0f);
        int32_t *boxes = malloc((size_t)all * 4 * sizeof *boxes);
        for (int i = 0; i < 4 * all; i++) boxes[i] = i * 13 % 37;
        const int32_t *keys = boxes + 4 * rows;
        attn2c_add_places(s, boxes, keys, across, down, rows, cols, ld, distances);
        for (int i = 0; i < rows; i++)
          for (int j = 0; j < cols; j++) {
            int x = keys[4 * j] - boxes[4 * i], y = keys[4 * j + 3] - boxes[4 * i + 3];
            x = x < -most ? -most : x > most ? most : x, y = y < -most ? -most : y > most ? most : y;
            const double want = (double)before[i * ld + j] + across[most + x] + down[most + y];
            cr_assert_float_eq(s[i * ld + j], want, 1e-6, "%d %d", i, j);
          }
        memcpy(before, s, ((size_t)(rows - 1) * (size_t)ld + (size_t)cols) * sizeof *s);
        attn2c_add_places_along(s, boxes, keys, across, down, down, rows, cols, ld, distances, distances - 2);
        for (int i = 0; i < rows; i++)
          for (int j = 0; j < cols; j++) {
            const int reach[] = {most, most, most - 1}, side[] = {0, 3, 1};
            double want = before[i * ld + j];
            for (int axis = 0; axis < 3; axis++) {
              int d = keys[4 * j + side[axis]] - boxes[4 * i + side[axis]];
              d = d < -reach[axis] ? -reach[axis] : d > reach[axis] ? reach[axis] : d;
              want += (double)(axis ? down : across)[reach[axis] + d];
            }
            cr_assert_float_eq(s[i * ld + j], want, 2e-6, "%d %d", i, j);
          }
        cr_assert(guarded_padding_kept(s, rows, cols, ld));
        guarded_matrix_free(s, rows, cols, ld);
        guarded_matrix_free(before, rows, cols, ld);
        guarded_matrix_free(across, 1, distances, distances);
        guarded_matrix_free(down, 1, distances, distances);
        free(boxes);
      }
}

Test(position_gates, against_double) {
  static const int widths[] = {1, 7, 64};
  for (size_t r = 0; r < COUNT_OF(row_counts); r++)
    for (size_t k = 0; k < COUNT_OF(widths); k++) {
      const int rows = row_counts[r], width = widths[k], heads = 3, cols = heads * width;
      float *x = guarded_matrix(rows, cols, cols + 3, 1, 0.0f, 2.0f);
      float *weight = guarded_matrix(8, width, width, 2, 0.0f, 1.0f),
            *y = guarded_matrix(rows, heads, 5, 3, 0, 1);
      float *bias = guarded_matrix(1, 8, 8, 4, 0.0f, 1.0f),
            *factors = guarded_matrix(1, heads, heads, 5, 0.0f, 2.0f);
      attn2c_position_gates(y, x, weight, bias, factors, rows, heads, width, cols + 3, 5);
      for (int i = 0; i < rows * heads; i++) {
        double gates[2], most = 0;
        for (int g = 0; g < 2; g++) {
          double sum = 0;
          for (int e = 4 * g; e < 4 * g + 4; e++) {
            sum += bias[e], most += fabs((double)bias[e]);
            for (int d = 0; d < width; d++) {
              const double term =
                  (double)weight[e * width + d] * x[i / heads * (cols + 3) + i % heads * width + d];
              sum += term, most += fabs(term);
            }
          }
          gates[g] = 1 / (1 + exp(-sum));
        }
        const double factor = factors[i % heads], want = gates[0] * (gates[1] * factor - 1) + 2;
        const double allowed = 4 * sqrt(4.0 * width) * ROUNDOFF * most + 8e-6;
        cr_assert_float_eq(y[i / heads * 5 + i % heads], want, allowed * (1 + fabs(factor)), "%d of %d", i,
                           width);
      }
      cr_assert(guarded_padding_kept(y, rows, heads, 5));
      guarded_matrix_free(x, rows, cols, cols + 3);
      guarded_matrix_free(weight, 8, width, width);
      guarded_matrix_free(y, rows, heads, 5);
      guarded_matrix_free(bias, 1, 8, 8);
      guarded_matrix_free(factors, 1, heads, heads);
    }
}

/* ---- additive scores ---- */

Test(additive_scores, against_double) {
  static const int widths[] = {1, 7, 64};
  EACH_SHAPE for (size_t k = 0; k < COUNT_OF(widths); k++) {
    SHAPE
    const int width = widths[k];
    float *q = guarded_matrix(rows, width, width + 3, seed, 0.0f, 2.0f);
    float *keys = guarded_matrix(width, cols, ld, seed + 1, 0.0f, 2.0f);
    float *v = guarded_matrix(1, width, width, seed + 2, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, ld + 1, seed + 3, 0.0f, 1.0f);
    keys[cols / 2] = INFINITY; /* of dimension 0: the tanh is 1 */
    sized[s].additive(y, q, keys, v, rows, width, ld + 1, width + 3, ld);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < cols; j++) {
        double expected = 0, size = 0;
        for (int d = 0; d < width; d++) {
          const double term = v[d] * tanh((double)q[r * (width + 3) + d] + keys[d * ld + j]);
          expected += term, size += fabs(term);
        }
        /* 4 ulp of each tanh, u of its argument, and the roundings of the sum */
        const double limit = (9 + 4 * sqrt(width)) * ROUNDOFF * size;
        cr_assert(fabs(y[r * (ld + 1) + j] - expected) <= limit, "[%d][%d] of %d, %d wide: %.9g, got %.9g", r,
                  j, cols, width, expected, y[r * (ld + 1) + j]);
      }
    cr_assert(guarded_padding_kept(y, rows, cols, ld + 1));
    guarded_matrix_free(q, rows, width, width + 3);
    guarded_matrix_free(keys, width, cols, ld);
    guarded_matrix_free(v, 1, width, width);
    guarded_matrix_free(y, rows, cols, ld + 1);
  }
}

Test(additive_scores, a_nan_stays_with_its_key_or_query) {
  for (size_t s = 0; s < COUNT_OF(sized); s++) {
    const int cols = sized[s].cols, rows = 3, width = 5, bad = cols / 3;
    float *q = guarded_matrix(rows, width, width, 1, 0.0f, 1.0f);
    float *keys = guarded_matrix(width, cols, cols, 2, 0.0f, 1.0f);
    float *v = guarded_matrix(1, width, width, 3, 0.0f, 1.0f);
    float *y = guarded_matrix(rows, cols, cols, 4, 0.0f, 1.0f);
    keys[2 * cols + bad] = NAN;
    q[1 * width + 4] = NAN;
    sized[s].additive(y, q, keys, v, rows, width, cols, width, cols);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < cols; j++)
        cr_assert_eq(isnan(y[r * cols + j]) != 0, r == 1 || j == bad, "[%d][%d] of %d", r, j, cols);
    guarded_matrix_free(q, rows, width, width);
    guarded_matrix_free(keys, width, cols, cols);
    guarded_matrix_free(v, 1, width, width);
    guarded_matrix_free(y, rows, cols, cols);
  }
}

/* ---- masks ---- */

static const int edges[] = {INT32_MIN / 4, -130, -17, -1, 0, 1, 5, 16, 64, 127, 300, INT32_MAX / 4};

Test(mask, band_with_a_prefix) {
  static const int kept[] = {-3, 0, 1, 5, 15, 16, 17, 40, 64, 126, 127, 900};
  EACH_SHAPE for (size_t l = 0; l < COUNT_OF(edges); l++) for (size_t h = 0; h < COUNT_OF(edges); h++) {
    SHAPE
    const int lo = edges[l], hi = edges[h], keep = kept[(l + 5 * h + row_index) % COUNT_OF(kept)];
    float *x = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f),
          *y = guarded_matrix(rows, cols, ld, seed, 0.0f, 1.0f);
    for (int i = 0; i < rows; i++) x[i * ld + i % cols] = y[i * ld + i % cols] = NAN;
    sized[s].band(y, rows, ld, lo, hi, keep);
    for (int r = 0; r < rows; r++)
      for (int j = 0; j < cols; j++) {
        const int seen = j < keep || (lo + r <= j && j < hi + r);
        cr_assert(same(y[r * ld + j], seen ? x[r * ld + j] : -INFINITY),
                  "[%d][%d] of %d x %d, band %d %d, prefix %d: %g", r, j, rows, cols, lo, hi, keep,
                  y[r * ld + j]);
      }
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld);
  }
}

/* Rows that have a key have the bits of the other softmax, which has tests of its own; rows without any are
 * NaN. */
Test(softmax_nan, rows_without_a_key) {
  EACH_SHAPE {
    SHAPE
    float *x = guarded_matrix(rows, cols, ld, seed, 0.0f, 9.0f),
          *y = guarded_matrix(rows, cols, ld, seed, 0.0f, 9.0f);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) {
        const int masked = i % 3 == 1 || (i % 3 == 2 && j != cols / 2);
        if (masked) x[i * ld + j] = y[i * ld + j] = -INFINITY;
      }
    if (rows > 3) x[3 * ld] = y[3 * ld] = NAN;
    sized[s].softmax_nan(y, rows, ld, 0.125f);
    sized[s].softmax(x, rows, ld, 0.125f);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++)
        cr_assert(i % 3 == 1 ? isnan(y[i * ld + j]) && x[i * ld + j] == 0
                             : same(y[i * ld + j], x[i * ld + j]),
                  "[%d][%d] of %d: %g", i, j, cols, y[i * ld + j]);
    cr_assert(guarded_padding_kept(y, rows, cols, ld));
    guarded_matrix_free(x, rows, cols, ld);
    guarded_matrix_free(y, rows, cols, ld);
  }
}

/* A value that is not finite counts for nothing where its weight is 0. Rows that are finite keep their bits.
 */
Test(mask, repair_where_weights_are_zero) {
  enum { KEYS = 37, LDP = 41 };
  for (size_t s = 0; s < COUNT_OF(sized); s++)
    for (size_t padding = 0; padding < COUNT_OF(paddings); padding++)
      for (int bad = 0; bad < KEYS; bad += 9) {
        const int rows = 17, width = sized[s].cols, ld = width + paddings[padding];
        float *p = guarded_matrix(rows, KEYS, LDP, 5, 0.5f, 0.5f);
        float *v = guarded_matrix(KEYS, width, ld, 6, 0.0f, 1.0f);
        float *c = guarded_matrix(rows, width, ld, 7, 0.0f, 1.0f);
        float *before = guarded_matrix(rows, width, ld, 7, 0.0f, 1.0f);
        v[bad * ld + width / 2] = padding == 1 ? -INFINITY : NAN;
        for (int r = 0; r < rows; r++) {
          for (int j = 0; j < KEYS; j++)
            if ((j + r) % 4 == 0 || (j == bad && r != 8)) p[r * LDP + j] = r % 2 ? 0.0f : -0.0f;
          if (r % 5 == 3) c[r * ld + width / 2] = NAN; /* rows 3, 8, 13; of row 8 the weight is not 0 */
        }
        p[8 * LDP + bad] = 0.25f;
        p[13 * LDP + (bad ? 0 : 1)] = NAN; /* not 0, and not finite */
        sized[s].repair(c, p, v, rows, KEYS, ld, LDP, ld);
        for (int r = 0; r < rows; r++)
          for (int d = 0; d < width; d++) {
            const float got = c[r * ld + d];
            if (r % 5 != 3) {
              cr_assert(same(got, before[r * ld + d]), "a finite row was changed");
              continue;
            }
            double expected = 0, size = 0;
            for (int j = 0; j < KEYS; j++)
              if (p[r * LDP + j] != 0) {
                expected += (double)p[r * LDP + j] * v[j * ld + d];
                size += fabs((double)p[r * LDP + j] * v[j * ld + d]);
              }
            cr_assert_eq(isnan(expected) || isinf(expected), r == 13 || (r == 8 && d == width / 2));
            if (isfinite(expected))
              cr_assert(fabs(got - expected) <= KEYS * 2 * ROUNDOFF * size, "[%d][%d]: expected %g, got %g",
                        r, d, expected, got);
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

/* Where denormals count as zero, weights a little above 2^-126 may become 0; check/tolerance.c has the bound.
 */
Test(softmax, of_powers_that_become_zero) {
  enum { COLS = 17, STEPS = 2000 };
  double largest = 0;
  for (int step = 0; step < STEPS; step++) {
    float s[COLS];
    const double max = 3 + 1.5 * step / STEPS;
    s[0] = (float)max;
    for (int j = 1; j < COLS; j++) s[j] = (float)(max - 86.9 - 0.05 * j);
    double want[COLS];
    for (int j = 0; j < COLS; j++) want[j] = exp((double)s[j] - (double)s[0]); /* the others add nothing */
    const attn2c_flush modes = attn2c_flush_on();
    zero_17(s, 1, COLS, 1.0f);
    attn2c_flush_restore(modes);
    for (int j = 1; j < COLS; j++) {
      if (s[j] == 0.0f) largest = fmax(largest, want[j]);
      cr_assert(s[j] == 0.0f || fabs(s[j] - want[j]) <= 100 * 0x1p-23 * want[j], "%d: %a, not %a", j,
                (double)s[j], want[j]);
    }
  }
  cr_assert_leq(largest, 1.446 * 0x1p-126);
#if defined(__x86_64__)
  cr_assert_geq(largest, 1.4 * 0x1p-126, "%a", largest); /* the bound is reached */
#endif
}
