/* scaled.h - multiply-adds for strips whose weights are integers in scale blocks. A panel has 16
 * outputs. For each pair of blocks, 64 inputs, it has scales[2][16], minima[2][16] if the type has them, and
 * integers in words: [2][8][16] of four int8, or [2][4][16] of eight int4, and so on (ops/scaled.h). A scale
 * may be for 16 inputs: [2][2][16]. Before all pairs are units[k / 256][16], or [k / 256][2][16] if there are
 * minima, of types whose scales are integers times a unit of f16.
 *
 * Inputs are the blocks of ops/scaled.h. The sum of a block's products is an exact integer. It becomes a
 * float, is multiplied by both scales, and added to the output's sum. So the bits are the same on every
 * target with fused multiply-adds.
 *
 * Instructions on bytes multiply an unsigned by a signed number. Weights of int8 are stored as w + 128, those
 * of fewer bits as w + half of their range, and with a minimum as w. Values of a table, and integers of 5 and
 * 6 bits, become int8 on the way. The sum begins with what that adds, of which each input block has the
 * value. Three ways add four products to a sum:
 * - vpdpbusd.
 * - vpmaddubsw of |w| and x with w's sign; of int4 up to eight pairs are added in 16 bits, which 8 * 2 * 15 *
 * 127 does not exceed.
 * - sdot on aarch64, or plain products elsewhere.
 *
 * Fine inputs, of 15 bits, have two sums: of products with their high and with their low bytes. With AVX2
 * they are words, and vpmaddwd sums even inputs and odd ones. */
#pragma once

#include "ops/product/int8.h"
#include "ops/scaled.h"

enum { ATTN2C_SCALED_PANEL = 16 /* outputs */ };

/* Makes some requests for cache lines from x on, `pace` bytes from one to the next, into the first-level
 * cache. Returns the address after them. */
ATTN2C_INLINE const void *attn2c_ask_share(const void *x, int requests, int pace) {
  for (int i = 0; i < requests; i++) __builtin_prefetch((const char *)x + (ptrdiff_t)i * pace, 0, 3);
  return (const char *)x + (ptrdiff_t)requests * pace;
}

/* Loads the scales or minima of a vector of outputs. */
ATTN2C_INLINE attn2c_vector attn2c_halves_load(const uint8_t *at) {
#if defined(__AVX512F__) && !defined(__clang__)
  typedef short halves __attribute__((vector_size(32)));
  halves h;
  memcpy(&h, at, sizeof h);
  return (attn2c_vector)__builtin_ia32_vcvtph2ps512_mask(h, (attn2c_vector){0.0f}, (short)-1, 4);
#elif defined(__AVX512F__)
  __m256i h;
  memcpy(&h, at, sizeof h);
  return (attn2c_vector)_mm512_cvtph_ps(h);
#elif defined(__F16C__) && ATTN2C_LANES == 8
  typedef short halves __attribute__((vector_size(16)));
  halves h;
  memcpy(&h, at, sizeof h);
#if !defined(__clang__) || ATTN2C_BUILTINS
  return (attn2c_vector)__builtin_ia32_vcvtph2ps256(h);
#else
  return (attn2c_vector)_mm256_cvtph_ps((__m128i)h);
#endif
#else
  typedef uint16_t halves __attribute__((vector_size(2 * ATTN2C_LANES)));
  halves h;
  memcpy(&h, at, sizeof h);
  const attn2c_words wide = __builtin_convertvector(h, attn2c_words), size = wide & 0x7fffu;
  const attn2c_words normal = (size << 13) + (112u << 23) + ((attn2c_words)(size >= 0x7c00u) & (112u << 23));
  const attn2c_vector small = __builtin_convertvector((attn2c_integers)size, attn2c_vector) * 0x1p-24f;
  const attn2c_words is_small = (attn2c_words)(size < 0x400u);
  return (attn2c_vector)((wide & 0x8000u) << 16 | (is_small & (attn2c_words)small) | (~is_small & normal));
#endif
}
ATTN2C_INLINE attn2c_vector attn2c_floats_load(const uint8_t *at) { return attn2c_load((const float *)at); }
ATTN2C_INLINE attn2c_vector attn2c_powers_load(const uint8_t *at) {
  typedef uint8_t powers __attribute__((vector_size(ATTN2C_LANES)));
  powers p;
  memcpy(&p, at, sizeof p);
  return (attn2c_vector)(__builtin_convertvector(p, attn2c_words) << 23);
}

