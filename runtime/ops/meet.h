/* meet.h - the meetings of ranks that emitted code calls: sums and gathers of rows, and what stages pass on
 * (ranks/ranks.h). Sums and gathers are of the ranks of a stage. */
#pragma once

#include "ops/steps.h"
#include "ranks/ranks.h"

/* y[i] = ids[i] less the rank's first row of a table, first[rank]; 0 for ids of other ranks. */
static inline void attn2c_own_ids(const attn2c_ranks *ranks, int32_t *y, const int32_t *ids, size_t rows,
                                  const size_t *first) {
  const size_t own = (size_t)attn2c_ranks_own(attn2c_ranks_team(ranks));
  for (size_t i = 0; i < rows; i++) {
    const size_t id = (size_t)ids[i];
    y[i] = id >= first[own] && id < first[own + 1] ? (int32_t)(id - first[own]) : 0;
  }
}

/* Sums rows that are ld apart; what is between them is summed, too, and nobody reads it. */
static inline void attn2c_meet_rows(attn2c_ranks *ranks, float *y, size_t rows, size_t cols, size_t ld) {
  if (rows > 0) attn2c_ranks_sum(attn2c_ranks_team(ranks), y, (rows - 1) * ld + cols);
}

/* y = the sum of x of all ranks; y may be x. */
static inline void attn2c_sum_ranks(attn2c_ranks *ranks, float *y, const float *x, size_t rows, size_t cols,
                                    size_t ldx, size_t ldy) {
  for (size_t i = 0; y != x && i < rows; i++) memcpy(y + i * ldy, x + i * ldx, cols * sizeof *y);
  attn2c_meet_rows(ranks, y, rows, cols, ldy);
}

/* Begins y = the sum of x of all ranks, for a block of rows; y may be x. */
static inline void attn2c_begin_sum(attn2c_ranks *ranks, float *y, const float *x, size_t rows, size_t cols,
                                    size_t ldx, size_t ldy) {
  for (size_t i = 0; y != x && i < rows; i++) memcpy(y + i * ldy, x + i * ldx, cols * sizeof *y);
  if (rows > 0) attn2c_ranks_sum_begin(attn2c_ranks_team(ranks), y, (rows - 1) * ldy + cols);
}

/* Ends the sums of all blocks of y[rows]. */
static inline void attn2c_end_sums(attn2c_ranks *ranks, const float *y, size_t rows) {
  (void)y, (void)rows; /* what the sums write */
  attn2c_ranks_sums_end(attn2c_ranks_team(ranks));
}

/* y[i] = x[i] of the rank that has row ids[i] of a table: the sum of it and of the zeros of others. */
static inline void attn2c_sum_own_rows(attn2c_ranks *ranks, float *y, const float *x, const int32_t *ids,
                                       size_t rows, size_t cols, size_t ldx, size_t ldy,
                                       const size_t *first) {
  const size_t own = (size_t)attn2c_ranks_own(attn2c_ranks_team(ranks));
  for (size_t i = 0; i < rows; i++) {
    const size_t id = (size_t)ids[i];
    if (id < first[own] || id >= first[own + 1])
      memset(y + i * ldy, 0, cols * sizeof *y);
    else if (y != x)
      memcpy(y + i * ldy, x + i * ldx, cols * sizeof *y);
  }
  attn2c_meet_rows(ranks, y, rows, cols, ldy);
}

/* y = the columns of x of all ranks, one after the other; first[r] is the first of rank r. */
static inline void attn2c_gather_ranks(attn2c_ranks *ranks, float *y, const float *x, size_t rows, size_t ldx,
                                       size_t ldy, const size_t *first) {
  attn2c_ranks_gather(attn2c_ranks_team(ranks), x, ldx, y, ldy, first, rows);
}

/* y = columns of x from starts[rank] on. */
static inline void attn2c_own_columns(const attn2c_ranks *ranks, float *y, const float *x, size_t rows,
                                      size_t cols, size_t ldx, size_t ldy, const size_t *starts) {
  x += starts[attn2c_ranks_own(attn2c_ranks_team(ranks))];
  for (size_t i = 0; i < rows; i++) memcpy(y + i * ldy, x + i * ldx, cols * sizeof *y);
}

/* The next stage takes y. */
static inline void attn2c_pass_on(attn2c_ranks *ranks, const float *y, size_t rows, size_t cols, size_t ldy) {
  attn2c_ranks_pass(ranks, y, rows, cols, ldy);
}

/* y = what the stage before passes on. */
static inline void attn2c_take_on(attn2c_ranks *ranks, float *y, size_t rows, size_t cols, size_t ldy) {
  attn2c_ranks_take(ranks, y, rows, cols, ldy);
}

/* All other stages take y, floats or integers. */
static inline void attn2c_give_output(attn2c_ranks *ranks, const void *y, size_t rows, size_t cols,
                                      size_t ldy) {
  attn2c_ranks_give(ranks, y, rows, cols, ldy);
}

/* y = what the last stage gives, when the call's outputs are settled. */
static inline void attn2c_take_output(attn2c_ranks *ranks, void *y, size_t rows, size_t cols, size_t ldy) {
  attn2c_ranks_expect(ranks, y, rows, cols, ldy);
}
