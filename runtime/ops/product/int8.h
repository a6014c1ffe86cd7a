/* int8.h - multiply-adds for strips of int8: exact sums in s32, in groups of four inputs. Neither
 * weights nor inputs are -128.
 *
 * Instructions on bytes need one unsigned factor. Making a factor unsigned changes a sum by a number that
 * depends only on the weights. Sums begin with the correction, which is stored before the groups of a panel.
 * So the sums are the same on all targets. ATTN2C_INT8_ZERO represents 0 in a row of inputs (ops/quantise.h).
 *
 * Four products are added to a sum in these ways, by target:
 * - quads: vpdpbusd. Rows are x + 128, and sums begin with the panel's first row, -128 times the sum of an
 * output's weights. On aarch64 sdot, or products of 16 bits added in pairs, which 2 * 127 * 127 does not
 * exceed. On other targets one after the other.
 * - signs: vpmaddubsw of |a| and x, whose bits are inverted where a < 0, which gives -x - 1. Sums begin with
 * the panel's second row, the sum of |a| over a < 0. A pair is at most 2 * 127 * 128, and does not saturate.
 * - halves, for SSE2: multiply-adds of 16 bits, on the odd bytes and on the even ones. Rows are x + 128, as
 * unsigned bytes are widened faster.
 *
 * The weights of an attention are rows from 0 to 255, and its values are in panels without a correction. With
 * AVX2 they are added by halves, as a pair of such products may exceed 16 bits. */
#pragma once

#include "ops/product/words.h"
#include "ops/quantise.h"

#if defined(__SSE2__) && (defined(__clang__) || __GNUC__ > 12)
#include <immintrin.h>
#endif

/* Returns the start of a vector of sums: the first or second row of a panel. Rows are lda groups long. */
ATTN2C_INLINE attn2c_integers attn2c_int8_start(const int8_t *a, ptrdiff_t lda, int lanes) {
  if (ATTN2C_INT8_ZERO) return (attn2c_integers)attn2c_words_load_first(a, lanes);
#ifdef __AVX2__
  return (attn2c_integers)attn2c_words_load_first(a + 4 * lda, lanes);
#else
  (void)a, (void)lda, (void)lanes;
  return attn2c_integers_zero();
#endif
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

#if defined(__AVX512VNNI__) && !defined(__clang__)
#define ATTN2C_INT8_QUADS_AT(c, a, x)                                                                        \
  __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(c) : "v"(a), "m"(*(const char(*)[4])(x)))
#endif

#elif defined(__AVX2__)

#if ATTN2C_LANES == 16 && (defined(__clang__) || __GNUC__ > 12)
#define ATTN2C_INT8_PAIRS(u, s) _mm512_maddubs_epi16((__m512i)(u), (__m512i)(s))
#define ATTN2C_INT8_SUMS(a, b)  _mm512_madd_epi16((__m512i)(a), (__m512i)(b))
#define ATTN2C_INT8_SIZES(a)    _mm512_abs_epi8((__m512i)(a))
#elif ATTN2C_LANES == 16
#define ATTN2C_INT8_PAIRS(u, s)                                                                              \
  __builtin_ia32_pmaddubsw512_mask((attn2c_chars)(u), (attn2c_chars)(s), (attn2c_shorts){0}, -1)
#define ATTN2C_INT8_SUMS(a, b)                                                                               \
  __builtin_ia32_pmaddwd512_mask((attn2c_shorts)(a), (attn2c_shorts)(b), (attn2c_integers){0}, (short)-1)
#define ATTN2C_INT8_SIZES(a) __builtin_ia32_pabsb512_mask((attn2c_chars)(a), (attn2c_chars){0}, -1)
#elif defined(__clang__) || __GNUC__ > 12
#define ATTN2C_INT8_PAIRS(u, s) _mm256_maddubs_epi16((__m256i)(u), (__m256i)(s))
#define ATTN2C_INT8_SUMS(a, b)  _mm256_madd_epi16((__m256i)(a), (__m256i)(b))
#define ATTN2C_INT8_SIZES(a)    _mm256_abs_epi8((__m256i)(a))
#else
#define ATTN2C_INT8_PAIRS(u, s) __builtin_ia32_pmaddubsw256((attn2c_chars)(u), (attn2c_chars)(s))
#define ATTN2C_INT8_SUMS(a, b)  __builtin_ia32_pmaddwd256((attn2c_shorts)(a), (attn2c_shorts)(b))
#define ATTN2C_INT8_SIZES(a)    __builtin_ia32_pabsb256((attn2c_chars)(a))
#endif
typedef char attn2c_chars __attribute__((vector_size(4 * ATTN2C_LANES)));

ATTN2C_INLINE attn2c_shorts attn2c_int8_ones(void) { return (attn2c_shorts){0} + (int16_t)1; }

