/* waiting.c - waits for other ranks without taking a core from them, and ends when one of them has ended. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/processor.h"
#include "ranks/inner.h"

#define MICROSECOND INT64_C(1000)
#define MILLISECOND (1000 * MICROSECOND)

/* Polls before the first yield: some 50 microseconds. Ranks that share cores yield at once. */
enum { SPINS = 1000 };

/* A rank that has waited this long sleeps between polls, so that one that waits for input takes no core. */
#define BEFORE_SLEEP (2 * MILLISECOND)
/* Longest sleep. It is also the delay of a rank that wakes. */
#define MOST_SLEEP (500 * MICROSECOND)
/* How often a waiting rank looks if the others live. */
#define LOOK (200 * MILLISECOND)

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* True if a rank of this machine has ended. */
static int has_ended(const attn2c_ranks *ranks, int rank) {
  struct pollfd process = {.fd = ranks->processes[rank], .events = POLLIN};
  return process.fd >= 0 && poll(&process, 1, 0) == 1;
}

/* Returns the lowest rank of this machine that has ended, or -1. */
static int ended(const attn2c_ranks *ranks) {
  for (int i = 0; i < ranks->node_count; i++)
    if (has_ended(ranks, i)) return i;
  return -1;
}

void attn2c_ranks_end(const attn2c_ranks *ranks, int status, const char *what) {
  if (!ranks->windows[0] || atomic_exchange(&ranks->windows[0]->is_said, 1) == 0)
    fprintf(stderr, "%s: rank %d: %s; all ranks end\n", ranks->name, ranks->own, what);
  if (ranks->machines > 1) MPI_Abort(ranks->all, status);
  _exit(status);
}

static void look(const attn2c_ranks *ranks) {
  const int rank = ended(ranks);
  if (rank < 0) return;
  char text[64];
  snprintf(text, sizeof text, "rank %d has ended", ranks->machine * ranks->node_count + rank);
  attn2c_ranks_end(ranks, ATTN2C_IO, text);
}

void attn2c_ranks_rest(const attn2c_ranks *ranks, attn2c_patience *patience) {
  if (!ranks->is_crowded && patience->polls < SPINS) {
    patience->polls++;
    attn2c_pause();
    return;
  }
  const int64_t at = now();
  if (patience->since == 0) patience->since = patience->looked = at;
  const int64_t waited = at - patience->since;
  if (at - patience->looked > LOOK) {
    patience->looked = at;
    look(ranks);
  }
  if (waited < BEFORE_SLEEP) {
    sched_yield();
    return;
  }
  const int64_t sleep = waited / 16 < MOST_SLEEP ? waited / 16 : MOST_SLEEP;
  nanosleep(&(struct timespec){.tv_nsec = (long)sleep}, NULL);
}

void attn2c_ranks_until(const attn2c_ranks *ranks, const _Atomic uint64_t *counter, uint64_t number) {
  attn2c_patience patience = {0};
  while (atomic_load_explicit(counter, memory_order_acquire) < number) attn2c_ranks_rest(ranks, &patience);
}

void attn2c_ranks_requests(const attn2c_ranks *ranks, int count, MPI_Request *requests) {
  attn2c_patience patience = {0};
  for (int is_done = 0; !is_done;) {
    attn2c_ranks_made(ranks, MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE));
    if (!is_done) attn2c_ranks_rest(ranks, &patience);
  }
}
