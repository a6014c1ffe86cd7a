/* vector.h - declares a machine vector of floats as a GNU vector type, as wide as the target allows. It has
 * the few operations that loops express badly: horizontal sums and fused multiply-adds on a register. gcc 12
 * and clang 14 compile each to a single instruction. */
#pragma once

#include "ops/elementary.h"

#include <float.h>
#include <stddef.h>

#if defined(__AVX512F__)
#define ATTN2C_LANES 16
#elif defined(__AVX__)
#define ATTN2C_LANES 8
#else
#define ATTN2C_LANES 4
#endif

/* Reading <immintrin.h> takes a compiler longer than the kernels of a small model. So these versions of gcc
 * and clang take the builtins that they have in common; the builtins of later ones may differ. */
#ifdef __clang__
#define ATTN2C_BUILTINS (__clang_major__ <= 14)
#else
#define ATTN2C_BUILTINS (__GNUC__ <= 12)
#endif

/* Before a loop around another loop: gcc vectorises it if it is told to; clang 14 only warns. */
#ifdef __clang__
#define ATTN2C_SIMD_OUTER
#else
#define ATTN2C_SIMD_OUTER _Pragma("omp simd")
#endif

/* Defines a vector type, and the same type at any place in an array of floats. A load or store through the
 * second is one instruction, while gcc 12 compiles a memcpy of 32 bytes to a detour through the stack. */
#define ATTN2C_VECTOR(name, lanes)                                                                           \
  typedef float name __attribute__((vector_size(4 * (lanes))));                                              \
  typedef float name##_in_array __attribute__((vector_size(4 * (lanes)), aligned(4), may_alias));

ATTN2C_VECTOR(attn2c_vector4, 4)
#if ATTN2C_LANES >= 8
ATTN2C_VECTOR(attn2c_vector8, 8)
#endif
ATTN2C_VECTOR(attn2c_vector, ATTN2C_LANES)

#define ATTN2C_SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

ATTN2C_INLINE attn2c_vector attn2c_load(const float *x) { return *(const attn2c_vector_in_array *)x; }

ATTN2C_INLINE void attn2c_store(float *y, attn2c_vector v) { *(attn2c_vector_in_array *)y = v; }

ATTN2C_INLINE attn2c_vector attn2c_splat(float x) { return x - (attn2c_vector){0.0f}; }

