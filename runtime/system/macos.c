/* macos.c - implements system.h for macOS. */
#include "system/posix.h"
#include "system/without.h"

int attn2c_system_advise(void *memory, size_t bytes, attn2c_advice advice) {
  return advice == ATTN2C_WILL_READ ? madvise(memory, bytes, MADV_WILLNEED) : -1;
}

int attn2c_system_processors(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (int)count;
}
