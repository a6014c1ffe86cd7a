/* blocks.c - the reference of numbers in scale blocks: rows that are quantised to int8, and weights
 * that packing rounds. Floats of 16 bits are rounded by arithmetic, and not by bits as in the code that is
 * judged. */
#include "reference/ops.h"
#include "reference/types.h"
#include "packing/scale_search.h"

#include <math.h>

enum { NUMBERS = ATTN2C_BLOCK_NUMBERS };

/* An f16 has 11 significant bits; its smallest unit is 2^-24, its largest number 65504. */
enum { HALF_BITS = 11, HALF_LEAST_EXPONENT = -24 };
static const double LARGEST_HALF = 65504;

/* Returns the nearest number that an f16 can be, ties to even; at most the largest. */
static double nearest_half(double x) {
  int exponent;
  if (!isfinite(x)) return x;
  frexp(x, &exponent);
  const int unit = exponent - HALF_BITS > HALF_LEAST_EXPONENT ? exponent - HALF_BITS : HALF_LEAST_EXPONENT;
  return fmax(-LARGEST_HALF, fmin(LARGEST_HALF, ldexp(rint(ldexp(x, -unit)), unit)));
}

/* The magnitudes of E2M1, a code each. */
static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/* Rounds x[count] to numbers of E2M1 times a power of two, by which the largest magnitude is from 4 to 8. If
 * two are as near, it takes the one with the even code. */
static void round_e2m1(float *x, int count) {
  double largest = 0;
  int exponent;
  for (int i = 0; i < count; i++)
    largest = isfinite(x[i]) && !isnan(largest) ? fmax(largest, fabs(x[i])) : NAN;
  frexp(largest, &exponent);
  const double scale = ldexp(1, exponent - 3 > -125 ? exponent - 3 : -125);
  for (int i = 0; i < count; i++) {
    int best = 0;
    for (int code = 1; code < 8; code++) {
      const double away = fabs(fabs(x[i]) / scale - magnitudes[code]);
      const double before = fabs(fabs(x[i]) / scale - magnitudes[best]);
      if (away < before || (away == before && code % 2 == 0)) best = code;
    }
    x[i] = isfinite(largest) ? (float)copysign(scale * magnitudes[best], x[i]) : NAN;
  }
}

static double on_grid(const attn2c_type_facts *facts, double x) {
  if (attn2c_has_powers(facts)) {
    int exponent;
    return isnormal((float)x) && frexp(x, &exponent) == 0.5 ? x : 0;
  }
  return facts->scale_bytes == 2 ? nearest_half((float)x) : (double)(float)x;
}

/* The least and the greatest integer of a type, for numbers that are rounded. */
static void integers_of(const attn2c_type_facts *facts, int *least, int *most) {
  const int all = 1 << facts->bits;
  *least = facts->has_minimum && facts->bits < 8 ? 0 : -all / 2;
  *most = *least + all - 1;
  if (facts->bits == 8 && !facts->has_minimum) *least = -REFERENCE_LARGEST;
  if (facts->value_count) *least = facts->values[0], *most = facts->values[facts->value_count - 1];
}

/* A block of few bits in whole numbers: x = rint((float - origin) / unit), the weights of the errors, and the
 * best scale and minimum up to now. */
typedef struct {
  const attn2c_type_facts *facts;
  int count, least, most;
  int64_t x[NUMBERS], weight[NUMBERS];
  double origin, unit, scale, minimum;
  int64_t error;
} search;

/* error = sum of weight * (x - minimum - scale * nearest integer of (x - minimum) (1 / scale))^2
 * Takes the scale and minimum if they have a lesser error. Returns the sums for least squares: of weight,
 * weight q, weight q^2, weight x, weight q x. */
