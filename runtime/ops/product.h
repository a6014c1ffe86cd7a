/* product.h - the body of a portable matrix kernel, with the signature of
 * attn2c_kernel (descriptor.h): where libxsmm cannot make code at run time, or a sanitizer is to see the
 * accesses, an emitted function calls it with constant sizes. */
#ifndef ATTN2C_PRODUCT_H
#define ATTN2C_PRODUCT_H

#include "ops/vector.h"

/* A few rows of C += B . A: a vector of columns of a row of A is used for each row of B, and one sum a row
 * stays in a register. k ascends, each step one ATTN2C_FMA, so that no result depends on
 * the blocking. */
#define ATTN2C_PRODUCT_STEP(row) s##row = ATTN2C_FMA(b[(row)*ldb + i], v, s##row);
#define ATTN2C_PRODUCT_LOAD(row) float s##row = c[(row)*ldc + j];
#define ATTN2C_PRODUCT_KEEP(row) c[(row)*ldc + j] = s##row;
#define ATTN2C_PRODUCT_1(each)   each(0)
#define ATTN2C_PRODUCT_2(each)   each(0) each(1)
#define ATTN2C_PRODUCT_4(each)   each(0) each(1) each(2) each(3)
#define ATTN2C_PRODUCT_8(each)   ATTN2C_PRODUCT_4(each) each(4) each(5) each(6) each(7)

#define ATTN2C_PRODUCT_OF_ROWS(rows)                                                                         \
  ATTN2C_INLINE void attn2c_product_##rows(const float *a, const float *b, float *c, int m, int k,           \
                                           ptrdiff_t lda, ptrdiff_t ldb, ptrdiff_t ldc) {                    \
    ATTN2C_SIMD_OUTER for (int j = 0; j < m; j++) {                                                          \
      ATTN2C_PRODUCT_##rows(ATTN2C_PRODUCT_LOAD) for (int i = 0; i < k; i++) {                               \
        const float v = a[i * lda + j];                                                                      \
        ATTN2C_PRODUCT_##rows(ATTN2C_PRODUCT_STEP)                                                           \
      }                                                                                                      \
      ATTN2C_PRODUCT_##rows(ATTN2C_PRODUCT_KEEP)                                                             \
    }                                                                                                        \
  }

ATTN2C_PRODUCT_OF_ROWS(1)
ATTN2C_PRODUCT_OF_ROWS(2)
ATTN2C_PRODUCT_OF_ROWS(4)
ATTN2C_PRODUCT_OF_ROWS(8)

/* One block, m columns of all n rows. */
ATTN2C_INLINE void attn2c_product_columns(const float *a, const float *b, float *c, int m, int n, int k,
                                          ptrdiff_t lda, ptrdiff_t ldb, ptrdiff_t ldc) {
  int r = 0;
  for (; r + 8 <= n; r += 8) attn2c_product_8(a, b + r * ldb, c + r * ldc, m, k, lda, ldb, ldc);
  if (n % 8 >= 4) {
    attn2c_product_4(a, b + r * ldb, c + r * ldc, m, k, lda, ldb, ldc);
    r += 4;
  }
  if (n % 4 >= 2) {
    attn2c_product_2(a, b + r * ldb, c + r * ldc, m, k, lda, ldb, ldc);
    r += 2;
  }
  if (n % 2) attn2c_product_1(a, b + r * ldb, c + r * ldc, m, k, lda, ldb, ldc);
}

/* C[n][m] = sum over i < count of B_i[n][k] . A_i[k][m], plus C where beta is 1 (0 else); B_i lies
 * b_offsets[i] bytes behind b, A_i a_offsets[i] bytes behind a; rows are lda, ldb, ldc floats apart. With
 * beta 0 and no blocks C becomes 0. C overlaps neither A nor B; nothing outside of the boxes is read or
 * written. */
ATTN2C_INLINE void attn2c_product(const float *a, const float *b, float *c, unsigned long long count,
                                  const unsigned long long *a_offsets, const unsigned long long *b_offsets,
                                  int m, int n, int k, int lda, int ldb, int ldc, int beta) {
  const int whole = m - m % ATTN2C_LANES, rest = m - whole;
  if (beta == 0)
    for (int r = 0; r < n; r++) memset(c + (ptrdiff_t)r * ldc, 0, (size_t)m * sizeof *c);
  for (unsigned long long i = 0; i < count; i++) {
    const float *block_a = (const float *)((const char *)a + a_offsets[i]);
    const float *block_b = (const float *)((const char *)b + b_offsets[i]);
    if (whole) attn2c_product_columns(block_a, block_b, c, whole, n, k, lda, ldb, ldc);
    if (rest) attn2c_product_columns(block_a + whole, block_b, c + whole, rest, n, k, lda, ldb, ldc);
  }
}

#endif
