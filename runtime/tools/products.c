/* products.c - a program that times the candidates of one product in turn. Weights come from a pool, one
 * matrix after the other, as in a model; rows and results stay where they are.
 * gen/commands/products/library.lua writes the library of a product:
 *
 *   products LIBRARY.so POOL_KB MS ROUNDS [SECONDS [CALLS]]
 *
 * Prints for each candidate the nanoseconds of the whole product. A round times each candidate once, and
 * takes its time divided by the median of the round's. The median of these ratios over all rounds is
 * multiplied by the median of the fastest round. The rate of memory changes from round to round, up and down,
 * so that the least time of a candidate that reads much would be that of its luckiest round. Times are the
 * thread's processor time, which does not count while others have the core. A sample takes about MS
 * milliseconds. No round begins SECONDS after the start, except the first one.
 *
 * With CALLS, CALLS entries in a row are one choice, for several numbers of rows, and the first choice is the
 * rule's. A choice that is clearly slower than the best one is not timed again. Then least times of all
 * rounds are printed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "system/clock.h"

typedef void candidate(const void *a, const void *b, void *c);

enum { HUGE_PAGE = 1 << 21 };

static double seconds(clockid_t clock) { return 1e-9 * (double)attn2c_system_clock(clock); }

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

static int by_size(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* The median of count numbers, which are `step` apart; work has room for them. */
static double median(const double *of, int count, int step, double *work) {
  for (int i = 0; i < count; i++) work[i] = of[(size_t)i * (size_t)step];
  qsort(work, (size_t)count, sizeof *work, by_size);
  return (work[count / 2] + work[(count - 1) / 2]) / 2;
}

/* Choices that take longer than the best by this factor after a round, in the mean of their calls, are not
 * timed in later rounds. Few samples say little. */
static const double most_slower[] = {1.5, 1.25, 1.12, 1.08, 1.06, 1.05, 1.04, 1.03};
enum { SLOWER = sizeof most_slower / sizeof *most_slower };

/* Returns the product of the times of a choice's calls, as parts of the rule's. */
static double score_of(const double *least, int choice, int calls) {
  double score = 1.0;
  for (int i = 0; i < calls; i++) score *= least[choice * calls + i] / least[i];
  return score;
}

/* Marks the choices that are clearly slower than the best; never the rule's. */
static void drop_slow(const double *least, char *dropped, int choices, int calls, int round) {
  double best = 1.0, factor = 1.0;
  for (int choice = 1; choice < choices; choice++) {
    const double score = score_of(least, choice, calls);
    if (score < best) best = score;
  }
  for (int i = 0; i < calls; i++) factor *= most_slower[round < SLOWER ? round : SLOWER - 1];
  for (int choice = 1; choice < choices; choice++)
    if (score_of(least, choice, calls) > factor * best) dropped[choice] = 1;
}

int main(int argc, char **argv) {
  enum { REQUEST_PERMISSION = 0x1023, TILES = 18 };
  if (argc < 5 || argc > 7) return 2;
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
  const double sample = 1e6 * atof(argv[3]); /* nanoseconds */
  const int rounds = atoi(argv[4]);
  pool = filled(pool_bytes + bytes[0]);
  const void *b = filled(bytes[1]);
  void *c = filled(bytes[2]);
  const int calls_each =
      argc > 6 ? atoi(argv[6]) : count; /* without CALLS: one choice, which is the rule's */
  if (calls_each < 1 || count % calls_each != 0) return 2;
  double *least = calloc((size_t)count, sizeof *least);
  char *dropped = calloc((size_t)(count / calls_each), 1);
  double *ratios = calloc((size_t)count * (size_t)rounds, sizeof *ratios); /* of a round, then of the next */
  double *work = calloc((size_t)(count > rounds ? count : rounds), sizeof *work), quietest = 1e30;
  if (!least || !dropped || !ratios || !work) return 1;
  int round = 0;
  for (; round < rounds && (round == 0 || seconds(CLOCK_MONOTONIC) < end); round++) {
    double *of = ratios + (size_t)round * (size_t)count;
    for (int i = 0; i < count; i++) {
      const int k = (i + round * 7) % count; /* nobody always follows the same one */
      if (dropped[k / calls_each]) continue;
      if (round == 0) least[k] = time_of(fns[k], bytes[0], b, c, 1);
      const double ns = time_of(fns[k], bytes[0], b, c, least[k] < sample ? (int)(sample / least[k]) + 1 : 1);
      if (ns < least[k]) least[k] = ns;
      of[k] = ns;
    }
    drop_slow(least, dropped, count / calls_each, calls_each, round);
    if (argc > 6) continue; /* only the least times count */
    const double usual = median(of, count, 1, work);
    for (int i = 0; i < count; i++) of[i] /= usual;
    if (usual < quietest) quietest = usual;
  }
  for (int i = 0; i < count; i++)
    printf("%.0f\n", argc > 6 ? least[i] : quietest * median(ratios + i, round, count, work));
  return 0;
}
