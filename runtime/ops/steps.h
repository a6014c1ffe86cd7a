/* steps.h - helpers of the emitted steps: the check of integer inputs and the laps of a profile. */
#pragma once

#include "base/descriptor.h"
#include "base/processor.h"

/* True if minimum <= values[i] < limit for all values. */
static inline int attn2c_within(const int32_t *values, size_t count, int64_t minimum, int64_t limit) {
  int outside = 0;
  for (size_t i = 0; i < count; i++) outside |= values[i] < minimum || values[i] >= limit;
  return !outside;
}

/* Returns 1 if the product of each pair of `count` numbers is below a limit. */
static inline int attn2c_shapes_within(const int32_t *values, size_t count, int64_t limit) {
  for (size_t i = 0; i + 1 < count; i += 2)
    if ((int64_t)values[i] * values[i + 1] >= limit) return 0;
  return 1;
}

/* A clock that charges the time since its last lap to an op of the graph. */
typedef struct {
  double *nanoseconds; /* one per op */
  double last;
} attn2c_laps;

attn2c_laps attn2c_laps_start(double *nanoseconds);
void attn2c_lap(attn2c_laps *laps, int op);
