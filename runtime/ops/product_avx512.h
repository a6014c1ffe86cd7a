/* product_avx512.h - see product.h; of AVX-512. */
#ifndef ATTN2C_PRODUCT_AVX512_H
#define ATTN2C_PRODUCT_AVX512_H

#include <immintrin.h>

#include "ops/vector.h"

#define ATTN2C_HOLD(v) __asm__("" : "+v"(v))

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

ATTN2C_INLINE attn2c_vector attn2c_multiply_add(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
  return (attn2c_vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

#endif
