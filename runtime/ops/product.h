/* product.h - what the strips of emitted products (N_kernels.c) are made of; a file for each kind of vectors
 * has the functions:
 *
 * ATTN2C_HOLD(v)        keeps a vector in a register of its own. Without it gcc 12 reads the weights again
 * for each row, as an operand of the multiply-add: strips of few rows are a fifth slower attn2c_load_first
 * the first `count` floats of x, and zeros; 0 < count <= ATTN2C_LANES, known when compiled attn2c_store_first
 * y[0 .. count-1] = v. Neither touches a float behind attn2c_multiply_add   a*b + c in each lane: one
 * rounding where the target has the instruction, else two */
#ifndef ATTN2C_PRODUCT_H
#define ATTN2C_PRODUCT_H

#if defined(__AVX512F__)
#include "ops/product_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "ops/product_avx2.h"
#elif defined(__aarch64__)
#include "ops/product_neon.h"
#else
#include "ops/product_plain.h"
#endif

#define ATTN2C_STRIP ATTN2C_INLINE void

ATTN2C_INLINE attn2c_vector attn2c_zero(void) { return (attn2c_vector){0.0f}; }

/* Asks for `lines` cache lines from x on; returns what lies behind them. Reads nothing: x may lie anywhere.
 */
#ifndef ATTN2C_AHEAD_LEVEL
#define ATTN2C_AHEAD_LEVEL 3
#endif
ATTN2C_INLINE const float *attn2c_ask(const float *x, int lines) {
  for (int i = 0; i < lines; i++) __builtin_prefetch(x + 16 * i, 0, ATTN2C_AHEAD_LEVEL);
  return x + 16 * lines;
}

#endif
