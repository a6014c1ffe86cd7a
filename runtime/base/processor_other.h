/* processor_other.h - implements processor.h for processors other than x86-64, in C except for the hint of a
 * waiting loop. Their targets need no instructions that some of these processors lack. */
#pragma once

#include <fenv.h>
#include <stddef.h>
#include <stdint.h>

#line __LINE__ "attn2c/runtime/base/processor_other.h" /* see processor_x86_64.h */

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

typedef uint64_t attn2c_flush;

#ifdef __aarch64__
enum { ATTN2C_FLUSH_BIT = 1 << 24 }; /* FPCR.FZ */

static inline attn2c_flush attn2c_flush_on(void) {
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | ATTN2C_FLUSH_BIT));
  return before & ATTN2C_FLUSH_BIT;
}

static inline void attn2c_flush_restore(attn2c_flush before) {
  uint64_t now;
  __asm__ volatile("mrs %0, fpcr" : "=r"(now));
  __asm__ volatile("msr fpcr, %0" : : "r"((now & ~(uint64_t)ATTN2C_FLUSH_BIT) | before));
}
#else
static inline attn2c_flush attn2c_flush_on(void) { return 0; }
static inline void attn2c_flush_restore(attn2c_flush before) { (void)before; }
#endif

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
