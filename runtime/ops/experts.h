/* experts.h - sorts the choices of rows by expert, and moves rows to their experts and back. Choice number
 * i * used + j is the j-th expert of row i. */
#pragma once

#include "ops/elementary.h"

/* y[i][j] = x[i][chosen[i][j]]; rows are ldx, ldc and ldy apart. */
ATTN2C_INLINE void attn2c_pick(float *y, const float *x, const int32_t *chosen, int rows, int used, int ldx,
                               int ldc, int ldy) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < used; j++)
      y[(ptrdiff_t)i * ldy + j] = x[(ptrdiff_t)i * ldx + chosen[(ptrdiff_t)i * ldc + j]];
}

/* Sorts the choices of all rows by expert, and the choices of one expert by number. order[p] is the choice at
 * place p, place[c] the place of choice c, and first[e] the first place of expert e; first has `bounds`
 * numbers, one more than there are experts. */
ATTN2C_INLINE void attn2c_group_rows(int32_t *place, int32_t *order, int32_t *first, const int32_t *chosen,
                                     int rows, int used, int bounds, int ldx) {
  for (int e = 0; e < bounds; e++) first[e] = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < used; j++) first[chosen[(ptrdiff_t)i * ldx + j] + 1]++;
  for (int e = 1; e < bounds; e++) first[e] += first[e - 1];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < used; j++) {
      const int32_t at = first[chosen[(ptrdiff_t)i * ldx + j]]++;
      place[(ptrdiff_t)i * used + j] = at;
      order[at] = i * used + j;
    }
  for (int e = bounds - 1; e > 0; e--) first[e] = first[e - 1];
  first[0] = 0;
}

/* y[order[i]] = the expert at place i. */
ATTN2C_INLINE void attn2c_experts_of_groups(int32_t *y, const int32_t *order, const int32_t *first, int rows,
                                            int used, int bounds) {
  for (int i = 0, expert = 0; i < rows * used; i++) {
    while (expert + 2 < bounds && i >= first[expert + 1]) expert++;
    y[order[i]] = expert;
  }
}

/* y[i] = row order[i] / used of x, which has `all` rows: `bytes` bytes. Rows of x are `from` bytes apart,
 * rows of y `to` bytes. */
ATTN2C_INLINE void attn2c_spread(void *y, const void *x, const int32_t *order, int rows, int bytes, int used,
                                 int all, int from, int to) {
  (void)all;
  for (int i = 0; i < rows * used; i++)
    memcpy((char *)y + (ptrdiff_t)i * to, (const char *)x + (ptrdiff_t)(order[i] / used) * from,
           (size_t)bytes);
}

/* y[order[i]] = x[i], parts of `cols` numbers of `rows` rows, which are ldx apart; y has the parts of `all`
 * rows, one after the other. */
ATTN2C_INLINE void attn2c_scatter_parts(float *y, const float *x, const int32_t *order, int rows, int cols,
                                        int used, int all, int ldx) {
  (void)all;
  for (int i = 0; i < rows * used; i++)
    memcpy(y + (ptrdiff_t)order[i] * cols, x + (ptrdiff_t)i * ldx, (size_t)cols * sizeof *y);
}

/* y[order[i]] = x[i], rows of `cols` numbers, which are ldx and ldy apart. */
ATTN2C_INLINE void attn2c_scatter_choices(float *y, const float *x, const int32_t *order, int rows, int cols,
                                          int ldx, int ldy) {
  for (int i = 0; i < rows; i++)
    memcpy(y + (ptrdiff_t)order[i] * ldy, x + (ptrdiff_t)i * ldx, (size_t)cols * sizeof *y);
}

/* y[i] = factor times the sum over j of weights[i][j] x[place[i used + j]], in the order of j. */
ATTN2C_INLINE void attn2c_combine(float *y, const float *x, const float *weights, const int32_t *place,
                                  int rows, int cols, int used, int all, int ldw, int ldy, float factor) {
  (void)all;
  for (int i = 0; i < rows; i++) {
    float *out = y + (ptrdiff_t)i * ldy;
    for (int j = 0; j < used; j++) {
      const float weight = factor * weights[(ptrdiff_t)i * ldw + j];
      const float *in = x + (ptrdiff_t)place[(ptrdiff_t)i * used + j] * cols;
#pragma omp simd
      for (int c = 0; c < cols; c++) out[c] = j ? ATTN2C_FMA(weight, in[c], out[c]) : weight * in[c];
    }
  }
}

/* y[i][j] = x[i][j] / (sum over j of x[i][j] + 1e-20), as DeepSeek V3 has it. */
ATTN2C_INLINE void attn2c_share(float *y, const float *x, int rows, int cols, int ldx, int ldy, float eps) {
  for (int i = 0; i < rows; i++) {
    const float *in = x + (ptrdiff_t)i * ldx;
    float sum = eps;
    for (int j = 0; j < cols; j++) sum += in[j];
    for (int j = 0; j < cols; j++) y[(ptrdiff_t)i * ldy + j] = in[j] / sum;
  }
}
