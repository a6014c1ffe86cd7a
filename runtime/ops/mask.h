/* mask.h - masks tiles of attention scores, and repairs context tiles whose masked values are not finite. A
 * masked key has the weight 0, but 0 * NaN is NaN. */
#pragma once

#include "ops/round.h"

ATTN2C_INLINE int attn2c_between(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* Masks one row: columns j of [from, to) that are not first <= j < last become -inf. It stores whole vectors,
 * as the softmax after it loads them; from is a multiple of the vector. */
ATTN2C_INLINE void attn2c_mask_columns(float *row, int cols, int from, int to, int first, int last) {
  int j = from;
  for (; j < to && j + ATTN2C_LANES <= cols; j += ATTN2C_LANES)
#pragma omp simd
    for (int i = 0; i < ATTN2C_LANES; i++)
      row[j + i] = ((j + i >= first) & (j + i < last)) ? row[j + i] : -__builtin_inff();
  for (; j < to; j++) row[j] = j >= first && j < last ? row[j] : -__builtin_inff();
}

/* Masks s[rows][cols], rows ld floats apart. Row r keeps the columns j with lo + r <= j < hi + r, the others
 * become -inf. lo and hi may be negative or beyond cols. */
ATTN2C_INLINE void attn2c_mask_band(float *s, int rows, int cols, int ld, int lo, int hi) {
  for (int r = 0; r < rows; r++) {
    float *row = s + (ptrdiff_t)r * ld;
    const int first = attn2c_between(lo + r, 0, cols), last = attn2c_between(hi + r, 0, cols);
    attn2c_mask_columns(row, cols, 0, first, first, last);
    attn2c_mask_columns(row, cols, last - last % ATTN2C_LANES, cols, first, last);
  }
}

/* Does the same as attn2c_mask_columns, but also keeps columns j < keep. */
ATTN2C_INLINE void attn2c_mask_columns_behind(float *row, int cols, int from, int to, int first, int last,
                                              int keep) {
  int j = from;
  for (; j < to && j + ATTN2C_LANES <= cols; j += ATTN2C_LANES)
#pragma omp simd
    for (int i = 0; i < ATTN2C_LANES; i++)
      row[j + i] = (((j + i >= first) & (j + i < last)) | (j + i < keep)) ? row[j + i] : -__builtin_inff();
  for (; j < to; j++) row[j] = (j >= first && j < last) || j < keep ? row[j] : -__builtin_inff();
}

/* As attn2c_mask_band, but all rows also keep the columns j < keep. keep may be <= 0 or >= cols. */
ATTN2C_INLINE void attn2c_mask_band_prefix(float *s, int rows, int cols, int ld, int lo, int hi, int keep) {
  const int kept = attn2c_between(keep, 0, cols);
  for (int r = 0; r < rows; r++) {
    float *row = s + (ptrdiff_t)r * ld;
    const int first = attn2c_between(lo + r, 0, cols), last = attn2c_between(hi + r, 0, cols);
    const int behind = last > kept ? last : kept;
    attn2c_mask_columns_behind(row, cols, kept - kept % ATTN2C_LANES, first, first, last, kept);
    attn2c_mask_columns_behind(row, cols, behind - behind % ATTN2C_LANES, cols, first, last, kept);
  }
}

/* Masks s[rows][cols], rows ld floats apart: the columns j >= valid become -inf. valid, known at run time
 * only, may be <= 0 or >= cols. */
ATTN2C_INLINE void attn2c_mask_length(float *s, int rows, int cols, int ld, int valid) {
  const int last = attn2c_between(valid, 0, cols);
  for (int r = 0; r < rows; r++)
    attn2c_mask_columns(s + (ptrdiff_t)r * ld, cols, last - last % ATTN2C_LANES, cols, 0, last);
}

/* True if all x[0 .. count-1] are finite. */
ATTN2C_INLINE int attn2c_all_finite(const float *x, int count) {
  int32_t largest = 0; /* of |x| as bits: inf and NaN are above all others */
#pragma omp simd reduction(max : largest)
  for (int j = 0; j < count; j++) {
    const int32_t bits = (int32_t)(attn2c_bits(x[j]) & 0x7fffffffu);
    largest = bits > largest ? bits : largest;
  }
  return largest < 0x7f800000;
}

/* True if a row of a context is finite. Otherwise zeros it, to be computed again. */
ATTN2C_INLINE int attn2c_stays(float *row, int head_dim) {
  if (__builtin_expect(attn2c_all_finite(row, head_dim), 1)) return 1;
#pragma omp simd
  for (int d = 0; d < head_dim; d++) row[d] = 0.0f;
  return 0;
}

/* row[d] += weight value[d]. */
ATTN2C_INLINE void attn2c_add_weighted(float *row, float weight, const float *value, int head_dim) {
#pragma omp simd
  for (int d = 0; d < head_dim; d++) row[d] = ATTN2C_FMA(weight, value[d], row[d]);
}

/* Repairs c[rows][head_dim] = p[rows][cols] . v[cols][head_dim], computed before, with leading dimensions
 * ldc, ldp, ldv. Each row r of c that holds an infinity or NaN is computed again over the keys that its mask
 * keeps: c[r] = sum of p[r][j] v[j] over 0 <= j < cols with lo + r <= j < hi + r and j < valid. */
ATTN2C_INLINE void attn2c_context_repair(float *c, const float *p, const float *v, int rows, int cols,
                                         int head_dim, int ldc, int ldp, int ldv, int lo, int hi, int valid) {
  for (int r = 0; r < rows; r++) {
    float *row = c + (ptrdiff_t)r * ldc;
    if (attn2c_stays(row, head_dim)) continue;
    const int first = attn2c_between(lo + r, 0, cols);
    const int last = attn2c_between(hi + r < valid ? hi + r : valid, 0, cols);
    for (int j = first; j < last; j++)
      attn2c_add_weighted(row, p[(ptrdiff_t)r * ldp + j], v + (ptrdiff_t)j * ldv, head_dim);
  }
}

/* row[d] += weight v[key][d], for values in pairs (pairs.h), ldv pairs apart. */
ATTN2C_INLINE void attn2c_add_paired(float *row, float weight, const uint16_t *v, int key, int head_dim,
                                     int ldv) {
  const uint16_t *value = v + (ptrdiff_t)(key / 2) * 2 * ldv + key % 2;
  for (int d = 0; d < head_dim; d++) row[d] = ATTN2C_FMA(weight, attn2c_from_bf16(value[2 * d]), row[d]);
}

/* Does the same as attn2c_context_repair, for values in pairs and weights of bf16. */
ATTN2C_INLINE void attn2c_context_repair_pairs(float *c, const uint16_t *p, const uint16_t *v, int rows,
                                               int cols, int head_dim, int ldc, int ldp, int ldv, int lo,
                                               int hi, int valid) {
  for (int r = 0; r < rows; r++) {
    float *row = c + (ptrdiff_t)r * ldc;
    if (attn2c_stays(row, head_dim)) continue;
    const int first = attn2c_between(lo + r, 0, cols);
    const int last = attn2c_between(hi + r < valid ? hi + r : valid, 0, cols);
    for (int j = first; j < last; j++)
      attn2c_add_paired(row, attn2c_from_bf16(p[(ptrdiff_t)r * ldp + j]), v, j, head_dim, ldv);
  }
}