ATTN2C_INLINE attn2c_vector attn2c_to_floats(attn2c_integers sum) {
  return __builtin_convertvector(sum, attn2c_vector);
}

ATTN2C_INLINE attn2c_integers attn2c_integers_splat(int32_t x) { return x - (attn2c_integers){0}; }

/* Returns `bits` bits of each byte, from bit `from` on, at bit `to`. */
ATTN2C_INLINE attn2c_words attn2c_plane(attn2c_words w, int from, int bits, int to) {
  const uint32_t mask = 0x01010101u * (((1u << bits) - 1u) << to);
  return (from > to ? w >> (from - to) : w << (to - from)) & mask;
}

/* Loads a vector of scales that are bytes. gcc 12 would convert them one by one. */
ATTN2C_INLINE attn2c_integers attn2c_bytes_load(const uint8_t *at) {
#if defined(__AVX2__) && (defined(__clang__) || __GNUC__ > 12)
  __m128i b = _mm_setzero_si128();
  memcpy(&b, at, ATTN2C_LANES);
#if ATTN2C_LANES == 16
  return (attn2c_integers)_mm512_cvtepi8_epi32(b);
#else
  return (attn2c_integers)_mm256_cvtepi8_epi32(b);
#endif
#elif defined(__AVX2__)
  typedef char chars __attribute__((vector_size(16)));
  chars b = {0};
  memcpy(&b, at, ATTN2C_LANES);
#if ATTN2C_LANES == 16
  return __builtin_ia32_pmovsxbd512_mask(b, (attn2c_integers){0}, (short)-1);
#else
  return __builtin_ia32_pmovsxbd256(b);
#endif
#else
  typedef int8_t bytes __attribute__((vector_size(ATTN2C_LANES)));
  bytes b;
  memcpy(&b, at, sizeof b);
  return __builtin_convertvector(b, attn2c_integers);
#endif
}

/* Loads the scales of a part of a block, and the minima if there are any. unit: the scales' units, which
 * the minima's follow. */
ATTN2C_INLINE void attn2c_scales_load(const attn2c_type_facts *facts, const uint8_t *scales,
                                      const uint8_t *minima, const uint8_t *unit, attn2c_vector *scale,
                                      attn2c_vector *least) {
  if (!facts->unit) {
    *scale = facts->scale_bytes == 1   ? attn2c_powers_load(scales)
             : facts->scale_bytes == 2 ? attn2c_halves_load(scales)
                                       : attn2c_floats_load(scales);
    if (facts->has_minimum)
      *least = facts->scale_bytes == 2 ? attn2c_halves_load(minima) : attn2c_floats_load(minima);
    return;
  }
  const attn2c_integers both = attn2c_bytes_load(scales);
  *scale = attn2c_halves_load(unit) * facts->step * attn2c_to_floats(facts->unit == 4 ? both & 15 : both);
  if (facts->has_minimum)
    *least = attn2c_halves_load(unit + 2 * ATTN2C_SCALED_PANEL) *
             attn2c_to_floats(facts->unit == 4 ? both >> 4 & 15 : attn2c_bytes_load(minima));
}

/* Returns a type's values + 128 for attn2c_values. */
ATTN2C_INLINE attn2c_words attn2c_values_load(const attn2c_type_facts *facts) {
  uint8_t table[4 * ATTN2C_LANES] = {0};
  for (int i = 0; i < 4 * ATTN2C_LANES; i++)
    if (i % 16 < facts->value_count) table[i] = (uint8_t)(facts->values[i % 16] + 128);
  return attn2c_words_load(table);
}

/* Returns the values of indices below 16. */
ATTN2C_INLINE attn2c_words attn2c_values(attn2c_words table, attn2c_words indices) {
#if defined(__AVX2__) && !defined(__clang__) && __GNUC__ <= 12
  typedef char chars __attribute__((vector_size(sizeof table)));
#endif
#if defined(__AVX512BW__) && (defined(__clang__) || __GNUC__ > 12)
  return (attn2c_words)_mm512_shuffle_epi8((__m512i)table, (__m512i)indices);
#elif defined(__AVX512BW__)
  return (attn2c_words)__builtin_ia32_pshufb512_mask((chars)table, (chars)indices, (chars){0}, -1);
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ > 12)
  return (attn2c_words)_mm256_shuffle_epi8((__m256i)table, (__m256i)indices);
