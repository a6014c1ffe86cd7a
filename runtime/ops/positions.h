/* positions.h - row operations of positions: rotating queries and keys, and the table of numbers per
 * distance. The table has the number that each distance adds to a head's scores, and gates multiply it. */
#pragma once

#include "ops/vector.h"

/* Rotates x[rows][heads * head_dim] by its angles into y, rows ldx and ldy floats apart; y may be x. The
 * first `dimension` elements of each head are pairs (x1, x2): d and d + dimension / 2, or, with `pairs`, 2d
 * and 2d + 1. They become (x1 cos - x2 sin, x2 cos + x1 sin) with cosines[r][d] and sines[r][d], whose rows
 * are ldr floats apart, 0 if all rows have the same angles. The elements after them stay. */
ATTN2C_INLINE void attn2c_rotate(float *y, const float *x, const float *cosines, const float *sines, int rows,
                                 int heads, int head_dim, int dimension, int pairs, int ldx, int ldy,
                                 int ldr) {
  const int half = dimension / 2;
  for (int r = 0; r < rows; r++) {
    const float *cosine = cosines + (ptrdiff_t)r * ldr, *sine = sines + (ptrdiff_t)r * ldr;
    for (int h = 0; h < heads; h++) {
      const float *in = x + (ptrdiff_t)r * ldx + (ptrdiff_t)h * head_dim;
      float *out = y + (ptrdiff_t)r * ldy + (ptrdiff_t)h * head_dim;
      if (pairs) {
#pragma omp simd
        for (int d = 0; d < half; d++) {
          const float x1 = in[2 * d], x2 = in[2 * d + 1];
          out[2 * d] = ATTN2C_FMA(x1, cosine[d], -(x2 * sine[d]));
          out[2 * d + 1] = ATTN2C_FMA(x2, cosine[d], x1 * sine[d]);
        }
      } else {
#pragma omp simd
        for (int d = 0; d < half; d++) {
          const float x1 = in[d], x2 = in[d + half];
          out[d] = ATTN2C_FMA(x1, cosine[d], -(x2 * sine[d]));
          out[d + half] = ATTN2C_FMA(x2, cosine[d], x1 * sine[d]);
        }
      }
#pragma omp simd
      for (int d = dimension; d < head_dim; d++) out[d] = in[d];
    }
  }
}

/* y[rows][heads]: a (b factors[h] - 1) + 2 of head h of x[rows][heads * head_dim], rows ldx and ldy floats
 * apart. a is the sigmoid of the sum of elements 0 to 3 of (weight[8][head_dim] of a head's x, + bias[8]), b
 * that of elements 4 to 7 (Chi et al. 2022, gated relative position bias). */
ATTN2C_INLINE void attn2c_position_gates(float *y, const float *x, const float *weight, const float *bias,
                                         const float *factors, int rows, int heads, int head_dim, int ldx,
                                         int ldy) {
  for (int r = 0; r < rows; r++)
    for (int h = 0; h < heads; h++) {
      const float *in = x + (ptrdiff_t)r * ldx + (ptrdiff_t)h * head_dim;
      float gates[2];
      for (int g = 0; g < 2; g++) {
        const float *w = weight + (ptrdiff_t)4 * g * head_dim, *shift = bias + 4 * g;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int d = 0; d < head_dim; d++)
          sum += in[d] * ((w[d] + w[d + head_dim]) + (w[d + 2 * head_dim] + w[d + 3 * head_dim]));
        gates[g] = attn2c_sigmoid(sum + ((shift[0] + shift[1]) + (shift[2] + shift[3])));
      }
      y[(ptrdiff_t)r * ldy + h] = ATTN2C_FMA(gates[0], ATTN2C_FMA(gates[1], factors[h], -1.0f), 2.0f);
    }
}

/* y[heads][count], rows ldy floats apart: y[h][d] = table[index[d]][h] of table[buckets][heads], which is
 * packed. The indices, integers below `buckets`, are a constant of the model. */
ATTN2C_INLINE void attn2c_bucket_table(float *y, const float *table, const float *index, int buckets,
                                       int heads, int count, int ldy) {
  (void)buckets;
  for (int d = 0; d < count; d++) {
    const float *row = table + (ptrdiff_t)index[d] * heads;
    for (int h = 0; h < heads; h++) y[(ptrdiff_t)h * ldy + d] = row[h];
  }
}

