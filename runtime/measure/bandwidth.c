/* bandwidth.c - measures the bandwidth of memory: each thread reads its own part of one block, all at
 * once. */
#define _POSIX_C_SOURCE 200809L
#include "measure/bandwidth.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/timing.h"
#include "model/team.h"

enum { MOST_THREADS = 256, ROUNDS = 5, LANES = 2, STRIDE = 4 /* vectors per turn */ };

#define MOST_BYTES  ((size_t)256 << 20) /* more than any cache holds */
#define LEAST_BYTES ((size_t)1 << 20)

typedef uint64_t vector __attribute__((vector_size(LANES * sizeof(uint64_t))));

typedef struct {
  const vector *from;
  size_t count;   /* number of vectors, a multiple of STRIDE */
  atomic_int *go; /* NULL: start at once */
  pthread_t thread;
  uint64_t sum; /* uses the values, so that they must be read */
} reader;

static void *read_all(void *of_reader) {
  reader *r = of_reader;
  while (r->go && !atomic_load(r->go)) sched_yield();
  vector sums[STRIDE] = {{0}};
  for (size_t i = 0; i < r->count;
       i += STRIDE) { /* unrolled by hand, as a compiler that optimises for size does not do it */
    sums[0] += r->from[i];
    sums[1] += r->from[i + 1];
    sums[2] += r->from[i + 2];
    sums[3] += r->from[i + 3];
  }
  for (int lane = 0; lane < LANES; lane++)
    for (int j = 0; j < STRIDE; j++) r->sum += sums[j][lane];
  return NULL;
}

/* Returns the nanoseconds of one round; the caller reads the parts whose threads cannot be made. */
static double round_of(reader *readers, int threads) {
  atomic_int go = 0;
  int made = 1;
  for (; made < threads; made++) {
    readers[made].go = &go;
    if (attn2c_thread_start(&readers[made].thread, read_all, &readers[made]) != 0) break;
  }
  const double start = attn2c_now();
  atomic_store(&go, 1);
  read_all(&readers[0]);
  for (int t = made; t < threads; t++) read_all(&readers[t]);
  for (int t = 1; t < made; t++) pthread_join(readers[t].thread, NULL);
  return attn2c_now() - start;
}

double attn2c_bandwidth_in(const void *memory, size_t bytes, int threads) {
  if (threads < 1) threads = 1;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  reader *readers = calloc((size_t)threads, sizeof *readers);
  if (!readers) return 0.0;
  double least = 0.0;
  const size_t each = bytes / sizeof(vector) / (size_t)threads / STRIDE * STRIDE;
  for (int t = 0; t < threads; t++)
    readers[t] = (reader){.from = (const vector *)memory + (size_t)t * each, .count = each};
  for (int i = 0; i < ROUNDS; i++) {
    const double time = round_of(readers, threads);
    if (i == 0 || time < least) least = time;
  }
  free(readers);
  return least > 0.0 ? (double)(each * (size_t)threads * sizeof(vector)) / least : 0.0;
}

double attn2c_bandwidth(int threads) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  size_t bytes = MOST_BYTES;
  if (pages > 0 && page > 0 && (size_t)pages / 8 < bytes / (size_t)page)
    bytes = (size_t)pages / 8 * (size_t)page;
  if (bytes < LEAST_BYTES) return 0.0;
  unsigned char *memory = attn2c_allocate(bytes);
  if (!memory) return 0.0;
  memset(memory, 1, bytes);
  const double rate = attn2c_bandwidth_in(memory, bytes, threads);
  attn2c_free(memory);
  return rate;
}
