/* typed_products.c - runs products of bf16, int8 and u8 as the compiler emits them (typed_products.lua)
 * between guard pages, compares every sum with a slow model of what the instructions compute, bit for bit,
 * and writes the sums: for every target, compiler and level it must write the same. */
#define _DEFAULT_SOURCE
#include <stdint.h>

typedef struct {
  int m, n, k, lda, ldb, ldc, adds;
  int step;   /* inputs of a step in tiles; 0: no tiles */
  long panel; /* bytes of A */
  void (*run)(const void *a, const void *b, void *c);
} product;

#include PRODUCTS

#include "base/processor.h"
#include "guarded.h"

#include <math.h>
#include <stdio.h>

#define COUNT_OF(a) (int)(sizeof(a) / sizeof *(a))

static uint64_t state = 1;

static uint32_t next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

/* The end of a worker's part of a call releases the tiles that a product has configured. */
static void expect_no_tiles(const char *type, const product *p) {
#if HAS_TILES && !defined ATTN2C_TILES_EMULATED
  attn2c_leave_tiles();
  unsigned in_use, high; /* the state that is not as at first: bit 17 the configuration, 18 the tiles */
  __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(high) : "c"(1));
  in_use &= 3u << 17;
  if (!in_use) return;
  fprintf(stderr, "%s m %d n %d k %d adds %d: tiles are not released\n", type, p->m, p->n, p->k, p->adds);
  exit(1);
#else
  (void)type, (void)p;
#endif
}

static void fail(const char *type, const product *p, int set, int row, int column, uint32_t got,
                 uint32_t wanted) {
  fprintf(stderr, "%s m %d n %d k %d adds %d, numbers %d: [%d][%d] is %08x, not %08x\n", type, p->m, p->n,
          p->k, p->adds, set, row, column, got, wanted);
  exit(1);
}

/* vdpbf16ps, by its exact semantics: two fused multiply-adds, the odd elements first; denormals are zeros of
 * their sign. Other targets compute the same (product/bf16.h). */
static float without_denormals(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }

#ifdef __aarch64__
#define TINY 0x1p-126
#else
#define TINY (0x1p-126 - 0x1p-151)
#endif

static float fused(float a, float b, float c) {
#if !defined(__FMA__) && !defined(__aarch64__)
  const float product = (float)((double)a * b);
  if (fabs((double)a * b) < TINY) return without_denormals(c + copysignf(0.0f, product));
  if (isinf(product)) return product + c;
#endif
  const float result = fmaf(a, b, c);
  return fabsf(result) <= 0x1p-126f && fabs((double)a * b + c) < TINY ? copysignf(0.0f, result) : result;
}

/* a + b, without denormals going in or coming out. */
static float added(float a, float b) {
  const float sum = a + b;
  return fabsf(sum) < 0x1p-126f ? copysignf(0.0f, sum) : sum;
}

static float widened(uint16_t x) { return without_denormals(attn2c_from_bits((uint32_t)x << 16)); }

/* Numbers of a set: 0: of all usual sizes; 1: also zeros, denormals, infinities, NaN, the largest and the
 * smallest; 2: small powers of two whose sums are denormal or nearly. */
static uint16_t bf16_number(int set) {
  const uint32_t r = next();
  static const uint16_t special[] = {0,      0x8000, 0x0001, 0x807f, 0x0080, 0x8080, 0x7f80, 0xff80,
                                     0x7fc0, 0x7f81, 0x7f7f, 0xff7f, 0x2000, 0xa000, 0x1fc3, 0x9fff};
  if (set == 1 && r % 5 == 0) return special[r >> 8 & 15];
  if (set == 2) return (uint16_t)((r & 0x8000) | (60 + (r >> 16 & 7)) << 7 | (r & 0x7f));
  return (uint16_t)((r & 0x807f) | (118 + (r >> 16) % 14) << 7);
}

/* Behind the last input of a row, and of a panel of which that is allowed: what must not matter. */
enum { BF16_NAN = 0x7fc1 };

/* The products of a row, added to `sum` in the order of vdpbf16ps. */
static float pair_sum(const product *p, const uint16_t *weights, const uint16_t *b, float sum) {
  for (int i = 0; i < p->k; i += 2)
    for (int odd = 1; odd >= 0; odd--) {
      const int is_there = i + odd < p->k;
      sum = fused(is_there ? widened(weights[i + odd]) : 0.0f, is_there ? widened(b[i + odd]) : 0.0f, sum);
    }
  return sum;
}

/* The same in the order of TDPBF16PS: in each step a sum of the even inputs and one of the odd ones. */
static float tile_sum(const product *p, const uint16_t *weights, const uint16_t *b, float sum) {
  for (int first = 0; first < p->k; first += p->step) {
    float sums[2] = {0.0f, 0.0f};
    for (int i = first; i < p->k && i < first + p->step; i++)
      sums[i % 2] = fused(widened(weights[i]), widened(b[i]), sums[i % 2]);
    sum = added(sum, added(sums[0], sums[1]));
  }
  return sum;
}

