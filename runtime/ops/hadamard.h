/* hadamard.h - turns heads by a Hadamard matrix, which spreads outliers over a head's numbers (QuaRot,
 * Ashkboos et al. 2024). The order of additions is written out, so the bits are the same on every target. */
#pragma once

#include "ops/vector.h"

/* The most numbers that a Hadamard matrix mixes. */
enum { ATTN2C_HADAMARD_MOST = 256 };

/* y[rows][heads * width] = x[rows][heads * width] with each `block` numbers of a head multiplied by the
 * Hadamard matrix of that size, in Sylvester's order, and by factor, 1 / sqrt(block). So the same again
 * undoes it. block is a power of two that divides width. Rows are ldx and ldy floats apart; y may be x. */
ATTN2C_INLINE void attn2c_hadamard(float *y, const float *x, int rows, int heads, int width, int block,
                                   float factor, int ldx, int ldy) {
  const int half = block / 2;
  for (int r = 0; r < rows; r++)
    for (int first = 0; first < heads * width; first += block) {
      float numbers[2][ATTN2C_HADAMARD_MOST], *out = y + (ptrdiff_t)r * ldy + first;
      int at = 0;
      memcpy(numbers[0], x + (ptrdiff_t)r * ldx + first, (size_t)block * sizeof *out);
      /* Each round takes the lowest bit of a number's place, and makes it the highest one. */
      for (int size = 1; size < block; size *= 2, at = !at) {
        const float *from = numbers[at];
        float *to = numbers[!at];
#pragma omp simd
        for (int i = 0; i < half; i++) {
          to[i] = from[2 * i] + from[2 * i + 1];
          to[i + half] = from[2 * i] - from[2 * i + 1];
        }
      }
#pragma omp simd
      for (int i = 0; i < block; i++) out[i] = numbers[at][i] * factor;
    }
}
