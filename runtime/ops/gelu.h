/* gelu.h - gelu of rows whose results are only rounded to bf16 or int8. With AVX-512 it takes fewer
 * instructions for the bits of attn2c_gelu_rounded, above all on the two pipes of multiplications: on a Zen 4
 * these also compare, and multiply the bytes of the products before and after. */
#pragma once

#include "ops/vector.h"

#if defined(__AVX512DQ__) && !ATTN2C_BUILTINS
#include <immintrin.h>
#define ATTN2C_RANGE(x, y, what) (attn2c_vector) _mm512_range_ps((__m512)(x), (__m512)(y), what)
#define ATTN2C_WHOLE(x)          (attn2c_vector) _mm512_roundscale_ps((__m512)(x), 8)
#define ATTN2C_TIMES_POWER(x, n) (attn2c_vector) _mm512_scalef_ps((__m512)(x), (__m512)(n))
#define ATTN2C_BY_CLASS(x, to_class)                                                                         \
  (attn2c_vector) _mm512_fixupimm_ps((__m512)(x), (__m512)(x), (__m512i)(to_class), 0)
#elif defined(__AVX512DQ__)
#define ATTN2C_RANGE(x, y, what)     __builtin_ia32_rangeps512_mask(x, y, what, x, (short)-1, 4)
#define ATTN2C_WHOLE(x)              __builtin_ia32_rndscaleps_mask(x, 8, x, (short)-1, 4)
#define ATTN2C_TIMES_POWER(x, n)     __builtin_ia32_scalefps512_mask(x, n, x, (short)-1, 4)
#define ATTN2C_BY_CLASS(x, to_class) __builtin_ia32_fixupimmps512_mask(x, x, to_class, 0, (short)-1, 4)
#endif

#ifdef ATTN2C_RANGE

/* Returns attn2c_gelu_rounded of each lane: the same polynomials. */
ATTN2C_INLINE attn2c_vector attn2c_gelu_rounded_lanes(attn2c_vector x) {
  typedef int words __attribute__((vector_size(64)));
  const attn2c_vector a = ATTN2C_RANGE(x, attn2c_splat(5.5f), 10); /* the smaller magnitude, without a sign */
  attn2c_vector l = attn2c_splat(2.61537625e-05f);
  l = attn2c_vector_fma(l, a, attn2c_splat(-0.000660981401f));
  l = attn2c_vector_fma(l, a, attn2c_splat(0.0074883108f));
  l = attn2c_vector_fma(l, a, attn2c_splat(-0.0519704074f));
  l = attn2c_vector_fma(l, a, attn2c_splat(-0.460329473f));
  l = attn2c_vector_fma(l, a, attn2c_splat(-1.15058398f));
  l = attn2c_vector_fma(l, a, attn2c_splat(-1.00003612f));
  const attn2c_vector n = ATTN2C_WHOLE(l), r = l - n;
  attn2c_vector p = attn2c_splat(0.0551716685f);
  p = attn2c_vector_fma(p, r, attn2c_splat(0.242611125f));
  p = attn2c_vector_fma(p, r, attn2c_splat(0.693260968f));
  p = attn2c_vector_fma(p, r, attn2c_splat(0.999928057f));
  /* x; -0 for finite x < 0; NaN for -inf and NaN */
  const attn2c_vector positive = ATTN2C_BY_CLASS(x, (words){0} + 0x17131121);
  return attn2c_vector_fma(-a, ATTN2C_TIMES_POWER(p, n), positive);
}

#endif

/* y[j] = attn2c_gelu_rounded(x[j]); y may be x. The vectors of a strip's row, up to four, become copies. */
ATTN2C_INLINE void attn2c_gelu_rounded_row(float *y, const float *x, int cols) {
  int j = 0;
#ifdef ATTN2C_RANGE
#ifdef __clang__
#pragma clang loop unroll_count(4)
#else
#pragma GCC unroll 4
#endif
  for (; j + ATTN2C_LANES <= cols; j += ATTN2C_LANES)
    attn2c_store(y + j, attn2c_gelu_rounded_lanes(attn2c_load(x + j)));
#endif
#pragma omp simd
  for (int i = j; i < cols; i++) y[i] = attn2c_gelu_rounded(x[i]);
}
