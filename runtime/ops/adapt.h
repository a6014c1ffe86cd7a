/* adapt.h - adds what LoRA adapters (Hu et al. 2021) change in a linear layer, next to its own product. The
 * order of additions is written out, so that a row has the same bits among any others. */
#pragma once

#include "ops/elementary.h"
#include "ops/vector.h"

enum {
  ATTN2C_ADAPTER_RANK = 64, /* the largest: MOST_RANK_BESIDE of gen/checkpoints/adapter.lua */
  ATTN2C_ADAPTER_ROWS = 8,  /* that read factors together */
  ATTN2C_ADAPTER_COLS = 256,
  ATTN2C_ADAPTER_TERMS = 4
};

/* Returns a row of a factor, of the first one in place of one that is missing. */
ATTN2C_INLINE const float *attn2c_adapter_row(const float *a, int row, int ld, int count) {
  return a + (ptrdiff_t)(row < count ? row : 0) * ld;
}

/* parts[i] = the sum over k of x[k] a[i in + k], for up to four i < count, 0 for the others. A sum is that of
 * each lane of vectors, then of the lanes by halves, then of the rest of k. */
ATTN2C_INLINE void attn2c_adapter_parts(float *parts, const float *x, const float *a, int in, int count) {
  const float *a1 = attn2c_adapter_row(a, 1, in, count), *a2 = attn2c_adapter_row(a, 2, in, count),
              *a3 = attn2c_adapter_row(a, 3, in, count);
  attn2c_vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  int k = 0;
  for (; k + ATTN2C_LANES <= in; k += ATTN2C_LANES) {
    const attn2c_vector v = attn2c_load(x + k);
    s0 = attn2c_vector_fma(v, attn2c_load(a + k), s0), s1 = attn2c_vector_fma(v, attn2c_load(a1 + k), s1);
    s2 = attn2c_vector_fma(v, attn2c_load(a2 + k), s2), s3 = attn2c_vector_fma(v, attn2c_load(a3 + k), s3);
  }
  attn2c_vector sums[ATTN2C_ADAPTER_TERMS] = {s0, s1, s2, s3};
  for (int i = 0; i < ATTN2C_ADAPTER_TERMS; i++) {
    for (int half = ATTN2C_LANES / 2; half > 0; half /= 2)
      for (int l = 0; l < half; l++) sums[i][l] += sums[i][l + half];
    parts[i] = sums[i][0];
    for (int rest = k; rest < in; rest++)
      parts[i] = ATTN2C_FMA(x[rest], attn2c_adapter_row(a, i, in, count)[rest], parts[i]);
    if (i >= count) parts[i] = 0;
  }
}

/* y[j] += the sum over i of parts[i] out[i ld + j], for up to four i < count and j < cols. */
ATTN2C_INLINE void attn2c_adapter_add(float *y, const float *parts, const float *out, int cols, int ld,
                                      int count) {
  const float *o1 = attn2c_adapter_row(out, 1, ld, count), *o2 = attn2c_adapter_row(out, 2, ld, count),
              *o3 = attn2c_adapter_row(out, 3, ld, count);
  const float p0 = parts[0], p1 = parts[1], p2 = parts[2], p3 = parts[3];
#pragma omp simd
  for (int j = 0; j < cols; j++)
    y[j] = ATTN2C_FMA(p3, o3[j], ATTN2C_FMA(p2, o2[j], ATTN2C_FMA(p1, o1[j], ATTN2C_FMA(p0, out[j], y[j]))));
}

/* Adds an adapter of rank `ranks` to some rows. */
ATTN2C_INLINE void attn2c_adapter_rows(float *y, const float *r, const float *a, const float *out, int ranks,
                                       int rows, int in, int cols, int ldy, int ldr) {
  float parts[ATTN2C_ADAPTER_ROWS][ATTN2C_ADAPTER_RANK];
  for (int k = 0; k < ranks; k += ATTN2C_ADAPTER_TERMS)
    for (int i = 0; i < rows; i++)
      attn2c_adapter_parts(parts[i] + k, r + (ptrdiff_t)i * ldr, a + (ptrdiff_t)k * in, in, ranks - k);
  for (int j = 0; j < cols; j += ATTN2C_ADAPTER_COLS)
    for (int k = 0; k < ranks; k += ATTN2C_ADAPTER_TERMS)
      for (int i = 0; i < rows; i++)
        attn2c_adapter_add(y + (ptrdiff_t)i * ldy + j, parts[i] + k, out + (ptrdiff_t)k * cols + j,
                           cols - j < ATTN2C_ADAPTER_COLS ? cols - j : ATTN2C_ADAPTER_COLS, cols, ranks - k);
}

/* y[i] = x[i] + r[i] A B, for rows with the adapter n = adapters[i lda], n > 0; for others x[i]. A and B are
 * the rows first[n - 1] to first[n] - 1 of inputs, [ranks][in], and of outputs, [ranks][cols]. y may be x. */
ATTN2C_INLINE void attn2c_adapt(float *y, const float *x, const float *r, const float *inputs,
                                const float *outputs, const int32_t *adapters, int rows, int in, int cols,
                                int ldy, int ldx, int ldr, int lda, const int *first) {
  for (int row = 0, some; row < rows; row += some) {
    const int32_t adapter = adapters[(ptrdiff_t)row * lda];
    float *to = y + (ptrdiff_t)row * ldy;
    const float *from = x + (ptrdiff_t)row * ldx;
    some = lda ? 1 : rows - row < ATTN2C_ADAPTER_ROWS ? rows - row : ATTN2C_ADAPTER_ROWS;
    for (int i = 0; to != from && i < some; i++)
      memcpy(to + (ptrdiff_t)i * ldy, from + (ptrdiff_t)i * ldx, (size_t)cols * sizeof *to);
    if (adapter == 0) continue;
    const int k = first[adapter - 1];
    attn2c_adapter_rows(to, r + (ptrdiff_t)row * ldr, inputs + (ptrdiff_t)k * in,
                        outputs + (ptrdiff_t)k * cols, first[adapter] - k, some, in, cols, ldy, ldr);
  }
}
