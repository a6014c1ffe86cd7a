/* kernels.c - times the products of kernels.lua in cache: the same functions from the libraries of two
 * compilers, in turn. Reads lines `FUNCTION n m k lda ldb ldc` (floats); prints for each the GFLOP/s of both,
 * at the least times of ROUNDS rounds.
 *
 *   kernels FIRST.so SECOND.so < LINES */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15 };

typedef void product(const float *a, const float *b, float *c);

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* `count` floats at a cache line, all 1/4: sums stay exact, and no result is a denormal. */
static float *floats(size_t count) {
  float *x = aligned_alloc(64, (count * sizeof *x + 63) / 64 * 64);
  if (!x) exit(1);
  for (size_t i = 0; i < count; i++) x[i] = 0.25f;
  return x;
}

static double time_of(product *fn, const float *a, const float *b, float *c, int calls) {
  const double begin = seconds();
  for (int i = 0; i < calls; i++) fn(a, b, c);
  return (seconds() - begin) / calls;
}

int main(int argc, char **argv) {
  void *library[2];
  for (int i = 0; i < 2; i++) {
    library[i] = argc == 3 ? dlopen(argv[1 + i], RTLD_NOW) : NULL;
    if (!library[i]) {
      fprintf(stderr, "kernels: %s\n", argc == 3 ? dlerror() : "two libraries are wanted");
      return 1;
    }
  }
  char name[256];
  int n, m, k, lda, ldb, ldc;
  while (scanf("%255s %d %d %d %d %d %d", name, &n, &m, &k, &lda, &ldb, &ldc) == 7) {
    float *a = floats((size_t)k * (size_t)lda + 64), *b = floats((size_t)n * (size_t)ldb);
    float *c = floats((size_t)n * (size_t)ldc);
    const double flops = 2.0 * n * m * k;
    const int calls = (int)(1e8 / flops) + 1;
    double least[2] = {1e9, 1e9};
    for (int round = 0; round < 2 * ROUNDS; round++) {
      void *symbol = dlsym(library[round % 2], name);
      if (!symbol) {
        fprintf(stderr, "kernels: no %s\n", name);
        return 1;
      }
      const double time = time_of(*(product **)&symbol, a, b, c, calls);
      if (time < least[round % 2]) least[round % 2] = time;
    }
    printf("%s %.1f %.1f\n", name, 1e-9 * flops / least[0], 1e-9 * flops / least[1]);
    fflush(stdout);
    free(a);
    free(b);
    free(c);
  }
  return 0;
}
