/* gather.h - moves and reduces rows: copy, fill, embedding, patches, pooling, mean over heads, index of the
 * largest. All tensors are row-major, with leading dimensions in floats. */
#pragma once

#include "ops/round.h"
#include "ops/table.h"

/* y[rows][cols] = x[rows][cols], which do not overlap. */
ATTN2C_INLINE void attn2c_copy(float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
    memcpy(y + (ptrdiff_t)i * ldy, x + (ptrdiff_t)i * ldx, (size_t)cols * sizeof *x);
}

/* y[i][j] = x[i][order[j]]. The order has each of the columns once, as a float; it is a constant of the
 * model. */
ATTN2C_INLINE void attn2c_gather_columns(float *y, const float *x, const float *order, int rows, int cols,
                                         int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const float *in = x + (ptrdiff_t)i * ldx;
    for (int j = 0; j < cols; j++) out[j] = in[(int)order[j]];
  }
}

/* y[rows][cols] = value. */
ATTN2C_INLINE void attn2c_fill(float *y, int rows, int cols, int ldy, float value) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] = value;
  }
}

/* Writes y[rows][cols]: row i is row ids[i] of a table. The ids must be within the table. */
ATTN2C_INLINE void attn2c_embed(float *y, const float *table, const int32_t *ids, attn2c_table of, int rows,
                                int cols, int ldy) {
  for (int i = 0; i < rows; i++) {
    const attn2c_table_row row = attn2c_table_find(of, ids[i]);
    const float *in = table + attn2c_table_first(of, row);
    float *out = y + (ptrdiff_t)i * ldy;
    if (row.leading == 1)
      memcpy(out, in, (size_t)cols * sizeof *out);
    else
      for (int j = 0; j < cols; j++) out[j] = in[j * row.leading];
  }
}

/* y[i] = the sum of table[left] + table[P + upper] + table[right] + table[P + lower] + table[2 P + |lower -
 * upper|]
 * + table[3 P + |right - left|] of boxes[i] = (left, upper, right, lower), in double; P: places, [4 P][cols].
 */
ATTN2C_INLINE void attn2c_embed_boxes(float *y, const float *table, const int32_t *boxes, int rows, int cols,
                                      int places, int ldy) {
  for (int i = 0; i < rows; i++, boxes += 4) {
    const ptrdiff_t left = boxes[0], upper = boxes[1], right = boxes[2], lower = boxes[3], p = places;
    const ptrdiff_t height = lower > upper ? lower - upper : upper - lower;
    const ptrdiff_t width = right > left ? right - left : left - right;
    const float *a = table + left * cols, *b = table + (p + upper) * cols, *c = table + right * cols,
                *d = table + (p + lower) * cols, *e = table + (2 * p + height) * cols,
                *f = table + (3 * p + width) * cols;
#pragma omp simd
    for (int j = 0; j < cols; j++)
      y[(ptrdiff_t)i * ldy + j] = (float)((double)a[j] + b[j] + c[j] + d[j] + e[j] + f[j]);
  }
}

/* Writes y[rows][cols]: the six rows for boxes[i] = (left, upper, right, lower) side by side, table[left],
 * table[P + upper], table[right], table[P + lower], sizes[lower - upper], sizes[P + right - left], where
 * negative sizes are 0. P: places; table: [2 P][width]; sizes: [2 P][half of the rest of cols]. */
ATTN2C_INLINE void attn2c_join_boxes(float *y, const float *table, const float *sizes, const int32_t *boxes,
                                     int rows, int cols, int width, int places, int ldy) {
  const ptrdiff_t rest = (cols - 4 * width) / 2, p = places;
  for (int i = 0; i < rows; i++, boxes += 4) {
    float *out = y + (ptrdiff_t)i * ldy;
    const ptrdiff_t height = boxes[3] > boxes[1] ? boxes[3] - boxes[1] : 0;
    const ptrdiff_t across = boxes[2] > boxes[0] ? boxes[2] - boxes[0] : 0;
    for (int k = 0; k < 4; k++)
      memcpy(out + k * width, table + (k % 2 * p + boxes[k]) * width, (size_t)width * sizeof *out);
    memcpy(out + 4 * width, sizes + height * rest, (size_t)rest * sizeof *out);
    memcpy(out + 4 * width + rest, sizes + (p + across) * rest, (size_t)rest * sizeof *out);
  }
}

