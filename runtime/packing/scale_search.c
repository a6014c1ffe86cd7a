/* scale_search.c - searches the scale and minimum of a scale block of few bits: least squares from several
 * starts. scale_search.h describes the candidates and why the result has the same bits everywhere. */
#include "packing/scale_search.h"
#include "ops/scaled.h"
#include "packing/scale_blocks.h"

#include <math.h>

enum { NUMBERS = ATTN2C_BLOCK_NUMBERS };

/* x + ROUNDER - ROUNDER is x rounded to the nearest integer, ties to even, if |x| < 2^51. */
static const double ROUNDER = 0x1.8p52, MOST_ERROR = 1 << ATTN2C_SEARCH_BITS;

/* A block as whole numbers; those after the last have the weight 0. */
typedef struct {
  double x[NUMBERS], weight[NUMBERS];
  double weights, weighted; /* sums of weight, and of weight * x */
  double origin, unit;      /* a float is origin + unit * x */
  double first, last;       /* the type's least and greatest integer */
  int has_minimum;
} numbers;

/* Sums over a candidate's integers q: weight * q, weight * q^2, weight * q * x, weight * error^2. */
typedef struct {
  double q, squares, products, error;
} sums;

/* The floats of the best candidate, and its error. */
typedef struct {
  float scale, least;
  double error;
} candidate;

static void weigh(numbers *of, const signed char *powers, int count) {
  int most = -128;
  for (int i = 0; i < count; i++) most = powers && powers[i] > most ? powers[i] : most;
  for (int i = 0; i < NUMBERS; i++) {
    const int power = powers && i < count ? ATTN2C_SEARCH_WEIGHT_BITS + powers[i] - most : 0;
    of->weight[i] = i < count ? (double)(1 << (power > 0 ? power : 0)) : 0;
    of->weights += of->weight[i];
    of->weighted += of->weight[i] * of->x[i];
  }
}

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

INLINE double sum_of(const double *terms) {
  lanes sum = *(const lanes *)terms;
  for (int i = LANES; i < NUMBERS; i += LANES) sum += *(const lanes *)(terms + i);
  return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Returns the sums of a candidate. */
INLINE sums added(const numbers *of, double scale, double least) {
  double q_terms[NUMBERS], squares[NUMBERS], products[NUMBERS], errors[NUMBERS];
  const double first = of->first, last = of->last, inverse = 1 / scale;
  for (int i = 0; i < NUMBERS; i++) {
    const double x = of->x[i] - least, weight = of->weight[i];
    double q = x * inverse;
    q = q > first ? q : first;
    q = q < last ? q : last;
    q = q + ROUNDER - ROUNDER;
    double error = x - (scale * q + ROUNDER - ROUNDER);
    error = error > -MOST_ERROR ? error : -MOST_ERROR;
    error = error < MOST_ERROR ? error : MOST_ERROR;
    q_terms[i] = weight * q;
    squares[i] = weight * q * q;
    products[i] = weight * q * of->x[i];
    errors[i] = weight * error * error;
  }
  return (sums){sum_of(q_terms), sum_of(squares), sum_of(products), sum_of(errors)};
}

/* The same code with and without AVX2 gives the same bits. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static sums added_avx2(const numbers *of, double scale, double least) {
  return added(of, scale, least);
}

static sums sums_of(const numbers *of, double scale, double least) {
  return __builtin_cpu_supports("avx2") ? added_avx2(of, scale, least) : added(of, scale, least);
}
#else
static sums sums_of(const numbers *of, double scale, double least) { return added(of, scale, least); }
#endif

/* Sets scale and least by least squares. Returns 0 if the integers do not determine them. */
static int least_squares(const numbers *of, const sums *with, double *scale, double *least) {
  if (!of->has_minimum) {
    if (with->squares > 0) *scale = with->products / with->squares;
    return with->squares > 0;
  }
  const double determinant = of->weights * with->squares - with->q * with->q;
  if (determinant <= 0) return 0;
  *scale = (of->weights * with->products - with->q * of->weighted) / determinant;
  *least = (of->weighted * with->squares - with->products * with->q) / determinant;
  return 1;
}

/* Judges a scale and minimum, rounded to the type's floats, and then the ones by least squares. */
static void follow(const attn2c_type_facts *facts, const numbers *of, double scale, double least,
                   candidate *best) {
  const int steps = of->has_minimum ? ATTN2C_STEPS_WITH_MINIMUM : ATTN2C_STEPS_WITHOUT;
  candidate next, before = {0, 0, 0};
  for (int step = 0; step <= steps && best->error > 0; step++, before = next) {
    next = (candidate){
        .scale = attn2c_to_scale(facts, (float)(scale * of->unit)),
        .least = of->has_minimum ? attn2c_to_scale(facts, (float)(of->origin + least * of->unit)) : 0};
    if (next.scale == 0 || !isfinite(next.scale)) return;
    if (next.scale == before.scale && next.least == before.least) return; /* and so are those after it */
    const sums with =
        sums_of(of, (double)next.scale / of->unit, rint(((double)next.least - of->origin) / of->unit));
    if (with.error < best->error) *best = next, best->error = with.error;
    if (!least_squares(of, &with, &scale, &least)) return;
  }
}

void attn2c_search_scale(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                         float *scale, float *least) {
  numbers of = {.has_minimum = facts->has_minimum, .first = -attn2c_integer_offset(facts)};
  double low = (double)x[0], high = low;
  int exponent;
  for (int i = 1; i < count; i++) {
    if ((double)x[i] < low) low = (double)x[i];
    if ((double)x[i] > high) high = (double)x[i];
  }
  const double widest = of.has_minimum ? high - low : high > -low ? high : low;
  if (*scale == 0 || widest == 0) return;
  frexp(widest, &exponent);
  of.last = of.first + (1 << facts->bits) - 1;
  of.origin = of.has_minimum ? low : 0;
  of.unit = ldexp(1, exponent - ATTN2C_SEARCH_BITS);
  for (int i = 0; i < count; i++) of.x[i] = rint(((double)x[i] - of.origin) / of.unit);
  weigh(&of, powers, count);
  const double plain = rint(((double)*least - of.origin) / of.unit);
  candidate best = {*scale, *least, sums_of(&of, (double)*scale / of.unit, plain).error};
  const attn2c_search_start *starts = of.has_minimum ? attn2c_starts_with_minimum : attn2c_starts_without;
  const int start_count = of.has_minimum ? ATTN2C_STARTS_WITH_MINIMUM : ATTN2C_STARTS_WITHOUT;
  for (int i = 0; i < start_count; i++) {
    const double most = of.has_minimum ? of.last : -of.first;
    const double first = rint(widest / of.unit) / ((double)starts[i].sign * (most + (double)starts[i].more));
    follow(facts, &of, first, -(double)starts[i].below * first, &best);
  }
  *scale = best.scale, *least = best.least;
}
