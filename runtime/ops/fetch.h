/* fetch.h - prefetches weights into the second-level cache while a kernel works on others. A
 * product by libxsmm calls this before each kernel. */
#pragma once

/* Prefetches `lines` cache lines from `from` on. It reads nothing: `from` may be after the last weight. It is
 * not inline, so that the calls of a product stay few instructions. */
__attribute__((noinline, unused)) static void attn2c_fetch(const void *from, int lines) {
  for (int i = 0; i < lines; i++) __builtin_prefetch((const char *)from + 64 * i, 0, 2);
  __asm__ volatile(""); /* otherwise gcc takes it for a pure function, and drops its calls */
}