/* attn2c_embed for a table of bf16. */
ATTN2C_INLINE void attn2c_embed_bf16(float *y, const uint16_t *table, const int32_t *ids, attn2c_table of,
                                     int rows, int cols, int ldy) {
  for (int i = 0; i < rows; i++) {
    const attn2c_table_row row = attn2c_table_find(of, ids[i]);
    const uint16_t *in = table + 2 * attn2c_table_first(of, row);
    float *out = y + (ptrdiff_t)i * ldy;
    if (row.leading == 1) {
#pragma omp simd
      for (int j = 0; j < cols; j++) out[j] = attn2c_from_bf16(in[j]);
    } else {
      for (int j = 0; j < cols; j++) out[j] = attn2c_from_bf16(in[j / 2 * 2 * row.leading + j % 2]);
    }
  }
}

/* Writes y[rows + 1 + down * across][4]: left, place in the sequence, right and lower of boxes[rows][4], then
 * of a page of 1,000 x 1,000 without its border, and of its down x across parts, row by row. Their places
 * begin again at 0 (Huang et al. 2022, LayoutLMv3). */
ATTN2C_INLINE void attn2c_page_places(int32_t *y, const int32_t *boxes, int rows, int across, int down) {
  for (int i = 0; i < rows; i++, y += 4, boxes += 4)
    y[0] = boxes[0], y[1] = i, y[2] = boxes[2], y[3] = boxes[3];
  y[0] = 1, y[1] = 0, y[2] = 999, y[3] = 999;
  for (int i = 0; i < down * across; i++) {
    y += 4;
    y[0] = 1000 * (i % across) / across, y[1] = i + 1;
    y[2] = 1000 * (i % across + 1) / across, y[3] = 1000 * (i / across + 1) / down;
  }
}

/* Writes patches of the packed image x[channels][height][width] to y[rows][channels * patch * patch]. Row i
 * is patch number first + i, counted along the rows of patches. A row has the patch rows of the first channel
 * one after the other, then the next channel's. Pixels beyond the last whole patch are not read. */
ATTN2C_INLINE void attn2c_patches(float *y, const float *x, int channels, int height, int width, int patch,
                                  int first, int rows, int ldy) {
  const int across = width / patch;
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    const int top = (first + i) / across * patch, left = (first + i) % across * patch;
    for (int c = 0; c < channels; c++)
      for (int row = 0; row < patch; row++, out += patch)
        memcpy(out, x + ((ptrdiff_t)c * height + top + row) * width + left, (size_t)patch * sizeof *out);
  }
}

/* y[rows][patch * patch]: patches `first` and after of x[width][height], an image column by column. From a
 * patch to the next are column_stride columns, or row_stride rows. */
ATTN2C_INLINE void attn2c_patches_of_columns(float *y, const float *x, int height, int width, int patch,
                                             int row_stride, int column_stride, int first, int rows,
                                             int ldy) {
  const int across = (width - patch) / column_stride + 1;
  for (int i = 0; i < rows; i++) {
    const int top = (first + i) / across * row_stride, left = (first + i) % across * column_stride;
    const float *from = x + (ptrdiff_t)left * height + top;
    for (int row = 0; row < patch; row++)
      for (int column = 0; column < patch; column++)
        y[(ptrdiff_t)i * ldy + row * patch + column] = from[(ptrdiff_t)column * height + row];
  }
}

/* y[rows][4 * cols]: row i is x0 - x2, x1, x3, x4 - x2 side by side, of the rows x0 to x4 of x from 4 i on.
 * The first `there` rows of x are read; parts of y that need others are 0. */
