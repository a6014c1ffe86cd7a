/* test_random.c - the seeded values: the same everywhere (held as constants), different
 * for another seed, name or index, and distributed as they should be. */
#include "weights/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { COUNT = 200000 };
static float values[COUNT], others[COUNT];

/* Were they to change, every seed in a bug report would mean something else. */
Test(random, these_values_on_every_machine) {
  static const float expected[4] = {0x1.0086b8p-2f, 0x1.116640p-2f, 0x1.1b482ep-2f, 0x1.103184p-2f};
  static const int32_t expected_integers[6] = {28220, 9477, 5498, 25733, 11802, 24355};
  int32_t integers[6];
  attn2c_random_fill(1, "l0.attn.q.weight", values, 4, 0.25, 0.02);
  for (int i = 0; i < 4; i++) cr_assert_eq(values[i], expected[i], "%d: %a", i, values[i]);
  attn2c_random_integers(1, "ids", integers, 6, 0, 30522);
  for (int i = 0; i < 6; i++) cr_assert_eq(integers[i], expected_integers[i], "%d: %d", i, integers[i]);
}

/* The moments of a sum of eight uniform numbers: within five standard errors. */
Test(random, the_moments) {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0, largest = 0;
  attn2c_random_fill(7, "x", values, COUNT, 0, 1);
  for (int i = 0; i < COUNT; i++) mean += values[i];
  mean /= COUNT;
  for (int i = 0; i < COUNT; i++) {
    double d = values[i] - mean;
    variance += d * d, skew += d * d * d, kurtosis += d * d * d * d;
    if (fabs(d) > largest) largest = fabs(d);
  }
  variance /= COUNT, skew /= COUNT, kurtosis /= COUNT;
  cr_assert_lt(fabs(mean), 5 / sqrt(COUNT), "%g", mean);
  cr_assert_lt(fabs(variance - 1), 5 * sqrt(2.0 / COUNT), "%g", variance);
  cr_assert_lt(fabs(skew), 5 * sqrt(15.0 / COUNT), "%g", skew);
  cr_assert_lt(fabs(kurtosis - 2.85), 5 * sqrt(96.0 / COUNT), "%g", kurtosis);
  cr_assert(largest > 3.5 && largest < 4.9, "%g", largest);
}

Test(random, neighbours_names_and_seeds_are_independent) {
  static const struct {
    uint64_t seed;
    const char *name;
    int lag;
  } cases[] = {{7, "x", 1}, {7, "x", 2}, {7, "x", 768}, {8, "x", 0},
               {7, "y", 0}, {7, "", 0},  {7, "xx", 0},  {6, "x", 1}};
  attn2c_random_fill(7, "x", values, COUNT, 0, 1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double product = 0;
    attn2c_random_fill(cases[c].seed, cases[c].name, others, COUNT, 0, 1);
    for (int i = 0; i + cases[c].lag < COUNT; i++) product += values[i] * others[i + cases[c].lag];
    cr_assert_lt(fabs(product / COUNT), 5 / sqrt(COUNT), "case %zu: %g", c, product / COUNT);
  }
}

Test(random, mean_and_deviation) {
  attn2c_random_fill(7, "x", values, COUNT, 0, 1);
  attn2c_random_fill(7, "x", others, COUNT, 3, 0.02);
  for (int i = 0; i < COUNT; i++) cr_assert_float_eq(others[i], 3 + 0.02 * values[i], 1e-6);
  attn2c_random_fill(7, "x", others, COUNT, 1, 0);
  for (int i = 0; i < COUNT; i++) cr_assert_eq(others[i], 1);
}

Test(random, a_value_does_not_depend_on_how_many_are_asked_for) {
  attn2c_random_fill(7, "x", values, 1000, 0, 1);
  attn2c_random_fill(7, "x", others, 10, 0, 1);
  cr_assert_arr_eq(values, others, 10 * sizeof *values);
  others[0] = 99;
  attn2c_random_fill(7, "x", others, 0, 0, 1);
  cr_assert_eq(others[0], 99);
  attn2c_random_part(7, "x", 990, others, 10, 0, 1);
  cr_assert_arr_eq(values + 990, others, 10 * sizeof *values);
}

Test(random, integers_stay_in_their_range_and_fill_it) {
  static const struct {
    int64_t minimum, limit;
  } ranges[] = {{0, 1},
                {0, 2},
                {-3, 4},
                {1, 129},
                {INT32_MIN, (int64_t)INT32_MAX + 1},
                {INT32_MAX, (int64_t)INT32_MAX + 1},
                {5, 5}};
  static int32_t integers[COUNT];
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    int64_t minimum = ranges[r].minimum, limit = ranges[r].limit, lowest = INT64_MAX, highest = INT64_MIN;
    if (limit <= minimum) limit = minimum + 1;
    double width = (double)(limit - minimum);
    int64_t sum = 0; /* exact, of the distances from the minimum */
    attn2c_random_integers(3, "ids", integers, COUNT, ranges[r].minimum, ranges[r].limit);
    for (int i = 0; i < COUNT; i++) {
      cr_assert(integers[i] >= minimum && integers[i] < limit, "range %zu: %d", r, integers[i]);
      if (integers[i] < lowest) lowest = integers[i];
      if (integers[i] > highest) highest = integers[i];
      sum += integers[i] - minimum;
    }
    cr_assert(lowest - minimum <= width * 1e-3 && limit - 1 - highest <= width * 1e-3, "range %zu", r);
    cr_assert_leq(fabs((double)sum / COUNT - (width - 1) / 2), 5 * width / sqrt(12.0 * COUNT), "range %zu",
                  r);
  }
}
