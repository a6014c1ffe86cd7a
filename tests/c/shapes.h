/* shapes.h - what tests of operations on rows share: a function for each size that the compiler knows, and
 * loops over all sizes, numbers of rows and paddings. A test that includes it has sized[], row_counts[] and
 * paddings[].
 */
#ifndef ATTN2C_TEST_SHAPES_H
#define ATTN2C_TEST_SHAPES_H

#include "ops/elementary.h"

#include <math.h>

#define NOINLINE    static __attribute__((noinline))
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* Runs the block that follows for each size `s` of sized[], each number of rows and each padding. */
#define EACH_SHAPE                                                                                           \
  for (size_t s = 0; s < COUNT_OF(sized); s++)                                                               \
    for (size_t row_index = 0; row_index < COUNT_OF(row_counts); row_index++)                                \
      for (size_t padding = 0; padding < COUNT_OF(paddings); padding++)

#define SHAPE                                                                                                \
  const int rows = row_counts[row_index], cols = sized[s].cols, ld = cols + paddings[padding];               \
  const uint32_t seed = (uint32_t)(s * 100 + row_index * 10 + padding + 1);

static inline int same(float a, float b) {
  return attn2c_bits(a) == attn2c_bits(b) || (isnan(a) && isnan(b));
}

#endif
