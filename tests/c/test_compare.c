/* test_compare.c - the comparison of tensors and the tolerances: what must pass passes, and every kind of
 * fault that they are there for makes them fail, with the right element named. */
#include "check/compare.h"
#include "reference/reference.h"
#include "check/tolerance.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

static const attn2c_tolerance exact = {.relative_l2 = -1};

static attn2c_tensor rows_of(int64_t rows, int64_t width) {
  return (attn2c_tensor){.name = "t", .rank = 2, .shape = {rows, width}};
}

Test(compare, figures_of_a_small_difference) {
  attn2c_tensor shape = rows_of(2, 2);
  float want[] = {1, 2, 0, 4}, got[] = {1, 2.5f, 0.25f, 4};
  attn2c_tolerance tolerance = {.absolute = 0.3, .relative = 0.05, .relative_l2 = -1};
  attn2c_comparison found;
  attn2c_compare(&shape, want, got, 2, &tolerance, &found);
  cr_assert_eq(found.largest_absolute, 0.5);
  cr_assert_eq(found.largest_relative, 0.25);
  cr_assert_float_eq(found.relative_l2, sqrt(0.3125 / 21), 1e-12);
  cr_assert_eq(found.violations, 1);
  cr_assert_eq(found.where[0], 0);
  cr_assert_eq(found.where[1], 1);
  cr_assert_eq(found.expected, 2);
  cr_assert_eq(found.got, 2.5);
  cr_assert_float_eq(found.allowed, 0.4, 1e-12);
  cr_assert_not(found.passed);
  tolerance.absolute = 0.4;
  attn2c_compare(&shape, want, got, 2, &tolerance, &found);
  cr_assert(found.passed);
  cr_assert_str_eq(found.why, "");
}

Test(compare, padded_rows) {
  attn2c_tensor shape = rows_of(2, 2);
  float want[] = {1, 2, 3, 4}, got[] = {1, 2, NAN, 3, 4, NAN};
  attn2c_comparison found;
  attn2c_compare(&shape, want, got, 3, &exact, &found);
  cr_assert(found.passed, "%s", found.why);
  got[4] = 5;
  attn2c_compare(&shape, want, got, 3, &exact, &found);
  cr_assert_not(found.passed);
  cr_assert_eq(found.where[0], 1);
  cr_assert_eq(found.where[1], 1);
}

/* Values of which the first is the right one. */
Test(compare, classes_must_match) {
  const float values[] = {1, NAN, INFINITY, -INFINITY};
  attn2c_tensor shape = rows_of(1, 1);
  attn2c_tolerance wide = {.absolute = 1e30, .relative = 1e30, .relative_l2 = -1};
  for (int w = 0; w < 4; w++)
    for (int g = 0; g < 4; g++) {
      attn2c_comparison found;
      attn2c_compare(&shape, &values[w], &values[g], 1, &wide, &found);
      cr_assert_eq(found.passed, w == g, "expected %g, got %g", values[w], values[g]);
      cr_assert_eq(isinf(found.largest_absolute) != 0, w != g);
    }
}

Test(compare, an_unmatched_nan_is_the_worst) {
  attn2c_tensor shape = rows_of(2, 3);
  float want[] = {1, 2, 3, 4, 5, 6}, got[] = {100, 2, 3, 4, NAN, 6};
  attn2c_tolerance tolerance = {.absolute = 1e-3, .relative_l2 = -1};
  attn2c_comparison found;
  attn2c_compare(&shape, want, got, 3, &tolerance, &found);
  cr_assert_eq(found.violations, 2);
  cr_assert_eq(found.where[0], 1);
  cr_assert_eq(found.where[1], 1);
  cr_assert(isnan(found.got));
}

