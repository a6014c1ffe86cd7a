/* ranks.h - declares the meetings of the ranks that compute one model together: sums, gathers, broadcasts,
 * and what stages pass on. Emitted code includes this header, which needs no header of MPI; ranks/open.h
 * opens the ranks of a communicator. */
#pragma once

#include "base/descriptor.h"

/* The ranks of one model, as one of them sees them: `attn2c_ranks`, declared in base/descriptor.h. A pointer
 * of NULL stands for one rank by itself: no meeting moves anything then.
 *
 * All functions but the first two are meetings: every rank calls them in the same order with the same sizes,
 * from the thread that opened the ranks (MPI_THREAD_FUNNELED). In a team of threads that is the caller of
 * attn2c_team_run, between two runs. They allocate nothing. A meeting cannot fail: if another rank is gone,
 * one line is printed and all ranks end with ATTN2C_IO. */

/* Returns the number of ranks, from 1, and the number of the caller, from 0. */
int attn2c_ranks_count(const attn2c_ranks *ranks);
int attn2c_ranks_own(const attn2c_ranks *ranks);

/* The most sums that are under way at a time. */
#define ATTN2C_RANKS_SUMS 4

/* Begins a sum over all ranks of values[0 .. count - 1], in place. Until it ends the values may be neither
 * read nor written; other work may be done. Sums end in the order in which they began: if the most that may
 * be are under way, the first of them ends now. count: 0 or more; no alignment is needed.
 *
 * The order of additions only depends on the number of ranks: neighbours first, ((r0 + r1) + (r2 + r3)) +
 * ..., where a rank without a neighbour waits for the next level. So the bits are the same on one machine
 * and on several, and on all ranks.
 *
 * Each rank sends (and receives) 2 count (N - 1) / N floats in two messages to each other rank; sums of at
 * most ATTN2C_RANKS_SMALL floats send count (N - 1) in one. */
void attn2c_ranks_sum_begin(attn2c_ranks *ranks, float *values, size_t count);

/* Ends all sums. */
void attn2c_ranks_sums_end(attn2c_ranks *ranks);

/* Begins a sum, and ends it and those before it. */
void attn2c_ranks_sum(attn2c_ranks *ranks, float *values, size_t count);

/* The most ranks. */
#define ATTN2C_RANKS_MOST 64

/* The most floats of a sum that takes one message, not two, to each other rank. */
#define ATTN2C_RANKS_SMALL 2048

/* Gathers the columns of a matrix. Rank r has `rows` rows of the columns first[r] .. first[r + 1] - 1, of 4
 * bytes each, `own_step` columns apart; first[0] is 0. All ranks receive all first[N] columns in `all`, rows
 * `all_step` columns apart. Parts may have any width, also 0. `own` and `all` may not overlap, unless `own`
 * is the rank's place in `all` with the same step. rows = 1 gathers vectors. Each rank sends its part once to
 * each other rank. */
void attn2c_ranks_gather(attn2c_ranks *ranks, const void *own, size_t own_step, void *all, size_t all_step,
                         const size_t *first, size_t rows);

/* Gives bytes of rank 0 to all ranks. On one machine rank 0 goes on before others have taken them, as long as
 * no more than ATTN2C_RANKS_AHEAD bytes wait. */
void attn2c_ranks_broadcast(attn2c_ranks *ranks, void *bytes, size_t count);
/* Gives bytes of any rank to all. */
void attn2c_ranks_broadcast_from(attn2c_ranks *ranks, int root, void *bytes, size_t count);
#define ATTN2C_RANKS_AHEAD (1 << 16)

/* Returns the ranks of the caller's stage, which divide its layers among them; all ranks where a model has no
 * stages; NULL for a stage of one rank. Sums and gathers of emitted code are theirs. */
attn2c_ranks *attn2c_ranks_team(const attn2c_ranks *ranks);
/* Returns the stages of a model whose layers are divided in a row, from 1, and the caller's. */
int attn2c_ranks_stages(const attn2c_ranks *ranks);
int attn2c_ranks_stage(const attn2c_ranks *ranks);

/* Rows of 4-byte elements, `step` elements apart, that stages pass to each other. They are between ranks of
 * the same number within their stage, and come in the order in which they were given.
 *
 * `pass` gives rows to the next stage, and `take` takes the rows of the stage before. `pass` returns when the
 * rows are copied, so that a stage computes a call while the next one computes the call before. It waits only
 * if the rows of two calls (attn2c_ranks_wanted.passed_bytes) have not been taken. */
void attn2c_ranks_pass(attn2c_ranks *ranks, const void *rows, size_t count, size_t width, size_t step);
void attn2c_ranks_take(attn2c_ranks *ranks, void *rows, size_t count, size_t width, size_t step);

/* Outputs of the last stage: `give` gives rows to all other stages, `expect` says where this rank wants them.
 * They are there when attn2c_ranks_settle has returned; until then nothing else may touch them. */
void attn2c_ranks_give(attn2c_ranks *ranks, const void *rows, size_t count, size_t width, size_t step);
void attn2c_ranks_expect(attn2c_ranks *ranks, void *rows, size_t count, size_t width, size_t step);
void attn2c_ranks_settle(attn2c_ranks *ranks);

/* Returns the status that all ranks go on with: that of the first rank whose status is not ATTN2C_OK, else
 * ATTN2C_OK. Every rank that had ATTN2C_OK receives the first one's lines in `message`, each beginning with
 * "rank R: "; the lines of others are dropped, so that all have the same text. */
int attn2c_ranks_agree(attn2c_ranks *ranks, int status, attn2c_message *message);

/* Compares a number of every rank: the identity of a build, of weights. Returns ATTN2C_OK if all have the
 * same; else ATTN2C_FORMAT, and in the message of every rank one line: "rank R has other WHAT than rank 0".
 */
int attn2c_ranks_compare(attn2c_ranks *ranks, uint64_t identity, const char *what, attn2c_message *message);

/* Prints one line, "NAME: rank R: WHAT; all ranks end", and ends this process with a status, and so all. */
_Noreturn void attn2c_ranks_end(const attn2c_ranks *ranks, int status, const char *what);

/* Return memory as attn2c_allocate does, and free it. Sums of values in it need no copies on one machine. All
 * ranks allocate and free in the same order; `bytes` may differ. Returns NULL on a rank without memory. */
void *attn2c_ranks_allocate(attn2c_ranks *ranks, size_t bytes);
void attn2c_ranks_free(attn2c_ranks *ranks, void *memory);

/* The kinds of meetings that move floats between ranks in a call. */
typedef enum { ATTN2C_MEETING_SUM, ATTN2C_MEETING_GATHER } attn2c_meeting_kind;

/* Equal meetings of a call: the floats of a sum, or those that a gather makes whole, and how often. */
typedef struct {
  attn2c_meeting_kind kind;
  int64_t floats, times;
} attn2c_rank_meeting;

/* The most distinct meetings of a call that are counted. */
#define ATTN2C_RANKS_COUNTED 64
