/* test_product.c - the portable matrix kernel of runtime/ops/product.h: exact on small integers,
 * within the bound of a dot product on random numbers, at odd sizes, with guarded buffers
 * and with NaN and infinity. */
#define _DEFAULT_SOURCE
#include "ops/product.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>

enum { BLOCKS = 3 };

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* m, n, k as emitted code has them: known to the compiler. */
#define SHAPES(each)                                                                                         \
  each(1, 1, 1) each(16, 1, 64) each(64, 15, 40) each(17, 2, 3) each(40, 9, 17) each(63, 7, 16)              \
      each(15, 8, 1) each(32, 32, 32) each(48, 24, 33) each(65, 3, 127) each(8, 12, 64) each(127, 17, 5)     \
          each(3, 6, 64)

#define KERNEL(m, n, k)                                                                                      \
  static __attribute__((noinline)) void kernel_##m##_##n##_##k(                                              \
      const float *a, const float *b, float *c, const unsigned long long *count,                             \
      const unsigned long long *a_offsets, const unsigned long long *b_offsets, int lda, int ldb, int ldc,   \
      int beta) {                                                                                            \
    if (beta)                                                                                                \
      attn2c_product(a, b, c, *count, a_offsets, b_offsets, m, n, k, lda, ldb, ldc, 1);                      \
    else                                                                                                     \
      attn2c_product(a, b, c, *count, a_offsets, b_offsets, m, n, k, lda, ldb, ldc, 0);                      \
  }
SHAPES(KERNEL)

static const struct {
  int m, n, k;
  void (*run)(const float *, const float *, float *, const unsigned long long *, const unsigned long long *,
              const unsigned long long *, int, int, int, int);
} shapes[] = {
#define ENTRY(m, n, k) {m, n, k, kernel_##m##_##n##_##k},
    SHAPES(ENTRY)};

/* Blocks of A and B in one buffer each, the last one ending at the guard; read in the order 2, 0, 1. */
static const unsigned long long order[BLOCKS] = {2, 0, 1};

typedef struct {
  int m, n, k, lda, ldb, ldc;
  float *a, *b, *c, *before;
  unsigned long long a_offsets[BLOCKS], b_offsets[BLOCKS];
} operands;

static void to_integers(float *x, int rows, int cols, int ld) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) x[i * ld + j] = (float)(int)x[i * ld + j];
}

static operands make(size_t shape, int padding, int integers) {
  operands o = {.m = shapes[shape].m, .n = shapes[shape].n, .k = shapes[shape].k};
  o.lda = o.m + padding, o.ldb = o.k + padding, o.ldc = o.m + 2 * padding;
  o.a = guarded_matrix(BLOCKS * o.k, o.m, o.lda, 1, 0.0f, 9.0f);
  o.b = guarded_matrix(BLOCKS * o.n, o.k, o.ldb, 2, 0.0f, 9.0f);
  o.c = guarded_matrix(o.n, o.m, o.ldc, 3, 0.0f, 9.0f);
  o.before = guarded_matrix(o.n, o.m, o.ldc, 3, 0.0f, 9.0f);
  if (integers) {
    to_integers(o.a, BLOCKS * o.k, o.m, o.lda);
    to_integers(o.b, BLOCKS * o.n, o.k, o.ldb);
    to_integers(o.c, o.n, o.m, o.ldc);
    to_integers(o.before, o.n, o.m, o.ldc);
  }
  for (int i = 0; i < BLOCKS; i++) {
    o.a_offsets[i] = order[i] * (unsigned long long)(o.k * o.lda) * sizeof(float);
    o.b_offsets[i] = order[i] * (unsigned long long)(o.n * o.ldb) * sizeof(float);
  }
  return o;
}

static void release(operands *o) {
  guarded_matrix_free(o->a, BLOCKS * o->k, o->m, o->lda);
  guarded_matrix_free(o->b, BLOCKS * o->n, o->k, o->ldb);
  guarded_matrix_free(o->c, o->n, o->m, o->ldc);
  guarded_matrix_free(o->before, o->n, o->m, o->ldc);
}

/* Element [r][j] in double, and the sum of the absolute values of its terms. */
static double element(const operands *o, int count, int beta, int r, int j, double *size) {
  double sum = beta ? o->before[r * o->ldc + j] : 0;
  *size = fabs(sum);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < o->k; k++) {
      const double term = (double)o->b[((int)order[i] * o->n + r) * o->ldb + k] *
                          (double)o->a[((int)order[i] * o->k + k) * o->lda + j];
      sum += term;
      *size += fabs(term);
    }
  return sum;
}

static void expect_product(int integers) {
  static const int paddings[] = {0, 5, 16};
  for (size_t s = 0; s < COUNT_OF(shapes); s++)
    for (size_t p = 0; p < COUNT_OF(paddings); p++)
      for (int beta = 0; beta < 2; beta++)
        for (int count = 0; count <= BLOCKS; count++) {
          operands o = make(s, paddings[p], integers);
          const unsigned long long blocks = (unsigned long long)count;
          shapes[s].run(o.a, o.b, o.c, &blocks, o.a_offsets, o.b_offsets, o.lda, o.ldb, o.ldc, beta);
          for (int r = 0; r < o.n; r++)
            for (int j = 0; j < o.m; j++) {
              double size;
              const double expected = element(&o, count, beta, r, j, &size), got = o.c[r * o.ldc + j];
              const double limit = integers ? 0 : 4 * sqrt(count * o.k + 1) * 0x1p-23 * size;
              cr_assert(fabs(got - expected) <= limit,
                        "[%d][%d] of m %d n %d k %d, %d blocks, beta %d: %g for %g", r, j, o.m, o.n, o.k,
                        count, beta, got, expected);
            }
          cr_assert(guarded_padding_kept(o.c, o.n, o.m, o.ldc));
          release(&o);
        }
}

Test(product, exact_on_integers) { expect_product(1); }

Test(product, random_numbers) { expect_product(0); }

/* With beta 0 what C held does not matter; NaN and infinity of A and B reach the elements that use them,
 * only. */
Test(product, special_values) {
  for (size_t s = 0; s < COUNT_OF(shapes); s++) {
    const unsigned long long blocks = BLOCKS;
    operands o = make(s, 5, 0);
    for (int r = 0; r < o.n; r++)
      for (int j = 0; j < o.m; j++) o.c[r * o.ldc + j] = NAN;
    const int column = o.m / 2, row = o.n / 2, depth = o.k / 2;
    o.a[depth * o.lda + column] = INFINITY;
    o.b[row * o.ldb + depth] = NAN;
    shapes[s].run(o.a, o.b, o.c, &blocks, o.a_offsets, o.b_offsets, o.lda, o.ldb, o.ldc, 0);
    for (int r = 0; r < o.n; r++)
      for (int j = 0; j < o.m; j++) {
        double size;
        const double expected = element(&o, BLOCKS, 0, r, j, &size);
        const float got = o.c[r * o.ldc + j];
        if (r == row)
          cr_assert(isnan(got));
        else if (j == column)
          cr_assert(isinf(got) && got == (float)expected);
        else
          cr_assert(isfinite(got));
      }
    release(&o);
  }
}