Test(compare, mostly_zeros_fail_whatever_the_tolerance) {
  attn2c_tensor shape = rows_of(1, 10);
  float want[10], got[10];
  attn2c_tolerance wide = {.absolute = 10, .relative_l2 = -1};
  attn2c_comparison found;
  for (int zeros = 0; zeros <= 10; zeros++) {
    for (int i = 0; i < 10; i++) want[i] = 1, got[i] = i < zeros ? 0 : 1;
    attn2c_compare(&shape, want, got, 10, &wide, &found);
    cr_assert_eq(found.passed, zeros <= 3, "%d zeros of 10", zeros);
    /* Zeros that are right are no fault. */
    for (int i = 0; i < 10; i++) want[i] = got[i];
    attn2c_compare(&shape, want, got, 10, &wide, &found);
    cr_assert(found.passed);
  }
}

Test(compare, relative_l2) {
  attn2c_tensor shape = rows_of(1, 4);
  float want[] = {1, 1, 1, 1}, got[] = {1.001f, 1.001f, 1.001f, 1.001f};
  attn2c_tolerance tolerance = {.absolute = 1, .relative_l2 = 2e-3};
  attn2c_comparison found;
  attn2c_compare(&shape, want, got, 4, &tolerance, &found);
  cr_assert(found.passed);
  tolerance.relative_l2 = 5e-4;
  attn2c_compare(&shape, want, got, 4, &tolerance, &found);
  cr_assert_not(found.passed);
  /* Something where nothing is expected is infinitely wrong. */
  memset(want, 0, sizeof want);
  attn2c_compare(&shape, want, got, 4, &tolerance, &found);
  cr_assert(isinf(found.relative_l2));
  cr_assert_not(found.passed);
}

Test(compare, indices) {
  attn2c_tensor shape = {.name = "best", .type = ATTN2C_I32, .rank = 1, .shape = {2}};
  int32_t want[] = {1, 0}, got[] = {1, 2};
  float values[] = {0, 5, 1, 3, 2, 2.999f};
  attn2c_comparison found;
  attn2c_compare_indices(&shape, want, want, NULL, 0, 1, 0, &found);
  cr_assert(found.passed);
  attn2c_compare_indices(&shape, want, got, NULL, 0, 1, 0, &found);
  cr_assert_not(found.passed);
  cr_assert_eq(found.where[0], 1);
  attn2c_compare_indices(&shape, want, got, values, 3, 1, 1e-2, &found);
  cr_assert(found.passed);
  attn2c_compare_indices(&shape, want, got, values, 3, 1, 1e-4, &found);
  cr_assert_not(found.passed);
  float rows[] = {0, 5, 4.9999f, 3, 2, 2.999f}; /* two indices of each of two rows */
  shape.rank = 2, shape.shape[0] = 2, shape.shape[1] = 2;
  int32_t wants[] = {1, 2, 0, 2}, gots[] = {2, 1, 2, 0};
  attn2c_compare_indices(&shape, wants, gots, rows, 3, 2, 1e-2, &found);
  cr_assert(found.passed);
  attn2c_compare_indices(&shape, wants, gots, rows, 3, 2, 5e-4, &found);
  cr_assert_not(found.passed);
  cr_assert_eq(found.where[0], 1);
  shape.rank = 1;
  got[1] = 1000; /* outside of the row: never read, never right */
  attn2c_compare_indices(&shape, want, got, values, 3, 1, 1e9, &found);
  cr_assert_not(found.passed);
}

Test(compare, bits) {
  attn2c_tensor shape = rows_of(1, 3);
  float want[] = {0, NAN, 3}, got[] = {0, NAN, 3};
  attn2c_comparison found;
  attn2c_compare_bits(&shape, want, got, &found);
  cr_assert(found.passed);
  got[0] = -0.0f;
  attn2c_compare_bits(&shape, want, got, &found);
  cr_assert_not(found.passed);
  got[0] = 0, got[2] = nextafterf(3, 4);
  attn2c_compare_bits(&shape, want, got, &found);
  cr_assert_not(found.passed);
  cr_assert_eq(found.where[1], 2);
}

