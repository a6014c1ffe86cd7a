/* product_int8.h - the multiply-adds of strips of int8: exact sums in s32, of groups of four inputs. Neither
 * weights nor inputs are -128.
 *
 * ATTN2C_INT8_ZERO is what stands for 0 in a row of inputs: where vpdpbusd multiplies, whose one factor is
 * unsigned, rows are x + 128 (ops/quantise.h makes them so), and sums begin with -128 times the sum of an
 * output's weights, which lies before the groups of a panel. Elsewhere rows are x, and sums begin with 0. So
 * the sums are the same on all targets.
 *
 * How four products are added to a sum, by target:
 * - quads: vpdpbusd; on aarch64 sdot, or products of 16 bits added in pairs, which 2 * 127 * 127 does not
 * exceed; anywhere else one after the other.
 * - signs: AVX2's vpmaddubsw, whose one factor is unsigned too: |a| b with the sign of a.
 * - halves: multiply-adds of 16 bits, of the odd bytes, and of the even ones. */
#ifndef ATTN2C_PRODUCT_INT8_H
#define ATTN2C_PRODUCT_INT8_H

#include "ops/int8.h"
#include "ops/product_words.h"

#if defined(__SSE2__) && (defined(__clang__) || __GNUC__ > 12)
#include <immintrin.h>
#endif

/* What a vector of sums begins with: the first row of a panel. */
ATTN2C_INLINE attn2c_integers attn2c_int8_start(const int8_t *a, int lanes) {
  if (ATTN2C_INT8_ZERO == 0) return attn2c_integers_zero();
  return (attn2c_integers)attn2c_words_load_first(a, lanes);
}

typedef int8_t attn2c_bytes __attribute__((vector_size(4 * ATTN2C_LANES)));
typedef int16_t attn2c_shorts __attribute__((vector_size(4 * ATTN2C_LANES)));

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

ATTN2C_INLINE attn2c_integers attn2c_int8_quads(attn2c_words a, attn2c_words b, attn2c_integers c) {
#if defined(__AVX512VNNI__) && (defined(__clang__) || __GNUC__ > 12)
  return (attn2c_integers)_mm512_dpbusd_epi32((__m512i)c, (__m512i)b, (__m512i)a);
#elif defined(__AVX512VNNI__)
  return __builtin_ia32_vpdpbusd_v16si(c, (attn2c_integers)b, (attn2c_integers)a);
#elif defined(__clang__) || __GNUC__ > 12
  return (attn2c_integers)_mm256_dpbusd_avx_epi32((__m256i)c, (__m256i)b, (__m256i)a);
#else
  return __builtin_ia32_vpdpbusd_v8si(c, (attn2c_integers)b, (attn2c_integers)a);
#endif
}

#elif defined(__AVX2__) && !defined(__AVX512BW__)

#if defined(__clang__) || __GNUC__ > 12
#define ATTN2C_INT8_SIZES(a)    _mm256_abs_epi8((__m256i)(a))
#define ATTN2C_INT8_SIGNS(b, a) _mm256_sign_epi8((__m256i)(b), (__m256i)(a))
#define ATTN2C_INT8_PAIRS(u, s) _mm256_maddubs_epi16((__m256i)(u), (__m256i)(s))
#define ATTN2C_INT8_SUMS(x)     _mm256_madd_epi16((__m256i)(x), _mm256_set1_epi16(1))
#else
#define ATTN2C_INT8_SIZES(a)    __builtin_ia32_pabsb256((attn2c_chars)(a))
#define ATTN2C_INT8_SIGNS(b, a) __builtin_ia32_psignb256((attn2c_chars)(b), (attn2c_chars)(a))
#define ATTN2C_INT8_PAIRS(u, s) __builtin_ia32_pmaddubsw256((attn2c_chars)(u), (attn2c_chars)(s))
#define ATTN2C_INT8_SUMS(x)                                                                                  \
  __builtin_ia32_pmaddwd256((attn2c_shorts)(x),                                                              \
                            (attn2c_shorts){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
#endif
typedef char attn2c_chars __attribute__((vector_size(4 * ATTN2C_LANES)));

/* |a|, byte by byte. */
ATTN2C_INLINE attn2c_words attn2c_int8_sizes(attn2c_words a) { return (attn2c_words)ATTN2C_INT8_SIZES(a); }

/* sizes: |a|. */
ATTN2C_INLINE attn2c_integers attn2c_int8_signs(attn2c_words a, attn2c_words sizes, attn2c_words b,
                                                attn2c_integers c) {
  return c + (attn2c_integers)ATTN2C_INT8_SUMS(ATTN2C_INT8_PAIRS(sizes, ATTN2C_INT8_SIGNS(b, a)));
}

#elif defined(__SSE2__)

/* The second and fourth, and the first and third byte of each group, as numbers of 16 bits. */
ATTN2C_INLINE attn2c_words attn2c_int8_odd(attn2c_words x) { return (attn2c_words)((attn2c_shorts)x >> 8); }
ATTN2C_INLINE attn2c_words attn2c_int8_even(attn2c_words x) {
  return (attn2c_words)((attn2c_shorts)((attn2c_shorts)x << 8) >> 8);
}

#if ATTN2C_LANES == 16 && (defined(__clang__) || __GNUC__ > 12)
#define ATTN2C_INT8_SUMS(a, b) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))
#elif ATTN2C_LANES == 16
#define ATTN2C_INT8_SUMS(a, b)                                                                               \
  __builtin_ia32_pmaddwd512_mask((attn2c_shorts)(a), (attn2c_shorts)(b), (attn2c_integers){0}, (short)-1)
#elif defined(__clang__) || __GNUC__ > 12
#define ATTN2C_INT8_SUMS(a, b) _mm_madd_epi16((__m128i)(a), (__m128i)(b))
#else
#define ATTN2C_INT8_SUMS(a, b) __builtin_ia32_pmaddwd128((attn2c_shorts)(a), (attn2c_shorts)(b))
#endif
ATTN2C_INLINE attn2c_integers attn2c_int8_halves(attn2c_words a, attn2c_words b, attn2c_integers c) {
  return c + (attn2c_integers)ATTN2C_INT8_SUMS(a, b);
}

#elif defined(__ARM_FEATURE_DOTPROD)

ATTN2C_INLINE attn2c_integers attn2c_int8_quads(attn2c_words a, attn2c_words b, attn2c_integers c) {
  return (attn2c_integers)vdotq_s32((int32x4_t)c, (int8x16_t)a, (int8x16_t)b);
}

#elif defined(__aarch64__)

ATTN2C_INLINE attn2c_integers attn2c_int8_quads(attn2c_words a, attn2c_words b, attn2c_integers c) {
  const int16x8_t low = vmull_s8(vget_low_s8((int8x16_t)a), vget_low_s8((int8x16_t)b));
  const int16x8_t high = vmull_high_s8((int8x16_t)a, (int8x16_t)b);
  return (attn2c_integers)vpadalq_s16((int32x4_t)c, vpaddq_s16(low, high));
}

#endif

#if !defined(__AVX512VNNI__) && !defined(__AVXVNNI__) && !defined(__aarch64__)
ATTN2C_INLINE attn2c_integers attn2c_int8_quads(attn2c_words a, attn2c_words b, attn2c_integers c) {
  for (int i = 0; i < 4; i++)
    c += ((attn2c_integers)(a << (24 - 8 * i)) >> 24) * ((attn2c_integers)(b << (24 - 8 * i)) >> 24);
  return c;
}
#endif

#endif
