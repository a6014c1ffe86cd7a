/* topk.h - finds the k largest of each row, descending, and their indices; equal values keep their order. NaN
 * is larger than all, as in attn2c_argmax, and -0 equals 0. */
#pragma once

#include "ops/vector.h"

enum { ATTN2C_TOPK_MOST = 1024 };

/* Writes the indices of the k largest of x[cols] to index[k], k <= cols. It keeps a sorted list: most numbers
 * are below its last and cost one comparison. Floats are compared as integers in the same order. */
ATTN2C_INLINE void attn2c_topk_row(int32_t *index, const float *x, int cols, int k) {
  int32_t keys[ATTN2C_TOPK_MOST];
  int count = 0;
  for (int j = 0; j < cols; j++) {
    const int32_t bits = (int32_t)(attn2c_bits(x[j]) & 0x7fffffffu);
    const int32_t ordered = attn2c_bits(x[j]) >> 31 ? -bits : bits;
    const int32_t key = bits > 0x7f800000 ? INT32_MAX : ordered;
    if (count == k && key <= keys[k - 1]) continue;
    int at = count < k ? count++ : k - 1;
    for (; at > 0 && keys[at - 1] < key; at--) {
      keys[at] = keys[at - 1];
      index[at] = index[at - 1];
    }
    keys[at] = key;
    index[at] = j;
  }
}

/* Writes the indices of the k largest of each row x[rows][cols] to y[rows][k]; rows are ldx and ldy apart. */
ATTN2C_INLINE void attn2c_topk_indices(int32_t *y, const float *x, int rows, int cols, int k, int ldx,
                                       int ldy) {
  for (int i = 0; i < rows; i++) attn2c_topk_row(y + (ptrdiff_t)i * ldy, x + (ptrdiff_t)i * ldx, cols, k);
}

/* Writes the values themselves in the same way. */
ATTN2C_INLINE void attn2c_topk_values(float *y, const float *x, int rows, int cols, int k, int ldx, int ldy) {
  int32_t index[ATTN2C_TOPK_MOST];
  for (int i = 0; i < rows; i++) {
    const float *row = x + (ptrdiff_t)i * ldx;
    attn2c_topk_row(index, row, cols, k);
    for (int j = 0; j < k; j++) y[(ptrdiff_t)i * ldy + j] = row[index[j]];
  }
}
