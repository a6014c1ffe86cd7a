/* product_avx2.h - see product.h; of AVX2 with FMA. */
#ifndef ATTN2C_PRODUCT_AVX2_H
#define ATTN2C_PRODUCT_AVX2_H

#include <immintrin.h>

#include "ops/vector.h"

#define ATTN2C_HOLD(v) __asm__("" : "+x"(v))

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

ATTN2C_INLINE attn2c_vector attn2c_multiply_add(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
  return (attn2c_vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

#endif
