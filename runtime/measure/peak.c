/* peak.c - a loop of fused multiply-adds on twelve accumulators: enough for two units with a
 * latency of four or five cycles, and few enough for sixteen registers. Each function is
 * compiled for the instructions that it is named after; the rest of the runtime is not. */
#include "measure/peak.h"
#include "measure/timing.h"

#include <string.h>

enum { ACCUMULATORS = 12, ROUNDS = 2000 };

/* x = x a + b keeps any x near b / (1 - a): no infinity, no subnormal. */
#define FACTOR 0.5f
#define TERM   0.25f

/* Every index is a constant once the loops are unrolled, and the accumulators are registers. What nothing
 * reads would not be computed. */
#define EACH _Pragma("GCC unroll 12") for (int i = 0; i < ACCUMULATORS; i++)
#define LOOP(VECTOR, SPLAT, STEP)                                                                            \
  VECTOR x[ACCUMULATORS];                                                                                    \
  const VECTOR a = SPLAT(FACTOR), b = SPLAT(TERM);                                                           \
  EACH x[i] = SPLAT(0.1f * (float)i);                                                                        \
  for (int round = 0; round < ROUNDS; round++) EACH x[i] = STEP(x[i], a, b);                                 \
  EACH __asm__ volatile("" : : "x"(x[i]));                                                                   \
  return 2.0 * ACCUMULATORS * ROUNDS * sizeof(VECTOR) / sizeof(float)

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static double work_avx512(void) {
  LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps);
}

__attribute__((target("avx2,fma"))) static double work_avx2(void) {
  LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps);
}
#endif

typedef float plain __attribute__((vector_size(16)));
static plain splat(float value) { return (plain){value, value, value, value}; }
static plain multiply_add(plain x, plain a, plain b) { return x * a + b; }
static double work_plain(void) { LOOP(plain, splat, multiply_add); }

double attn2c_peak_rate(const char *target, double nanoseconds) {
  double (*work)(void) = work_plain;
#if defined(__x86_64__)
  if (strcmp(target, "avx512") == 0) work = work_avx512;
  if (strcmp(target, "avx2") == 0) work = work_avx2;
#endif
  double flops = 0.0, elapsed;
  const double start = attn2c_now();
  do {
    flops += work();
    elapsed = attn2c_now() - start;
  } while (elapsed < nanoseconds);
  return flops / elapsed;
}