#elif defined(__AVX2__)
  return (attn2c_words)__builtin_ia32_pshufb256((chars)table, (chars)indices);
#elif defined(__aarch64__)
  return (attn2c_words)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)indices);
#else
  uint8_t of[sizeof table], at[sizeof table];
  memcpy(of, &table, sizeof table);
  memcpy(at, &indices, sizeof table);
  for (size_t i = 0; i < sizeof table; i++) at[i] = of[at[i]];
  return attn2c_words_load(at);
#endif
}

/* The sums of a block begin with _begin, take _add for each four inputs, and are integers after _end.
 * several: whether a strip has more than one row. gcc 12 would then add several steps later, and keep the
 * numbers in memory. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

/* Unsigned bytes of weights times signed inputs. The operands of attn2c_int8_quads are the other way round.
 * ATTN2C_INT8_QUADS_AT reads the inputs itself: gcc 12 puts them into a register first. */
ATTN2C_INLINE attn2c_integers attn2c_scaled_add(attn2c_words w, const int8_t *x, attn2c_integers sum,
                                                int several) {
  (void)several;
#ifdef ATTN2C_INT8_QUADS_AT
  ATTN2C_INT8_QUADS_AT(sum, w, x);
  return sum;
#else
  return attn2c_int8_quads(attn2c_words_splat(x), w, sum);
#endif
}
ATTN2C_INLINE attn2c_integers attn2c_scaled8_begin(int32_t zero) { return attn2c_integers_splat(zero); }
ATTN2C_INLINE attn2c_integers attn2c_scaled4_begin(int32_t zero) { return attn2c_integers_splat(zero); }
ATTN2C_INLINE attn2c_integers attn2c_scaled8_end(attn2c_integers sum) { return sum; }
ATTN2C_INLINE attn2c_integers attn2c_scaled4_end(attn2c_integers sum, int32_t zero) {
  (void)zero;
  return sum;
}
#define attn2c_scaled8_add attn2c_scaled_add
#define attn2c_scaled4_add attn2c_scaled_add

#else

ATTN2C_INLINE attn2c_integers attn2c_scaled8_begin(int32_t zero) { return attn2c_integers_splat(zero); }
ATTN2C_INLINE attn2c_integers attn2c_scaled8_end(attn2c_integers sum) { return sum; }

#if defined(__AVX2__)

/* Returns inputs with the signs of weights. A vector of 32 bytes has an instruction for it. */
ATTN2C_INLINE attn2c_words attn2c_scaled_signed(attn2c_words x, attn2c_words weights) {
#if ATTN2C_LANES == 8 && (defined(__clang__) || __GNUC__ > 12)
  return (attn2c_words)_mm256_sign_epi8((__m256i)x, (__m256i)weights);
#elif ATTN2C_LANES == 8
  return (attn2c_words)__builtin_ia32_psignb256((attn2c_chars)x, (attn2c_chars)weights);
#else
  const attn2c_words negative = attn2c_int8_negative(weights);
  return (attn2c_words)((attn2c_bytes)(x ^ negative) - (attn2c_bytes)negative); /* -x = ~x + 1 */
#endif
}

