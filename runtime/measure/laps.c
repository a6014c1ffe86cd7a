/* laps.c - implements the clock of a profile (ops/steps.h). */
#include "ops/steps.h"

#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

attn2c_laps attn2c_laps_start(double *nanoseconds) { return (attn2c_laps){nanoseconds, now()}; }

void attn2c_lap(attn2c_laps *laps, int op) {
  if (!laps) return;
  const double time = now();
  laps->nanoseconds[op] += time - laps->last;
  laps->last = time;
}