ATTN2C_INLINE void attn2c_pair_rows(float *y, const float *x, int rows, int cols, int ldx, int ldy,
                                    int there) {
  for (int i = 0; i < rows; i++) {
    const float *from = x + (ptrdiff_t)(4 * i) * ldx, *middle = from + (ptrdiff_t)2 * ldx;
    float *to = y + (ptrdiff_t)i * ldy;
    for (int t = 0; t < 4; t++, to += cols) {
      const int row = t < 2 ? t : t + 1, is_odd = row % 2;
      const float *in = from + (ptrdiff_t)(4 * i + row < there ? row : 2) * ldx;
      if (4 * i + row >= there)
        for (int j = 0; j < cols; j++) to[j] = 0.0f;
      else if (is_odd)
        for (int j = 0; j < cols; j++) to[j] = in[j];
      else
        for (int j = 0; j < cols; j++) to[j] = in[j] - middle[j];
    }
  }
}

/* y = x + z */
ATTN2C_INLINE void attn2c_add_rows(float *y, const float *x, const float *z, int rows, int cols, int ldx,
                                   int ldy) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      y[(ptrdiff_t)i * ldy + j] = x[(ptrdiff_t)i * ldx + j] + z[(ptrdiff_t)i * ldx + j];
}

/* y[rows][cols * kernel]: element (i, j kernel + t) is x[i + t - kernel / 2][j], or 0 if that row is not one
 * of the first `valid`. The rows around row i are the inputs of a convolution along the rows. */
ATTN2C_INLINE void attn2c_neighbours(float *y, const float *x, int rows, int valid, int cols, int kernel,
                                     int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
    for (int t = 0; t < kernel; t++) {
      const int row = i + t - kernel / 2, is_there = row >= 0 && row < valid;
      const float *in = x + (ptrdiff_t)(is_there ? row : i) * ldx;
      float *out = y + (ptrdiff_t)i * ldy + t;
      for (int j = 0; j < cols; j++) out[(ptrdiff_t)j * kernel] = is_there ? in[j] : 0.0f;
    }
}

/* y[rows][cols]: row i is bias + the sum over t of weight[t] x[before + i - kernel + 1 + t], element by
 * element, without rows before the first. The first `before` rows of x precede row 0 of y. Each element's
 * sum has one order, whatever rows a call has. bias may be NULL. */
ATTN2C_INLINE void attn2c_convolve_columns(float *y, const float *x, const float *weight, const float *bias,
                                           int rows, int cols, int kernel, int width, int ldx, int ldy,
                                           int before) {
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    for (int j = 0; j < cols; j++) out[j] = bias ? bias[j] : 0.0f;
    for (int t = 0; t < kernel; t++) {
      const int row = before + i - kernel + 1 + t;
      const float *in = x + (ptrdiff_t)row * ldx, *by = weight + (ptrdiff_t)t * width;
      if (row < 0) continue;
#pragma omp simd
      for (int j = 0; j < cols; j++) out[j] += by[j] * in[j];
    }
  }
}

/* y[rows][kernel width]: row t width + j, j < cols, of row i is x[i + (t - kernel / 2) dilation][j], or 0 if
 * that row is not one of the first `valid`. */
ATTN2C_INLINE void attn2c_dilated(float *y, const float *x, int rows, int valid, int cols, int kernel,
                                  int dilation, int width, int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
    for (int t = 0; t < kernel; t++) {
      const int row = i + (t - kernel / 2) * dilation;
      float *out = y + (ptrdiff_t)i * ldy + (ptrdiff_t)t * width;
      if (row >= 0 && row < valid)
        memcpy(out, x + (ptrdiff_t)row * ldx, (size_t)cols * sizeof *out);
      else
        memset(out, 0, (size_t)cols * sizeof *out);
    }
}

/* Writes the rows that a convolution reads around rows [first, first + rows) of x[all][cols]: y[i] = x[first
 * + i - kernel / 2], i < rows + kernel - 1, or 0 where x has no such row among its first `valid`. Rows are
 * ldx and ldy elements of `size` bytes apart. */
ATTN2C_INLINE void attn2c_pad_any(void *y, const void *x, int rows, int first, int valid, int all, int cols,
                                  int kernel, int ldx, int ldy, size_t size) {
  const int end = valid < all ? valid : all;
  for (int i = 0; i < rows + kernel - 1; i++) {
    const int row = first + i - kernel / 2;
    char *out = (char *)y + (ptrdiff_t)i * ldy * (ptrdiff_t)size;
    if (row >= 0 && row < end)
      memcpy(out, (const char *)x + (ptrdiff_t)row * ldx * (ptrdiff_t)size, (size_t)cols * size);
    else
      memset(out, 0, (size_t)cols * size);
  }
}

