/* vector.h - one machine vector of floats as a GNU vector type, as wide as the target has
 * it, and the few operations that loops do not express well: horizontal sums and fused
 * multiply-adds on a register. gcc 12 and clang 14 make single instructions of all of them. */
#ifndef ATTN2C_VECTOR_H
#define ATTN2C_VECTOR_H

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

/* Before a loop around another one, and before a loop that takes the largest float into `max`: gcc vectorises
 * both where it is told to; clang 14 does not, and warns of it. */
#ifdef __clang__
#define ATTN2C_SIMD_OUTER
#define ATTN2C_SIMD_MAX
#else
#define ATTN2C_SIMD_OUTER _Pragma("omp simd")
#define ATTN2C_SIMD_MAX   _Pragma("omp simd reduction(max : max)")
#endif

/* Each vector type, and the same as it lies anywhere in an array of floats: a load or store through this type
 * is one instruction, where gcc 12 makes a detour through the stack of a memcpy of 32 bytes. */
#define ATTN2C_VECTOR(name, lanes)                                                                           \
  typedef float name __attribute__((vector_size(4 * (lanes))));                                              \
  typedef float name##_in_array __attribute__((vector_size(4 * (lanes)), aligned(4), may_alias));

ATTN2C_VECTOR(attn2c_vector4, 4)
#if ATTN2C_LANES >= 8
ATTN2C_VECTOR(attn2c_vector8, 8)
#endif
ATTN2C_VECTOR(attn2c_vector, ATTN2C_LANES)

ATTN2C_INLINE attn2c_vector attn2c_load(const float *x) { return *(const attn2c_vector_in_array *)x; }

ATTN2C_INLINE void attn2c_store(float *y, attn2c_vector v) { *(attn2c_vector_in_array *)y = v; }

ATTN2C_INLINE attn2c_vector attn2c_splat(float x) { return x - (attn2c_vector){0.0f}; }

/* a*b + c, each lane as ATTN2C_FMA. */
ATTN2C_INLINE attn2c_vector attn2c_vector_fma(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  attn2c_vector v;
  for (int i = 0; i < ATTN2C_LANES; i++) v[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return v;
#else
  return a * b + c;
#endif
}

/* A row is added up in sixteen partial sums side by side, whatever the width of a vector, so that all targets
 * with fused multiply-adds get the same bits. A narrower vector has a part of them: it goes over the row for
 * each part, in as many registers as a wide one would take. */
#define ATTN2C_SUMS  16
#define ATTN2C_PARTS (ATTN2C_SUMS / ATTN2C_LANES)

/* The sum of all lanes of all parts and of x[0 .. count-1], count < ATTN2C_SUMS, as a tree: upper halves are
 * added to lower ones, and parts of x where they fit. */
ATTN2C_INLINE float attn2c_sum_of_parts(const attn2c_vector part[ATTN2C_PARTS], const float *x, int count) {
#if ATTN2C_LANES >= 8
#if ATTN2C_LANES == 16
  attn2c_vector8 eight = __builtin_shufflevector(part[0], part[0], 0, 1, 2, 3, 4, 5, 6, 7) +
                         __builtin_shufflevector(part[0], part[0], 8, 9, 10, 11, 12, 13, 14, 15);
#else
  attn2c_vector8 eight = part[0] + part[1];
#endif
  if (count & 8) eight += *(const attn2c_vector8_in_array *)x;
  attn2c_vector4 four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
  attn2c_vector4 low = part[0] + part[2], high = part[1] + part[3];
  if (count & 8) low += attn2c_load(x), high += attn2c_load(x + 4);
  attn2c_vector4 four = low + high;
#endif
  if (count & 4) four += *(const attn2c_vector4_in_array *)(x + (count & 8));
  four += __builtin_shufflevector(four, four, 2, 3, 0, 1);
  float sum = four[0] + four[1];
  for (int j = count & ~3; j < count; j++) sum += x[j];
  return sum;
}

/* x[0] + ... + x[count-1]; of long rows in four times as many partial sums. */
ATTN2C_INLINE float attn2c_sum(const float *x, int count) {
  attn2c_vector part[ATTN2C_PARTS];
  const int whole = count - count % ATTN2C_SUMS;
  for (int p = 0; p < ATTN2C_PARTS; p++) {
    const float *from = x + p * ATTN2C_LANES;
    attn2c_vector s = {0.0f};
    int j = 0;
    if (count >= 8 * ATTN2C_SUMS) {
      attn2c_vector t = s, u = s, v = s;
      for (; j + 4 * ATTN2C_SUMS <= count; j += 4 * ATTN2C_SUMS) {
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
  return attn2c_sum_of_parts(part, x + whole, count - whole);
}

/* The largest of x[0 .. count-1], NaN passed over; -FLT_MAX where nothing is larger. count is best a multiple
 * of a vector: gcc's reduction of a remainder is slow. */
ATTN2C_INLINE float attn2c_largest_of_whole(const float *x, int count) {
  float max = -FLT_MAX;
  ATTN2C_SIMD_MAX
  for (int j = 0; j < count; j++) max = x[j] > max ? x[j] : max;
  return max;
}

/* The same for any count: a last vector that overlaps the others takes the remainder. */
ATTN2C_INLINE float attn2c_largest(const float *x, int count) {
  const int width = count >= ATTN2C_LANES ? ATTN2C_LANES : count >= 8 ? 8 : count >= 4 ? 4 : 1;
  const int rest = count % width;
  float largest = attn2c_largest_of_whole(x, count - rest);
  if (rest) {
    const float last = attn2c_largest_of_whole(x + count - width, width);
    largest = last > largest ? last : largest;
  }
  return largest;
}

#endif
