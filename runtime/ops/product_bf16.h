/* product_bf16.h - the multiply-adds of strips of bf16: sums in f32, of pairs of inputs.
 *
 * A pair is two fused multiply-adds, the odd (second) input first, each rounded to nearest even; denormals
 * count as zero, going in and coming out. So vdpbf16ps does it, and so it is done elsewhere: the inputs are
 * widened to f32 on the way, and a call has the processor's flush bits set (base/processor.h). A product of
 * two bf16 has 16 bits: it is exact in f32, and a multiplication and an addition round once, as a fused
 * multiply-add does. All targets make the same bits, but these:
 *
 * - Which NaN it is differs.
 * - Without fused multiply-adds, a product beyond f32's range by itself becomes zero or infinite: below
 * 2^-126, which shows in sums below 2^-101 alone, or from 2^128 on.
 * - aarch64 flushes before it rounds: a sum within 2^-151 below 2^-126 becomes zero, elsewhere 2^-126.
 * - A processor without flush bits (target generic) keeps denormals. */
#ifndef ATTN2C_PRODUCT_BF16_H
#define ATTN2C_PRODUCT_BF16_H

#include "ops/product_words.h"

#if defined(__AVX512BF16__) && !defined(__clang__) && __GNUC__ < 13
/* Sums of pairs in one instruction; gcc's builtin as in product_avx512.h. */
typedef short attn2c_bf16s __attribute__((vector_size(4 * ATTN2C_LANES)));
ATTN2C_INLINE attn2c_vector attn2c_bf16_pairs(attn2c_words a, attn2c_words b, attn2c_vector c) {
  return (attn2c_vector)__builtin_ia32_dpbf16ps_v16sf(c, (attn2c_bf16s)b, (attn2c_bf16s)a);
}
#elif defined(__AVX512BF16__)
#include <immintrin.h>
ATTN2C_INLINE attn2c_vector attn2c_bf16_pairs(attn2c_words a, attn2c_words b, attn2c_vector c) {
  return (attn2c_vector)_mm512_dpbf16_ps((__m512)c, (__m512bh)b, (__m512bh)a);
}
#endif

/* The second, and the first of each pair, as f32. */
ATTN2C_INLINE attn2c_vector attn2c_bf16_odd(attn2c_words x) { return (attn2c_vector)(x & 0xffff0000u); }
ATTN2C_INLINE attn2c_vector attn2c_bf16_even(attn2c_words x) { return (attn2c_vector)(x << 16); }

/* The same of inputs that are floats, whose lower halves are zero. */
ATTN2C_INLINE attn2c_vector attn2c_bf16_odd_input(const float *x) { return attn2c_splat(x[1]); }
ATTN2C_INLINE attn2c_vector attn2c_bf16_even_input(const float *x) { return attn2c_splat(x[0]); }
/* Of the last input, which has none beside it. */
ATTN2C_INLINE attn2c_vector attn2c_bf16_odd_input_cut(const float *x) {
  (void)x;
  return attn2c_zero();
}
#define attn2c_bf16_even_input_cut attn2c_bf16_even_input

#endif