/* Returns a*b + c, each lane as ATTN2C_FMA. */
ATTN2C_INLINE attn2c_vector attn2c_vector_fma(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  attn2c_vector v;
  for (int i = 0; i < ATTN2C_LANES; i++) v[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return v;
#else
  return a * b + c;
#endif
}

/* A row is summed in sixteen partial sums, whatever the width of a vector. So all targets with fused
 * multiply-adds get the same bits. A narrower vector holds a part of them. The loop goes over the row once
 * per part, and uses the same number of registers as with a wide vector. */
#define ATTN2C_SUMS  16
#define ATTN2C_PARTS (ATTN2C_SUMS / ATTN2C_LANES)

/* Returns the sum of all lanes of all parts and of x[0 .. count-1], count < ATTN2C_SUMS, as a tree: upper
 * halves are added to lower ones, and pieces of x at the level of their size. */
ATTN2C_INLINE float attn2c_sum_of_parts(const attn2c_vector part[ATTN2C_PARTS], const float *x, int count) {
#if ATTN2C_LANES >= 8
#if ATTN2C_LANES == 16
  attn2c_vector8 eight = ATTN2C_SHUFFLE(part[0], part[0], 0, 1, 2, 3, 4, 5, 6, 7) +
                         ATTN2C_SHUFFLE(part[0], part[0], 8, 9, 10, 11, 12, 13, 14, 15);
#else
  attn2c_vector8 eight = part[0] + part[1];
#endif
  if (count & 8) eight += *(const attn2c_vector8_in_array *)x;
  attn2c_vector4 four = ATTN2C_SHUFFLE(eight, eight, 0, 1, 2, 3) + ATTN2C_SHUFFLE(eight, eight, 4, 5, 6, 7);
#else
  attn2c_vector4 low = part[0] + part[2], high = part[1] + part[3];
  if (count & 8) low += attn2c_load(x), high += attn2c_load(x + 4);
  attn2c_vector4 four = low + high;
#endif
  if (count & 4) four += *(const attn2c_vector4_in_array *)(x + (count & 8));
  four += ATTN2C_SHUFFLE(four, four, 2, 3, 0, 1);
  float sum = four[0] + four[1];
  for (int j = count & ~3; j < count; j++) sum += x[j];
  return sum;
}

/* The partial sums of x[0 .. whole-1], whole a multiple of ATTN2C_SUMS; long rows have 4 times more. */
ATTN2C_INLINE void attn2c_partial_sums(attn2c_vector part[ATTN2C_PARTS], const float *x, int whole) {
  for (int p = 0; p < ATTN2C_PARTS; p++) {
    const float *from = x + p * ATTN2C_LANES;
    attn2c_vector s = {0.0f};
    int j = 0;
    if (whole >= 8 * ATTN2C_SUMS) {
      attn2c_vector t = s, u = s, v = s;
      for (; j + 4 * ATTN2C_SUMS <= whole; j += 4 * ATTN2C_SUMS) {
        s += attn2c_load(from + j);
        t += attn2c_load(from + j + ATTN2C_SUMS);
        u += attn2c_load(from + j + 2 * ATTN2C_SUMS);
        v += attn2c_load(from + j + 3 * ATTN2C_SUMS);
      }
      s = (s + t) + (u + v);
    }
    for (; j < whole; j += ATTN2C_SUMS) s += attn2c_load(from + j);
    part[p] = s;
  }
}

/* Returns part number `p` of x[0 .. count-1], count < ATTN2C_SUMS, followed by zeros. */
ATTN2C_INLINE attn2c_vector attn2c_load_some(const float *x, int count, int p) {
#if ATTN2C_LANES == 16
  (void)p;
  return (attn2c_vector)__builtin_ia32_loadups512_mask(x, attn2c_splat(0.0f),
                                                       (unsigned short)((1u << count) - 1));
#elif defined(__AVX__)
  typedef int32_t mask __attribute__((vector_size(32)));
  const mask lane = {0, 1, 2, 3, 4, 5, 6, 7}, end = (mask){0} + (count - p * ATTN2C_LANES);
  return __builtin_ia32_maskloadps256((const attn2c_vector *)(x + p * ATTN2C_LANES), lane < end);
#else
  float lanes[ATTN2C_SUMS] = {0.0f};
  for (int j = 0; j < count; j++) lanes[j] = x[j];
  return attn2c_load(lanes + p * ATTN2C_LANES);
#endif
}

/* Returns the sum of x[0 .. count-1], whatever zeros follow it, or ATTN2C_SUMS of them precede it. */
ATTN2C_INLINE float attn2c_sum_of_any(const float *x, int count) {
  const int rest = count % ATTN2C_SUMS, whole = count - rest;
  attn2c_vector part[ATTN2C_PARTS];
  for (int p = 0; p < ATTN2C_PARTS; p++) {
    attn2c_vector s = {0.0f};
    for (int j = 0; j < whole; j += ATTN2C_SUMS) s += attn2c_load(x + p * ATTN2C_LANES + j);
    part[p] = rest ? s + attn2c_load_some(x + whole, rest, p) : s;
  }
  return attn2c_sum_of_parts(part, NULL, 0);
}

/* Returns x[0] + ... + x[count-1]. */
ATTN2C_INLINE float attn2c_sum(const float *x, int count) {
  attn2c_vector part[ATTN2C_PARTS];
  const int whole = count - count % ATTN2C_SUMS;
  attn2c_partial_sums(part, x, whole);
  return attn2c_sum_of_parts(part, x + whole, count - whole);
}

/* Returns the larger of a and b in each lane; b where a is NaN. clang takes one instruction, gcc 12 two. */
ATTN2C_INLINE attn2c_vector attn2c_larger(attn2c_vector a, attn2c_vector b) {
#if defined(__AVX512F__) && !defined(__clang__)
  return __builtin_ia32_maxps512_mask(a, b, a, (short)-1, 4);
#elif defined(__AVX__) && !defined(__clang__)
  return __builtin_ia32_maxps256(a, b);
#elif defined(__SSE__) && !defined(__clang__)
  return __builtin_ia32_maxps(a, b);
#else
  typedef int32_t mask __attribute__((vector_size(4 * ATTN2C_LANES)));
  const mask is_larger = a > b;
  return (attn2c_vector)(((mask)a & is_larger) | ((mask)b & ~is_larger));
#endif
}

/* Returns a vector whose lanes together hold the largest of x[0 .. count-1], without NaN; -FLT_MAX if nothing
 * is larger. count >= ATTN2C_LANES; a last vector that overlaps the one before takes the remainder. */
ATTN2C_INLINE attn2c_vector attn2c_largest_in_lanes(const float *x, int count) {
  attn2c_vector max = attn2c_splat(-FLT_MAX), other = max;
  int j = 0;
  for (; j + 2 * ATTN2C_LANES <= count; j += 2 * ATTN2C_LANES) {
    max = attn2c_larger(attn2c_load(x + j), max);
    other = attn2c_larger(attn2c_load(x + j + ATTN2C_LANES), other);
  }
  if (j + ATTN2C_LANES <= count) max = attn2c_larger(attn2c_load(x + j), max);
  if (count % ATTN2C_LANES) other = attn2c_larger(attn2c_load(x + count - ATTN2C_LANES), other);
  return attn2c_larger(max, other);
}

/* Returns the largest of x[0 .. count-1], without NaN; -FLT_MAX if nothing is larger. */
ATTN2C_INLINE float attn2c_largest(const float *x, int count) {
  float largest = -FLT_MAX;
  if (count < ATTN2C_LANES) {
    for (int j = 0; j < count; j++) largest = x[j] > largest ? x[j] : largest;
    return largest;
  }
  attn2c_vector max = attn2c_largest_in_lanes(x, count);
#if ATTN2C_LANES == 16
  max = attn2c_larger(max, ATTN2C_SHUFFLE(max, max, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  max = attn2c_larger(max, ATTN2C_SHUFFLE(max, max, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3));
#elif ATTN2C_LANES == 8
  max = attn2c_larger(max, ATTN2C_SHUFFLE(max, max, 4, 5, 6, 7, 0, 1, 2, 3));
#endif
  for (int j = 0; j < 4; j++) largest = max[j] > largest ? max[j] : largest;
  return largest;
}
