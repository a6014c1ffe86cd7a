/* laps.c - implements the clock of a profile (ops/steps.h). */
#include "ops/steps.h"
#include "system/clock.h"

static double now(void) { return (double)attn2c_system_clock(CLOCK_MONOTONIC); }

attn2c_laps attn2c_laps_start(double *nanoseconds) { return (attn2c_laps){nanoseconds, now()}; }

void attn2c_lap(attn2c_laps *laps, int op) {
  if (!laps) return;
  const double time = now();
  laps->nanoseconds[op] += time - laps->last;
  laps->last = time;
}
