/* pairs.h - packs keys and values into groups of two bf16 numbers, which products of bf16 read. Groups are
 * two elements of a key, or the same element of two values. An element without a partner is paired with 0. */
#pragma once

#include "ops/round.h"
#include "ops/transpose.h"

enum { ATTN2C_PAIRS_BLOCK = 16 };

/* Returns a group: two floats as bf16. */
ATTN2C_INLINE uint32_t attn2c_pair(float even, float odd) {
  return (uint32_t)attn2c_to_bf16(even) | (uint32_t)attn2c_to_bf16(odd) << 16;
}

/* Packs a block of pairs of columns: y[c][r] of x[rows][cols], at most ATTN2C_PAIRS_BLOCK rows and 2 times
 * that number of columns. */
ATTN2C_INLINE void attn2c_pair_block(uint16_t *y, const void *x, int is_bf16, int rows, int cols,
                                     ptrdiff_t ldx, ptrdiff_t ldy) {
  enum { BLOCK = ATTN2C_PAIRS_BLOCK };
  const int groups = (cols + 1) / 2;
  /* Groups are bits, not floats. The zeros are never read, but gcc does not see that rows > 0. */
  float block[BLOCK * BLOCK] = {0}, turned[BLOCK * BLOCK];
  for (int i = 0; i < rows; i++) {
    uint16_t line[2 * BLOCK];
    line[2 * groups - 1] = 0;
    if (is_bf16)
      memcpy(line, (const uint16_t *)x + i * ldx, 2 * (size_t)cols);
    else
      attn2c_round_row(line, (const float *)x + i * ldx, cols);
    memcpy(block + i * BLOCK, line, 4 * (size_t)groups);
  }
  attn2c_transpose(turned, block, rows, groups, BLOCK, BLOCK);
  for (int j = 0; j < groups; j++) memcpy(y + 2 * j * ldy, turned + j * BLOCK, 4 * (size_t)rows);
}

/* Packs the pairs of one row, a new token's: nothing is turned. */
ATTN2C_INLINE void attn2c_pair_row(uint16_t *y, const void *x, int is_bf16, int cols, ptrdiff_t ldy) {
  for (int c = 0; c < cols; c += 2) {
    uint16_t group[2] = {0};
    if (is_bf16)
      memcpy(group, (const uint16_t *)x + c, c + 1 < cols ? sizeof group : sizeof *group);
    else
      attn2c_round_row(group, (const float *)x + c, c + 1 < cols ? 2 : 1);
    memcpy(y + c * ldy, group, sizeof group);
  }
}

/* Packs pairs of columns, from floats or, if is_bf16, from bf16, in blocks. For blocks of heads' usual
 * widths, whole and half ones, the compiler knows the sizes, which makes them six times as fast. */
ATTN2C_INLINE void attn2c_pair_columns(uint16_t *y, const void *x, int is_bf16, int rows, int cols, int ldx,
                                       int ldy) {
  enum { BLOCK = ATTN2C_PAIRS_BLOCK };
  if (rows == 1) {
    attn2c_pair_row(y, x, is_bf16, cols, ldy);
    return;
  }
  for (int r = 0; r < rows; r += BLOCK)
    for (int c = 0; c < cols; c += 2 * BLOCK) {
      const int height = rows - r < BLOCK ? rows - r : BLOCK,
                width = cols - c < 2 * BLOCK ? cols - c : 2 * BLOCK;
      const ptrdiff_t at = (ptrdiff_t)r * ldx + c;
      const void *from = is_bf16 ? (const void *)((const uint16_t *)x + at) : (const float *)x + at;
      uint16_t *to = y + (ptrdiff_t)c * ldy + 2 * r;
      if (height == BLOCK && width == 2 * BLOCK)
        attn2c_pair_block(to, from, is_bf16, BLOCK, 2 * BLOCK, ldx, ldy);
      else if (height == BLOCK && width == BLOCK)
        attn2c_pair_block(to, from, is_bf16, BLOCK, BLOCK, ldx, ldy);
      else
        attn2c_pair_block(to, from, is_bf16, height, width, ldx, ldy);
    }
}

/* y[ceil(cols/2)][rows][2] of x[rows][cols]: y[c][r] is elements 2c and 2c + 1 of row r. Rows of y are ldy
 * groups apart, rows of x ldx floats. For scores, where A is the keys. */
ATTN2C_INLINE void attn2c_pairs_of_columns(uint16_t *y, const float *x, int rows, int cols, int ldx,
                                           int ldy) {
  attn2c_pair_columns(y, x, 0, rows, cols, ldx, ldy);
}

/* The same for rows of bf16. The number of elements is even, or the last ones are read one by one. */
ATTN2C_INLINE void attn2c_pairs_of_bf16_columns(uint16_t *y, const uint16_t *x, int rows, int cols, int ldx,
                                                int ldy) {
  attn2c_pair_columns(y, x, 1, rows, cols, ldx, ldy);
}

/* Packs a block of pairs of columns from fewer rows than ATTN2C_PAIRS_BLOCK; the groups of the others are 0.
 */