/* wide: rows of B are floats. */
static void run_bf16(const product *p, int set, int wide) {
  const size_t b_count = (size_t)(p->n - 1) * (size_t)p->ldb + (size_t)p->k;
  const size_t c_count = (size_t)(p->n - 1) * (size_t)p->ldc + (size_t)p->m;
  uint16_t *a = guarded_allocate((size_t)p->panel), *b = guarded_allocate(2 * b_count);
  float *floats = guarded_allocate(sizeof *floats * b_count);
  float *c = guarded_allocate(sizeof(float) * c_count), *before = malloc(sizeof(float) * c_count);
  uint16_t *weights = malloc(2 * (size_t)p->m * (size_t)p->k);
  if (!before || !weights) exit(5);
  for (int i = 0; i < p->m * p->k; i++) weights[i] = bf16_number(set);
  for (long i = 0; i < p->panel / 2; i++) a[i] = BF16_NAN;
  for (int i = 0; i < p->k; i++)
    for (int j = 0; j < p->m; j++) a[(i / 2 * p->lda + j) * 2 + i % 2] = weights[j * p->k + i];
  for (size_t i = 0; i < b_count; i++) b[i] = i % (size_t)p->ldb < (size_t)p->k ? bf16_number(set) : BF16_NAN;
  for (size_t i = 0; i < c_count; i++) c[i] = before[i] = widened(bf16_number(set));
  for (size_t i = 0; i < b_count; i++) floats[i] = attn2c_from_bits((uint32_t)b[i] << 16);
  const attn2c_flush modes = attn2c_flush_on();
  p->run(a, wide ? (const void *)floats : b, c);
  expect_no_tiles("bf16", p);
  attn2c_flush_restore(modes);
  for (int r = 0; r < p->n; r++)
    for (int j = 0; j < p->m; j++) {
      const float first = p->adds ? before[r * p->ldc + j] : 0.0f;
      const float sum = p->step ? tile_sum(p, weights + j * p->k, b + r * p->ldb, first)
                                : pair_sum(p, weights + j * p->k, b + r * p->ldb, first);
      float *got = &c[r * p->ldc + j];
      if (isnan(sum) && isnan(*got))
        *got = NAN;
      else if (attn2c_bits(sum) != attn2c_bits(*got))
        fail("bf16", p, set, r, j, attn2c_bits(*got), attn2c_bits(sum));
    }
  for (size_t i = 0; i < c_count; i++)
    if (i % (size_t)p->ldc >= (size_t)p->m && attn2c_bits(c[i]) != attn2c_bits(before[i]))
      fail("bf16, after a row,", p, set, 0, (int)i, 0, 0);
  if (set == 0) fwrite(c, sizeof *c, c_count, stdout);
  guarded_free(a, (size_t)p->panel);
  guarded_free(b, 2 * b_count);
  guarded_free(floats, sizeof *floats * b_count);
  guarded_free(c, sizeof(float) * c_count);
  free(before);
  free(weights);
}

/* Set 0: all of -127 .. 127; 1: only the extremes; 2: the same sign everywhere, the largest sums. */
static int8_t int8_number(int set) {
  const uint32_t r = next();
  if (set == 0) return (int8_t)((int)(r % 255) - 127);
  return set == 1 && r & 1 ? 127 : -127;
}

/* Weights of an attention, of all numbers, or only of the extremes, or the largest sums. */
static uint8_t u8_number(int set) {
  const uint32_t r = next();
  if (set == 0) return (uint8_t)r;
  return set == 1 && r & 1 ? 0 : 255;
}

