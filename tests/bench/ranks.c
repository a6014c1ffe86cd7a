/* ranks.c - times sums of ranks in shared memory and by messages, and MPI_Allreduce, and fits latency and
 * bandwidth to them. Run by ranks.sh. */
#include <stdio.h>
#include <stdlib.h>

#include "ranks/open.h"

enum { SIZES = 6, ROUNDS = 5 };

static const size_t sizes[SIZES] = {64, 768, 4096, 16384, 98304, 1 << 20};

static int own, count;

/* Makes `repeats` sums. */
static void add(attn2c_ranks *ranks, float *values, size_t floats, int repeats) {
  for (int i = 0; i < repeats; i++) {
    if (ranks)
      attn2c_ranks_sum(ranks, values, floats);
    else
      MPI_Allreduce(MPI_IN_PLACE, values, (int)floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Returns the seconds of one sum: the least of some rounds, in the slowest rank. */
static double seconds_of(attn2c_ranks *ranks, float *values, size_t floats) {
  const int repeats = floats > 50000 ? 20 : 1000;
  double least = 0;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    add(ranks, values, floats, repeats);
    double taken = (MPI_Wtime() - start) / repeats, slowest = 0;
    MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (round == 1 || (round > 1 && slowest < least)) least = slowest; /* round 0 warms up */
  }
  return least;
}

/* Prints the times of one kind of sum, the latency, that is the time of the smallest, and the bandwidth: the
 * bytes that each rank sends of the largest, 8 c (N - 1) / N, in the time beyond the latency. */
static void report(const char *what, attn2c_ranks *ranks, float *values) {
  double times[SIZES];
  for (int i = 0; i < SIZES; i++) times[i] = seconds_of(ranks, values, sizes[i]);
  if (own != 0) return;
  printf("| %s |", what);
  for (int i = 0; i < SIZES; i++) printf(" %.2f |", times[i] * 1e6);
  const double bytes = 8.0 * (double)sizes[SIZES - 1] * (count - 1) / count;
  printf(" %.2f | %.2f |\n", times[0] * 1e6, bytes / (times[SIZES - 1] - times[0]) / 1e9);
}

int main(int argc, char **argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (own == 0)
    printf("| floats, microseconds of a sum | 64 | 768 | 4096 | 16384 | 98304 | 1048576 | latency | GB/s |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
  float *values = calloc(sizes[SIZES - 1], sizeof *values);
  for (int without = 0; without < 2; without++) {
    const attn2c_ranks_wanted wanted = {.count = count, .name = "ranks", .without_windows = without};
    char text[200] = "";
    attn2c_message message = attn2c_message_make(text, sizeof text);
    attn2c_ranks *ranks;
    const int status = attn2c_ranks_open(MPI_COMM_WORLD, &wanted, &ranks, &message);
    if (status != ATTN2C_OK || !values) {
      fprintf(stderr, "ranks: %s\n", values ? text : "no memory");
      MPI_Abort(MPI_COMM_WORLD, ATTN2C_MEMORY);
    }
    float *shared = attn2c_ranks_allocate(ranks, sizes[SIZES - 1] * sizeof *shared);
    if (!without) report("windows, shared memory", ranks, shared);
    report(without ? "messages" : "windows, other memory", ranks, values);
    attn2c_ranks_free(ranks, shared);
    attn2c_ranks_close(ranks);
  }
  report("MPI_Allreduce", NULL, values);
  free(values);
  MPI_Finalize();
  return ATTN2C_OK;
}
