/* processor_x86_64.h - see processor.h; of x86-64. The builtins have names in <immintrin.h>, but a compiler
 * takes longer to read that than all of a small model. */
#ifndef ATTN2C_PROCESSOR_X86_64_H
#define ATTN2C_PROCESSOR_X86_64_H

#include <stddef.h>
#include <string.h>

typedef unsigned attn2c_modes; /* MXCSR; nothing here computes on the x87 stack */

static inline attn2c_modes attn2c_modes_now(void) { return __builtin_ia32_stmxcsr(); }
static inline void attn2c_modes_set(attn2c_modes modes) { __builtin_ia32_ldmxcsr(modes); }

static inline attn2c_modes attn2c_modes_hold(void) {
  const attn2c_modes before = attn2c_modes_now();
  attn2c_modes_set((before & ~0x3fu) | 0x1f80u);
  return before;
}

static inline void attn2c_pause(void) { __builtin_ia32_pause(); }

/* Kernels leave the upper halves of the vector registers in use, which slows SSE code that follows. */
static inline void attn2c_leave(void) {
#ifdef __AVX__
  __builtin_ia32_vzeroupper();
#endif
}

static inline const char *attn2c_missing(const char *target) {
  __builtin_cpu_init();
  const int is_wide = strcmp(target, "avx512") == 0;
  if (!is_wide && strcmp(target, "avx2") != 0) return NULL;
  if (!__builtin_cpu_supports("avx2")) return "AVX2";
  if (!__builtin_cpu_supports("fma")) return "FMA";
  if (!is_wide) return NULL;
  if (!__builtin_cpu_supports("avx512f")) return "AVX-512 F";
  if (!__builtin_cpu_supports("avx512bw")) return "AVX-512 BW";
  if (!__builtin_cpu_supports("avx512dq")) return "AVX-512 DQ";
  return __builtin_cpu_supports("avx512vl") ? NULL : "AVX-512 VL";
}

#endif