static void judge(search *of, double scale, double minimum, int64_t sums[5]) {
  const double unit_scale = scale / of->unit, inverse = 1 / unit_scale;
  const double unit_minimum = rint((minimum - of->origin) / of->unit);
  int64_t error = 0;
  memset(sums, 0, 5 * sizeof *sums);
  for (int i = 0; i < of->count; i++) {
    const double x = (double)of->x[i] - unit_minimum;
    const int64_t q = (int64_t)rint(fmax(of->least, fmin(of->most, x * inverse)));
    const double away = fabs(x - rint(unit_scale * (double)q));
    const int64_t size = (int64_t)fmin(away, 1 << ATTN2C_SEARCH_BITS);
    error += of->weight[i] * size * size;
    sums[0] += of->weight[i], sums[1] += of->weight[i] * q, sums[2] += of->weight[i] * q * q;
    sums[3] += of->weight[i] * of->x[i], sums[4] += of->weight[i] * q * of->x[i];
  }
  if (of->error >= 0 && error >= of->error) return;
  of->error = error, of->scale = scale, of->minimum = minimum;
}

/* Judges a scale and minimum in units, and the ones of least squares after it:
 * scale = (W Qx - Q X) / (W QQ - Q^2), minimum = (X QQ - Qx Q) / (W QQ - Q^2); scale = Qx / QQ without one */
static void judge_start(search *of, double scale, double minimum) {
  int64_t sums[5];
  const int steps = of->facts->has_minimum ? ATTN2C_STEPS_WITH_MINIMUM : ATTN2C_STEPS_WITHOUT;
  for (int step = 0; step <= steps; step++) {
    const double of_scale = on_grid(of->facts, (float)(scale * of->unit));
    if (of_scale == 0 || !isfinite(of_scale)) return;
    judge(of, of_scale,
          of->facts->has_minimum ? on_grid(of->facts, (float)(of->origin + minimum * of->unit)) : 0, sums);
    const int64_t determinant = of->facts->has_minimum ? sums[0] * sums[2] - sums[1] * sums[1] : sums[2];
    if (determinant <= 0) return;
    if (!of->facts->has_minimum) {
      scale = (double)sums[4] / (double)determinant;
      continue;
    }
    scale = (double)(sums[0] * sums[4] - sums[1] * sums[3]) / (double)determinant;
    minimum = (double)(sums[3] * sums[2] - sums[4] * sums[1]) / (double)determinant;
  }
}

/* Improves a plain scale and minimum as packing/scale_search.h says. widest: the range, or the number of the
 * largest magnitude. powers: NULL: all errors have the same weight. */
static void improve(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                    double low, double widest, double *scale, double *minimum) {
  search of = {.facts = facts, .count = count, .error = -1, .origin = facts->has_minimum ? low : 0};
  int exponent, largest = -128;
  int64_t sums[5];
  integers_of(facts, &of.least, &of.most);
  if (*scale == 0 || widest == 0) return;
  frexp(widest, &exponent);
  of.unit = ldexp(1, exponent - ATTN2C_SEARCH_BITS);
  for (int i = 0; powers && i < count; i++) largest = largest > powers[i] ? largest : powers[i];
  for (int i = 0; i < count; i++) {
    of.x[i] = (int64_t)rint(((double)x[i] - of.origin) / of.unit);
    of.weight[i] =
        powers ? (int64_t)ldexp(1, (int)fmax(0, ATTN2C_SEARCH_WEIGHT_BITS + powers[i] - largest)) : 1;
  }
  judge(&of, *scale, *minimum, sums);
  const int starts = facts->has_minimum ? ATTN2C_STARTS_WITH_MINIMUM : ATTN2C_STARTS_WITHOUT;
  for (int i = 0; i < starts; i++) {
    const attn2c_search_start *start =
        facts->has_minimum ? &attn2c_starts_with_minimum[i] : &attn2c_starts_without[i];
    const double most = facts->has_minimum ? of.most : -of.least;
    const double first = rint(widest / of.unit) / ((double)start->sign * (most + (double)start->more));
    judge_start(&of, first, -(double)start->below * first);
  }
  *scale = of.scale, *minimum = of.minimum;
}

/* Finds the scale and minimum of x[count], which share them:
 * int8: scale = max |x| / 127; few bits: scale = the x of the largest magnitude / the least integer or value
 * with a minimum: scale = (max x - min x) / (2^bits - 1), minimum = min x - least integer * scale
 * up to 4 bits: the scale and minimum near these with the least sum of weighted squared errors
 * NaN if an x is not finite */
