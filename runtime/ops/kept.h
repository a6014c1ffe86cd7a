/* kept.h - keys and values that a state keeps as integers: adding rows to a page, and widening a page.
 * A page has a scale in f32 for each of its `panel` keys, then integers: [columns][panel] of keys,
 * [panel][columns] of values. */
#pragma once

#include "ops/mask.h"
#include "ops/quantise.h"

#include <math.h>

/* Returns the integers of a page. */
ATTN2C_INLINE const int8_t *attn2c_kept_integers(const int8_t *page, int panel) {
  return page + (ptrdiff_t)panel * (ptrdiff_t)sizeof(float);
}

/* Returns an integer of a row of attn2c_quantise. */
ATTN2C_INLINE int8_t attn2c_kept_integer(int8_t x) {
  return (int8_t)(uint8_t)((uint32_t)(uint8_t)x - ATTN2C_INT8_ZERO);
}

/* Adds the scales of rows to a page. A scale that is not finite becomes NaN, so that all of its row is NaN.
 */
ATTN2C_INLINE void attn2c_add_scales(int8_t *page, const float *scale, int first, int rows, int lds) {
  for (int i = 0; i < rows; i++) {
    const float own = scale[(ptrdiff_t)i * lds] <= FLT_MAX ? scale[(ptrdiff_t)i * lds] : NAN;
    memcpy(page + (ptrdiff_t)(first + i) * (ptrdiff_t)sizeof own, &own, sizeof own);
  }
}

/* Adds x[rows][cols] to a page of keys, from key number `first` on. Rows of x are ldx integers apart. */
ATTN2C_INLINE void attn2c_add_bytes_of_keys(int8_t *page, const int8_t *x, const float *scale, int first,
                                            int rows, int cols, int ldx, int lds, int panel) {
  int8_t *y = page + (ptrdiff_t)panel * (ptrdiff_t)sizeof(float) + first;
  attn2c_add_scales(page, scale, first, rows, lds);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      y[(ptrdiff_t)j * panel + i] = attn2c_kept_integer(x[(ptrdiff_t)i * ldx + j]);
}

/* Does the same with a page of values. */
ATTN2C_INLINE void attn2c_add_bytes_of_values(int8_t *page, const int8_t *x, const float *scale, int first,
                                              int rows, int cols, int ldx, int lds, int panel) {
  int8_t *y = page + (ptrdiff_t)panel * (ptrdiff_t)sizeof(float) + (ptrdiff_t)first * cols;
  attn2c_add_scales(page, scale, first, rows, lds);
  for (int i = 0; i < rows; i++)
#pragma omp simd
    for (int j = 0; j < cols; j++)
      y[(ptrdiff_t)i * cols + j] = attn2c_kept_integer(x[(ptrdiff_t)i * ldx + j]);
}

/* Prefetches the line of the next page at the place of x. The pages of a head are next to each other. */
ATTN2C_INLINE void attn2c_next_page(const int8_t *x, int cols, int panel) {
  __builtin_prefetch(x + (ptrdiff_t)panel * ((ptrdiff_t)sizeof(float) + cols), 0, 3);
}

/* y[cols][panel] = the first `rows` keys of a page, times their scales. */
ATTN2C_INLINE void attn2c_widen_keys(float *y, const int8_t *page, int rows, int cols, int panel) {
  const float *scale = (const float *)(const void *)page;
  const int8_t *x = attn2c_kept_integers(page, panel);
  for (int j = 0; j < cols; j++) {
    const int8_t *in = x + (ptrdiff_t)j * panel;
    float *out = y + (ptrdiff_t)j * panel;
    attn2c_next_page(in, cols, panel);
#pragma omp simd
    for (int i = 0; i < rows; i++) out[i] = (float)in[i] * scale[i];
  }
}

/* y[rows][cols] = the first `rows` values of a page, times their scales. */
ATTN2C_INLINE void attn2c_widen_values(float *y, const int8_t *page, int rows, int cols, int panel) {
  const float *scale = (const float *)(const void *)page;
  const int8_t *x = attn2c_kept_integers(page, panel);
  for (int i = 0; i < rows; i++) {
    const int8_t *in = x + (ptrdiff_t)i * cols;
    float *out = y + (ptrdiff_t)i * cols;
    attn2c_next_page(in, cols, panel);
#pragma omp simd
    for (int j = 0; j < cols; j++) out[j] = (float)in[j] * scale[i];
  }
}

/* row[d] += weight value[d], for the value of a key in pages of integers. */
ATTN2C_INLINE void attn2c_add_kept(float *row, float weight, const int8_t *pages, int key, int head_dim,
                                   int panel) {
  const int8_t *page = pages + (ptrdiff_t)(key / panel) * panel * ((ptrdiff_t)sizeof(float) + head_dim);
  const int8_t *value = attn2c_kept_integers(page, panel) + (ptrdiff_t)(key % panel) * head_dim;
  const float scale = ((const float *)(const void *)page)[key % panel];
#pragma omp simd
  for (int d = 0; d < head_dim; d++) row[d] = ATTN2C_FMA(weight, (float)value[d] * scale, row[d]);
}

/* Does the same as attn2c_context_repair (mask.h), for values in pages of integers. */
ATTN2C_INLINE void attn2c_context_repair_bytes(float *c, const float *p, const int8_t *v, int rows, int cols,
                                               int head_dim, int ldc, int ldp, int panel, int lo, int hi,
                                               int valid) {
  for (int r = 0; r < rows; r++) {
    float *row = c + (ptrdiff_t)r * ldc;
    if (attn2c_stays(row, head_dim)) continue;
    const int first = attn2c_between(lo + r, 0, cols);
    const int last = attn2c_between(hi + r < valid ? hi + r : valid, 0, cols);
    for (int j = first; j < last; j++) attn2c_add_kept(row, p[(ptrdiff_t)r * ldp + j], v, j, head_dim, panel);
  }
}
