/* clock.h - reads POSIX's clocks. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Returns the nanoseconds of a clock, such as CLOCK_MONOTONIC. */
static inline int64_t attn2c_system_clock(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
