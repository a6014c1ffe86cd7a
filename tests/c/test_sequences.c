/* test_sequences.c - blocks of the rows of a call of any length, and the pieces of blocks that are
 * of one sequence. */
#include "ops/sequences.h"

#include <criterion/criterion.h>

Test(sequences, blocks_are_even_and_as_few_as_can_be) {
  cr_assert_eq(attn2c_even(130, 128, 16), 80);
  cr_assert_eq(attn2c_even(128, 128, 16), 128);
  cr_assert_eq(attn2c_even(258, 128, 16), 96);
  cr_assert_eq(attn2c_even(9, 5, 16), 5);
  cr_assert_eq(attn2c_even(0, 5, 16), 5);
  static const ptrdiff_t mosts[] = {1, 5, 16, 48, 128, 208};
  for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++)
    for (ptrdiff_t rows = 1; rows <= 700; rows++) {
      const ptrdiff_t most = mosts[i], step = attn2c_even(rows, most, 16);
      cr_assert(step > 0 && step <= most);
      cr_assert(step % 16 == 0 || step == most);
      cr_assert_eq((rows + step - 1) / step, (rows + most - 1) / most, "%td rows by %td", rows, most);
    }
}

/* All rows of all blocks, in order, are the sequences' rows. */
Test(sequences, pieces_of_blocks_are_of_one_sequence) {
  int32_t first[] = {0, 1, 71, 73, 108, 177, 190, 254};
  const attn2c_sequences n = {.rows = 254, .count = 7, .first = first};
  for (ptrdiff_t most = 1; most <= 256; most++) {
    ptrdiff_t sequence = 0, next = 0;
    for (ptrdiff_t row = 0, step = attn2c_even(n.rows, most, 16); row < n.rows; row += step) {
      const ptrdiff_t rows = ATTN2C_LEAST(n.rows - row, step);
      for (attn2c_stretch at = attn2c_first_stretch(&n, row, rows); at.rows > 0;
           attn2c_next_stretch(&n, row, rows, &at)) {
        cr_assert_eq(row + at.skip, next);
        while (next >= first[sequence + 1]) sequence++;
        cr_assert_eq(at.sequence, sequence);
        cr_assert_eq(at.position, next - first[sequence]);
        next += at.rows;
        cr_assert_leq(next, first[sequence + 1]);
      }
    }
    cr_assert_eq(next, n.rows);
  }
}
