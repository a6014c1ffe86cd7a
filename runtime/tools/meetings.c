/* meetings.c - times what ranks do when they meet, for predictions of their number: sums and gathers of the
 * ranks of this machine in shared memory, messages between two of them, and additions. Prints one JSON
 * object. gen/commands/scale/meetings.lua compiles it and starts it with mpirun. */
#include <stdio.h>
#include <stdlib.h>

#include "ranks/inner.h"

enum { ROUNDS = 9, MOST_ROUNDS = 500, ROUND_US = 200, MOST_REPEATS = 1024, MANY = 16, MOST_FLOATS = 1 << 20 };

#define SECONDS 0.3 /* of the rounds of a size */

static const size_t sizes[] = {16, 512, 768, 2048, 4096, 32768, 262144, MOST_FLOATS};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int own, count;

/* The memory of the meetings that are timed. */
typedef struct {
  attn2c_ranks *ranks;
  float *values, *part; /* [MOST_FLOATS] */
} memory;

static void sum(const memory *of, size_t floats) { attn2c_ranks_sum(of->ranks, of->values, floats); }

/* Gathers these floats of all ranks. */
static void gather(const memory *of, size_t floats) {
  size_t first[ATTN2C_RANKS_MOST + 1];
  for (int i = 0; i <= count; i++) first[i] = floats * (size_t)i / (size_t)count;
  attn2c_ranks_gather(of->ranks, of->part, first[own + 1] - first[own], of->values, floats, first, 1);
}

/* Exchanges one message of these floats between ranks 0 and 1. */
static void exchange(const memory *of, size_t floats) {
  if (own > 1) return;
  MPI_Sendrecv(of->part, (int)floats, MPI_FLOAT, 1 - own, 0, of->values, (int)floats, MPI_FLOAT, 1 - own, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Exchanges many messages at once. */
static void exchange_many(const memory *of, size_t floats) {
  MPI_Request requests[2 * MANY];
  if (own > 1) return;
  for (int i = 0; i < MANY; i++)
    MPI_Irecv(of->values + (size_t)i * floats, (int)floats, MPI_FLOAT, 1 - own, i, MPI_COMM_WORLD,
              &requests[i]);
  for (int i = 0; i < MANY; i++)
    MPI_Isend(of->part, (int)floats, MPI_FLOAT, 1 - own, i, MPI_COMM_WORLD, &requests[MANY + i]);
  MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
}

static void add(const memory *of, size_t floats) {
  const float *from[] = {of->values, of->part};
  float *to[] = {of->values};
  attn2c_ranks_add(1, to, 2, from, floats);
}

/* Returns microseconds of a meeting: the mean of some, of the slowest rank. */
static double round_of(void (*meet)(const memory *, size_t), const memory *of, size_t floats, int repeats) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < repeats; i++) meet(of, floats);
  double taken = (MPI_Wtime() - start) / repeats * 1e6, slowest = 0;
  MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/* Returns microseconds: the least of some short rounds. Other work on the machine disturbs ranks twice,
 * because they wait for each other; few rounds may be undisturbed. */
static double time_of(void (*meet)(const memory *, size_t), const memory *of, size_t floats) {
  int repeats = 1;
  while (repeats < MOST_REPEATS && round_of(meet, of, floats, repeats) * repeats < ROUND_US) repeats *= 2;
  const double start = MPI_Wtime();
  double least = round_of(meet, of, floats, repeats);
  for (int round = 1, is_over = 0; round < MOST_ROUNDS && !is_over; round++) {
    const double taken = round_of(meet, of, floats, repeats);
    if (taken < least) least = taken;
    is_over = round >= ROUNDS && MPI_Wtime() - start > SECONDS;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return least;
}

/* Prints the times of all sizes, [floats, microseconds] each. */
static void report(const char *name, void (*meet)(const memory *, size_t), const memory *of) {
  if (own == 0) printf(", \"%s\": [", name);
  for (int i = 0; i < SIZES; i++) {
    const double taken = time_of(meet, of, sizes[i]);
    if (own == 0) printf("%s[%zu, %.4g]", i ? ", " : "", sizes[i], taken);
  }
  if (own == 0) printf("]");
}

int main(int argc, char **argv) {
  int level;
  char text[200] = "";
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  const attn2c_ranks_wanted wanted = {.count = count, .name = "meetings"};
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_ranks *ranks;
  const int status = attn2c_ranks_open(MPI_COMM_WORLD, &wanted, &ranks, &message);
  if (status != ATTN2C_OK) {
    if (own == 0) fprintf(stderr, "%s\n", text);
    MPI_Finalize();
    return status;
  }
  const memory of = {.ranks = ranks,
                     .values = attn2c_ranks_allocate(ranks, MOST_FLOATS * sizeof(float)),
                     .part = calloc(MOST_FLOATS, sizeof(float))};
  if (!of.values || !of.part) MPI_Abort(MPI_COMM_WORLD, ATTN2C_MEMORY);
  if (own == 0) printf("{\"ranks\": %d", count);
  report("sums", sum, &of);
  report("gathers", gather, &of);
  report("messages", exchange, &of);
  const double one = time_of(exchange, &of, 16), many = time_of(exchange_many, &of, 16);
  const double adds = time_of(add, &of, 16384);
  if (own == 0)
    printf(", \"message_us\": %.4g, \"adds_per_us\": %.4g}\n", many > one ? (many - one) / (MANY - 1) : 0.0,
           16384 / adds);
  free(of.part);
  attn2c_ranks_free(ranks, of.values);
  attn2c_ranks_close(ranks);
  MPI_Finalize();
  return ATTN2C_OK;
}
