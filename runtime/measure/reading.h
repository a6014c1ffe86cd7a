/* reading.h - reads memory as fast as a target's vectors allow. */
#pragma once

#include "ops/product/words.h"

/* Eight vectors a turn are at most 512 bytes. */
ATTN2C_INLINE uint32_t attn2c_reading(const void *from, size_t bytes) {
  enum { EACH = 4 * ATTN2C_LANES, VECTORS = 8 };
  const char *at = from;
  attn2c_words sums[VECTORS] = {{0}};
  for (size_t i = 0; i < bytes; i += VECTORS * EACH) {
#define ATTN2C_READ(j) sums[j] |= attn2c_words_load(at + i + (j)*EACH);
    ATTN2C_READ(0)
    ATTN2C_READ(1) ATTN2C_READ(2) ATTN2C_READ(3) ATTN2C_READ(4) ATTN2C_READ(5) ATTN2C_READ(6) ATTN2C_READ(7)
#undef ATTN2C_READ
  }
  for (int j = 1; j < VECTORS; j++) sums[0] |= sums[j];
  uint32_t all = 0;
  for (int lane = 0; lane < ATTN2C_LANES; lane++) all |= sums[0][lane];
  return all;
}
