/* bf16.h - multiply-adds for strips of bf16: sums in f32, of pairs of inputs.
 *
 * A pair is two fused multiply-adds, the odd (second) input first, each rounded to nearest even; denormals
 * count as zero, as operands and as results. This is vdpbf16ps's definition, and other targets do the same:
 * inputs are widened to f32, and a call sets the processor's flush bits (base/processor.h). A product of two
 * bf16 has 16 bits and is exact in f32, so a multiplication and an addition round once, like a fused
 * multiply-add. All targets give the same bits, with these exceptions:
 *
 * - The bits of a NaN differ.
 * - Without fused multiply-adds, a product beyond f32's range becomes zero or infinite: below 2^-126, which
 * only affects sums below 2^-101, or from 2^128 on.
 * - aarch64 flushes before it rounds: a sum within 2^-151 below 2^-126 becomes zero, on other targets 2^-126.
 * - A processor without flush bits (target generic) keeps denormals. */
#pragma once

#include "ops/product/words.h"

#if defined(__AVX512BF16__) && !defined(__clang__) && __GNUC__ < 13
/* Sums pairs in one instruction; gcc's builtin as in avx512.h. */
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

/* Return the second, or the first, of each pair as f32. */
ATTN2C_INLINE attn2c_vector attn2c_bf16_odd(attn2c_words x) { return (attn2c_vector)(x & 0xffff0000u); }
ATTN2C_INLINE attn2c_vector attn2c_bf16_even(attn2c_words x) { return (attn2c_vector)(x << 16); }

/* Returns the mask of the second of each pair of weights. Where there are 16 registers, each call reads it
 * from memory: the compiler would keep it for strips of all sizes, and then a sum of the largest in memory.
 */
ATTN2C_INLINE attn2c_words attn2c_bf16_upper(void) {
#if defined(__SSE2__) && !defined(__AVX512F__)
  static const uint32_t mask[] __attribute__((aligned(4 * ATTN2C_LANES))) = {
      0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u};
  return *(const volatile attn2c_words *)mask;
#else
  return (attn2c_words){0} + 0xffff0000u;
#endif
}
ATTN2C_INLINE attn2c_vector attn2c_bf16_masked(attn2c_words x, attn2c_words mask) {
  return (attn2c_vector)(x & mask);
}

/* Return the same for inputs that are floats, whose lower halves are zero. */
ATTN2C_INLINE attn2c_vector attn2c_bf16_odd_input(const float *x) { return attn2c_splat(x[1]); }
ATTN2C_INLINE attn2c_vector attn2c_bf16_even_input(const float *x) { return attn2c_splat(x[0]); }
/* Returns zeros, for a last input that has no partner. */
ATTN2C_INLINE attn2c_vector attn2c_bf16_odd_input_cut(const float *x) {
  (void)x;
  return attn2c_zero();
}
#define attn2c_bf16_even_input_cut attn2c_bf16_even_input
