/* processor_other.h - see processor.h; of processors whose targets need no instructions that some of them
 * lack: by C alone, but for the hint of a waiting loop. */
#ifndef ATTN2C_PROCESSOR_OTHER_H
#define ATTN2C_PROCESSOR_OTHER_H

#include <fenv.h>
#include <stddef.h>

typedef fenv_t attn2c_modes;

static inline attn2c_modes attn2c_modes_now(void) {
  attn2c_modes modes;
  fegetenv(&modes);
  return modes;
}

static inline void attn2c_modes_set(attn2c_modes modes) { fesetenv(&modes); }

static inline attn2c_modes attn2c_modes_hold(void) {
  attn2c_modes before;
  feholdexcept(&before);
  return before;
}

static inline void attn2c_pause(void) {
#ifdef __aarch64__
  __asm__ volatile("yield");
#endif
}

static inline void attn2c_leave(void) {}

static inline const char *attn2c_missing(const char *target) {
  (void)target;
  return NULL;
}

#endif
