#include "base/shape.h"

#include <stdio.h>
#include <string.h>

attn2c_shape_text attn2c_shape_write(int rank, const int64_t *shape) {
  attn2c_shape_text written = {"["};
  size_t used = 1;
  for (int i = 0; i < rank; i++) {
    if (used + 32 > sizeof written.text) { /* space for one more number, its comma and the terminator */
      used += (size_t)snprintf(written.text + used, sizeof written.text - used, ", ...");
      break;
    }
    used += (size_t)snprintf(written.text + used, sizeof written.text - used, i ? ", %lld" : "%lld",
                             (long long)shape[i]);
  }
  snprintf(written.text + used, sizeof written.text - used, "]");
  return written;
}

int attn2c_shape_count(int rank, const int64_t *shape, int64_t *elements) {
  int64_t product = 1;
  for (int i = 0; i < rank; i++)
    if (shape[i] < 0 || __builtin_mul_overflow(product, shape[i], &product)) return 0;
  *elements = product;
  return 1;
}

int attn2c_shape_equal(int rank, const int64_t *shape, int other_rank, const int64_t *other) {
  return rank == other_rank && memcmp(shape, other, (size_t)rank * sizeof *shape) == 0;
}