ATTN2C_INLINE void attn2c_pad(float *y, const float *x, int rows, int first, int valid, int all, int cols,
                              int kernel, int ldx, int ldy) {
  attn2c_pad_any(y, x, rows, first, valid, all, cols, kernel, ldx, ldy, sizeof *y);
}

ATTN2C_INLINE void attn2c_pad_bf16(uint16_t *y, const uint16_t *x, int rows, int first, int valid, int all,
                                   int cols, int kernel, int ldx, int ldy) {
  attn2c_pad_any(y, x, rows, first, valid, all, cols, kernel, ldx, ldy, sizeof *y);
}

/* y[rows][cols] = the mean over h < heads of x[h][rows][cols], heads `stride` floats apart. */
ATTN2C_INLINE void attn2c_mean_heads(float *y, const float *x, int heads, int rows, int cols, int stride,
                                     int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
    const float *in = x + (ptrdiff_t)i * ldx;
    float *out = y + (ptrdiff_t)i * ldy;
    int j = 0;
    /* The remainder is computed with a last vector that overlaps the one before. */
    for (; cols >= ATTN2C_LANES && j < cols; j += ATTN2C_LANES) {
      const int at = j + ATTN2C_LANES <= cols ? j : cols - ATTN2C_LANES;
      attn2c_vector sum = attn2c_load(in + at);
      for (int h = 1; h < heads; h++) sum += attn2c_load(in + (ptrdiff_t)h * stride + at);
      attn2c_store(out + at, sum / attn2c_splat((float)heads));
    }
    for (; j < cols; j++) {
      float sum = in[j];
      for (int h = 1; h < heads; h++) sum += in[(ptrdiff_t)h * stride + j];
      out[j] = sum / (float)heads;
    }
  }
}

/* y[cols] = the mean over the rows of x[rows][cols]. rows is known at run time only; if it is 0, y is 0. Four
 * partial sums keep rounding errors proportional to rows / 4. */
ATTN2C_INLINE void attn2c_pool_mean(float *y, const float *x, int rows, int cols, int ldx) {
  const ptrdiff_t ld = ldx;
  const float count = rows > 0 ? (float)rows : 1.0f;
  const int fours = rows > 0 ? rows / 4 : 0, rest = rows > 0 ? rows % 4 : 0;
  ATTN2C_SIMD_OUTER
  for (int j = 0; j < cols; j++) {
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (int i = 0; i < fours; i++) {
      const float *four = x + 4 * i * ld + j;
      s0 += four[0];
      s1 += four[ld];
      s2 += four[2 * ld];
      s3 += four[3 * ld];
    }
    y[j] = (s0 + s1) + (s2 + s3);
  }
  for (int i = 4 * fours; i < 4 * fours + rest; i++) {
    const float *row = x + i * ld;
#pragma omp simd
    for (int j = 0; j < cols; j++) y[j] += row[j];
  }
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] /= count;
}

/* y[cols] = the sum over the rows of x[rows][cols], divided by the root of their number. */
ATTN2C_INLINE void attn2c_pool_root(float *y, const float *x, int rows, int cols, int ldx) {
  attn2c_pool_mean(y, x, rows, cols, ldx);
  const float root = __builtin_sqrtf(rows > 0 ? (float)rows : 1.0f);
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] *= root;
}

/* y[cols] = the deviation of the rows of x[rows][cols], of rows - 1 degrees of freedom; 0 if there is one
 * row, or none. */