/* s[rows][cols], rows ld floats apart: adds across[D + left of the key - left of the query] and
 * down[D + lower of the key - lower of the query] of boxes (left, upper, right, lower). D is the middle of a
 * table of `distances`; differences beyond its ends are its ends (Huang et al. 2022, LayoutLMv3). */
ATTN2C_INLINE void attn2c_add_places(float *s, const int32_t *queries, const int32_t *keys,
                                     const float *across, const float *down, int rows, int cols, int ld,
                                     int distances) {
  const int most = distances / 2;
  for (int i = 0; i < rows; i++) {
    const int left = queries[4 * i], lower = queries[4 * i + 3];
    float *row = s + (ptrdiff_t)i * ld;
#pragma omp simd
    for (int j = 0; j < cols; j++) {
      int x = keys[4 * j] - left, y = keys[4 * j + 3] - lower;
      x = x < -most ? -most : x > most ? most : x;
      y = y < -most ? -most : y > most ? most : y;
      row[j] += across[most + x] + down[most + y];
    }
  }
}

/* The same, and adds along[P + upper of the key - upper of the query]. P is the middle of a table of
 * `places`, which has places of a sequence in place of upper sides. */
ATTN2C_INLINE void attn2c_add_places_along(float *s, const int32_t *queries, const int32_t *keys,
                                           const float *across, const float *down, const float *along,
                                           int rows, int cols, int ld, int distances, int places) {
  const int most = places / 2;
  attn2c_add_places(s, queries, keys, across, down, rows, cols, ld, distances);
  for (int i = 0; i < rows; i++) {
    float *row = s + (ptrdiff_t)i * ld;
#pragma omp simd
    for (int j = 0; j < cols; j++) {
      int d = keys[4 * j + 1] - queries[4 * i + 1];
      d = d < -most ? -most : d > most ? most : d;
      row[j] += along[most + d];
    }
  }
}

/* Writes the weights of `at`, of an axis of `to` places, for the `from` places of another one: bilinear with
 * antialiasing. Places before *first and from *end on have the weight 0. */
static inline void attn2c_grid_weights(double *weights, int from, int to, int at, int *first, int *end) {
  const double scale = (double)from / to, support = scale > 1 ? scale : 1, middle = (at + 0.5) * scale - 0.5;
  double sum = 0;
  *first = from, *end = 0;
  for (int i = 0; i < from; i++) {
    const double apart = (i < middle ? middle - i : i - middle) / support;
    weights[i] = apart < 1 ? 1 - apart : 0;
    sum += weights[i];
    if (weights[i] > 0 && *first == from) *first = i;
    if (weights[i] > 0) *end = i + 1;
  }
  for (int i = *first; i < *end; i++) weights[i] /= sum;
}

/* The largest side of a grid of positions. */
#define ATTN2C_LARGEST_GRID 64

/* Writes y[rows][cols], rows ldy floats apart: row i is the position of patch i of shape[0] rows of shape[1]
 * patches, resized from table[grid * grid], rows ldt floats apart (Tschannen et al. 2025, SigLIP 2, NaFlex).
 * Rows after the last patch are 0. */
ATTN2C_INLINE void attn2c_grid_positions(float *y, const float *table, const int32_t *shape, int rows,
                                         int cols, int grid, int ldt, int ldy) {
  const int64_t patches = (int64_t)shape[0] * shape[1];
  double down[ATTN2C_LARGEST_GRID], across[ATTN2C_LARGEST_GRID];
  for (int i = 0; i < rows; i++, y += ldy) {
    if (i >= patches) {
      memset(y, 0, (size_t)cols * sizeof *y);
      continue;
    }
    int top, bottom, left, right;
    attn2c_grid_weights(down, grid, shape[0], i / shape[1], &top, &bottom);
    attn2c_grid_weights(across, grid, shape[1], i % shape[1], &left, &right);
    for (int j = 0; j < cols; j += 16) {
      const int count = cols - j < 16 ? cols - j : 16;
      double sums[16] = {0};
      for (int r = top; r < bottom; r++)
        for (int c = left; c < right; c++) {
          const float *from = table + (ptrdiff_t)(r * grid + c) * ldt + j;
#pragma omp simd
          for (int k = 0; k < count; k++) sums[k] += down[r] * across[c] * from[k];
        }
      for (int k = 0; k < count; k++) y[j + k] = (float)sums[k];
    }
  }
}