Test(compare, row_sums) {
  attn2c_tensor shape = rows_of(2, 2);
  float want[] = {0.5f, 0.5f, 0, 0}, got[] = {0.5f, 0.5f, 0, 0};
  attn2c_comparison found;
  attn2c_compare(&shape, want, got, 2, &exact, &found);
  attn2c_compare_row_sums(&shape, want, got, 2, attn2c_tolerance_row_sum(2), &found);
  cr_assert(found.passed);
  got[0] = 0.5000004f;
  attn2c_tolerance loose = {.absolute = 1e-3, .relative_l2 = -1};
  attn2c_compare(&shape, want, got, 2, &loose, &found);
  cr_assert(found.passed);
  attn2c_compare_row_sums(&shape, want, got, 2, attn2c_tolerance_row_sum(2), &found);
  cr_assert_not(found.passed);
  cr_assert_eq(found.expected, 1);
}

/* One op and its operands, judged against its own reference. */
typedef struct {
  attn2c_tensor tensors[4];
  attn2c_attribute attributes[6];
  attn2c_op op;
  attn2c_descriptor model;
  float a[512], b[512], c[64], want[64], allowed[64];
  void *values[4];
} subject;

static subject it;

static attn2c_comparison judge(const float *got) {
  char text[256];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_comparison found;
  attn2c_tolerance tolerance = {.allowed = it.allowed, .relative_l2 = -1};
  cr_assert_eq(attn2c_reference_op(&it.model, &it.op, it.values, it.allowed, &message), ATTN2C_OK, "%s",
               text);
  cr_assert_eq(attn2c_tolerance_op(&it.model, &it.op, it.values, it.allowed, &message), ATTN2C_OK, "%s",
               text);
  attn2c_compare(&it.tensors[3], it.want, got, it.tensors[3].shape[it.tensors[3].rank - 1], &tolerance,
                 &found);
  return found;
}

static void subject_of(const char *op, const char *function, int operands) {
  memset(&it, 0, sizeof it);
  it.op =
      (attn2c_op){.op = op, .result = 3, .operands = {-1, -1, -1, -1, -1, -1}, .attributes = it.attributes};
  for (int i = 0; i < operands; i++) it.op.operands[i] = i;
  it.attributes[0] = (attn2c_attribute){"function", 0, function};
  if (!function) it.attributes[0] = (attn2c_attribute){"scale", 1, NULL};
  it.model = (attn2c_descriptor){.name = "one", .tensors = it.tensors, .tensor_count = 4};
  void *values[] = {it.a, it.b, it.c, it.want};
  memcpy(it.values, values, sizeof values);
  for (int i = 0; i < 4; i++) it.tensors[i].name = "t";
}

static void shape(int tensor, int rank, int64_t d0, int64_t d1) {
  it.tensors[tensor].rank = rank;
  it.tensors[tensor].shape[0] = d0, it.tensors[tensor].shape[1] = d1;
}

Test(tolerance, linear) {
  subject_of("linear", NULL, 2);
  shape(0, 2, 1, 16), shape(1, 2, 4, 16), shape(3, 2, 1, 4);
  for (int i = 0; i < 16; i++) it.a[i] = (float)sin(i + 1);
  for (int i = 0; i < 64; i++) it.b[i] = (float)cos(3 * i);
  float got[4];
  for (int o = 0; o < 4; o++) {
    got[o] = 0;
    for (int k = 0; k < 16; k++) got[o] += it.a[k] * it.b[o * 16 + k];
  }
  attn2c_comparison found = judge(got);
  cr_assert(found.passed, "plain float arithmetic is right: %s", found.why);
  /* 4 sqrt(16) 2^-24 sum |a b| + 2^-126 */
  double absolutes = 0;
  for (int k = 0; k < 16; k++) absolutes += fabs((double)it.a[k] * it.b[k]);
  cr_assert_float_eq(it.allowed[0] / (16 * 0x1p-24 * absolutes), 1, 1e-6);
  got[2] = -got[2];
  found = judge(got);
  cr_assert_not(found.passed, "a flipped sign");
  cr_assert_eq(found.where[1], 2);
  got[2] = -got[2];
  got[1] *= 1.0001f;
  found = judge(got);
  cr_assert_not(found.passed, "off by 1e-4");
  cr_assert_eq(found.where[1], 1);
}