ATTN2C_INLINE void attn2c_pool_deviation(float *y, const float *x, int rows, int cols, int ldx) {
  const float freedom = rows > 1 ? (float)(rows - 1) : 1.0f;
  attn2c_pool_mean(y, x, rows, cols, ldx);
  ATTN2C_SIMD_OUTER
  for (int j = 0; j < cols; j++) {
    const float mean = y[j];
    float s0 = 0.0f, s1 = 0.0f;
    for (int i = 0; i < rows; i++) {
      const float d = x[(ptrdiff_t)i * ldx + j] - mean;
      if (i % 2 == 0)
        s0 += d * d;
      else
        s1 += d * d;
    }
    y[j] = __builtin_sqrtf((s0 + s1) / freedom);
  }
}

/* y[cols] = the mean over the rows of x[rows][cols], row i with the weight i + 1. Without rows y is 0. */
ATTN2C_INLINE void attn2c_pool_weighted(float *y, const float *x, int rows, int cols, int ldx) {
  const float weights = rows > 0 ? 0.5f * (float)rows * ((float)rows + 1.0f) : 1.0f;
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = 0.0f;
  for (int i = 0; i < rows; i++) {
    const float *row = x + (ptrdiff_t)i * ldx, weight = (float)(i + 1) / weights;
#pragma omp simd
    for (int j = 0; j < cols; j++) y[j] += weight * row[j];
  }
}

/* y[cols] = the larger of y and row, NaN if one of them is NaN. */
ATTN2C_INLINE void attn2c_take_larger(float *y, const float *row, int cols) {
#pragma omp simd
  for (int j = 0; j < cols; j++) {
    const float v = row[j], m = y[j];
    y[j] = v <= m || m != m ? m : v; /* a NaN v is not <= m and is taken; a NaN m is kept */
  }
}

/* y[cols] = the largest over the rows of x[rows][cols], NaN if a row has a NaN. rows is known at run time
 * only; if it is 0, y is -inf. */
ATTN2C_INLINE void attn2c_pool_max(float *y, const float *x, int rows, int cols, int ldx) {
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = -__builtin_inff();
  for (int i = 0; i < rows; i++) attn2c_take_larger(y, x + (ptrdiff_t)i * ldx, cols);
}

/* The pools below keep row i of x[rows][cols] if (mask[i] != 0) == keeps. If no row is kept, y is 0. This
 * pool: y[cols] = the sum over the kept rows, divided by their number or, with `root`, by its square root.
 * `weighted`: row i has the weight i + 1, and the sum of weights takes the place of the number. */
ATTN2C_INLINE void attn2c_pool_kept_sum(float *y, const float *x, const int32_t *mask, int rows, int cols,
                                        int ldx, int keeps, int weighted, int root) {
  float weights = 0.0f; /* integers below 2^24, and so exact */
  for (int i = 0; i < rows; i++)
    if ((mask[i] != 0) == keeps) weights += weighted ? (float)(i + 1) : 1.0f;
  const float by = weights > 0.0f ? root ? __builtin_sqrtf(weights) : weights : 1.0f;
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = 0.0f;
  for (int i = 0; i < rows; i++) {
    if ((mask[i] != 0) != keeps) continue;
    const float *row = x + (ptrdiff_t)i * ldx, weight = weighted ? (float)(i + 1) : 1.0f;
#pragma omp simd
    for (int j = 0; j < cols; j++) y[j] += weight * row[j];
  }
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] /= by;
}

/* y[cols] = the largest over the kept rows, NaN if one of them has a NaN. */
ATTN2C_INLINE void attn2c_pool_kept_max(float *y, const float *x, const int32_t *mask, int rows, int cols,
                                        int ldx, int keeps) {
  int kept = 0;
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = -__builtin_inff();
  for (int i = 0; i < rows; i++) {
    if ((mask[i] != 0) != keeps) continue;
    attn2c_take_larger(y, x + (ptrdiff_t)i * ldx, cols);
    kept = 1;
  }
  if (kept) return;
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = 0.0f;
}

/* y[cols] = the last of the kept rows. */
ATTN2C_INLINE void attn2c_pool_kept_last(float *y, const float *x, const int32_t *mask, int rows, int cols,
                                         int ldx, int keeps) {
  int last = rows - 1;
  while (last >= 0 && (mask[last] != 0) != keeps) last--;
  if (last >= 0) {
    memcpy(y, x + (ptrdiff_t)last * ldx, (size_t)cols * sizeof *x);
    return;
  }
#pragma omp simd
  for (int j = 0; j < cols; j++) y[j] = 0.0f;
}

