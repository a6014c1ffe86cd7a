/* sequences.h - what emitted loops over sequences of any length use: borders, the sizes of blocks of rows,
 * and the parts of a block that are of one sequence. */
#pragma once

#include "base/descriptor.h"

#define ATTN2C_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define ATTN2C_MOST(a, b)  ((a) > (b) ? (a) : (b))

/* Returns the first sequence after number i that reads another source's keys, or at least n->count. */
static inline ptrdiff_t attn2c_next_source(const attn2c_sequences *n, ptrdiff_t i) {
  do i++;
  while (i < n->count && n->origin[i] == n->origin[i - 1]);
  return i;
}

/* A block of the rows of a call. */
typedef struct {
  ptrdiff_t row, rows;
} attn2c_block;

/* Returns the rows of each block but the last, if `all` rows are divided evenly into as few blocks of at most
 * `most` rows as there can be: a multiple of `multiple`, but no more than `most`. */
static inline ptrdiff_t attn2c_even(ptrdiff_t all, ptrdiff_t most, ptrdiff_t multiple) {
  const ptrdiff_t blocks = (all + most - 1) / most;
  if (blocks < 2) return most;
  return ATTN2C_LEAST(((all + blocks - 1) / blocks + multiple - 1) / multiple * multiple, most);
}

/* `rows` rows of one sequence, `skip` rows into a block; the first is row `position` of its sequence. */
typedef struct {
  ptrdiff_t sequence, skip, rows, position;
} attn2c_stretch;

static inline void attn2c_stretch_of(const attn2c_sequences *n, ptrdiff_t row, ptrdiff_t rows,
                                     attn2c_stretch *at) {
  if (at->skip >= rows) {
    at->rows = 0;
    return;
  }
  const ptrdiff_t next = n->first[at->sequence + 1];
  at->position = row + at->skip - n->first[at->sequence];
  at->rows = ATTN2C_LEAST(next - row, rows) - at->skip;
}

/* Returns the first piece of the block of `rows` rows from `row` on. */
static inline attn2c_stretch attn2c_first_stretch(const attn2c_sequences *n, ptrdiff_t row, ptrdiff_t rows) {
  ptrdiff_t low = 0, high = n->count - 1; /* the last sequence that begins at or before `row` */
  while (low < high) {
    const ptrdiff_t middle = (low + high + 1) / 2;
    if (n->first[middle] <= row)
      low = middle;
    else
      high = middle - 1;
  }
  attn2c_stretch at = {low, 0, 0, 0};
  attn2c_stretch_of(n, row, rows, &at);
  return at;
}

/* Moves to the next piece; its rows are 0 after the last. */
static inline void attn2c_next_stretch(const attn2c_sequences *n, ptrdiff_t row, ptrdiff_t rows,
                                       attn2c_stretch *at) {
  at->skip += at->rows, at->sequence++;
  attn2c_stretch_of(n, row, rows, at);
}
