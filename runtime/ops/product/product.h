/* product.h - provides what the strips of emitted products (N_kernels.c) use: vectors, multiply-adds,
 * prefetching. Vectors are whole or cut. A file for each kind of vectors defines:
 *
 * - ATTN2C_HOLD(v) keeps a vector in a register of its own. Without it gcc 12 reads the weights again for
 * each row, as an operand of the multiply-add, and strips of few rows are a fifth slower.
 *
 * - ATTN2C_HOLD_BOTH(v, pointer), if the target has it: the same, and what is prefetched at `pointer` later
 * stays after v. Without it gcc 12 puts the prefetches of several steps together, and the strip waits.
 *
 * - ATTN2C_FMADD(a, b, c) is a*b + c in each lane, with one rounding if the target has the instruction, else
 * two. If the target has them, ATTN2C_HALF_FMADD(a, b, c) is the same for half vectors, and
 * ATTN2C_FROM_HALF(v) makes a vector of a half.
 *
 * - ATTN2C_ADD_PRODUCT(c, a, b), for gcc: c = a*b + c in the register of c. With the builtin, gcc 12 puts
 * sums of several copies of a step into other registers, and some into memory. ATTN2C_ADD_PRODUCT_AT(c, a, x)
 * is the same with the float at x in all lanes, read by the instruction itself.
 *
 * - ATTN2C_FIRST(count), ATTN2C_MASK_LOAD(x, mask) and ATTN2C_MASK_STORE(y, v, mask), if the target has them:
 * a mask of the first lanes, and reading and writing only these lanes. */
#pragma once

#if defined(__AVX512F__)
#include "ops/product/avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "ops/product/avx2.h"
#elif defined(__aarch64__)
#include "ops/product/neon.h"
#else
#include "ops/product/plain.h"
#endif

#line __LINE__ "attn2c/runtime/ops/product/product.h" /* see base/processor_x86_64.h */

#define ATTN2C_STRIP ATTN2C_INLINE void

/* Row operations that a loop runs after each strip, as a function apart: constants that the compiler moved
 * out of the loop would take registers of the strip's sums. */
#define ATTN2C_APART static __attribute__((noinline)) void

/* How the strips of a product of any number of rows prefetch: elements after A where the first begins,
 * elements from strip to strip; the elements from request to request, or with scale blocks the bytes; the
 * cache lines of a request; the elements from these to further ones, or 0; nth: every nth line. */
typedef struct {
  int from, each, pace, lines, far, nth;
} attn2c_ahead;

/* The same for strips of which each step prefetches some: bytes after A where the first strip begins,
 * from strip to strip, and from step to step; from these to further ones, or 0, or -1 if these come into the
 * first-level cache; and nth. */
typedef struct {
  int from, each, step, far, nth;
} attn2c_stream;

/* Before a loop of four steps: as four copies, as two of steps in two parts, or as a loop, where copies would
 * take a register more. */
#ifdef __clang__
#define ATTN2C_FOUR_COPIES _Pragma("clang loop unroll_count(4)")
#define ATTN2C_TWO_COPIES  _Pragma("clang loop unroll_count(2)")
#define ATTN2C_NO_COPIES   _Pragma("clang loop unroll(disable)")
#define ATTN2C_ALL_COPIES  _Pragma("clang loop unroll(full)")
#else
#define ATTN2C_FOUR_COPIES _Pragma("GCC unroll 4")
#define ATTN2C_TWO_COPIES  _Pragma("GCC unroll 2")
#define ATTN2C_NO_COPIES   _Pragma("GCC unroll 1")
#define ATTN2C_ALL_COPIES  _Pragma("GCC unroll 32")
#endif

ATTN2C_INLINE attn2c_vector attn2c_zero(void) { return (attn2c_vector){0.0f}; }

ATTN2C_INLINE attn2c_vector attn2c_multiply_add(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
#ifdef ATTN2C_ADD_PRODUCT
  ATTN2C_ADD_PRODUCT(c, a, b);
  return c;
#else
  return (attn2c_vector)ATTN2C_FMADD(a, b, c);
#endif
}

/* Returns a * *x + c. Strips of one vector use each input once. A Zen 4 takes 0.75 of the time if
 * vbroadcastss does not put it into a register first. */
ATTN2C_INLINE attn2c_vector attn2c_multiply_add_at(attn2c_vector a, const float *x, attn2c_vector c) {
#ifdef ATTN2C_ADD_PRODUCT_AT
  ATTN2C_ADD_PRODUCT_AT(c, a, x);
  return c;
#else
  return attn2c_multiply_add(a, attn2c_splat(*x), c);
#endif
}

#ifdef ATTN2C_HALF_FMADD
ATTN2C_INLINE attn2c_vector8 attn2c_lower_half(attn2c_vector v) {
  return ATTN2C_SHUFFLE(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Returns a*b + c of the lower halves; the upper half of the result is undefined. */
ATTN2C_INLINE attn2c_vector attn2c_multiply_add_half(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
  return (attn2c_vector)ATTN2C_FROM_HALF(
      ATTN2C_HALF_FMADD(attn2c_lower_half(a), attn2c_lower_half(b), attn2c_lower_half(c)));
}
#endif

/* Load the first `count` floats of x, followed by zeros; store the first `count` floats of v. 0 < count <=
 * ATTN2C_LANES, known when compiled. No float after them is read or written. */
#ifdef ATTN2C_MASK_LOAD
ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  if (count == ATTN2C_LANES) return attn2c_load(x);
  return (attn2c_vector)ATTN2C_MASK_LOAD(x, ATTN2C_FIRST(count));
}

ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  if (count == ATTN2C_LANES)
    attn2c_store(y, v);
  else
    ATTN2C_MASK_STORE(y, v, ATTN2C_FIRST(count));
}
#else
ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  attn2c_vector v = {0.0f};
  memcpy(&v, x, (size_t)count * sizeof *x);
  return v;
}

ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  memcpy(y, &v, (size_t)count * sizeof *y);
}
#endif

#ifndef ATTN2C_HOLD_BOTH
#define ATTN2C_HOLD_BOTH(v, pointer) ATTN2C_HOLD(v)
#endif

/* Prefetches `lines` cache lines into the first-level cache, and returns the address after them. x may be any
 * address. */
ATTN2C_INLINE const void *attn2c_ask_near(const void *x, int lines) {
  for (int i = 0; i < lines; i++) __builtin_prefetch((const char *)x + 64 * i, 0, 3);
  return (const char *)x + 64 * lines;
}

/* Prefetches every nth of `lines` cache lines from x on into the second-level cache, and, if far is more than
 * 0, from x + far on. If far is less than 0, all lines come into the first-level cache instead. */
ATTN2C_INLINE void attn2c_ask(const void *x, int lines, int nth, ptrdiff_t far) {
  if (far < 0) (void)attn2c_ask_near(x, lines);
  for (int i = 0; far >= 0 && i < lines; i += nth) __builtin_prefetch((const char *)x + 64 * i, 0, 2);
  for (int i = 0; far > 0 && i < lines; i += nth) __builtin_prefetch((const char *)x + far + 64 * i, 0, 2);
}
