/* avx512.h - implements product.h for AVX-512. */
#pragma once

#include "ops/vector.h"

#define ATTN2C_HOLD(v)               __asm__("" : "+v"(v))
#define ATTN2C_HOLD_BOTH(v, pointer) __asm__("" : "+v"(v), "+r"(pointer))

#if defined(__clang__) && !ATTN2C_BUILTINS
#include <immintrin.h>
#define ATTN2C_FMADD(a, b, c)         _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define ATTN2C_MASK_LOAD(x, mask)     _mm512_maskz_loadu_ps(mask, x)
#define ATTN2C_MASK_STORE(y, v, mask) _mm512_mask_storeu_ps(y, mask, (__m512)(v))
#else
#define ATTN2C_FMADD(a, b, c)         __builtin_ia32_vfmaddps512_mask(a, b, c, (short)-1, 4)
#define ATTN2C_MASK_LOAD(x, mask)     __builtin_ia32_loadups512_mask(x, (attn2c_vector){0.0f}, (short)(mask))
#define ATTN2C_MASK_STORE(y, v, mask) __builtin_ia32_storeups512_mask(y, v, (short)(mask))
#endif
#ifndef __clang__
#define ATTN2C_ADD_PRODUCT(c, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b))
#define ATTN2C_ADD_PRODUCT_AT(c, a, x)                                                                       \
  __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(c) : "v"(a), "m"(*(x)))
#endif

/* a*b + c for half vectors; a vector with the given lower half and an undefined upper half. */
#if defined(__clang__) && !ATTN2C_BUILTINS
#define ATTN2C_HALF_FMADD(a, b, c) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#else
#define ATTN2C_HALF_FMADD(a, b, c) __builtin_ia32_vfmaddps256(a, b, c)
#endif
#ifdef __clang__
#define ATTN2C_FROM_HALF(v) ATTN2C_SHUFFLE(v, v, 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1)
#else
#define ATTN2C_FROM_HALF(v) __builtin_ia32_ps512_256ps(v)
#endif

/* A mask with a bit per lane. */
#define ATTN2C_FIRST(count) ((unsigned short)((1u << (count)) - 1))
