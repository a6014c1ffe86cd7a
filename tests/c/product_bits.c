/* product_bits.c - runs products as the compiler emits them (products.lua) on numbers of all sizes and
 * signs, and writes what they made, byte for byte: compiled in several ways, it must write the same. */
#include "ops/product/product.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int m, n, k, lda, ldb, ldc, adds, has_room;
  void (*run)(const float *a, const float *b, float *c);
} product;

#include PRODUCTS

/* Floats from -2 to 2 in every bit, some of which are tiny. The state is that of a linear congruential
 * generator. */
static float *numbers(int rows, int ld, uint64_t *state) {
  const size_t count = (size_t)rows * (size_t)ld + ATTN2C_LANES;
  float *x = malloc(count * sizeof *x);
  if (!x) exit(5);
  for (size_t i = 0; i < count; i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t bits = (uint32_t)(*state >> 32);
    x[i] = ((float)(bits >> 8) * 0x1p-22f - 2.0f) * (bits % 7 ? 1.0f : 0x1p-20f);
  }
  return x;
}

int main(void) {
  uint64_t state = 1;
  for (size_t p = 0; p < sizeof products / sizeof *products; p++) {
    const product *of = &products[p];
    float *a = numbers(of->k, of->lda, &state), *b = numbers(of->n, of->ldb, &state);
    float *c = numbers(of->n, of->ldc, &state);
    of->run(a, b, c);
    if (fwrite(c, sizeof *c, (size_t)of->n * (size_t)of->ldc, stdout) != (size_t)of->n * (size_t)of->ldc)
      return 4;
    free(a);
    free(b);
    free(c);
  }
  return fclose(stdout) == 0 ? 0 : 4;
}