Test(tolerance, activations) {
  static const struct {
    const char *name;
    double relative;
  } cases[] = {{"gelu", 4e-6},       {"gelu_rounded", 2e-4}, {"silu", 4e-6},
               {"quick_gelu", 4e-6}, {"sigmoid", 4e-6},      {"gelu_tanh", 4e-5},
               {"tanh", 4e-5},       {"log_relu", 4e-6},     {"relu", 0}};
  for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
    float got[8];
    for (int worse = 0; worse < 3; worse++) {
      subject_of("activate", cases[at].name, 1);
      shape(0, 2, 1, 8), shape(3, 2, 1, 8);
      for (int i = 0; i < 8; i++) it.a[i] = 0.5f * (float)(i - 2);
      judge(it.want);
      double factor =
          worse == 0 ? 1 : 1 + (worse == 1 ? 0.9 : 1.2) * cases[at].relative + (worse == 2 ? 2e-7 : 0);
      for (int i = 0; i < 8; i++) got[i] = (float)(it.want[i] * factor);
      if (cases[at].relative == 0 && worse == 1) continue;
      cr_assert_eq(judge(got).passed, worse < 2, "%s, case %d", cases[at].name, worse);
    }
  }
}

Test(tolerance, gelu_where_one_plus_erf_cancels) {
  subject_of("activate", "gelu", 1);
  shape(0, 2, 1, 2), shape(3, 2, 1, 2);
  it.a[0] = -4, it.a[1] = -4;
  float got[2];
  for (int i = 0; i < 2; i++) got[i] = (float)(0.5 * it.a[i] * erfc(-it.a[i] * 0.70710678118654752440));
  cr_assert(judge(got).passed);
  got[1] = 0.5f * it.a[1] * (1 + erff(it.a[1] * 0.70710678f)); /* what cancellation leaves is not enough */
  cr_assert_not(judge(got).passed);
}

Test(tolerance, moves_and_additions_are_exact) {
  static const struct {
    const char *op, *function;
    int operands;
  } cases[] = {{"copy", NULL, 1}, {"add", NULL, 2}, {"activate", "relu", 1}};
  for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
    subject_of(cases[at].op, cases[at].function, cases[at].operands);
    for (int tensor = 0; tensor < 4; tensor++) shape(tensor, 1, 8, 0);
    for (int i = 0; i < 8; i++) it.a[i] = (float)exp(i), it.b[i] = (float)sin(i);
    float got[8];
    for (int i = 0; i < 8; i++) got[i] = it.a[i] + (cases[at].operands == 2 ? it.b[i] : 0);
    cr_assert(judge(got).passed, "%s", cases[at].op);
    got[5] = nextafterf(got[5], 0);
    attn2c_comparison found = judge(got);
    cr_assert_not(found.passed, "%s", cases[at].op);
    cr_assert_eq(found.where[0], 5);
  }
}

Test(tolerance, softmax) {
  subject_of("softmax", NULL, 1);
  shape(0, 2, 1, 8), shape(3, 2, 1, 8);
  for (int i = 0; i < 8; i++) it.a[i] = -7.3f * (float)i;
  it.a[7] = -INFINITY;
  /* Plain float arithmetic. */
  float got[8], sum = 0;
  for (int i = 0; i < 8; i++) sum += got[i] = expf(it.a[i] - it.a[0]);
  for (int i = 0; i < 8; i++) got[i] /= sum;
  cr_assert(judge(got).passed);
  cr_assert_float_eq(it.allowed[6] / it.want[6] / ((10 + 6 * 7.3) * 0x1p-23), 1, 1e-4);
  cr_assert_eq(it.allowed[7], 0);
  got[6] *= 1.0001f;
  cr_assert_not(judge(got).passed, "off by 1e-4");
  got[6] = it.want[6];
  got[7] = 1e-30f;
  cr_assert_not(judge(got).passed, "a masked weight is 0");
  got[7] = 0, it.a[6] = -200, got[6] = 0;
  cr_assert(judge(got).passed, "what is below the smallest normal number may be 0");
}