/* Return all ones in each negative byte, and |a|. */
ATTN2C_INLINE attn2c_words attn2c_int8_negative(attn2c_words a) {
  return (attn2c_words)((attn2c_bytes)a < (attn2c_bytes){0});
}
ATTN2C_INLINE attn2c_words attn2c_int8_sizes(attn2c_words a) { return (attn2c_words)ATTN2C_INT8_SIZES(a); }

ATTN2C_INLINE attn2c_integers attn2c_int8_signs(attn2c_words negative, attn2c_words sizes, attn2c_words b,
                                                attn2c_integers c) {
  c += (attn2c_integers)ATTN2C_INT8_SUMS(ATTN2C_INT8_PAIRS(sizes, b ^ negative), attn2c_int8_ones());
  ATTN2C_HOLD(c); /* else gcc 12 adds several steps later, and keeps the numbers in memory */
  return c;
}

/* Splits a panel of two vectors for strips that take its weights apart no more: its first rows, then for
 * each group the sizes of 16 outputs and, 16 groups later, all ones in each negative byte. */
ATTN2C_INLINE void attn2c_int8_split(const int8_t *a, ptrdiff_t lda, int groups, int8_t *split) {
  for (int i = 0; i < groups + 2; i++, a += 4 * lda, split += 16 * ATTN2C_LANES) {
    for (int j = 0; j < 2; j++) {
      const attn2c_words w = attn2c_words_load(a + 4 * j * ATTN2C_LANES);
      float *to = (float *)split + j * ATTN2C_LANES;
      attn2c_store(to, (attn2c_vector)(i < 2 ? w : attn2c_int8_sizes(w)));
      attn2c_store(to + 2 * ATTN2C_LANES, (attn2c_vector)attn2c_int8_negative(w));
    }
  }
}

#elif defined(__SSE2__)

#if defined(__clang__) || __GNUC__ > 12
#define ATTN2C_INT8_SUMS(a, b) _mm_madd_epi16((__m128i)(a), (__m128i)(b))
#else
#define ATTN2C_INT8_SUMS(a, b) __builtin_ia32_pmaddwd128((attn2c_shorts)(a), (attn2c_shorts)(b))
#endif

#endif

#ifdef ATTN2C_INT8_SUMS

/* Return two bytes of each group as 16-bit numbers: the second and fourth, or the first and third. Weights
 * are signed, inputs are unsigned. */
ATTN2C_INLINE attn2c_words attn2c_int8_odd(attn2c_words a) { return (attn2c_words)((attn2c_shorts)a >> 8); }
ATTN2C_INLINE attn2c_words attn2c_int8_even(attn2c_words a) {
  return (attn2c_words)((attn2c_shorts)((attn2c_shorts)a << 8) >> 8);
}
ATTN2C_INLINE attn2c_words attn2c_int8_odd_inputs(attn2c_words b) {
  typedef uint16_t unsigned_shorts __attribute__((vector_size(4 * ATTN2C_LANES)));
  return (attn2c_words)((unsigned_shorts)b >> 8);
}
ATTN2C_INLINE attn2c_words attn2c_int8_even_inputs(attn2c_words b) { return b & 0x00ff00ffu; }

ATTN2C_INLINE attn2c_integers attn2c_int8_halves(attn2c_words a, attn2c_words b, attn2c_integers c) {
  c += (attn2c_integers)ATTN2C_INT8_SUMS(a, b);
  ATTN2C_HOLD(c); /* else gcc 12 adds both parts later, and keeps the first in memory */
  return c;
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
/* Return byte i of each group, for weights and for inputs as they are stored. */
ATTN2C_INLINE attn2c_integers attn2c_int8_byte(attn2c_words x, int i) {
  return (attn2c_integers)(x << (24 - 8 * i)) >> 24;
}
ATTN2C_INLINE attn2c_integers attn2c_int8_input(attn2c_words x, int i) {
  return ATTN2C_INT8_ZERO ? (attn2c_integers)(x >> 8 * i & 0xffu) : attn2c_int8_byte(x, i);
}
ATTN2C_INLINE attn2c_integers attn2c_int8_quads(attn2c_words a, attn2c_words b, attn2c_integers c) {
  for (int i = 0; i < 4; i++) c += attn2c_int8_byte(a, i) * attn2c_int8_input(b, i);
  return c;
}
/* The same with inputs from 0 to 255. */
ATTN2C_INLINE attn2c_integers attn2c_u8_products(attn2c_words a, attn2c_words b, attn2c_integers c) {
  for (int i = 0; i < 4; i++) c += attn2c_int8_byte(a, i) * (attn2c_integers)(b >> 8 * i & 0xffu);
  return c;
}
#elif defined(__aarch64__)
/* Adds products with inputs from 0 to 255: with their lower seven bits, then twice with half of the highest.
 */
ATTN2C_INLINE attn2c_integers attn2c_u8_products(attn2c_words a, attn2c_words b, attn2c_integers c) {
  const attn2c_words half = (b & 0x80808080u) >> 1;
  c = attn2c_int8_quads(a, b & 0x7f7f7f7fu, c);
  return attn2c_int8_quads(a, half, attn2c_int8_quads(a, half, c));
}
#endif
