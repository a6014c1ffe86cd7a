/* modes.h - the floating-point environment of a caller, which a call leaves as it found it: rounding and the
 * treatment of denormals stay in force, traps are off, and the flags that the call raises are dropped. A NaN
 * or infinity on its way through a masked score must not raise flags that the caller sees. */
#ifndef ATTN2C_MODES_H
#define ATTN2C_MODES_H

#ifdef __x86_64__

typedef unsigned attn2c_modes; /* MXCSR; nothing here computes on the x87 stack */

static inline attn2c_modes attn2c_modes_now(void) { return __builtin_ia32_stmxcsr(); }
static inline void attn2c_modes_set(attn2c_modes modes) { __builtin_ia32_ldmxcsr(modes); }

/* Turns traps off and clears the flags; returns what is to be set again. */
static inline attn2c_modes attn2c_modes_hold(void) {
  const attn2c_modes before = attn2c_modes_now();
  attn2c_modes_set((before & ~0x3fu) | 0x1f80u);
  return before;
}

#else

#include <fenv.h>

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

#endif
#endif