static void normalise(float shift, float *got) {
  subject_of("layer_norm", NULL, 1);
  it.attributes[0] = (attn2c_attribute){"eps", 1e-5, NULL};
  shape(0, 2, 1, 32), shape(3, 2, 1, 32);
  float mean = 0, variance = 0;
  for (int i = 0; i < 32; i++) it.a[i] = shift + (float)sin(i * i), mean += it.a[i];
  mean /= 32;
  for (int i = 0; i < 32; i++) variance += (it.a[i] - mean) * (it.a[i] - mean);
  float scale = 1 / sqrtf(variance / 32 + 1e-5f);
  for (int i = 0; i < 32; i++) got[i] = (it.a[i] - mean) * scale;
}

Test(tolerance, layer_norm) {
  const float shifts[] = {0, 1, 100, 10000};
  for (int at = 0; at < 4; at++) {
    float got[32];
    normalise(shifts[at], got);
    attn2c_comparison found = judge(got);
    cr_assert(found.passed, "two passes in float are right at mean %g: %g for %g, allowed %g", shifts[at],
              found.got, found.expected, found.allowed);
  }
}

Test(tolerance, layer_norm_in_one_pass_is_wrong) {
  /* sum of squares minus square of the sum, in float, at a mean far from 0 */
  float got[32], sum = 0, squares = 0;
  normalise(100, got);
  for (int i = 0; i < 32; i++) sum += it.a[i], squares += it.a[i] * it.a[i];
  float mean = sum / 32, variance = squares / 32 - mean * mean;
  for (int i = 0; i < 32; i++) got[i] = (it.a[i] - mean) / sqrtf(variance + 1e-5f);
  cr_assert_not(judge(got).passed);
}

/* 400 equal terms: each addition rounds alike, so that plain float arithmetic is off by 97 u, more than the
 * 4 sqrt(400) u that is allowed where terms differ. */
Test(tolerance, context_of_values_that_are_the_same) {
  enum { KEYS = 400 };
  for (int differ = 0; differ < 2; differ++) {
    subject_of("context", NULL, 2);
    it.attributes[0] = (attn2c_attribute){"heads", 1, NULL};
    it.tensors[0].rank = 4, it.tensors[1].rank = it.tensors[3].rank = 3;
    for (int axis = 0; axis < 4; axis++)
      for (int tensor = 0; tensor < 4; tensor++) it.tensors[tensor].shape[axis] = 1;
    it.tensors[0].shape[3] = it.tensors[1].shape[1] = KEYS;
    float got = 0, term = 1.0f / KEYS * 2.37f;
    for (int j = 0; j < KEYS; j++) {
      it.a[j] = 1.0f / KEYS;
      it.b[j] = differ && j % 2 ? 2.36f : differ ? 2.38f : 2.37f;
      got += term;
    }
    cr_assert_eq(judge(&got).passed, !differ);
    cr_assert_float_eq(it.allowed[0] / (0x1p-24 * 2.37 * (differ ? 80 : 80 + KEYS - 1)), 1, 1e-5);
  }
}

Test(tolerance, models_by_depth) {
  static const struct {
    int layers;
    double absolute, relative_l2;
  } points[] = {{0, 1e-5, 1e-5},  {1, 1e-5, 1e-5},  {12, 1e-5, 1e-5}, {18, 5.5e-5, 2e-5},
                {24, 1e-4, 3e-5}, {28, 1e-4, 3e-5}, {32, 1e-4, 3e-5}, {64, 2e-4, 6e-5}};
  for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
    attn2c_tolerance tolerance = attn2c_tolerance_model(points[i].layers);
    cr_assert_float_eq(tolerance.absolute, points[i].absolute, 1e-12, "%d layers", points[i].layers);
    cr_assert_float_eq(tolerance.relative_l2, points[i].relative_l2, 1e-12, "%d layers", points[i].layers);
    cr_assert_eq(tolerance.relative, 1e-4);
  }
}

Test(tolerance, an_op_without_a_rule_is_refused) {
  char text[256];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  subject_of("unheard", NULL, 1);
  shape(3, 1, 1, 0);
  cr_assert_eq(attn2c_tolerance_op(&it.model, &it.op, it.values, it.allowed, &message), ATTN2C_USAGE);
  cr_assert(strstr(text, "unheard"), "%s", text);
}
