/* product.h - what the strips of emitted products (N_kernels.c) are made of: whole and cut
 * vectors, fused multiply-adds, and asking for lines ahead. Each target has its own few lines;
 * on others, GNU vectors do. */
#ifndef ATTN2C_PRODUCT_H
#define ATTN2C_PRODUCT_H

#include "ops/vector.h"

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define ATTN2C_STRIP ATTN2C_INLINE void

/* Keeps a vector in a register of its own. Without it gcc 12 reads the weights again for each row, as an
 * operand of the multiply-add: tiles of few rows are a fifth slower. */
#if defined(__AVX512F__)
#define ATTN2C_HOLD(v) __asm__("" : "+v"(v))
#elif defined(__SSE__)
#define ATTN2C_HOLD(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define ATTN2C_HOLD(v) __asm__("" : "+w"(v))
#else
#define ATTN2C_HOLD(v) (void)(v)
#endif

ATTN2C_INLINE attn2c_vector attn2c_zero(void) { return (attn2c_vector){0.0f}; }

/* The first `count` floats of x, and zeros; and y[0 .. count-1] = v. 0 < count <= ATTN2C_LANES, known when
 * compiled. No float behind them is read or written. */
#if defined(__AVX512F__)
ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  if (count == ATTN2C_LANES) return attn2c_load(x);
  return (attn2c_vector)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), x);
}
ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  if (count == ATTN2C_LANES)
    attn2c_store(y, v);
  else
    _mm512_mask_storeu_ps(y, (__mmask16)((1u << count) - 1), (__m512)v);
}
#elif defined(__AVX__)
/* Ones in the first `count` lanes. */
ATTN2C_INLINE __m256i attn2c_lanes_before(int count) {
  typedef int lanes __attribute__((vector_size(32)));
  const lanes number = {0, 1, 2, 3, 4, 5, 6, 7};
  return (__m256i)(number < count);
}
ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  if (count == ATTN2C_LANES) return attn2c_load(x);
  return (attn2c_vector)_mm256_maskload_ps(x, attn2c_lanes_before(count));
}
ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  if (count == ATTN2C_LANES)
    attn2c_store(y, v);
  else
    _mm256_maskstore_ps(y, attn2c_lanes_before(count), (__m256)v);
}
#else
ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  attn2c_vector v = {0.0f};
  memcpy(&v, x, (size_t)count * sizeof *x);
  return v;
}
ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  memcpy(y, &v, (size_t)count * sizeof *y);
}
#endif

/* a*b + c in each lane: one rounding where the target has the instruction, else two. */
ATTN2C_INLINE attn2c_vector attn2c_multiply_add(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
#if defined(__AVX512F__)
  return (attn2c_vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX__) && defined(__FMA__)
  return (attn2c_vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  return (attn2c_vector)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}

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
