/* host_clock.c - preloaded: a monotonic clock on which a tenth of a millisecond passes between two readings.
 * So each call of a model takes as long as any other, and what a program decides by times is the same on
 * every machine. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_long readings;

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, now);
  const long count = atomic_fetch_add(&readings, 1);
  *now = (struct timespec){.tv_sec = 1 + count / 10000, .tv_nsec = count % 10000 * 100000};
  return 0;
}
