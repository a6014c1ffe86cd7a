/* inner.h - what this folder shares: ranks' places on machines, windows of shared memory, waiting. */
#pragma once

#include "ranks/open.h"

#include <stdatomic.h>
#include <sys/types.h>

/* Small sums take the slots of a ring in turn. A rank may begin the sum 2 S sums after one that another rank
 * still reads, with S = ATTN2C_RANKS_SUMS: it ended the sum S before its own, so all others began that one,
 * and so ended the one S before it. */
enum { ATTN2C_RANKS_RING = 2 * ATTN2C_RANKS_SUMS };

/* Floats that go through a window at a time, from memory that is private to a rank. */
enum { ATTN2C_RANKS_STAGE = 1 << 18 };

/* The most blocks of memory that ranks share (attn2c_ranks_allocate). */
enum { ATTN2C_RANKS_BLOCKS = 16 };

/* Floats of a large sum between machines that are under way at a time. */
enum { ATTN2C_RANKS_PIECE = 1 << 20 };

/* The part of a window that one rank writes, except for `stage`, which all write in turn. The counters grow
 * by 1 with each sum or copy of their kind; another rank waits until a counter reaches its own. */
typedef struct {
  _Alignas(64) _Atomic uint64_t small;      /* sums whose values are in the ring */
  _Alignas(64) _Atomic uint64_t shared;     /* sums whose values are in shared memory and ready */
  _Alignas(64) _Atomic uint64_t added;      /* of these, the sums whose slice this rank has added */
  _Alignas(64) _Atomic uint64_t staged;     /* copies that are ready in `stage` */
  _Alignas(64) _Atomic uint64_t finished;   /* of these, the copies of others that this rank needs no more */
  _Alignas(64) _Atomic uint64_t begun;      /* sums of all kinds */
  _Atomic uint64_t what[ATTN2C_RANKS_RING]; /* the kind and count of a sum, by its number among all */
  _Alignas(64) _Atomic uint64_t told;       /* of rank 0: bytes that it has given to all, in `ahead` */
  _Alignas(64) _Atomic uint64_t heard;      /* of these, the bytes that this rank has taken */
  _Atomic uint64_t offset[ATTN2C_RANKS_RING]; /* bytes of shared memory before the values of a sum */
  _Atomic int32_t process;                    /* of this rank */
  _Atomic uint64_t process_space;             /* the inode of its namespace of processes */
  _Atomic int
      is_said; /* in the window of rank 0 of a machine: 1 if one of its ranks has printed why all end */
  _Alignas(64) float ring[ATTN2C_RANKS_RING][ATTN2C_RANKS_SMALL];
  float stage[ATTN2C_RANKS_STAGE];
  char ahead[ATTN2C_RANKS_AHEAD];
} attn2c_rank_window;

/* Memory of which each rank of a machine has a part that the others reach. */
typedef struct {
  MPI_Win window;
  char *own; /* NULL: unused */
  size_t bytes;
  char *parts[ATTN2C_RANKS_MOST]; /* by rank of the machine */
} attn2c_rank_block;

typedef enum { ATTN2C_SUM_NONE, ATTN2C_SUM_SMALL, ATTN2C_SUM_SHARED, ATTN2C_SUM_STAGED } attn2c_sum_kind;

/* The beginning of a ring in shared memory, which one rank writes and another one reads. */
typedef struct {
  _Alignas(64) _Atomic uint64_t written; /* bytes, in all */
  _Alignas(64) _Atomic uint64_t read;
} attn2c_rank_ring;

/* Messages of MPI that are under way at a time in a stream, and the least bytes of one. */
enum { ATTN2C_RANKS_MESSAGES = 4, ATTN2C_RANKS_LEAST_MESSAGE = 1 << 16 };

