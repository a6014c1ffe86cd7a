/* peak.h - measures the multiply-add rate of one core with operands in registers. No matrix product on it can
 * be faster. The loop is compiled for the model's target (attn2c_roof.c). */
#pragma once

#include "ops/product/product.h"

enum { ATTN2C_PEAK_ROUNDS = 2000 };

/* A round uses twelve accumulators. They are enough for two units with a latency of four or five cycles, and
 * few enough for sixteen registers. x = x a + b keeps any x near b / (1 - a): no infinity, no subnormal. It
 * is not attn2c_multiply_add, which adds to a sum in its place: b would have to be copied for each x, and the
 * copies do not fit sixteen registers. */
#define ATTN2C_PEAK_EACH(each)                                                                               \
  each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) each(11)
#define ATTN2C_PEAK_DECLARE(i) attn2c_vector x##i = attn2c_splat(0.1f * (i));
#define ATTN2C_PEAK_STEP(i)    x##i = (attn2c_vector)ATTN2C_FMADD(x##i, a, b);
#define ATTN2C_PEAK_HOLD(i)    ATTN2C_HOLD(x##i);
#define ATTN2C_PEAK_SEE(i)     seen[i] = x##i;

/* Runs the loop once; returns the number of floating-point operations. */
ATTN2C_INLINE double attn2c_peak_round(void) {
  attn2c_vector a = attn2c_splat(0.5f), b = attn2c_splat(0.25f);
  ATTN2C_HOLD(a);
  ATTN2C_HOLD(b);
  ATTN2C_PEAK_EACH(ATTN2C_PEAK_DECLARE)
  for (int round = 0; round < ATTN2C_PEAK_ROUNDS; round++) {
    ATTN2C_PEAK_EACH(ATTN2C_PEAK_STEP)
    ATTN2C_PEAK_EACH(ATTN2C_PEAK_HOLD)
  }
  attn2c_vector seen[12]; /* the results are used, as otherwise they would not be computed */
  ATTN2C_PEAK_EACH(ATTN2C_PEAK_SEE)
  __asm__ volatile("" : : "r"(seen) : "memory");
  return 2.0 * 12 * ATTN2C_PEAK_ROUNDS * ATTN2C_LANES;
}
