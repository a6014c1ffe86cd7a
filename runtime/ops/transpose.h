/* transpose.h - transposes a matrix in blocks that fit into registers: 16 x 16, 8 x 8 and 4 x 4. Blocks use
 * the target's vectors; the edges are single elements. Plain loops are several times slower. */
#pragma once

#include "ops/vector.h"

/* Stores a vector of a type; with `adds`, its sum with what is there. */
#define ATTN2C_PUT(type, place, value, adds)                                                                 \
  do {                                                                                                       \
    type *place_ = (type *)(place);                                                                          \
    if (adds)                                                                                                \
      *place_ += (value);                                                                                    \
    else                                                                                                     \
      *place_ = (value);                                                                                     \
  } while (0)

/* Each block is y[c][r] = x[r][c], or y[c][r] += x[r][c], rows ldx and ldy floats apart. Rows are interleaved
 * by elements, then by pairs, which transposes within groups of four rows; then groups are exchanged. */
ATTN2C_INLINE void attn2c_transpose_block4(float *y, const float *x, ptrdiff_t ldx, ptrdiff_t ldy, int adds) {
  attn2c_vector4 a[4], t[4], u[4];
  for (int i = 0; i < 4; i++) a[i] = *(const attn2c_vector4_in_array *)(x + i * ldx);
  for (int i = 0; i < 4; i += 2) {
    t[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 4, 1, 5);
    t[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 6, 3, 7);
  }
  u[0] = __builtin_shufflevector(t[0], t[2], 0, 1, 4, 5);
  u[1] = __builtin_shufflevector(t[0], t[2], 2, 3, 6, 7);
  u[2] = __builtin_shufflevector(t[1], t[3], 0, 1, 4, 5);
  u[3] = __builtin_shufflevector(t[1], t[3], 2, 3, 6, 7);
  for (int i = 0; i < 4; i++) ATTN2C_PUT(attn2c_vector4_in_array, y + i * ldy, u[i], adds);
}

