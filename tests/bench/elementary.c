/* elementary.c - a small bench of runtime/elementary.h, rowops.h and product.h: core cycles
 * an element on operands in cache, one line each. Compile it with the flags of emitted code;
 * it takes a moment. */
#define _POSIX_C_SOURCE 200809L
#include "../../runtime/product.h"
#include "../../runtime/rowops.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 128, COLS = 64, LD = 784, REPETITIONS = 2000 };

static float tile[1024 * LD], residual[1024 * LD], gain[1024], bias[1024], other[1024 * LD];

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Core cycles a second: a chain of 64-bit multiplications takes 3 cycles each on every x86-64 core of today.
 */
static double clock_rate(void) {
  double best = 1e9;
  for (int repetition = 0; repetition < 20; repetition++) {
    volatile unsigned long long seed = 3;
    unsigned long long x = seed;
    const unsigned long long factor = seed;
    const double start = seconds();
    for (int i = 0; i < 100000; i++) {
      x *= factor;
      __asm__ volatile("" : "+r"(x)); /* keeps the chain as it is */
    }
    const double took = seconds() - start;
    seed = x;
    if (took < best) best = took;
  }
  return 3.0 * 100000 / best;
}

/* The form that emitted code has: y = function(y + bias) + residual on a tile within a wider tensor. The
 * argument is scaled down again by 1/2, so that values stay in their usual range over many repetitions. */
#define EPILOGUE(name, function)                                                                             \
  static __attribute__((noinline)) void epilogue_##name(void) {                                              \
    for (int i = 0; i < ROWS; i++) {                                                                         \
      _Pragma("omp simd") for (int j = 0; j < COLS; j++) {                                                   \
        float v = tile[i * LD + j];                                                                          \
        v = v + bias[j];                                                                                     \
        v = function;                                                                                        \
        v = v + residual[i * LD + j];                                                                        \
        other[i * LD + j] = v;                                                                               \
      }                                                                                                      \
    }                                                                                                        \
  }
EPILOGUE(nothing, v)
EPILOGUE(relu, attn2c_relu(v))
EPILOGUE(exp, attn2c_exp(v))
EPILOGUE(exp_nonpositive, attn2c_exp_nonpositive(v))
EPILOGUE(erf, attn2c_erf(v))
EPILOGUE(tanh, attn2c_tanh(v))
EPILOGUE(sigmoid, attn2c_sigmoid(v))
EPILOGUE(silu, attn2c_silu(v))
EPILOGUE(quick_gelu, attn2c_quick_gelu(v))
EPILOGUE(gelu_tanh, attn2c_gelu_tanh(v))
EPILOGUE(gelu, attn2c_gelu(v))

#define OPERATION(name, call)                                                                                \
  static __attribute__((noinline)) void operation_##name(void) { call; }
OPERATION(softmax_32, attn2c_softmax(other, 32, 32, 32, 0.125f))
OPERATION(softmax_64, attn2c_softmax(other, 64, 64, 64, 0.125f))
OPERATION(softmax_128, attn2c_softmax(other, 64, 128, 128, 0.125f))
OPERATION(softmax_40, attn2c_softmax(other, 64, 40, 48, 0.125f))
OPERATION(softmax_512, attn2c_softmax(other, 64, 512, 512, 0.125f))
OPERATION(norm_64, attn2c_layer_norm(other, tile, gain, bias, 32, 64, 64, 64, 1e-12f))
OPERATION(norm_80, attn2c_layer_norm(other, tile, gain, bias, 32, 80, 80, 80, 1e-12f))
OPERATION(norm_384, attn2c_layer_norm(other, tile, gain, bias, 32, 384, 400, 400, 1e-12f))
OPERATION(norm_768, attn2c_layer_norm(other, tile, gain, bias, 32, 768, LD, LD, 1e-12f))
OPERATION(transpose_64_64, attn2c_transpose(other, tile, 64, 64, LD, 64))
OPERATION(transpose_64_16, attn2c_transpose(other, tile, 64, 16, LD, 64))
OPERATION(transpose_32_40, attn2c_transpose(other, tile, 32, 40, 48, 32))
OPERATION(transpose_128_64, attn2c_transpose(other, tile, 128, 64, LD, 128))
OPERATION(mask_band, attn2c_mask_band(other, 64, 64, 64, -64, 1))
OPERATION(mask_length, attn2c_mask_length(other, 64, 64, 64, 40))
OPERATION(repair, attn2c_context_repair(tile, residual, tile, 128, 128, 64, LD, 128, LD, -128, 128, 128))
OPERATION(copy, attn2c_copy(other, tile, 128, 64, LD, 64))
OPERATION(add, attn2c_add(other, tile, residual, 128, 64, LD, LD, LD))
OPERATION(pool_mean, attn2c_pool_mean(other, tile, 64, 256, 272))
OPERATION(pool_max, attn2c_pool_max(other, tile, 64, 256, 272))
static int32_t indices[64];
OPERATION(argmax, attn2c_argmax(indices, tile, 64, 256, 272))
static const unsigned long long zero_offsets[1] = {0};
OPERATION(product_64,
          attn2c_product(residual, tile, other, 1, zero_offsets, zero_offsets, 64, 128, 64, 64, 64, LD, 1))
