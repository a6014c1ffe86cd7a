/* avx2.h - implements product.h for AVX2 with FMA. */
#pragma once

#include "ops/vector.h"

#define ATTN2C_HOLD(v) __asm__("" : "+x"(v))

/* A mask: ones in the selected lanes. */
typedef int attn2c_lanes __attribute__((vector_size(32)));

#if defined(__clang__) && !ATTN2C_BUILTINS
#include <immintrin.h>
#define ATTN2C_FMADD(a, b, c)         _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define ATTN2C_MASK_LOAD(x, mask)     _mm256_maskload_ps(x, (__m256i)(mask))
#define ATTN2C_MASK_STORE(y, v, mask) _mm256_maskstore_ps(y, (__m256i)(mask), (__m256)(v))
#else
#define ATTN2C_FMADD(a, b, c)         __builtin_ia32_vfmaddps256(a, b, c)
#define ATTN2C_MASK_LOAD(x, mask)     __builtin_ia32_maskloadps256((const attn2c_vector *)(x), mask)
#define ATTN2C_MASK_STORE(y, v, mask) __builtin_ia32_maskstoreps256((attn2c_vector *)(y), mask, v)
#endif
#ifndef __clang__
#define ATTN2C_ADD_PRODUCT(c, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+x"(c) : "x"(a), "x"(b))
#endif

#define ATTN2C_FIRST(count) attn2c_lanes_before(count)

ATTN2C_INLINE attn2c_lanes attn2c_lanes_before(int count) {
  const attn2c_lanes number = {0, 1, 2, 3, 4, 5, 6, 7};
  return number < count;
}