static void scale_of(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                     double *scale, double *minimum) {
  double low = count > 0 ? x[0] : 0, high = low;
  int least, most, all_finite = 1;
  integers_of(facts, &least, &most);
  for (int i = 0; i < count; i++) {
    all_finite = all_finite && isfinite(x[i]);
    low = fmin(low, x[i]), high = fmax(high, x[i]);
  }
  const double largest = high > -low ? high : low; /* by magnitude */
  *minimum = 0;
  if (facts->has_minimum) {
    *scale = on_grid(facts, (high - low) / (most - least));
    *minimum = on_grid(facts, low - least * *scale);
  } else {
    *scale = on_grid(facts, (float)(facts->bits == 8 ? fabs(largest) / REFERENCE_LARGEST : largest / least));
  }
  if (attn2c_is_searched(facts) && all_finite && count > 0)
    improve(facts, x, powers, count, low, facts->has_minimum ? high - low : largest, scale, minimum);
  if (!all_finite) *scale = NAN;
}

/* x = scale * q + minimum, q the integer nearest to (x - minimum) / scale, or the nearest value */
static void round_part(const attn2c_type_facts *facts, float *x, int count, double scale, double minimum) {
  int least, most;
  integers_of(facts, &least, &most);
  for (int i = 0; i < count; i++) {
    const double of = scale == 0 ? 0 : ((double)x[i] - minimum) / scale;
    double integer = fmax(least, fmin(most, rint(of)));
    for (int v = 0; v < facts->value_count; v++)
      if (v == 0 || fabs(of - facts->values[v]) < fabs(of - integer)) integer = facts->values[v];
    const float product = (float)(scale * integer);
    x[i] = isnan(scale) ? NAN : minimum == 0 ? product : (float)((double)product + minimum);
  }
}

/* Makes numbers multiples of a unit, an f16: the largest magnitude / 127; with 4 bits, the largest / 15; of
 * minima, at most 0, the least / 15. number = unit * step * nearest integer of number / unit / step */
static void round_to_unit(const attn2c_type_facts *facts, double *numbers, int count, int are_minima) {
  const int most = facts->unit == 8 ? 127 : 15, sign = are_minima && facts->unit == 4 ? -1 : 1;
  const double step = are_minima ? 1 : (double)facts->step;
  float largest = 0;
  for (int i = 0; i < count; i++) {
    if (isnan(numbers[i])) largest = NAN;
    largest = fmaxf(largest, (float)(facts->unit == 8 ? fabs(numbers[i]) : sign * numbers[i])) + 0 * largest;
  }
  const double unit = step * sign * nearest_half((double)((float)(largest / (float)most)) / step);
  for (int i = 0; i < count; i++) {
    const double integer = unit == 0 ? 0 : rint(numbers[i] / unit);
    numbers[i] = unit * fmax(facts->unit == 8 ? -128 : 0, fmin(most, integer));
  }
}

/* Rounds x[count], whose blocks are together. */
static void round_together(const attn2c_type_facts *facts, float *x, const signed char *powers, int count) {
  const int each = NUMBERS / facts->scales, parts = (count + each - 1) / each;
  double scales[ATTN2C_UNIT_BLOCKS * ATTN2C_BLOCK_PARTS], minima[ATTN2C_UNIT_BLOCKS * ATTN2C_BLOCK_PARTS];
  if (attn2c_has_powers(facts)) {
    round_e2m1(x, count);
    return;
  }
  for (int i = 0; i < parts; i++)
    scale_of(facts, x + i * each, powers ? powers + i * each : NULL,
             count < (i + 1) * each ? count - i * each : each, &scales[i], &minima[i]);
  if (facts->unit) round_to_unit(facts, scales, parts, 0);
  if (facts->unit && facts->has_minimum) round_to_unit(facts, minima, parts, 1);
  for (int i = 0; i < parts; i++)
    round_part(facts, x + i * each, count < (i + 1) * each ? count - i * each : each, scales[i], minima[i]);
}