/* y[cols] = x[i][cols] of the largest i < rows with ids[i] != pad that the mask, unless it is NULL, keeps, or
 * of i = 0; rows >= 1. */
ATTN2C_INLINE void attn2c_pool_last_but(float *y, const float *x, const int32_t *ids, const int32_t *mask,
                                        int rows, int cols, int ldx, int32_t pad, int keeps) {
  int last = rows - 1;
  while (last > 0 && (ids[last] == pad || (mask && (mask[last] != 0) != keeps))) last--;
  memcpy(y, x + (ptrdiff_t)last * ldx, (size_t)cols * sizeof *x);
}

/* y[cols] = x[i][cols] of the smallest i < rows with ids[i] == ending, or with the largest id if `ending` is
 * negative, that the mask, unless it is NULL, keeps; or of i = 0. */
ATTN2C_INLINE void attn2c_pool_ending(float *y, const float *x, const int32_t *ids, const int32_t *mask,
                                      int rows, int cols, int ldx, int32_t ending, int keeps) {
  int at = 0, is_found = 0;
  for (int i = 0; i < rows; i++) {
    if (mask && (mask[i] != 0) != keeps) continue;
    if (ending < 0 ? is_found && ids[i] <= ids[at] : is_found || ids[i] != ending) continue;
    at = i, is_found = 1;
  }
  memcpy(y, x + (ptrdiff_t)at * ldx, (size_t)cols * sizeof *x);
}

/* y[i] = 0 if ids[i] is `id`, else x[i] (1 - share) / (1 - its share of the first `valid` ids), [rows][cols];
 * 1 <= valid <= rows. */
ATTN2C_INLINE void attn2c_drop_tokens(float *y, const float *x, const int32_t *ids, int rows, int valid,
                                      int cols, int32_t id, float share, int ldx, int ldy) {
  int kept = valid;
  for (int i = 0; i < valid; i++) kept -= ids[i] == id;
  const double factor = kept ? (1.0 - (double)share) * valid / kept : 0.0;
  for (int i = 0; i < rows; i++) {
    const double own = ids[i] == id ? 0.0 : factor;
#pragma omp simd
    for (int j = 0; j < cols; j++)
      y[(ptrdiff_t)i * ldy + j] = (float)((double)x[(ptrdiff_t)i * ldx + j] * own);
  }
}

/* y[cols] = x[cols], one row. */
ATTN2C_INLINE void attn2c_pool_row(float *y, const float *x, int cols) {
  memcpy(y, x, (size_t)cols * sizeof *x);
}

/* y[i] = the index of the first largest of x[i][0 .. cols-1], x[rows][cols], cols >= 1; NaN is larger than
 * all. */
ATTN2C_INLINE void attn2c_argmax(int32_t *y, const float *x, int rows, int cols, int ldx) {
  for (int i = 0; i < rows; i++) {
    const float *row = x + (ptrdiff_t)i * ldx;
    /* compares floats as integers, which vectorises: -0 and 0 are equal, any NaN is the largest */
    int32_t best = INT32_MIN, index = INT32_MAX;
#pragma omp simd reduction(max : best)
    for (int j = 0; j < cols; j++) {
      const int32_t bits = (int32_t)(attn2c_bits(row[j]) & 0x7fffffffu);
      const int32_t ordered = attn2c_bits(row[j]) >> 31 ? -bits : bits;
      const int32_t key = bits > 0x7f800000 ? INT32_MAX : ordered;
      best = key > best ? key : best;
    }
#pragma omp simd reduction(min : index)
    for (int j = 0; j < cols; j++) {
      const int32_t bits = (int32_t)(attn2c_bits(row[j]) & 0x7fffffffu);
      const int32_t ordered = attn2c_bits(row[j]) >> 31 ? -bits : bits;
      const int32_t key = bits > 0x7f800000 ? INT32_MAX : ordered;
      const int32_t here = key == best ? j : INT32_MAX;
      index = here < index ? here : index;
    }
    y[i] = index;
  }
}