/* One end of a stream of bytes from one rank to another: a ring if they share a machine, else messages. */
typedef struct {
  int other;              /* the rank at the other end */
  attn2c_rank_ring *ring; /* NULL: messages */
  char *bytes;            /* of the ring, or of all messages */
  size_t capacity;        /* of the ring, or of one message */
  uint64_t moved;         /* bytes that this end has written or read */
  /* For messages: */
  int is_receiver;
  int is_open, number;  /* the one that is filled or emptied */
  size_t filled, taken; /* bytes of it */
  MPI_Request requests[ATTN2C_RANKS_MESSAGES];
} attn2c_rank_stream;

/* Rows that are moved through a stream, and how far they are. */
typedef struct {
  char *at;
  size_t rows, width, step; /* bytes of a row, and from row to row */
  size_t row, done;         /* whole rows, and bytes of the next one, that are moved */
} attn2c_rank_cursor;

/* The most outputs that are expected at a time. */
enum { ATTN2C_RANKS_EXPECTED = 32 };

/* The streams of a rank to and from the neighbours of its stage, and for outputs to and from the last stage.
 */
typedef struct {
  attn2c_rank_block block;         /* memory of the streams that this machine's ranks send */
  attn2c_rank_stream before, next; /* other -1: none */
  attn2c_rank_stream last;         /* from the last stage */
  attn2c_rank_stream *others;      /* [stages - 1], of a rank of the last stage, else NULL */
  attn2c_rank_cursor expected[ATTN2C_RANKS_EXPECTED]; /* a ring */
  int first, count;                                   /* of `expected` */
} attn2c_rank_stages;

/* A sum that is under way. */
typedef struct {
  attn2c_sum_kind kind;
  float *values;
  size_t count;
  uint64_t number; /* the counter's value of its kind */
  uint64_t among;  /* its number among sums of all kinds */
  int block;       /* index of the shared memory */
  /* Between machines: */
  MPI_Request *requests; /* [2 machines] */
  int request_count;     /* those that were begun with the sum */
  float *received;       /* [machines][ATTN2C_RANKS_SMALL], or one piece */
} attn2c_rank_sum;

typedef struct attn2c_rank_count attn2c_rank_count;

/* A team of ranks on M machines of P ranks each: rank r is number r % P of machine r / P. If MPI has placed
 * ranks otherwise, or P is no power of 2 and M is not 1, P is 1, and only MPI moves bytes: then the sum of a
 * machine would not be a part of the whole sum's order. */
struct attn2c_ranks {
  MPI_Comm all, node, across; /* all ranks; a machine's ranks; ranks with this number on every machine */
  int count, own;
  int node_count, node_own, machines, machine;
  char name[64];
  int is_crowded;                   /* 1: a machine has more ranks than cores */
  int processes[ATTN2C_RANKS_MOST]; /* descriptors that tell if the machine's ranks live; -1: unknown */
  MPI_Win window;
  attn2c_rank_window *windows[ATTN2C_RANKS_MOST]; /* by rank of the machine; [0] NULL if P is 1 */
  uint64_t small, shared, staged;                 /* those that this rank has begun */
  attn2c_rank_block blocks[ATTN2C_RANKS_BLOCKS];
  attn2c_rank_sum sums[ATTN2C_RANKS_SUMS];
  int next_sum;               /* of these, the place of the next sum */
  MPI_Request *requests;      /* [2 count], of meetings that begin and end at once */
  float *of_machine;          /* [ATTN2C_RANKS_SMALL], a small sum of one machine */
  attn2c_rank_count *counted; /* of a rank without others (alone.c): its meetings; else NULL */
  /* A stage's ranks among themselves are ranks, too: `whole` has all, and `team` the stage's. */
  attn2c_ranks *whole, *team;
  int stages, stage, first; /* of `whole`; first: the number in `whole` of this machine's first rank */
  attn2c_rank_stages *line; /* NULL: no stages */
};

/* Counts a meeting of a rank without others. */
void attn2c_ranks_count_meeting(attn2c_ranks *ranks, attn2c_meeting_kind kind, size_t floats);

