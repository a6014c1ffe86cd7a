/* guard.c - allocates memory between two pages without access. The page before it holds the mapping's length,
 * and is made readable only to free the mapping, so that neighbouring mappings merge. A check of a thousand
 * layers holds more tensors than a process may have separate mappings. */
#define _DEFAULT_SOURCE
#include "base/guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Header at the start of the page before the memory. */
typedef struct {
  uint64_t mark;
  void *memory;  /* the pointer that the caller got */
  size_t length; /* of the whole mapping, bytes */
} record;

#define MARK UINT64_C(0x6775617264656421)

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *attn2c_guard_allocate(size_t bytes) {
  const size_t page = page_size();
  size_t inside, length;
  if (bytes == 0) bytes = 1;
  if (__builtin_add_overflow(bytes, page - 1, &inside)) return NULL;
  inside -= inside % page;
  if (__builtin_add_overflow(inside, 2 * page, &length) || length > PTRDIFF_MAX) return NULL;
  /* MAP_NORESERVE, because a page with its own reservation would not merge with the page before it. */
  char *base = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return NULL;
  if (mprotect(base, page + inside, PROT_READ | PROT_WRITE)) {
    munmap(base, length);
    return NULL;
  }
  char *memory = base + page + inside - bytes;
  *(record *)(void *)base = (record){.mark = MARK, .memory = memory, .length = length};
  if (mprotect(base, page, PROT_NONE)) {
    munmap(base, length);
    return NULL;
  }
  return memory;
}

void attn2c_guard_free(void *memory) {
  if (!memory) return;
  const size_t page = page_size();
  char *base = (char *)memory - (uintptr_t)memory % page - page;
  if (mprotect(base, page, PROT_READ)) abort();
  const record kept = *(const record *)(const void *)base;
  if (kept.mark != MARK || kept.memory != memory) abort();
  munmap(base, kept.length);
}