/* True if x is an integer times a unit of f16 that a type can hold. */
static int is_in_units(const attn2c_type_facts *facts, double x, double unit, double step) {
  if (nearest_half(unit) != unit) return 0;
  const double integer = unit == 0 ? 0 : x / (unit * step);
  return x == unit * step * integer && rint(integer) == integer && integer <= (facts->unit == 8 ? 127 : 15) &&
         integer >= (facts->unit == 8 ? -128 : 0);
}

/* True if a type holds a block of a file exactly. */
static int holds(const attn2c_type_facts *facts, const attn2c_scale_block *block) {
  int least, most;
  integers_of(facts, &least, &most);
  if (facts->bits == 8) least = -128;
  for (int part = 0; part < ATTN2C_BLOCK_PARTS; part++) {
    const double minimum = block->least[part], scale = block->scale[part];
    if (facts->unit && !is_in_units(facts, scale, block->unit, facts->step)) return 0;
    if (facts->unit && !is_in_units(facts, minimum, block->least_unit, 1)) return 0;
    if (on_grid(facts, scale) != scale) return 0;
    if (facts->has_minimum ? on_grid(facts, minimum) != minimum : minimum != 0) return 0;
    if (facts->scales == 1 &&
        (block->scale[part] != block->scale[0] || block->least[part] != block->least[0]))
      return 0;
  }
  for (int i = 0; i < NUMBERS; i++) {
    int is_value = facts->value_count == 0;
    for (int v = 0; v < facts->value_count; v++)
      is_value = is_value || facts->values[v] == block->integers[i];
    if (!is_value || block->integers[i] < least || block->integers[i] > most) return 0;
  }
  return 1;
}

/* True if a type holds blocks that are together. */
static int holds_all(const attn2c_type_facts *facts, const attn2c_scale_block *blocks, int count) {
  for (int i = 0; i < count; i++) {
    if (!holds(facts, &blocks[i])) return 0;
    if (facts->unit && (blocks[i].unit != blocks[0].unit || blocks[i].least_unit != blocks[0].least_unit))
      return 0;
  }
  return 1;
}

void attn2c_reference_blocks(const attn2c_type_facts *facts, const attn2c_scale_block *stored,
                             const signed char *powers, float *row, int64_t columns) {
  const int together = NUMBERS * (facts->unit ? ATTN2C_UNIT_BLOCKS : 1);
  for (int64_t first = 0; first < columns; first += together) {
    const attn2c_scale_block *blocks = stored ? &stored[first / NUMBERS] : NULL;
    const int count = (int)(columns - first < together ? columns - first : together);
    if (!blocks || !holds_all(facts, blocks, (count + NUMBERS - 1) / NUMBERS)) {
      round_together(facts, row + first, powers ? powers + first : NULL, count);
      continue;
    }
    for (int i = 0; i < count; i++) row[first + i] = attn2c_block_number(&blocks[i / NUMBERS], i % NUMBERS);
  }
}

/* parts: into which steps of the largest magnitude / 127 are divided */
static int quantise(const attn2c_reference_call *call, int parts) {
  const float *x = call->in[0];
  float *y = call->out;
  const int64_t rows = call->n['*'], width = call->n['w'];
  for (int64_t r = 0; r < rows; r++)
    for (int64_t first = 0; first < width; first += NUMBERS) {
      const int64_t count = width - first < NUMBERS ? width - first : NUMBERS;
      const float *of_x = x + r * width + first;
      const double largest = attn2c_reference_byte_scale(of_x, count);
      const float scale = (float)(isnan(largest) ? largest : fmax(largest / parts, REFERENCE_LEAST_SCALE));
      for (int64_t i = 0; i < count; i++)
        y[r * width + first + i] = scale * attn2c_reference_byte(of_x[i], scale);
    }
  return ATTN2C_OK;
}

/* y = scale of x's block * nearest integer of x / scale; scale = max |x| of the block / 127 */
int attn2c_reference_quantise_blocks(const attn2c_reference_call *call) { return quantise(call, 1); }

/* The same; scale = max |x| of the block / 127 / 128 */
int attn2c_reference_quantise_blocks_finely(const attn2c_reference_call *call) { return quantise(call, 128); }
