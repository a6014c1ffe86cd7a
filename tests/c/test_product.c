/* test_product.c - products as the compiler emits them (products.lua): exact on small integers,
 * within the bound of a dot product on random numbers, at odd sizes, with guarded buffers
 * and with NaN and infinity. */
#define _DEFAULT_SOURCE
#include "ops/product/product.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>

/* C[n][m] = B[n][k] A[k][m], added to C where adds is 1. has_room: rows of A are whole lines, of which all
 * may be read. */
typedef struct {
  int m, n, k, lda, ldb, ldc, adds, has_room;
  void (*run)(const float *a, const float *b, float *c);
} product;

#include PRODUCTS

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

typedef struct {
  const product *of;
  int width; /* of A's rows, padding not counted */
  float *a, *b, *c, *before;
} operands;

static void to_integers(float *x, int rows, int cols, int ld) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) x[i * ld + j] = (float)(int)x[i * ld + j];
}

static operands make(const product *p, int integers) {
  operands o = {.of = p, .width = p->has_room ? p->lda : p->m};
  o.a = guarded_matrix(p->k, o.width, p->lda, 1, 0.0f, 9.0f);
  o.b = guarded_matrix(p->n, p->k, p->ldb, 2, 0.0f, 9.0f);
  o.c = guarded_matrix(p->n, p->m, p->ldc, 3, 0.0f, 9.0f);
  o.before = guarded_matrix(p->n, p->m, p->ldc, 3, 0.0f, 9.0f);
  if (integers) {
    to_integers(o.a, p->k, o.width, p->lda);
    to_integers(o.b, p->n, p->k, p->ldb);
    to_integers(o.c, p->n, p->m, p->ldc);
    to_integers(o.before, p->n, p->m, p->ldc);
  }
  return o;
}

static void release(operands *o) {
  guarded_matrix_free(o->a, o->of->k, o->width, o->of->lda);
  guarded_matrix_free(o->b, o->of->n, o->of->k, o->of->ldb);
  guarded_matrix_free(o->c, o->of->n, o->of->m, o->of->ldc);
  guarded_matrix_free(o->before, o->of->n, o->of->m, o->of->ldc);
}

/* Element [r][j] in double, and the sum of the absolute values of its terms. */
static double element(const operands *o, int r, int j, double *size) {
  const product *p = o->of;
  double sum = p->adds ? o->before[r * p->ldc + j] : 0;
  *size = fabs(sum);
  for (int i = 0; i < p->k; i++) {
    const double term = (double)o->b[r * p->ldb + i] * (double)o->a[i * p->lda + j];
    sum += term;
    *size += fabs(term);
  }
  return sum;
}

static void expect_products(int integers) {
  for (size_t s = 0; s < COUNT_OF(products); s++) {
    const product *p = &products[s];
    operands o = make(p, integers);
    p->run(o.a, o.b, o.c);
    for (int r = 0; r < p->n; r++)
      for (int j = 0; j < p->m; j++) {
        double size;
        const double expected = element(&o, r, j, &size), got = o.c[r * p->ldc + j];
        const double limit = integers ? 0 : 4 * sqrt(p->k + 1) * 0x1p-23 * size;
        cr_assert(fabs(got - expected) <= limit, "[%d][%d] of m %d n %d k %d, lda %d, adds %d: %g for %g", r,
                  j, p->m, p->n, p->k, p->lda, p->adds, got, expected);
      }
    cr_assert(guarded_padding_kept(o.c, p->n, p->m, p->ldc));
    release(&o);
  }
}

Test(product, exact_on_integers) { expect_products(1); }

Test(product, random_numbers) { expect_products(0); }

/* Where C is not added to, what it held does not matter; NaN and infinity of A and B reach the elements that
 * use them, only. */
Test(product, special_values) {
  for (size_t s = 0; s < COUNT_OF(products); s++) {
    const product *p = &products[s];
    operands o = make(p, 0);
    for (int r = 0; r < p->n && !p->adds; r++)
      for (int j = 0; j < p->m; j++) o.c[r * p->ldc + j] = NAN;
    const int column = p->m / 2, row = p->n / 2, depth = p->k / 2;
    o.a[depth * p->lda + column] = INFINITY;
    o.b[row * p->ldb + depth] = NAN;
    p->run(o.a, o.b, o.c);
    for (int r = 0; r < p->n; r++)
      for (int j = 0; j < p->m; j++) {
        double size;
        const double expected = element(&o, r, j, &size);
        const float got = o.c[r * p->ldc + j];
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
