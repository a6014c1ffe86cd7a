/* without.h - stands for what only Linux has. Waiting for a count is done by one condition that all threads
 * of the process share. They wait for it only after a spin, and whoever is woken in vain waits again. */
#pragma once

#include "system/system.h"

#include <time.h>

static pthread_mutex_t waits_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t waits_end = PTHREAD_COND_INITIALIZER;

void attn2c_system_wait(atomic_uint *count, unsigned seen, long nap) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += nap < 0 ? 0 : nap; /* less than a second */
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_mutex_lock(&waits_lock);
  if (atomic_load(count) == seen) {
    if (nap < 0)
      pthread_cond_wait(&waits_end, &waits_lock);
    else
      pthread_cond_timedwait(&waits_end, &waits_lock, &until);
  }
  pthread_mutex_unlock(&waits_lock);
}

void attn2c_system_wake(atomic_uint *count) {
  (void)count;
  pthread_mutex_lock(&waits_lock);
  pthread_cond_broadcast(&waits_end);
  pthread_mutex_unlock(&waits_lock);
}

/* Neither system lets a thread choose its processors, or files have no name at first. */
int attn2c_system_open_unnamed(const char *folder) {
  (void)folder;
  return -1;
}

int attn2c_system_name(int descriptor, const char *path) {
  (void)descriptor, (void)path;
  return -1;
}

/* A file that was made longer has zeros already. */
int64_t attn2c_system_write_zeros(int descriptor, int64_t offset, int64_t size) {
  (void)descriptor, (void)offset;
  return size;
}

int attn2c_system_core(void) { return -1; }

int attn2c_system_cores(pthread_t thread, attn2c_cores *cores) {
  (void)thread, (void)cores;
  return 0;
}

int attn2c_system_same_cores(const attn2c_cores *a, const attn2c_cores *b) { return *a == *b; }

int attn2c_system_use_cores(pthread_t thread, const attn2c_cores *of, int core, int is_only,
                            attn2c_cores *used) {
  (void)thread, (void)of, (void)core, (void)is_only, (void)used;
  return 0;
}

int64_t attn2c_system_computed(pthread_t thread) {
  (void)thread;
  return 0;
}
