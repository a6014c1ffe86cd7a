/* product_words.h - what strips of bf16 and int8 products have in common: groups of 4 bytes, two inputs of
 * bf16 or four of int8, a vector of them from the weights, or one of a row in every lane; and vectors of
 * integer sums. A last group that is not whole is read no further than it goes. */
#ifndef ATTN2C_PRODUCT_WORDS_H
#define ATTN2C_PRODUCT_WORDS_H

#include "ops/product.h"

typedef uint32_t attn2c_words __attribute__((vector_size(4 * ATTN2C_LANES)));
/* Never __m512i, whose elements are long: gcc 12 then copies every sum at each step. */
typedef int32_t attn2c_integers __attribute__((vector_size(4 * ATTN2C_LANES)));

/* A vector of groups; of a vector that is cut, the first `count`, and zeros. Loads and stores of floats move
 * bits. */
ATTN2C_INLINE attn2c_words attn2c_words_load(const void *x) {
  return (attn2c_words)attn2c_load((const float *)x);
}
ATTN2C_INLINE attn2c_words attn2c_words_load_first(const void *x, int count) {
  return (attn2c_words)attn2c_load_first((const float *)x, count);
}

/* The first `bytes` of each group, and zeros: 0 < bytes < 4. */
ATTN2C_INLINE attn2c_words attn2c_words_cut(attn2c_words x, int bytes) {
  return x & (uint32_t)((1u << 8 * bytes) - 1);
}

/* One group in every lane, which may lie anywhere. */
ATTN2C_INLINE attn2c_words attn2c_words_splat(const void *x) {
  uint32_t word;
  memcpy(&word, x, sizeof word);
  return word - (attn2c_words){0};
}

/* The same of the `bytes` that are left of a row, and zeros: 0 < bytes < 4. */
ATTN2C_INLINE attn2c_words attn2c_words_splat_cut(const void *x, int bytes) {
  const unsigned char *from = x;
  uint32_t word = 0;
  for (int i = 0; i < bytes; i++) word |= (uint32_t)from[i] << 8 * i;
  return word - (attn2c_words){0};
}

ATTN2C_INLINE attn2c_integers attn2c_integers_zero(void) { return (attn2c_integers){0}; }
ATTN2C_INLINE attn2c_integers attn2c_integers_load(const int32_t *x) {
  return (attn2c_integers)attn2c_words_load(x);
}
ATTN2C_INLINE attn2c_integers attn2c_integers_load_first(const int32_t *x, int count) {
  return (attn2c_integers)attn2c_words_load_first(x, count);
}
ATTN2C_INLINE void attn2c_integers_store(int32_t *y, attn2c_integers v) {
  attn2c_store((float *)y, (attn2c_vector)v);
}
ATTN2C_INLINE void attn2c_integers_store_first(int32_t *y, attn2c_integers v, int count) {
  attn2c_store_first((float *)y, (attn2c_vector)v, count);
}

/* Between the parts of a step: what the first has read is read again, and not kept in registers meanwhile. */
#define ATTN2C_AGAIN(pointer) __asm__("" : "+r"(pointer))

/* attn2c_ask (product.h), of weights of any type. */
ATTN2C_INLINE const void *attn2c_ask_bytes(const void *x, int lines) {
  return attn2c_ask((const float *)x, lines);
}

/* Asks for x[rows][cols], rows ld floats apart, which a map reads behind the strip that works meanwhile. */
ATTN2C_INLINE void attn2c_ask_rows(const float *x, int rows, int cols, ptrdiff_t ld) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j += 16) __builtin_prefetch(x + i * ld + j, 0, 3);
}

#endif
