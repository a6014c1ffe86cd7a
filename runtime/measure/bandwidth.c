/* bandwidth.c - measures memory's bandwidth: each thread reads its own part of one block, all at once. */
#include "measure/bandwidth.h"

#include "base/attn2c.h" /* before <sched.h>, whose cpu_set_t it asks for */

#include <sched.h>

#include "measure/timing.h"
#include "model/team.h"
#include "system/system.h"

enum { MOST_THREADS = 256, ROUNDS = 5, LANES = 2, STRIDE = 4 /* vectors per turn */, SAMPLES = 1024 };

#define MOST_BYTES   ((size_t)256 << 20) /* more than any cache holds */
#define LEAST_BYTES  ((size_t)1 << 20)
#define SAMPLE_BYTES ((size_t)32 << 20)

typedef uint64_t vector __attribute__((vector_size(LANES * sizeof(uint64_t))));

typedef struct {
  const vector *from;
  size_t count;   /* number of vectors, a multiple of STRIDE */
  size_t ahead;   /* vectors from a read to the memory that is asked for; 0: nothing is */
  atomic_int *go; /* NULL: start at once */
  pthread_t thread;
  uint64_t sum; /* uses the values, so that they must be read */
} reader;

static void *read_all(void *of_reader) {
  reader *r = of_reader;
  while (r->go && !atomic_load(r->go)) sched_yield();
  vector sums[STRIDE] = {{0}};
  const size_t ahead = r->ahead;
  for (size_t i = 0; i < r->count;
       i += STRIDE) { /* unrolled by hand, as a compiler that optimises for size does not do it */
    if (ahead > 0) __builtin_prefetch((const char *)r->from + (i + ahead) * sizeof(vector));
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

/* Gives each reader its part of a block. Returns the bytes that they read. */
static size_t divide(reader *readers, int threads, const void *memory, size_t bytes, size_t ahead) {
  const size_t each = bytes / sizeof(vector) / (size_t)threads / STRIDE * STRIDE;
  for (int t = 0; t < threads; t++)
    readers[t] = (reader){.from = (const vector *)memory + (size_t)t * each, .count = each, .ahead = ahead};
  return each * (size_t)threads * sizeof(vector);
}

/* Returns the bytes of a block that no cache holds; 0: there is not enough memory. */
static size_t bytes_of_block(void) {
  const size_t memory = attn2c_system_memory();
  size_t bytes = memory > 0 && memory / 8 < MOST_BYTES ? memory / 8 : MOST_BYTES;
  return bytes < LEAST_BYTES ? 0 : bytes;
}

double attn2c_bandwidth_in(const void *memory, size_t bytes, int threads) {
  if (threads < 1) threads = 1;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  reader *readers = calloc((size_t)threads, sizeof *readers);
  if (!readers) return 0.0;
  double least = 0.0;
  const size_t read = divide(readers, threads, memory, bytes, 0);
  for (int i = 0; i < ROUNDS; i++) {
    const double time = round_of(readers, threads);
    if (i == 0 || time < least) least = time;
  }
  free(readers);
  return least > 0.0 ? (double)read / least : 0.0;
}

double attn2c_bandwidth(int threads) {
  const size_t bytes = bytes_of_block();
  if (bytes == 0) return 0.0;
  ATTN2C_OWN_ALIGNED unsigned char *memory = attn2c_allocate(bytes);
  if (!memory) return 0.0;
  memset(memory, 1, bytes);
  return attn2c_bandwidth_in(memory, bytes, threads);
}

struct attn2c_reads {
  int threads;
  unsigned char *memory;
  size_t bytes, at, ahead; /* at: bytes from the first to those that the next sample reads */
  reader *readers;
  double samples[SAMPLES], sorted[SAMPLES]; /* GB/s */
  long taken;
};

static double rate_of_next(attn2c_reads *reads) {
  const size_t bytes = reads->bytes < SAMPLE_BYTES ? reads->bytes : SAMPLE_BYTES;
  if (reads->at + bytes > reads->bytes) reads->at = 0;
  const size_t read = divide(reads->readers, reads->threads, reads->memory + reads->at, bytes, reads->ahead);
  reads->at += bytes;
  const double time = round_of(reads->readers, reads->threads);
  return time > 0.0 ? (double)read / time : 0.0;
}

int attn2c_reads_open(int threads, attn2c_reads **reads) {
  static const size_t distances[] = {0, 512, 1024, 2048, 4096, 8192, 16384}; /* bytes */
  enum { DISTANCES = sizeof distances / sizeof *distances };
  attn2c_reads *made = calloc(1, sizeof *made);
  *reads = NULL;
  if (!made) return ATTN2C_MEMORY;
  made->threads = threads < 1 ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
  made->readers = calloc((size_t)made->threads, sizeof *made->readers);
  made->bytes = bytes_of_block();
  made->memory = made->bytes > 0 ? attn2c_allocate(made->bytes) : NULL;
  if (!made->readers || !made->memory) {
    const int status = made->readers ? ATTN2C_OK : ATTN2C_MEMORY;
    attn2c_reads_close(made);
    return status;
  }
  memset(made->memory, 1, made->bytes);
  double best = 0.0;
  size_t chosen = 0;
  for (int i = 0; i < ROUNDS * DISTANCES; i++) { /* all distances in turn, as neighbours come and go */
    made->ahead = distances[i % DISTANCES] / sizeof(vector);
    const double rate = rate_of_next(made);
    if (rate > best) best = rate, chosen = made->ahead;
  }
  made->ahead = chosen;
  *reads = made;
  return ATTN2C_OK;
}

void attn2c_reads_sample(attn2c_reads *reads) {
  if (reads) reads->samples[reads->taken++ % SAMPLES] = rate_of_next(reads);
}

double attn2c_reads_rate(attn2c_reads *reads) {
  if (!reads) return 0.0;
  const int count = reads->taken < SAMPLES ? (int)reads->taken : SAMPLES;
  memcpy(reads->sorted, reads->samples, sizeof *reads->samples * (size_t)count);
  reads->taken = 0;
  return attn2c_spread_of(reads->sorted, count).median;
}

void attn2c_reads_close(attn2c_reads *reads) {
  if (!reads) return;
  attn2c_free(reads->memory);
  ATTN2C_FREE(reads->readers, reads);
}
