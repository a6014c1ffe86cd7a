/* fetch.h - prefetches weights into the second-level cache while a kernel works on others. A
 * tile of an emitted product calls this before each kernel. */
#ifndef ATTN2C_FETCH_H
#define ATTN2C_FETCH_H

/* Prefetches `lines` cache lines from `from` on. It reads nothing: `from` may be after the last weight. It is
 * not inline, as gcc 12 takes minutes to compile a tile of some hundred unrolled loops. */
__attribute__((noinline, unused)) static void attn2c_fetch(const float *from, int lines) {
  for (int i = 0; i < lines; i++) __builtin_prefetch(from + 16 * i, 0, 2);
  __asm__ volatile(""); /* otherwise gcc takes it for a pure function, and drops its calls */
}

#endif
