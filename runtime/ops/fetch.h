/* fetch.h - prefetches weights into the second-level cache while a kernel works on others. A
 * tile of an emitted product calls this before each kernel. */
#ifndef ATTN2C_FETCH_H
#define ATTN2C_FETCH_H

/* Asks for `lines` cache lines from `from` on. Reads nothing: from may lie behind the last weight. Not
 * inline: gcc 12 takes minutes over a tile of some hundred unrolled loops. */
__attribute__((noinline, unused)) static void attn2c_fetch(const float *from, int lines) {
  for (int i = 0; i < lines; i++) __builtin_prefetch(from + 16 * i, 0, 2);
  __asm__ volatile(""); /* else gcc takes it for a pure function, and drops its calls */
}

#endif
