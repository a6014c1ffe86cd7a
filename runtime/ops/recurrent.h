/* recurrent.h - an LSTM (Hochreiter and Schmidhuber 1997) over the rows of a sequence, with torch's gates.
 * The order of additions is written out, so that a sequence has the same bits on all targets. */
#pragma once

#include "ops/adapt.h"

enum { ATTN2C_RECURRENT_WIDTH = 1024 }; /* the most: checks.recurrent of gen/passes/validate/output.lua */

/* Computes a row: h and cell are the states after the row before, and become the states after this one.
 * gates: the sums of the gates i, f, g and o, each [width]. */
ATTN2C_INLINE void attn2c_recurrent_row(float *h, float *cell, const float *gates, int width) {
  const float *forget = gates + width, *candidate = gates + 2 * width, *out = gates + 3 * width;
#pragma omp simd
  for (int j = 0; j < width; j++) {
    const float added = attn2c_sigmoid(gates[j]) * attn2c_tanh(candidate[j]);
    cell[j] = ATTN2C_FMA(attn2c_sigmoid(forget[j]), cell[j], added);
    h[j] = attn2c_sigmoid(out[j]) * attn2c_tanh(cell[j]);
  }
}

/* y[rows][width]: the states h of an LSTM after each of the first `valid` rows, of those with marks[i] = 1 if
 * there are marks; other rows are passed over, and become 0. x[rows][4 width] has what a row adds to the
 * gates, weight[width][4 width] what the state adds. backward: 1 to begin at the last row. */
ATTN2C_INLINE void attn2c_recurrent(float *y, const float *x, const float *weight, const int32_t *marks,
                                    int rows, int width, int ldx, int ldy, int backward, int valid) {
  float h[ATTN2C_RECURRENT_WIDTH + ATTN2C_ADAPTER_TERMS], cell[ATTN2C_RECURRENT_WIDTH],
      gates[4 * ATTN2C_RECURRENT_WIDTH];
  int is_first = 1;
  memset(h, 0, (size_t)(width + ATTN2C_ADAPTER_TERMS) * sizeof *h);
  memset(cell, 0, (size_t)width * sizeof *cell);
  for (int t = 0; t < rows; t++) {
    const int i = backward ? rows - 1 - t : t;
    float *out = y + (ptrdiff_t)i * ldy;
    if (i >= valid || (marks && marks[i] != 1)) {
      memset(out, 0, (size_t)width * sizeof *out);
      continue;
    }
    memcpy(gates, x + (ptrdiff_t)i * ldx, 4 * (size_t)width * sizeof *gates);
    for (int k = 0; k < width && !is_first; k += ATTN2C_ADAPTER_TERMS)
      attn2c_adapter_add(gates, h + k, weight + 4 * (ptrdiff_t)k * width, 4 * width, 4 * width, width - k);
    attn2c_recurrent_row(h, cell, gates, width);
    memcpy(out, h, (size_t)width * sizeof *out);
    is_first = 0;
  }
}
