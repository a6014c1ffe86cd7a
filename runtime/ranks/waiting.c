/* waiting.c - waits for other ranks without taking a core from them, and ends when one of them has ended. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/processor.h"
#include "ranks/inner.h"
#include "system/clock.h"

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

void attn2c_ranks_end(const attn2c_ranks *of, int status, const char *what) {
  const attn2c_ranks *ranks = of->whole;
  if (!ranks->windows[0] || atomic_exchange(&ranks->windows[0]->is_said, 1) == 0)
    fprintf(stderr, "%s: rank %d: %s; all ranks end\n", ranks->name, ranks->own, what);
  if (ranks->machines > 1) MPI_Abort(ranks->all, status);
  _exit(status);
}

/* Writes a number of `what`. */
static void write_sum(uint64_t what, char text[64]) {
  static const char *const kinds[] = {"", "few of them", "shared memory", "memory of its own"};
  snprintf(text, 64, "adds %llu floats (%s)", (unsigned long long)what / 4, kinds[what % 4]);
}

/* Ends all if a rank of this machine has begun another sum than this one has: they would wait for ever. Only
 * sums are compared that are in the rings of both, and that the next one does not overwrite. */
static void compare_sums(const attn2c_ranks *ranks) {
  const attn2c_rank_window *own = ranks->windows[ranks->node_own];
  const uint64_t last = atomic_load_explicit(&own->begun, memory_order_acquire);
  for (int i = 0; i < ranks->node_count; i++) {
    const attn2c_rank_window *other = ranks->windows[i];
    const uint64_t begun = atomic_load_explicit(&other->begun, memory_order_acquire);
    const uint64_t both = begun < last ? begun : last, most = begun < last ? last : begun;
    for (uint64_t n = most < ATTN2C_RANKS_RING ? 1 : most - ATTN2C_RANKS_RING + 2; n <= both; n++) {
      const uint64_t mine = atomic_load_explicit(&own->what[n % ATTN2C_RANKS_RING], memory_order_relaxed);
      const uint64_t its = atomic_load_explicit(&other->what[n % ATTN2C_RANKS_RING], memory_order_relaxed);
      atomic_thread_fence(memory_order_acquire);
      if (mine == its || atomic_load_explicit(&other->begun, memory_order_relaxed) != begun) continue;
      char text[200], its_sum[64], my_sum[64];
      write_sum(mine, my_sum);
      write_sum(its, its_sum);
      snprintf(text, sizeof text, "%s where rank %d %s", my_sum, ranks->first + i, its_sum);
      attn2c_ranks_end(ranks, ATTN2C_USAGE, text);
    }
  }
}

static void look(const attn2c_ranks *ranks) {
  const int rank = ended(ranks);
  if (rank < 0 && ranks->windows[0]) compare_sums(ranks);
  if (rank < 0) return;
  char text[64];
  snprintf(text, sizeof text, "rank %d has ended", ranks->first + rank);
  attn2c_ranks_end(ranks, ATTN2C_IO, text);
}

void attn2c_ranks_rest(const attn2c_ranks *ranks, attn2c_patience *patience) {
  if (ranks->whole->line) attn2c_ranks_drain(ranks->whole);
  if (!ranks->is_crowded && patience->polls < SPINS) {
    patience->polls++;
    attn2c_pause();
    return;
  }
  const int64_t at = attn2c_system_clock(CLOCK_MONOTONIC);
  if (patience->since == 0) patience->since = patience->looked = at;
  const int64_t waited = at - patience->since;
  if (at - patience->looked > LOOK) {
    patience->looked = at;
    look(ranks);
    if (ranks->whole != ranks) look(ranks->whole);
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
  MPI_Status statuses[2 * ATTN2C_RANKS_MOST]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
  attn2c_patience patience = {0};
  for (int is_done = 0; !is_done;) {
    attn2c_ranks_made(ranks, MPI_Testall(count, requests, &is_done, statuses));
    if (!is_done) attn2c_ranks_rest(ranks, &patience);
  }
}
