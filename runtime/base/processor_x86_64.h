/* processor_x86_64.h - implements processor.h for x86-64. The builtins have names in <immintrin.h>, but a
 * compiler takes longer to read that header than to compile a small model. */
#pragma once

#include <stddef.h>
#include <string.h>

#include "base/tables.h"

/* gcc passes the file name of each line of assembly to the assembler unescaped. A " in a folder's name would
 * end it. The lines below are numbered one too low. */
#line __LINE__ "attn2c/runtime/base/processor_x86_64.h"

typedef unsigned attn2c_modes; /* MXCSR; nothing in this file computes on the x87 stack */

static inline attn2c_modes attn2c_modes_now(void) { return __builtin_ia32_stmxcsr(); }
static inline void attn2c_modes_set(attn2c_modes modes) { __builtin_ia32_ldmxcsr(modes); }

static inline attn2c_modes attn2c_modes_hold(void) {
  const attn2c_modes before = attn2c_modes_now();
  attn2c_modes_set((before & ~0x3fu) | 0x1f80u);
  return before;
}

typedef unsigned attn2c_flush;

enum { ATTN2C_FLUSH_BITS = 0x8040 }; /* flush to zero, denormals are zeros */

static inline attn2c_flush attn2c_flush_on(void) {
  const unsigned before = attn2c_modes_now();
  attn2c_modes_set(before | ATTN2C_FLUSH_BITS);
  return before & ATTN2C_FLUSH_BITS;
}

static inline void attn2c_flush_restore(attn2c_flush before) {
  attn2c_modes_set((attn2c_modes_now() & ~(unsigned)ATTN2C_FLUSH_BITS) | before);
}

static inline void attn2c_pause(void) { __builtin_ia32_pause(); }

/* Ends wide vector code: kernels leave the upper halves of vector registers in use, which slows SSE code. */
static inline void attn2c_leave(void) {
#ifdef __AVX__
  __builtin_ia32_vzeroupper();
#endif
}

/* The same after products in tiles of AMX (ops/product/tiles.h): tiles in use make signal frames and thread
 * switches 8 KB larger. */
static inline void attn2c_leave_tiles(void) {
#ifndef ATTN2C_TILES_EMULATED
  __asm__ volatile("tilerelease" : : : "memory");
#endif
  attn2c_leave();
}

/* True with AVX-VNNI: bit 4 of EAX of CPUID's leaf 7, 1. gcc 12 and clang 14 have no name for it. */
static inline int attn2c_has_avx_vnni(void) {
  unsigned a = 0, b, c = 0, d;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a < 7) return 0;
  a = 7, c = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a < 1) return 0; /* leaf 7 has no subleaf 1 */
  a = 7, c = 1;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return a >> 4 & 1;
}

/* True if the system permits this process to use tiles. The permission holds for its threads, later threads
 * and children, until exec. Asking again changes nothing. Linux refuses if a signal's alternate stack is too
 * small for tiles (AT_MINSIGSTKSZ). Builds with emulated tiles ask too, since a sandbox may refuse; an answer
 * that the system or processor has no tiles counts as permission there. */
static inline int attn2c_tiles_permitted(void) {
#ifdef __linux__
  enum { ARCH_PRCTL = 158, ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
  long status = ARCH_PRCTL;
  __asm__ volatile("syscall"
                   : "+a"(status)
                   : "D"((long)ARCH_REQ_XCOMP_PERM), "S"((long)TILE_DATA)
                   : "rcx", "r11", "memory");
#ifdef ATTN2C_TILES_EMULATED
  enum { NO_SUCH_OPTION = -22, NO_SUCH_CALL = -38, NOT_SUPPORTED = -95 };
  if (status == NO_SUCH_OPTION || status == NO_SUCH_CALL || status == NOT_SUPPORTED) return 1;
#endif
  return status == 0;
#elif defined ATTN2C_TILES_EMULATED
  return 1;
#else
  return 0;
#endif
}

/* Returns the missing part of AMX, or NULL. It tests the instructions, a palette of tiles (which some virtual
 * machines hide), that the system saves tiles, and its permission. */
static inline const char *attn2c_missing_amx(void) {
#ifndef ATTN2C_TILES_EMULATED
  enum { BF16 = 1 << 22, TILE = 1 << 24, INT8 = 1 << 25, ALL = BF16 | TILE | INT8 };
  enum { OSXSAVE = 1 << 27, TILES_SAVED = 3 << 17 };
  unsigned a = 0, b, c = 0, d;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a < 0x1d) return "AMX";
  a = 7, c = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if ((d & ALL) != ALL) return "AMX";
  a = 1, c = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (!(c & OSXSAVE)) return "AMX";
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  if ((a & TILES_SAVED) != TILES_SAVED) return "AMX";
  a = 0x1d, c = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a < 1) return "AMX's tiles";
  a = 0x1d, c = 1; /* palette 1: tiles of 1 KB in rows of 64 bytes; the number of tiles, and of their rows */
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (a >> 16 < 1024 || (b & 0xffff) < 64 || b >> 16 < 8 || (c & 0xffff) < 16) return "AMX's tiles";
#endif
  return attn2c_tiles_permitted() ? NULL : "the system's permission for AMX";
}

/* X(feature as /proc/cpuinfo names it, test: NULL, or the name of what is missing), in the order of the
 * tests. Each processor with AVX2 has f16c, which clang 14 cannot test; the parts of AMX have one test. */
#define ATTN2C_FEATURES(X)                                                                                   \
  X("avx2", __builtin_cpu_supports("avx2") ? NULL : "AVX2")                                                  \
  X("fma", __builtin_cpu_supports("fma") ? NULL : "FMA")                                                     \
  X("avx_vnni", attn2c_has_avx_vnni() ? NULL : "AVX-VNNI")                                                   \
  X("avx512f", __builtin_cpu_supports("avx512f") ? NULL : "AVX-512 F")                                       \
  X("avx512bw", __builtin_cpu_supports("avx512bw") ? NULL : "AVX-512 BW")                                    \
  X("avx512dq", __builtin_cpu_supports("avx512dq") ? NULL : "AVX-512 DQ")                                    \
  X("avx512vl", __builtin_cpu_supports("avx512vl") ? NULL : "AVX-512 VL")                                    \
  X("avx512_vnni", __builtin_cpu_supports("avx512vnni") ? NULL : "AVX-512 VNNI")                             \
  X("avx512_bf16", __builtin_cpu_supports("avx512bf16") ? NULL : "AVX-512 BF16")                             \
  X("amx_tile", attn2c_missing_amx())

static inline const char *attn2c_missing(const char *target) {
  static const struct {
    const char *name, *needs; /* features, with a space before and after each */
  } targets[] = {ATTN2C_TARGETS};
  const char *needs = "", *missing = NULL;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    if (strcmp(targets[i].name, target) == 0) needs = targets[i].needs;
  __builtin_cpu_init();
#define ATTN2C_TEST(feature, test)                                                                           \
  if (missing == NULL && strstr(needs, " " feature " ")) missing = test;
  ATTN2C_FEATURES(ATTN2C_TEST)
#undef ATTN2C_TEST
  return missing;
}
