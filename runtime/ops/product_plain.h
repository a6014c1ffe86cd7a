/* product_plain.h - see product.h; of any processor, by GNU vectors: a multiply-add has two roundings. */
#ifndef ATTN2C_PRODUCT_PLAIN_H
#define ATTN2C_PRODUCT_PLAIN_H

#include "ops/vector.h"

#ifdef __SSE__
#define ATTN2C_HOLD(v) __asm__("" : "+x"(v))
#else
#define ATTN2C_HOLD(v) (void)(v)
#endif

ATTN2C_INLINE attn2c_vector attn2c_load_first(const float *x, int count) {
  attn2c_vector v = {0.0f};
  memcpy(&v, x, (size_t)count * sizeof *x);
  return v;
}
ATTN2C_INLINE void attn2c_store_first(float *y, attn2c_vector v, int count) {
  memcpy(y, &v, (size_t)count * sizeof *y);
}

ATTN2C_INLINE attn2c_vector attn2c_multiply_add(attn2c_vector a, attn2c_vector b, attn2c_vector c) {
  return a * b + c;
}

#endif
