/* peak_types.h - measures the rate of one core's multipliers on bf16 and int8, like peak.h for f32. Products
 * of bf16 that are widened to f32 use f32's multipliers. */
#pragma once

#include "measure/peak.h"

/* A round uses 16 sums, as a multiply-add of pairs takes six cycles; 12 if there are 16 registers.
 * multiply_add: an expression of a, b and the sum c, of `inputs` products per lane. */
#if ATTN2C_LANES == 16 || defined(__aarch64__)
#define ATTN2C_PEAK_SUMS(each) ATTN2C_PEAK_EACH(each) each(12) each(13) each(14) each(15)
enum { ATTN2C_PEAK_COUNT = 16 };
#else
#define ATTN2C_PEAK_SUMS(each) ATTN2C_PEAK_EACH(each)
enum { ATTN2C_PEAK_COUNT = 12 };
#endif
#define ATTN2C_PEAK_BEGIN(i) sums x##i = {0};
/* Intermediate values of a and b are computed again each time. */
#define ATTN2C_PEAK_NEXT(i)                                                                                  \
  ATTN2C_HOLD(a);                                                                                            \
  x##i = next(a, b, x##i);
#define ATTN2C_PEAK_ROUND(name, type, inputs, multiply_add)                                                  \
  ATTN2C_INLINE type name##_next(attn2c_words a, attn2c_words b, type c) { return multiply_add; }            \
  static double name(void) {                                                                                 \
    typedef type sums;                                                                                       \
    sums (*const next)(attn2c_words, attn2c_words, sums) = name##_next;                                      \
    attn2c_words a = (attn2c_words){0} + 0x3f013f01u, b = (attn2c_words){0} + 0x3c033c05u;                   \
    ATTN2C_HOLD(a);                                                                                          \
    ATTN2C_HOLD(b);                                                                                          \
    ATTN2C_PEAK_SUMS(ATTN2C_PEAK_BEGIN)                                                                      \
    for (int round = 0; round < ATTN2C_PEAK_ROUNDS; round++) {                                               \
      ATTN2C_PEAK_SUMS(ATTN2C_PEAK_NEXT)                                                                     \
      ATTN2C_PEAK_SUMS(ATTN2C_PEAK_HOLD)                                                                     \
    }                                                                                                        \
    sums seen[ATTN2C_PEAK_COUNT];                                                                            \
    ATTN2C_PEAK_SUMS(ATTN2C_PEAK_SEE)                                                                        \
    __asm__ volatile("" : : "r"(seen) : "memory");                                                           \
    return 2.0 * ATTN2C_PEAK_COUNT * ATTN2C_PEAK_ROUNDS * ATTN2C_LANES * (inputs);                           \
  }