OPERATION(product_40,
          attn2c_product(residual, tile, other, 1, zero_offsets, zero_offsets, 40, 128, 64, 48, 64, LD, 1))

static const struct {
  const char *name;
  void (*run)(void);
  double elements; /* of a product: multiply-adds */
} cases[] = {
#define TILE(name)                                                                                           \
  { "tile " #name, epilogue_##name, ROWS *COLS }
    TILE(nothing),
    TILE(relu),
    TILE(exp),
    TILE(exp_nonpositive),
    TILE(erf),
    TILE(tanh),
    TILE(sigmoid),
    TILE(silu),
    TILE(quick_gelu),
    TILE(gelu_tanh),
    TILE(gelu),
    {"softmax 32 x 32", operation_softmax_32, 32 * 32},
    {"softmax 64 x 64", operation_softmax_64, 64 * 64},
    {"softmax 64 x 40", operation_softmax_40, 64 * 40},
    {"softmax 64 x 128", operation_softmax_128, 64 * 128},
    {"softmax 64 x 512", operation_softmax_512, 64 * 512},
    {"layer_norm 32 x 64", operation_norm_64, 32 * 64},
    {"layer_norm 32 x 80", operation_norm_80, 32 * 80},
    {"layer_norm 32 x 384", operation_norm_384, 32 * 384},
    {"layer_norm 32 x 768", operation_norm_768, 32 * 768},
    {"transpose 64 x 64", operation_transpose_64_64, 64 * 64},
    {"transpose 64 x 16", operation_transpose_64_16, 64 * 16},
    {"transpose 32 x 40", operation_transpose_32_40, 32 * 40},
    {"transpose 128 x 64", operation_transpose_128_64, 128 * 64},
    {"mask_band 64 x 64", operation_mask_band, 64 * 64},
    {"mask_length 64 x 64", operation_mask_length, 64 * 64},
    {"context_repair 128 x 64", operation_repair, 128 * 64},
    {"copy 128 x 64", operation_copy, 128 * 64},
    {"add 128 x 64", operation_add, 128 * 64},
    {"pool_mean 64 x 256", operation_pool_mean, 64 * 256},
    {"pool_max 64 x 256", operation_pool_max, 64 * 256},
    {"argmax 64 x 256", operation_argmax, 64 * 256},
    {"product m64 n128 k64", operation_product_64, 64.0 * 128 * 64},
    {"product m40 n128 k64", operation_product_40, 40.0 * 128 * 64},
};

int main(void) {
  uint32_t state = 1;
  for (size_t i = 0; i < sizeof tile / sizeof *tile; i++) {
    state = state * 1664525u + 1013904223u;
    tile[i] = ((float)(state >> 8) / 16777216.0f - 0.5f) * 8.0f;
    residual[i] = tile[i] * 0.01f;
  }
  for (int i = 0; i < 1024; i++) gain[i] = 1.0f, bias[i] = 0.1f;
  const double rate = clock_rate();
  printf("%.2f GHz, vectors of %d floats\n", rate * 1e-9, ATTN2C_LANES);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    memcpy(other, tile, sizeof other);
    double best = 1e9;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
      const double start = seconds();
      cases[i].run();
      const double took = seconds() - start;
      if (took < best) best = took;
    }
    printf("%-26s %7.3f cycles an element\n", cases[i].name, best * rate / cases[i].elements);
  }
  return EXIT_SUCCESS;
}
