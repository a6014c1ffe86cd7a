/* faults.c - the wrapped functions: -Wl,--wrap= of malloc, calloc, realloc, aligned_alloc,
 * free, pread, write, fsync, close, rename, mmap, munmap and clock_gettime. Each counts, and then either
 * fails as it was told to or calls the real one. */
#define _DEFAULT_SOURCE
#include "faults.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
ssize_t __real_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __real_write(int descriptor, const void *bytes, size_t size);
int __real_fsync(int descriptor);
int __real_close(int descriptor);
int __real_rename(const char *from, const char *to);
void *__real_mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset);
int __real_munmap(void *at, size_t size);
int __real_clock_gettime(clockid_t clock, struct timespec *now);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t size);
int __wrap_fsync(int descriptor);
int __wrap_close(int descriptor);
int __wrap_rename(const char *from, const char *to);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset);
int __wrap_munmap(void *at, size_t size);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
size_t __wrap_attn2c_system_memory(void);

typedef struct {
  long calls_left; /* 0: not armed */
  fault_kind kind;
  int persistent;
} plan;

static plan allocation, reading, writing, syncing, closing, renaming;
static long met, allocations, live_blocks, live_maps;
static int map_error; /* 0: not armed */
static unsigned long largest_block;

void faults_clear(void) {
  const plan none = {0, FAULT_NONE, 0};
  allocation = reading = writing = syncing = closing = renaming = none;
  met = allocations = live_blocks = live_maps = 0;
  map_error = 0;
  largest_block = 0;
}

void faults_allocation(long nth, int persistent) { allocation = (plan){nth, FAULT_ERROR, persistent}; }
void faults_read(long nth, fault_kind kind, int persistent) { reading = (plan){nth, kind, persistent}; }
void faults_write(long nth, fault_kind kind, int persistent) { writing = (plan){nth, kind, persistent}; }
void faults_fsync(void) { syncing = (plan){1, FAULT_ERROR, 0}; }
void faults_close(void) { closing = (plan){1, FAULT_ERROR, 0}; }
void faults_map(int error) { map_error = error; }
void faults_rename(void) { renaming = (plan){1, FAULT_ERROR, 0}; }

long faults_met(void) { return met; }
long faults_allocations(void) { return allocations; }
long faults_live_blocks(void) { return live_blocks; }
long faults_live_maps(void) { return live_maps; }
unsigned long faults_largest_block(void) { return largest_block; }

/* Returns the fault of this call. */
static fault_kind next(plan *plan) {
  if (plan->calls_left == 0 || --plan->calls_left > 0) return FAULT_NONE;
  if (plan->persistent) plan->calls_left = 1;
  met++;
  return plan->kind;
}

/* 1 where the allocation of `size` bytes is to fail. */
static int allocation_fails(size_t size) {
  if (size > largest_block) largest_block = size;
  if (next(&allocation) == FAULT_NONE) return 0;
  errno = ENOMEM;
  return 1;
}

static void *count_block(void *block) {
  allocations++;
  if (block) live_blocks++;
  return block;
}

void *__wrap_malloc(size_t size) { return allocation_fails(size) ? NULL : count_block(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails(count * size) ? NULL : count_block(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return allocation_fails(size) ? NULL : count_block(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size) {
  if (allocation_fails(size)) return NULL;
  void *moved = __real_realloc(block, size);
  if (!block) return count_block(moved);
  allocations++;
  return moved;
}

void __wrap_free(void *block) {
  if (block) live_blocks--;
  __real_free(block);
}

ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset) {
  switch (next(&reading)) {
  case FAULT_ERROR:
    errno = EIO;
    return -1;
  case FAULT_INTERRUPTED:
    errno = EINTR;
    return -1;
  case FAULT_SHORT:
    return __real_pread(descriptor, bytes, size ? 1 : 0, offset);
  case FAULT_END:
    return 0;
  default:
    return __real_pread(descriptor, bytes, size, offset);
  }
}

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size) {
  switch (next(&writing)) {
  case FAULT_ERROR:
    errno = ENOSPC;
    return -1;
  case FAULT_INTERRUPTED:
    errno = EINTR;
    return -1;
  case FAULT_SHORT:
    return __real_write(descriptor, bytes, size ? 1 : 0);
  case FAULT_END:
    return 0;
  default:
    return __real_write(descriptor, bytes, size);
  }
}

int __wrap_fsync(int descriptor) {
  if (next(&syncing) == FAULT_NONE) return __real_fsync(descriptor);
  errno = EIO;
  return -1;
}

/* Like the system's, a close that fails has closed. */
int __wrap_close(int descriptor) {
  int closed = __real_close(descriptor);
  if (next(&closing) == FAULT_NONE) return closed;
  errno = EIO;
  return -1;
}

int __wrap_rename(const char *from, const char *to) {
  if (next(&renaming) == FAULT_NONE) return __real_rename(from, to);
  errno = EIO;
  return -1;
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (map_error) {
    errno = map_error;
    map_error = 0, met++;
    return MAP_FAILED;
  }
  void *mapping = __real_mmap(at, size, protection, flags, descriptor, offset);
  if (mapping != MAP_FAILED) live_maps++;
  return mapping;
}

int __wrap_munmap(void *at, size_t size) {
  live_maps--;
  return __real_munmap(at, size);
}

long long faults_time;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
  if (faults_time == 0) return __real_clock_gettime(clock, now);
  *now = (struct timespec){.tv_sec = faults_time / 1000000000, .tv_nsec = faults_time % 1000000000};
  return 0;
}

/* A machine of little memory, of which the rate of reads is measured in a smaller block. */
size_t __wrap_attn2c_system_memory(void) { return (size_t)64 << 20; }
