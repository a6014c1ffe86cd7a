/* fold.h - sums and maxima of several rows at once: eight short rows are reduced together, with unchanged
 * bits. Each row gets the bits that it has by itself. */
#pragma once

#include "ops/vector.h"

/* Number of rows that are folded together. Reducing one row takes an instruction or two for each halving, and
 * waits for each. With eight rows, shuffles join halves of two rows, which one instruction reduces. */
#define ATTN2C_ROWS 8

/* Returns a + b in each lane, or the larger if is_largest. */
ATTN2C_INLINE attn2c_vector attn2c_both(int is_largest, attn2c_vector a, attn2c_vector b) {
  return is_largest ? attn2c_larger(a, b) : a + b;
}

/* Writes to folded[i] the sum of all lanes of all parts of row i, or the largest if is_largest. It adds in
 * the order of attn2c_sum_of_parts, upper halves to lower ones. */
ATTN2C_INLINE void attn2c_fold(int is_largest, float folded[ATTN2C_ROWS],
                               attn2c_vector part[ATTN2C_ROWS][ATTN2C_PARTS]) {
#if ATTN2C_LANES == 16
  attn2c_vector eight[4], four[2];
  for (int i = 0; i < 4; i++) {
    const attn2c_vector x = part[2 * i][0], y = part[2 * i + 1][0];
    eight[i] =
        attn2c_both(is_largest, ATTN2C_SHUFFLE(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                    ATTN2C_SHUFFLE(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));
  }
  for (int i = 0; i < 2; i++) {
    const attn2c_vector x = eight[2 * i], y = eight[2 * i + 1];
    four[i] = attn2c_both(is_largest,
                          ATTN2C_SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),
                          ATTN2C_SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31));
  }
  const attn2c_vector x = four[0], y = four[1];
  const attn2c_vector two =
      attn2c_both(is_largest, ATTN2C_SHUFFLE(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                  ATTN2C_SHUFFLE(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31));
  const attn2c_vector one = attn2c_both(
      is_largest, two, ATTN2C_SHUFFLE(two, two, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  *(attn2c_vector8_in_array *)folded = ATTN2C_SHUFFLE(one, one, 0, 4, 8, 12, 2, 6, 10, 14);
#elif ATTN2C_LANES == 8
  attn2c_vector four[4], two[2];
  for (int i = 0; i < 4; i++) {
    const attn2c_vector x = attn2c_both(is_largest, part[2 * i][0], part[2 * i][1]);
    const attn2c_vector y = attn2c_both(is_largest, part[2 * i + 1][0], part[2 * i + 1][1]);
    four[i] = attn2c_both(is_largest, ATTN2C_SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11),
                          ATTN2C_SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15));
  }
  for (int i = 0; i < 2; i++) {
    const attn2c_vector x = four[2 * i], y = four[2 * i + 1];
    two[i] = attn2c_both(is_largest, ATTN2C_SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13),
                         ATTN2C_SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15));
  }
  const attn2c_vector one = attn2c_both(is_largest, ATTN2C_SHUFFLE(two[0], two[1], 0, 2, 8, 10, 4, 6, 12, 14),
                                        ATTN2C_SHUFFLE(two[0], two[1], 1, 3, 9, 11, 5, 7, 13, 15));
  attn2c_store(folded, ATTN2C_SHUFFLE(one, one, 0, 4, 1, 5, 2, 6, 3, 7));
#else
  for (int i = 0; i < ATTN2C_ROWS; i += 4) {
    attn2c_vector four[4], two[2];
    for (int j = 0; j < 4; j++)
      four[j] = attn2c_both(is_largest, attn2c_both(is_largest, part[i + j][0], part[i + j][2]),
                            attn2c_both(is_largest, part[i + j][1], part[i + j][3]));
    for (int j = 0; j < 2; j++) {
      const attn2c_vector x = four[2 * j], y = four[2 * j + 1];
      two[j] = attn2c_both(is_largest, ATTN2C_SHUFFLE(x, y, 0, 1, 4, 5), ATTN2C_SHUFFLE(x, y, 2, 3, 6, 7));
    }
    attn2c_store(folded + i, attn2c_both(is_largest, ATTN2C_SHUFFLE(two[0], two[1], 0, 2, 4, 6),
                                         ATTN2C_SHUFFLE(two[0], two[1], 1, 3, 5, 7)));
  }
#endif
}

/* True if folding rows together is faster: long rows hide the latency of their own reductions. */
ATTN2C_INLINE int attn2c_folds(int rows, int cols) {
  return rows == ATTN2C_ROWS && cols % ATTN2C_SUMS == 0 && cols <= 8 * ATTN2C_SUMS;
}

/* sums[i] = attn2c_sum of row i of x[rows][cols], rows ld floats apart, rows <= ATTN2C_ROWS. */
ATTN2C_INLINE void attn2c_sum_rows(float *sums, const float *x, int rows, int cols, ptrdiff_t ld) {
  if (attn2c_folds(rows, cols)) {
    attn2c_vector part[ATTN2C_ROWS][ATTN2C_PARTS];
    for (int i = 0; i < ATTN2C_ROWS; i++) attn2c_partial_sums(part[i], x + i * ld, cols);
    attn2c_fold(0, sums, part);
    return;
  }
  for (int i = 0; i < rows; i++) sums[i] = attn2c_sum(x + i * ld, cols);
}

/* largest[i] = attn2c_largest of row i, in the same way. */
ATTN2C_INLINE void attn2c_largest_rows(float *largest, const float *x, int rows, int cols, ptrdiff_t ld) {
  if (attn2c_folds(rows, cols)) {
    attn2c_vector part[ATTN2C_ROWS][ATTN2C_PARTS];
    for (int i = 0; i < ATTN2C_ROWS; i++) {
      const attn2c_vector max = attn2c_largest_in_lanes(x + i * ld, cols);
      for (int p = 0; p < ATTN2C_PARTS; p++) part[i][p] = max;
    }
    attn2c_fold(1, largest, part);
    return;
  }
  for (int i = 0; i < rows; i++) largest[i] = attn2c_largest(x + i * ld, cols);
}
