/* products.c - a program that times the candidates of one product in turn. Weights come from a pool, one
 * matrix after the other, as in a model; rows and results stay where they are. gen/commands/tune/library.lua
 * writes the library of a product:
 *
 *   products LIBRARY.so POOL_KB MS ROUNDS [SECONDS]
 *
 * Prints for each candidate the nanoseconds of the whole product, the least of all rounds: other processes
 * only add to a time. Times are the thread's processor time, which does not count while others have the core.
 * A sample takes about MS milliseconds. No round begins SECONDS after the start, except the first one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void candidate(const void *a, const void *b, void *c);

enum { HUGE_PAGE = 1 << 21 };

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Floats of 1/4, which are numbers and no denormals in every type that reads them. */
static void *filled(size_t bytes) {
  bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  float *x = aligned_alloc(HUGE_PAGE, bytes);
  if (!x) exit(1);
  (void)madvise(x, bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes / sizeof *x; i++) x[i] = 0.25f;
  return x;
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "products: no %s\n", name);
    exit(1);
  }
  return found;
}

static char *pool;
static size_t pool_bytes, at; /* the next matrix begins at `at` */

/* Nanoseconds of a product, over `calls` of them. */
static double time_of(candidate *fn, size_t a_bytes, const void *b, void *c, int calls) {
  const double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < calls; i++) {
    if (at + 2 * a_bytes > pool_bytes) at = 0;
    fn(pool + at, b, c);
    at += a_bytes;
  }
  return 1e9 * (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) / calls;
}

int main(int argc, char **argv) {
  enum { REQUEST_PERMISSION = 0x1023, TILES = 18 };
  if (argc < 5 || argc > 6) return 2;
  const double end = argc > 5 ? seconds(CLOCK_MONOTONIC) + atof(argv[5]) : 1e30;
#ifdef SYS_arch_prctl
  (void)syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILES); /* refused where there are no tiles */
#endif
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "products: %s\n", dlerror());
    return 1;
  }
  candidate *const *fns = symbol(library, "candidates");
  const int count = *(const int *)symbol(library, "candidate_count");
  const size_t *bytes = symbol(library, "operand_bytes"); /* of A, B and C; A in whole cache lines */
  pool_bytes = (size_t)atoi(argv[2]) << 10;
  const double sample = 1e-3 * atof(argv[3]);
  const int rounds = atoi(argv[4]);
  pool = filled(pool_bytes + bytes[0]);
  const void *b = filled(bytes[1]);
  void *c = filled(bytes[2]);
  double *least = calloc((size_t)count, sizeof *least);
  if (!least) return 1;
  double one = 1e30;
  for (int i = 0; i < 3; i++) {
    const double ns = time_of(fns[0], bytes[0], b, c, 1);
    if (ns < one) one = ns;
  }
  const int calls = one > 1e9 * sample ? 1 : (int)(1e9 * sample / one) + 1;
  for (int round = 0; round < rounds && (round == 0 || seconds(CLOCK_MONOTONIC) < end); round++) {
    for (int i = 0; i < count; i++) {
      const int k = (i + round * 7) % count; /* nobody always follows the same one */
      const double ns = time_of(fns[k], bytes[0], b, c, calls);
      if (round == 0 || ns < least[k]) least[k] = ns;
    }
  }
  for (int i = 0; i < count; i++) printf("%.0f\n", least[i]);
  return 0;
}
