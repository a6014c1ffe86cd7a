/* add.c - adds the values of ranks in an order that depends only on their number. */

#include "ranks/inner.h"

enum { BLOCK = 64 };

typedef float block[BLOCK];

/* Adds one block: neighbours first, then the sums of neighbours. */
static void add_block(block *sums, int n, const float *const *from, size_t first, size_t count) {
  int left = 0;
  for (int i = 0; i < n; i += 2, left++) {
    const float *a = from[i] + first, *b = i + 1 < n ? from[i + 1] + first : NULL;
    for (size_t j = 0; j < count; j++) sums[left][j] = b ? a[j] + b[j] : a[j];
  }
  while (left > 1) {
    const int before = left;
    left = 0;
    for (int i = 0; i < before; i += 2, left++) {
      const float *a = sums[i], *b = i + 1 < before ? sums[i + 1] : NULL;
      float *to = sums[left];
      for (size_t j = 0; j < count; j++) to[j] = b ? a[j] + b[j] : a[j];
    }
  }
}

void attn2c_ranks_add(int to_count, float *const *to, int n, const float *const *from, size_t count) {
  block sums[ATTN2C_RANKS_MOST / 2];
  for (size_t first = 0; first < count; first += BLOCK) {
    const size_t some = count - first < BLOCK ? count - first : BLOCK;
    add_block(sums, n, from, first, some);
    for (int i = 0; i < to_count; i++) memcpy(to[i] + first, sums[0], some * sizeof(float));
  }
}
