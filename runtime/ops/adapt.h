/* adapt.h - adds what LoRA adapters (Hu et al. 2021) change in a linear layer, next to its own product. The
 * order of additions is written out, so that a row has the same bits among any others. */
#pragma once

#include "ops/elementary.h"

enum {
  ATTN2C_ADAPTER_RANK = 64, /* the largest: MOST_RANK_BESIDE of gen/checkpoints/adapter.lua */
  ATTN2C_ADAPTER_ROWS = 8,  /* that read a factor together */
  ATTN2C_ADAPTER_LANES = 16
};

/* Returns the sum of x[k] a[k], k < in: of each lane, then of the lanes by halves, then of the rest. */
ATTN2C_INLINE float attn2c_adapter_dot(const float *x, const float *a, int in) {
  float lanes[ATTN2C_ADAPTER_LANES] = {0};
  int k = 0;
  for (; k + ATTN2C_ADAPTER_LANES <= in; k += ATTN2C_ADAPTER_LANES) {
#pragma omp simd
    for (int l = 0; l < ATTN2C_ADAPTER_LANES; l++) lanes[l] = ATTN2C_FMA(x[k + l], a[k + l], lanes[l]);
  }
  for (int half = ATTN2C_ADAPTER_LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lanes[l] += lanes[l + half];
  for (; k < in; k++) lanes[0] = ATTN2C_FMA(x[k], a[k], lanes[0]);
  return lanes[0];
}

/* y[i] = x[i] + r[i] A B, for rows with the adapter n = adapters[i lda], n > 0; y[i] = x[i] for others. A and
 * B are the rows first[n - 1] to first[n] - 1 of inputs, [ranks][in], and of outputs, [ranks][cols]. y may be
 * x. */
ATTN2C_INLINE void attn2c_adapt(float *y, const float *x, const float *r, const float *inputs,
                                const float *outputs, const int32_t *adapters, int rows, int in, int cols,
                                int ldy, int ldx, int ldr, int lda, const int *first) {
  for (int row = 0, some; row < rows; row += some) {
    const int32_t adapter = adapters[(ptrdiff_t)row * lda];
    float *to = y + (ptrdiff_t)row * ldy;
    const float *from = x + (ptrdiff_t)row * ldx, *b = r + (ptrdiff_t)row * ldr;
    some = lda ? 1 : rows - row < ATTN2C_ADAPTER_ROWS ? rows - row : ATTN2C_ADAPTER_ROWS;
    for (int i = 0; to != from && i < some; i++)
      memcpy(to + (ptrdiff_t)i * ldy, from + (ptrdiff_t)i * ldx, (size_t)cols * sizeof *to);
    if (adapter == 0) continue;
    for (int k = first[adapter - 1]; k < first[adapter]; k++) {
      const float *a = inputs + (ptrdiff_t)k * in, *out = outputs + (ptrdiff_t)k * cols;
      for (int i = 0; i < some; i++) {
        const float part = attn2c_adapter_dot(b + (ptrdiff_t)i * ldr, a, in);
        float *sum = to + (ptrdiff_t)i * ldy;
#pragma omp simd
        for (int j = 0; j < cols; j++) sum[j] = ATTN2C_FMA(part, out[j], sum[j]);
      }
    }
  }
}
