/* product_neon.h - see product.h; of aarch64. */
#ifndef ATTN2C_PRODUCT_NEON_H
#define ATTN2C_PRODUCT_NEON_H

#include <arm_neon.h>

#include "ops/vector.h"

#define ATTN2C_HOLD(v) __asm__("" : "+w"(v))

ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  attn2c_vector v = {0.0f};
  memcpy(&v, x, (size_t)count * sizeof *x);
  return v;
}
ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  memcpy(y, &v, (size_t)count * sizeof *y);
}

ATTN2C_INLINE attn2c_vector attn2c_multiply_add(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
  return (attn2c_vector)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}

#endif