#if ATTN2C_LANES >= 8
ATTN2C_INLINE void attn2c_transpose_block8(float *y, const float *x, ptrdiff_t ldx, ptrdiff_t ldy, int adds) {
  attn2c_vector8 a[8], t[8], u[8];
  for (int i = 0; i < 8; i++) a[i] = *(const attn2c_vector8_in_array *)(x + i * ldx);
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int h = 0; h < 2; h++) {
      u[i + 2 * h] = __builtin_shufflevector(t[i + h], t[i + h + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      u[i + 2 * h + 1] = __builtin_shufflevector(t[i + h], t[i + h + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; i++) {
    a[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    a[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; i++) ATTN2C_PUT(attn2c_vector8_in_array, y + i * ldy, a[i], adds);
}
#endif

#if ATTN2C_LANES == 16
ATTN2C_INLINE void attn2c_transpose_block16(float *y, const float *x, ptrdiff_t ldx, ptrdiff_t ldy,
                                            int adds) {
  attn2c_vector a[16], t[16], u[16];
  for (int i = 0; i < 16; i++) a[i] = attn2c_load(x + i * ldx);
  for (int i = 0; i < 16; i += 2) {
    t[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    t[i + 1] =
        __builtin_shufflevector(a[i], a[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  }
  for (int i = 0; i < 16; i += 4)
    for (int h = 0; h < 2; h++) {
      u[i + 2 * h] = __builtin_shufflevector(t[i + h], t[i + h + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25,
                                             12, 13, 28, 29);
      u[i + 2 * h + 1] = __builtin_shufflevector(t[i + h], t[i + h + 2], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11,
                                                 26, 27, 14, 15, 30, 31);
    }
  /* u[4g + c] has column 4q + c of rows 4g .. 4g + 3 in its quarter q: a 4 x 4 transpose over g and q */
  for (int c = 0; c < 4; c++) {
    for (int h = 0; h < 2; h++) {
      t[2 * h] = __builtin_shufflevector(u[c + 8 * h], u[c + 8 * h + 4], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18,
                                         19, 24, 25, 26, 27);
      t[2 * h + 1] = __builtin_shufflevector(u[c + 8 * h], u[c + 8 * h + 4], 4, 5, 6, 7, 12, 13, 14, 15, 20,
                                             21, 22, 23, 28, 29, 30, 31);
    }
    for (int q = 0; q < 2; q++) {
      const attn2c_vector low =
          __builtin_shufflevector(t[q], t[q + 2], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
      const attn2c_vector high =
          __builtin_shufflevector(t[q], t[q + 2], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
      ATTN2C_PUT(attn2c_vector_in_array, y + (4 * q + c) * ldy, low, adds);
      ATTN2C_PUT(attn2c_vector_in_array, y + (4 * q + c + 8) * ldy, high, adds);
    }
  }
}
#endif

ATTN2C_INLINE void attn2c_transpose_1(float *y, const float *x, int rows, int cols, ptrdiff_t ldx,
                                      ptrdiff_t ldy, int adds) {
  for (int c = 0; c < cols; c++)
    for (int r = 0; r < rows; r++) ATTN2C_PUT(float, y + c * ldy + r, x[r * ldx + c], adds);
}

/* Transposes whole blocks of one size, then the rest right of and below them in the next size. */
#define ATTN2C_TRANSPOSE_IN_BLOCKS(size, smaller)                                                            \
  ATTN2C_INLINE void attn2c_transpose_##size(float *y, const float *x, int rows, int cols, ptrdiff_t ldx,    \
                                             ptrdiff_t ldy, int adds) {                                      \
    const int r_end = rows - rows % size, c_end = cols - cols % size;                                        \
    for (int r = 0; r < r_end; r += size)                                                                    \
      for (int c = 0; c < c_end; c += size)                                                                  \
        attn2c_transpose_block##size(y + c * ldy + r, x + r * ldx + c, ldx, ldy, adds);                      \
    if (c_end < cols)                                                                                        \
      attn2c_transpose_##smaller(y + c_end * ldy, x + c_end, r_end, cols - c_end, ldx, ldy, adds);           \
    if (r_end < rows)                                                                                        \
      attn2c_transpose_##smaller(y + r_end, x + r_end * ldx, rows - r_end, cols, ldx, ldy, adds);            \
  }

ATTN2C_TRANSPOSE_IN_BLOCKS(4, 1)
#if ATTN2C_LANES >= 8
ATTN2C_TRANSPOSE_IN_BLOCKS(8, 4)
#endif
#if ATTN2C_LANES == 16
ATTN2C_TRANSPOSE_IN_BLOCKS(16, 8)
#endif

ATTN2C_INLINE void attn2c_transpose_to(float *y, const float *x, int rows, int cols, int ldx, int ldy,
                                       int adds) {
#if ATTN2C_LANES == 16
  attn2c_transpose_16(y, x, rows, cols, ldx, ldy, adds);
#elif ATTN2C_LANES == 8
  attn2c_transpose_8(y, x, rows, cols, ldx, ldy, adds);
#else
  attn2c_transpose_4(y, x, rows, cols, ldx, ldy, adds);
#endif
}

/* y[cols][rows] of x[rows][cols]: y[c][r] = x[r][c], rows ldx and ldy floats apart; they do not overlap. */
ATTN2C_INLINE void attn2c_transpose(float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  attn2c_transpose_to(y, x, rows, cols, ldx, ldy, 0);
}

/* y[c][r] += x[r][c] */
ATTN2C_INLINE void attn2c_add_transposed(float *y, const float *x, int rows, int cols, int ldx, int ldy) {
  attn2c_transpose_to(y, x, rows, cols, ldx, ldy, 1);
}

/* Does the same; y has columns of 0 after the last row's, up to a multiple of `lanes`. */
ATTN2C_INLINE void attn2c_transpose_keys(float *y, const float *x, int rows, int cols, int ldx, int ldy,
                                         int lanes) {
  attn2c_transpose(y, x, rows, cols, ldx, ldy);
  for (int c = 0; c < cols; c++)
    for (int r = rows; r % lanes != 0; r++) y[(ptrdiff_t)c * ldy + r] = 0.0f;
}