/* Returns the same on all ranks: 1 if all of a communicator give 1. */
int attn2c_ranks_all_have(MPI_Comm communicator, int has);

/* Makes shared memory for a part of each rank of this machine, a collective call of its ranks, and frees it.
 */
int attn2c_ranks_make_block(const attn2c_ranks *ranks, size_t bytes, attn2c_rank_block *block);
void attn2c_ranks_free_block(attn2c_rank_block *block);

/* Opens the streams of all ranks, a collective call, and closes them. */
int attn2c_ranks_open_stages(attn2c_ranks *ranks, size_t passed_bytes);
void attn2c_ranks_close_stages(attn2c_ranks *ranks);
/* Takes outputs that have come, so that no stage waits for another that waits for it. */
void attn2c_ranks_drain(attn2c_ranks *ranks);

/* Begin a stream that sends or receives; returns 0 if there is no memory. bytes: of what may wait in it;
 * shared: the sender's ring, NULL if the ranks do not share a machine. */
int attn2c_stream_send(attn2c_rank_stream *stream, int other, size_t bytes, void *shared);
int attn2c_stream_receive(const attn2c_ranks *ranks, attn2c_rank_stream *stream, int other, size_t bytes,
                          void *shared);
void attn2c_stream_end(attn2c_rank_stream *stream);
/* Returns the bytes of a ring in shared memory of which `bytes` may wait. */
size_t attn2c_stream_shared(size_t bytes);
/* Move rows as far as is possible without waiting; return 1 when all are moved. */
int attn2c_stream_put(const attn2c_ranks *ranks, attn2c_rank_stream *stream, attn2c_rank_cursor *rows);
int attn2c_stream_get(const attn2c_ranks *ranks, attn2c_rank_stream *stream, attn2c_rank_cursor *rows);

/* A rank that waits. Set to 0 before the first call. */
typedef struct {
  unsigned polls;
  int64_t since, looked; /* nanoseconds of the monotonic clock; 0: not yet read */
} attn2c_patience;

/* Waits a little: spins, then yields, then sleeps. Ends the process if a rank of this machine has ended. */
void attn2c_ranks_rest(const attn2c_ranks *ranks, attn2c_patience *patience);

/* Waits until a counter has reached a number. */
void attn2c_ranks_until(const attn2c_ranks *ranks, const _Atomic uint64_t *counter, uint64_t number);

/* Waits for requests of MPI, at most two for each rank. */
void attn2c_ranks_requests(const attn2c_ranks *ranks, int count, MPI_Request *requests);

/* Ends all if MPI reports an error. */
static inline void attn2c_ranks_made(const attn2c_ranks *ranks, int error) {
  if (error != MPI_SUCCESS) attn2c_ranks_end(ranks, ATTN2C_IO, "a message could not be sent or received");
}

/* Adds from[0 .. n - 1] in ranks' order (ranks.h), into to[0 .. to_count - 1], which may be sources. */
void attn2c_ranks_add(int to_count, float *const *to, int n, const float *const *from, size_t count);

/* Returns the first element of the part `number` of n of `count` elements; parts begin at whole cache lines.
 */
static inline size_t attn2c_ranks_part(size_t count, int number, int n) {
  const size_t lines = (count + 15) / 16, first = lines * (size_t)number / (size_t)n * 16;
  return first < count ? first : count;
}

/* Adds values of machines: each of its ranks talks to those with its number on the others. */

/* Begins to add values of all machines, in place, where that is possible without waiting. */
void attn2c_across_begin(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count);
/* Ends it. */
void attn2c_across_end(attn2c_ranks *ranks, attn2c_rank_sum *sum, float *values, size_t count);

/* Sets a counter that other ranks wait for. */
static inline void attn2c_ranks_publish(_Atomic uint64_t *counter, uint64_t number) {
  atomic_store_explicit(counter, number, memory_order_release);
}
