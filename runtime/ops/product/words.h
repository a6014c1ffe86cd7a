/* words.h - shared parts of bf16 and int8 strips: vectors of 4-byte groups and of integer sums. A
 * group is two inputs of bf16 or four of int8. Vectors hold groups of the weights, or one group of a row in
 * every lane. Only the existing bytes of an incomplete last group are read. */
#pragma once

#include "ops/product/product.h"

typedef uint32_t attn2c_words __attribute__((vector_size(4 * ATTN2C_LANES)));
/* Not __m512i, whose elements are long: gcc 12 would copy every sum at each step. */
typedef int32_t attn2c_integers __attribute__((vector_size(4 * ATTN2C_LANES)));

/* Load a vector of groups, or the first `count` and zeros. Loads and stores of floats keep the bits. */
ATTN2C_INLINE attn2c_words attn2c_words_load(const void *x) {
  return (attn2c_words)attn2c_load((const float *)x);
}
ATTN2C_INLINE attn2c_words attn2c_words_load_first(const void *x, int count) {
  return (attn2c_words)attn2c_load_first((const float *)x, count);
}

/* Keeps the first `bytes` of each group and zeroes the rest: 0 < bytes < 4. */
ATTN2C_INLINE attn2c_words attn2c_words_cut(attn2c_words x, int bytes) {
  return x & (uint32_t)((1u << 8 * bytes) - 1);
}

/* Returns one group in every lane. It needs no alignment. */
ATTN2C_INLINE attn2c_words attn2c_words_splat(const void *x) {
  uint32_t word;
  memcpy(&word, x, sizeof word);
  return word - (attn2c_words){0};
}

/* Does the same with the `bytes` that are left of a row, followed by zeros: 0 < bytes < 4. */
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

/* Between the parts of a step: makes the compiler read the values again, not keep them. */
#define ATTN2C_AGAIN(pointer) __asm__("" : "+r"(pointer))

/* Prefetches x[rows][cols], rows ld floats apart, which a map reads after the current strip. */
ATTN2C_INLINE void attn2c_ask_rows(const float *x, int rows, int cols, ptrdiff_t ld) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j += 16) __builtin_prefetch(x + i * ld + j, 0, 3);
}