ATTN2C_INLINE attn2c_integers attn2c_scaled8_words(attn2c_words w, attn2c_words x, attn2c_integers sum,
                                                   int several) {
  const attn2c_words weights = w ^ 0x80808080u;
  const attn2c_shorts pairs =
      ATTN2C_INT8_PAIRS(attn2c_scaled_signed(weights, weights), attn2c_scaled_signed(x, weights));
  sum += (attn2c_integers)ATTN2C_INT8_SUMS(pairs, attn2c_int8_ones());
  if (several) ATTN2C_HOLD(sum);
  return sum;
}
ATTN2C_INLINE attn2c_integers attn2c_scaled8_add(attn2c_words w, const int8_t *x, attn2c_integers sum,
                                                 int several) {
  return attn2c_scaled8_words(w, attn2c_words_splat(x), sum, several);
}
ATTN2C_INLINE attn2c_integers attn2c_scaled4_begin(int32_t zero) {
  (void)zero;
  return (attn2c_integers){0};
}
ATTN2C_INLINE attn2c_integers attn2c_scaled4_words(attn2c_words w, attn2c_words x, attn2c_integers sum,
                                                   int several) {
  sum = (attn2c_integers)((attn2c_shorts)sum + (attn2c_shorts)ATTN2C_INT8_PAIRS(w, x));
  if (several) ATTN2C_HOLD(sum);
  return sum;
}
ATTN2C_INLINE attn2c_integers attn2c_scaled4_add(attn2c_words w, const int8_t *x, attn2c_integers sum,
                                                 int several) {
  return attn2c_scaled4_words(w, attn2c_words_splat(x), sum, several);
}
ATTN2C_INLINE attn2c_integers attn2c_scaled4_end(attn2c_integers sum, int32_t zero) {
  return (attn2c_integers)ATTN2C_INT8_SUMS((attn2c_shorts)sum, attn2c_int8_ones()) + zero;
}

#else

/* Adds products of signed bytes. */
ATTN2C_INLINE attn2c_integers attn2c_scaled_add(attn2c_words w, const int8_t *x, attn2c_integers sum,
                                                int several) {
  (void)several;
#ifdef __aarch64__
  return attn2c_int8_quads(w, attn2c_words_splat(x), sum);
#else
  for (int i = 0; i < 4; i++) sum += attn2c_int8_byte(w, i) * x[i];
  return sum;
#endif
}
ATTN2C_INLINE attn2c_integers attn2c_scaled8_add(attn2c_words w, const int8_t *x, attn2c_integers sum,
                                                 int several) {
  return attn2c_scaled_add(w ^ 0x80808080u, x, sum, several);
}
ATTN2C_INLINE attn2c_integers attn2c_scaled4_begin(int32_t zero) { return attn2c_integers_splat(zero); }
ATTN2C_INLINE attn2c_integers attn2c_scaled4_end(attn2c_integers sum, int32_t zero) {
  (void)zero;
  return sum;
}
#define attn2c_scaled4_add attn2c_scaled_add

#endif
#endif

/* Add the products of four weights and a fine block's inputs 4 `number` and up to two sums, s and t, which
 * become an integer in _end. */
#if ATTN2C_FINE_WORDS

ATTN2C_INLINE void attn2c_fine_add(attn2c_words w, const int8_t *x, int number, attn2c_integers *s,
                                   attn2c_integers *t, int several) {
  const attn2c_words even = w & 0x00ff00ffu, odd = w >> 8 & 0x00ff00ffu;
  *s += (attn2c_integers)ATTN2C_INT8_SUMS(even, attn2c_words_splat(x + 8 * number));
  if (several) ATTN2C_HOLD(*s);
  *t += (attn2c_integers)ATTN2C_INT8_SUMS(odd, attn2c_words_splat(x + 8 * number + 4));
  if (several) ATTN2C_HOLD(*t);
}
ATTN2C_INLINE attn2c_integers attn2c_fine_end(attn2c_integers s, attn2c_integers t) { return s + t; }
#define attn2c_fine8_add attn2c_fine_add
#define attn2c_fine4_add attn2c_fine_add

#else

ATTN2C_INLINE void attn2c_fine8_add(attn2c_words w, const int8_t *x, int number, attn2c_integers *s,
                                    attn2c_integers *t, int several) {
  *s = attn2c_scaled8_add(w, x + 4 * number, *s, several);
  *t = attn2c_scaled8_add(w, x + ATTN2C_SCALE_BLOCK + 4 * number, *t, several);
}
ATTN2C_INLINE void attn2c_fine4_add(attn2c_words w, const int8_t *x, int number, attn2c_integers *s,
                                    attn2c_integers *t, int several) {
  *s = attn2c_scaled4_add(w, x + 4 * number, *s, several);
  *t = attn2c_scaled4_add(w, x + ATTN2C_SCALE_BLOCK + 4 * number, *t, several);
}
ATTN2C_INLINE attn2c_integers attn2c_fine_end(attn2c_integers s, attn2c_integers t) {
  return s * ATTN2C_FINE_PARTS + t;
}

#endif
