/* open.h - opens the ranks of a communicator of MPI for one model. Only files built with MPI include it. */
#pragma once

#include "ranks/ranks.h"

#include <mpi.h>

/* The facts in which all ranks agree. */
typedef struct {
  int count;           /* the ranks that the model was divided for */
  int stages;          /* parts of its layers, of which each has equally many ranks that follow each other */
  size_t passed_bytes; /* the most that a rank passes to the next stage in a call */
  const char *name;    /* of the model, for messages */
  uint64_t build;      /* identity of the build: its generator, description and target */
  int per_node;        /* for tests: treat each such number of ranks as a machine; 0: ask MPI */
  int without_windows; /* for tests: 1: only MPI moves bytes */
} attn2c_ranks_wanted;

/* Opens ranks over a duplicate of `communicator`, of which the caller keeps the ownership; a collective call
 * of all its ranks. MPI must be initialised, with MPI_THREAD_FUNNELED or more if the model has threads.
 * Returns on all ranks the same: ATTN2C_USAGE for another number of ranks, or if MPI is not initialised;
 * ATTN2C_FORMAT if one has another build; ATTN2C_MEMORY. */
int attn2c_ranks_open(MPI_Comm communicator, const attn2c_ranks_wanted *wanted, attn2c_ranks **ranks,
                      attn2c_message *message);
/* A collective call, too; NULL is allowed. */
void attn2c_ranks_close(attn2c_ranks *ranks);

/* A rank that computes by itself for `bench --part`: its meetings move nothing and are counted. */

/* Returns rank `own` of `count`, without a communicator; NULL: no memory. Sums leave the rank's own terms; a
 * gather copies the rank's own columns; rank 0's bytes reach nobody. attn2c_ranks_close frees it. */
attn2c_ranks *attn2c_ranks_alone(int count, int own);

/* Forgets the meetings that were counted. */
void attn2c_ranks_count_anew(attn2c_ranks *ranks);
/* Returns the distinct meetings since then, ATTN2C_RANKS_COUNTED at most, and their number. */
int attn2c_ranks_counted(const attn2c_ranks *ranks, const attn2c_rank_meeting **list);
