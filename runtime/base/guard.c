/* guard.c - allocates memory between two pages without access. The page before it holds the mapping's length,
 * and is made readable only to free the mapping, so that neighbouring mappings merge. A check of a thousand
 * layers holds more tensors than a process may have separate mappings. */
#include "base/guard.h"
#include "system/system.h"

#include <stdlib.h>

/* Header at the start of the page before the memory. */
typedef struct {
  uint64_t mark;
  void *memory;  /* the pointer that the caller got */
  size_t length; /* of the whole mapping, bytes */
} record;

#define MARK UINT64_C(0x6775617264656421)

void *attn2c_guard_allocate(size_t bytes) {
  const size_t page = attn2c_system_page();
  size_t inside, length;
  if (bytes == 0) bytes = 1;
  if (__builtin_add_overflow(bytes, page - 1, &inside)) return NULL;
  inside -= inside % page;
  if (__builtin_add_overflow(inside, 2 * page, &length) || length > PTRDIFF_MAX) return NULL;
  char *base = attn2c_system_reserve(length);
  if (!base) return NULL;
  if (attn2c_system_protect(base, page + inside, ATTN2C_READ_WRITE)) {
    attn2c_system_release(base, length);
    return NULL;
  }
  char *memory = base + page + inside - bytes;
  *(record *)(void *)base = (record){.mark = MARK, .memory = memory, .length = length};
  if (attn2c_system_protect(base, page, ATTN2C_NO_ACCESS)) {
    attn2c_system_release(base, length);
    return NULL;
  }
  return memory;
}

void attn2c_guard_free(void *memory) {
  if (!memory) return;
  const size_t page = attn2c_system_page();
  char *base = (char *)memory - (uintptr_t)memory % page - page;
  if (attn2c_system_protect(base, page, ATTN2C_READ_ONLY)) abort();
  const record kept = *(const record *)(const void *)base;
  if (kept.mark != MARK || kept.memory != memory) abort();
  attn2c_system_release(base, kept.length);
}