ATTN2C_INLINE void attn2c_pair_some(uint16_t *y, const uint16_t *x, int rows, int cols, ptrdiff_t ldx,
                                    ptrdiff_t ldy) {
  enum { BLOCK = ATTN2C_PAIRS_BLOCK };
  const int groups = (cols + 1) / 2;
  float block[BLOCK * BLOCK] = {0}, turned[BLOCK * BLOCK];
  for (int i = 0; i < rows; i++) memcpy(block + i * BLOCK, x + i * ldx, 2 * (size_t)cols);
  attn2c_transpose(turned, block, BLOCK, groups, BLOCK, BLOCK);
  for (int j = 0; j < groups; j++) memcpy(y + 2 * j * ldy, turned + j * BLOCK, 4 * BLOCK);
}

/* As attn2c_pairs_of_bf16_columns; y has groups of 0 after the last row's, up to a multiple of `lanes`. */
ATTN2C_INLINE void attn2c_pairs_of_bf16_keys(uint16_t *y, const uint16_t *x, int rows, int cols, int ldx,
                                             int ldy, int lanes) {
  enum { BLOCK = ATTN2C_PAIRS_BLOCK };
  const int whole = lanes == BLOCK ? rows / BLOCK * BLOCK : rows;
  attn2c_pair_columns(y, x, 1, whole, cols, ldx, ldy);
  if (rows % lanes == 0) return;
  for (int c = 0; c < cols && whole < rows; c += 2 * BLOCK) { /* lanes is a whole block */
    uint16_t *to = y + (ptrdiff_t)c * ldy + 2 * whole;
    const uint16_t *from = x + (ptrdiff_t)whole * ldx + c;
    if (cols - c >= 2 * BLOCK)
      attn2c_pair_some(to, from, rows - whole, 2 * BLOCK, ldx, ldy);
    else
      attn2c_pair_some(to, from, rows - whole, cols - c, ldx, ldy);
  }
  for (int c = 0; c < (cols + 1) / 2 && whole == rows; c++)
    memset(y + 2 * ((ptrdiff_t)c * ldy + rows), 0, 4 * (size_t)(lanes - rows % lanes));
}

/* Groups may be at any element of y. */
typedef uint32_t attn2c_group __attribute__((aligned(2), may_alias));

/* y[ceil(rows/2)][cols][2] of x[rows][cols]: y[r][c] is element c of rows 2r and 2r + 1. Rows of y are ldy
 * groups apart, rows of x ldx floats. For a context, where A is the values. */
ATTN2C_INLINE void attn2c_pairs_of_rows(uint16_t *y, const float *x, int rows, int cols, int ldx, int ldy) {
  for (int r = 0; r < rows; r += 2) {
    const float *even = x + (ptrdiff_t)r * ldx, *odd = even + ldx;
    attn2c_group *out = (attn2c_group *)(y + (ptrdiff_t)r * ldy);
    int c = 0;
#ifdef __AVX512BF16__
    typedef uint32_t words __attribute__((vector_size(4 * ATTN2C_LANES)));
    typedef uint32_t words_in_array __attribute__((vector_size(4 * ATTN2C_LANES), aligned(2), may_alias));
    typedef uint16_t halves __attribute__((vector_size(2 * ATTN2C_LANES)));
    for (; c + ATTN2C_LANES <= cols; c += ATTN2C_LANES) {
      const attn2c_vector beside = r + 1 < rows ? attn2c_load(odd + c) : attn2c_splat(0.0f);
      const words low = __builtin_convertvector((halves)attn2c_round_one(attn2c_load(even + c)), words);
      const words high = __builtin_convertvector((halves)attn2c_round_one(beside), words);
      *(words_in_array *)(out + c) = low | high << 16;
    }
#endif
    if (r + 1 < rows)
#pragma omp simd
      for (int i = c; i < cols; i++) out[i] = attn2c_pair(even[i], odd[i]);
    else
#pragma omp simd
      for (int i = c; i < cols; i++) out[i] = attn2c_to_bf16(even[i]);
  }
}

/* Does the same for rows that are bf16 already. */
ATTN2C_INLINE void attn2c_pairs_of_bf16_rows(uint16_t *y, const uint16_t *x, int rows, int cols, int ldx,
                                             int ldy) {
  for (int r = 0; r < rows; r += 2) {
    const uint16_t *even = x + (ptrdiff_t)r * ldx, *odd = even + ldx;
    attn2c_group *out = (attn2c_group *)(y + (ptrdiff_t)r * ldy);
    if (r + 1 < rows)
#pragma omp simd
      for (int c = 0; c < cols; c++) out[c] = even[c] | (uint32_t)odd[c] << 16;
    else
#pragma omp simd
      for (int c = 0; c < cols; c++) out[c] = even[c];
  }
}

/* Adds rows to pairs of rows: y[(first + r) / 2][c][(first + r) % 2] = x[r][c]. The other rows of y stay. */
ATTN2C_INLINE void attn2c_add_pairs_of_bf16_rows(uint16_t *y, const uint16_t *x, int first, int rows,
                                                 int cols, int ldx, int ldy) {
  const int beside = first % 2; /* the first row's partner is there */
  if (beside) {
    uint16_t *out = y + (ptrdiff_t)(first - 1) * ldy + 1;
    for (int c = 0; c < cols; c++) out[2 * c] = x[c];
  }
  if (rows > beside)
    attn2c_pairs_of_bf16_rows(y + (ptrdiff_t)(first + beside) * ldy, x + (ptrdiff_t)beside * ldx,
                              rows - beside, cols, ldx, ldy);
}