static void run_u8(const product *p, int set) {
  const size_t b_count = (size_t)(p->n - 1) * (size_t)p->ldb + (size_t)p->k;
  const size_t c_count = (size_t)(p->n - 1) * (size_t)p->ldc + (size_t)p->m;
  int8_t *a = guarded_allocate((size_t)p->panel), *values = malloc((size_t)p->m * (size_t)p->k);
  uint8_t *b = guarded_allocate(b_count);
  int32_t *c = guarded_allocate(sizeof(int32_t) * c_count), *before = malloc(sizeof(int32_t) * c_count);
  if (!before || !values) exit(5);
  for (int i = 0; i < p->m * p->k; i++) values[i] = int8_number(set);
  memset(a, 99, (size_t)p->panel);
  for (int i = 0; i < p->k; i++)
    for (int j = 0; j < p->m; j++) a[(i / 4 * p->lda + j) * 4 + i % 4] = values[j * p->k + i];
  for (size_t i = 0; i < b_count; i++) b[i] = u8_number(set);
  for (size_t i = 0; i < c_count; i++) c[i] = before[i] = (int32_t)next() >> 8;
  p->run(a, b, c);
  expect_no_tiles("u8", p);
  for (int r = 0; r < p->n; r++)
    for (int j = 0; j < p->m; j++) {
      int64_t sum = p->adds ? before[r * p->ldc + j] : 0;
      for (int i = 0; i < p->k; i++) sum += values[j * p->k + i] * b[r * p->ldb + i];
      if (sum != c[r * p->ldc + j]) fail("u8", p, set, r, j, (uint32_t)c[r * p->ldc + j], (uint32_t)sum);
    }
  for (size_t i = 0; i < c_count; i++)
    if (i % (size_t)p->ldc >= (size_t)p->m && c[i] != before[i])
      fail("u8, after a row,", p, set, 0, (int)i, 0, 0);
  fwrite(c, sizeof *c, c_count, stdout);
  guarded_free(a, (size_t)p->panel);
  guarded_free(b, b_count);
  guarded_free(c, sizeof(int32_t) * c_count);
  free(before);
  free(values);
}

static void run_int8(const product *p, int set) {
  const size_t b_count = (size_t)(p->n - 1) * (size_t)p->ldb + (size_t)p->k;
  const size_t c_count = (size_t)(p->n - 1) * (size_t)p->ldc + (size_t)p->m;
  int8_t *a = guarded_allocate((size_t)p->panel), *b = guarded_allocate(b_count);
  int32_t *c = guarded_allocate(sizeof(int32_t) * c_count), *before = malloc(sizeof(int32_t) * c_count);
  int8_t *weights = malloc((size_t)p->m * (size_t)p->k), *inputs = malloc(b_count);
  if (!before || !weights || !inputs) exit(5);
  for (int i = 0; i < p->m * p->k; i++) weights[i] = int8_number(set);
  memset(a, 0, (size_t)p->panel);
  for (int j = 0; j < p->m; j++) {
    int32_t before_groups[2] = {0};
    for (int i = 0; i < p->k; i++) {
      const int8_t weight = weights[j * p->k + i];
      a[((2 + i / 4) * p->lda + j) * 4 + i % 4] = weight;
      before_groups[0] -= 128 * weight;
      before_groups[1] += weight < 0 ? -weight : 0;
    }
    for (int row = 0; row < 2; row++)
      memcpy(a + 4 * (row * p->lda + j), &before_groups[row], sizeof *before_groups);
  }
  for (size_t i = 0; i < b_count; i++)
    inputs[i] = int8_number(set), b[i] = (int8_t)(inputs[i] + ATTN2C_INT8_ZERO);
  for (size_t i = 0; i < c_count; i++) c[i] = before[i] = (int32_t)next() >> 8;
  p->run(a, b, c);
  expect_no_tiles("int8", p);
  for (int r = 0; r < p->n; r++)
    for (int j = 0; j < p->m; j++) {
      int64_t sum = p->adds ? before[r * p->ldc + j] : 0;
      for (int i = 0; i < p->k; i++) sum += weights[j * p->k + i] * inputs[r * p->ldb + i];
      if (sum != c[r * p->ldc + j]) fail("int8", p, set, r, j, (uint32_t)c[r * p->ldc + j], (uint32_t)sum);
    }
  for (size_t i = 0; i < c_count; i++)
    if (i % (size_t)p->ldc >= (size_t)p->m && c[i] != before[i])
      fail("int8, after a row,", p, set, 0, (int)i, 0, 0);
  fwrite(c, sizeof *c, c_count, stdout);
  guarded_free(a, (size_t)p->panel);
  guarded_free(b, b_count);
  guarded_free(c, sizeof(int32_t) * c_count);
  free(before);
  free(weights);
  free(inputs);
}

int main(void) {
  for (int i = 0; i < COUNT_OF(bf16_products); i++) {
    const char *missing = bf16_products[i].step > 0 ? attn2c_missing("amx") : NULL; /* asks for permission */
    if (!missing) continue;
    fprintf(stderr, "this machine lacks %s\n", missing);
    return 5;
  }
  for (int set = 0; set < 3; set++) {
    for (int i = 0; i < COUNT_OF(bf16_products); i++) run_bf16(&bf16_products[i], set, 0);
    for (int i = 0; i < COUNT_OF(bf16_floats_products); i++) run_bf16(&bf16_floats_products[i], set, 1);
    for (int i = 0; i < COUNT_OF(int8_products); i++) run_int8(&int8_products[i], set);
    for (int i = 0; i < COUNT_OF(u8_products); i++) run_u8(&u8_products[i], set);
  }
  return fclose(stdout) == 0 ? 0 : 4;
}
