/* timing.c - implements the clock and the statistics of samples. The median represents the time, because a
 * neighbour's burst moves a mean but not a median. */
#define _POSIX_C_SOURCE 200809L
#include "measure/timing.h"
#include "system/clock.h"

#include <math.h>
#include <stdlib.h>

double attn2c_now(void) { return (double)attn2c_system_clock(CLOCK_MONOTONIC); }

static int by_value(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double attn2c_quantile(const double *samples, int count, double part) {
  const double place = part * (count - 1);
  const int below = (int)place;
  if (below + 1 >= count) return samples[count - 1];
  return samples[below] + (place - below) * (samples[below + 1] - samples[below]);
}

double attn2c_rate_of_loop(double (*loop)(void), double nanoseconds) {
  double operations = 0.0, elapsed;
  const double start = attn2c_now();
  do {
    operations += loop();
    elapsed = attn2c_now() - start;
  } while (elapsed < nanoseconds);
  return operations / elapsed;
}

attn2c_spread attn2c_spread_of(double *samples, int count) {
  attn2c_spread spread = {0};
  if (count < 1) return spread;
  qsort(samples, (size_t)count, sizeof *samples, by_value);
  spread.minimum = samples[0];
  spread.median = count % 2 == 1 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
  spread.p95 = attn2c_quantile(samples, count, 0.95);
  spread.p99 = attn2c_quantile(samples, count, 0.99);
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < count; i++) sum += samples[i];
  const double mean = sum / count;
  for (int i = 0; i < count; i++) squares += (samples[i] - mean) * (samples[i] - mean);
  if (count > 1) spread.deviation = sqrt(squares / (count - 1));
  return spread;
}
