/* test_elementary.c - the functions of runtime/ops/elementary.h and ops/gelu.h against libm in double: floats
 * of all exponents and signs in steps coprime to 2^32, the borders, special values, and that a result is the
 * same in a vector loop and by itself. */
#define _DEFAULT_SOURCE
#include "long.h"
#include "ops/gelu.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <float.h>
#include <math.h>

enum { BLOCK = 4096 };

static double reference_relu(double x) { return x < 0 ? 0 : x; }
static double reference_sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double reference_silu(double x) { return x * reference_sigmoid(x); }
static double reference_quick_gelu(double x) { return x * reference_sigmoid(1.702 * x); }
static double reference_gelu_tanh(double x) {
  return x * reference_sigmoid(2 * sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x));
}
static double reference_log_relu(double x) { return log1p(reference_relu(x)); }
static double reference_gelu(double x) { return 0.5 * x * erfc(-x * sqrt(0.5)); }

#define LOOP_AND_CALL(name)                                                                                  \
  static __attribute__((noinline)) void loop_##name(float *y, const float *x, int count) {                   \
    _Pragma("omp simd") for (int i = 0; i < count; i++) y[i] = attn2c_##name(x[i]);                          \
  }                                                                                                          \
  static __attribute__((noinline)) float call_##name(float x) { return attn2c_##name(x); }
LOOP_AND_CALL(exp)
LOOP_AND_CALL(exp_nonpositive)
LOOP_AND_CALL(erf)
LOOP_AND_CALL(tanh)
LOOP_AND_CALL(sigmoid)
LOOP_AND_CALL(silu)
LOOP_AND_CALL(quick_gelu)
LOOP_AND_CALL(gelu_tanh)
LOOP_AND_CALL(gelu)
LOOP_AND_CALL(gelu_rounded)
LOOP_AND_CALL(relu)
LOOP_AND_CALL(log)
LOOP_AND_CALL(log_relu)
static __attribute__((noinline)) void row_of_gelu_rounded(float *y, const float *x, int count) {
  attn2c_gelu_rounded_row(y, x, count);
}

static const struct {
  const char *name;
  void (*loop)(float *y, const float *x, int count);
  float (*call)(float x);
  double (*reference)(double x);
  double relative; /* largest error relative to the result where that is a normal float */
  double ulps;     /* and in units of its last place */
  double denormal; /* largest absolute error below, in steps of 2^-149, besides the relative one */
  int nonpositive; /* only for x <= 0 */
  double flushed;  /* this times |x| is allowed besides */
} functions[] = {
    /* The limits are those that elementary.h states; where it allows 0 below 2^-126, denormal is 2^23 steps.
     */
    {"exp", loop_exp, call_exp, exp, 4e-6, 2, 1, 0, 0},
    {"exp_nonpositive", loop_exp_nonpositive, call_exp_nonpositive, exp, 4e-6, 2, 8388608, 1, 0},
    {"erf", loop_erf, call_erf, erf, 5e-7, 1e9, 2, 0, 0},
    {"tanh", loop_tanh, call_tanh, tanh, 4e-5, 4, 2, 0, 0},
    {"sigmoid", loop_sigmoid, call_sigmoid, reference_sigmoid, 7e-7, 1e9, 2, 0, 0},
    {"silu", loop_silu, call_silu, reference_silu, 7e-7, 1e9, 2, 0, 0},
    {"quick_gelu", loop_quick_gelu, call_quick_gelu, reference_quick_gelu, 7e-7, 1e9, 2, 0, 0},
    {"gelu_tanh", loop_gelu_tanh, call_gelu_tanh, reference_gelu_tanh, 2e-5, 1e9, 2, 0, 0},
    {"gelu", loop_gelu, call_gelu, reference_gelu, 2e-6, 1e9, 8388608, 0, 0},
    {"gelu_rounded", loop_gelu_rounded, call_gelu_rounded, reference_gelu, 1.1e-4, 1e9, 1, 0, 0x1p-25},
    {"gelu_rounded of rows", row_of_gelu_rounded, call_gelu_rounded, reference_gelu, 1.1e-4, 1e9, 1, 0,
     0x1p-25},
    {"log_relu", loop_log_relu, call_log_relu, reference_log_relu, 5e-7, 1e9, 2, 0, 0},
    {"relu", loop_relu, call_relu, reference_relu, 0, 0, 0, 0, 0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

typedef struct {
  int function;
} which;

static struct criterion_test_params all_functions(void) {
  static which list[FUNCTIONS];
  for (int i = 0; i < FUNCTIONS; i++) list[i].function = i;
  return cr_make_param_array(which, list, FUNCTIONS);
}

/* NULL where y is a right result of function f at x, else what is wrong. */
static const char *fault(int f, float x, float y) {
  const double expected = functions[f].reference(x);
  if (isnan(expected)) return isnan(y) ? NULL : "should be NaN";
  if (isnan(y)) return "should not be NaN";
  /* next to the largest float an error within the limits may reach infinity, or not */
  const int border = fabs(expected) > FLT_MAX * (1 - 3e-7) && fabs(expected) < FLT_MAX * (1 + 3e-7);
  if (border && fabsf(y) > 0.999999f * FLT_MAX) return NULL;
  if (isinf((float)expected) || isinf(y))
    return y == (float)expected ? NULL : "should be infinite, or finite";
  if (expected != 0 && y != 0 && !signbit(expected) != !signbit(y)) return "has the wrong sign";
  if (expected == 0 && y == 0 && x == 0 && !signbit(expected) != !signbit(y)) return "is the wrong zero";
  const double besides = functions[f].flushed > 0 ? functions[f].flushed * fabs((double)x) : 0;
  const double error = fabs((double)y - expected) - besides;
  if (fabs(expected) < FLT_MIN)
    return error <= functions[f].denormal * 0x1p-149 + functions[f].relative * fabs(expected)
               ? NULL
               : "is off below the normal floats";
  int exponent;
  frexp(expected, &exponent);
  if (error > functions[f].relative * fabs(expected)) return "is off by more than the relative limit";
  if (error > functions[f].ulps * ldexp(1, exponent - 24)) return "is off by more than the limit in ulps";
  return NULL;
}

static void expect_right(int f, const float *x, int count) {
  float y[BLOCK];
  functions[f].loop(y, x, count);
  for (int i = 0; i < count; i++) {
    const char *what = fault(f, x[i], y[i]);
    cr_assert_null(what, "%s(%a) = %a, expected %a: %s", functions[f].name, x[i], y[i],
                   functions[f].reference(x[i]), what);
  }
}

ParameterizedTestParameters(elementary, whole_range) { return all_functions(); }

ParameterizedTest(which *w, elementary, whole_range) {
  float x[BLOCK];
  /* More than 2^21 floats, 2^23 in a long run, spread over all exponents, signs and NaNs; others on each
   * instruction set. */
  const uint32_t step = is_long() ? 509 : 2039;
#if defined __AVX512F__
  uint32_t bits = 0;
#elif defined __AVX2__
  uint32_t bits = 170;
#else
  uint32_t bits = 340;
#endif
  for (uint64_t done = 0; done < (1ull << 32) / step; done += BLOCK) {
    for (int i = 0; i < BLOCK; i++, bits += step)
      x[i] = attn2c_from_bits(functions[w->function].nonpositive ? bits | 0x80000000u : bits);
    expect_right(w->function, x, BLOCK);
  }
}

ParameterizedTestParameters(elementary, borders) { return all_functions(); }

ParameterizedTest(which *w, elementary, borders) {
  /* where a result over- or underflows, where a range is cut, and where a reduction changes over */
  static const float at[] = {0.0f,        0x1p-149f,   0x1p-126f,  1.0f,       0.34657359f, 88.7228394f,
                             87.3365402f, 103.97208f,  104.0f,     89.0f,      9.02f,       4.0f,
                             13.06f,      13.2687372f, 88.029694f, 176.05939f, 3.92f,       FLT_MAX,
                             1e-20f,      1e20f,       10.05f,     91.9f,      51.3f,       54.0f,
                             5.0f,        128.0f,      0.5f,       2.0f};
  float x[BLOCK];
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int sign = functions[w->function].nonpositive; sign < 2; sign++) {
      int count = 0;
      for (int32_t near = -1000; near <= 1000; near++) {
        const int64_t bits = (int64_t)attn2c_bits(at[i]) + near;
        if (bits >= 0 && bits <= 0x7f800000)
          x[count++] = attn2c_from_bits((uint32_t)bits | (uint32_t)sign << 31);
      }
      expect_right(w->function, x, count);
    }
}

ParameterizedTestParameters(elementary, same_in_loop_and_alone) { return all_functions(); }

ParameterizedTest(which *w, elementary, same_in_loop_and_alone) {
  enum { COUNT = BLOCK - 3 }; /* so that a vector loop has a remainder */
  float x[BLOCK], y[BLOCK];
  uint32_t bits = 0;
  for (int block = 0; block < 32; block++) {
    for (int i = 0; i < COUNT; i++, bits += 32749)
      x[i] = attn2c_from_bits(functions[w->function].nonpositive ? bits | 0x80000000u : bits);
    functions[w->function].loop(y, x, COUNT);
    for (int i = 0; i < COUNT; i++) {
      const float alone = functions[w->function].call(x[i]);
      if (isnan(alone) && isnan(y[i])) continue;
      cr_assert_eq(attn2c_bits(alone), attn2c_bits(y[i]), "%s(%a) is %a in a loop and %a by itself",
                   functions[w->function].name, x[i], y[i], alone);
    }
  }
}

Test(elementary, exact_values) {
  cr_assert_eq(call_exp(0.0f), 1.0f);
  cr_assert_eq(call_exp(-0.0f), 1.0f);
  cr_assert_eq(call_exp(-INFINITY), 0.0f);
  cr_assert_eq(call_exp(INFINITY), INFINITY);
  cr_assert_eq(call_exp_nonpositive(0.0f), 1.0f);
  cr_assert_eq(call_exp_nonpositive(-INFINITY), 0.0f);
  cr_assert_eq(call_exp_nonpositive(-FLT_MAX), 0.0f);
  cr_assert_eq(call_erf(INFINITY), 1.0f);
  cr_assert_eq(call_erf(-INFINITY), -1.0f);
  cr_assert_eq(call_tanh(INFINITY), 1.0f);
  cr_assert_eq(call_tanh(-INFINITY), -1.0f);
  cr_assert_eq(call_tanh(-20.0f), -1.0f);
  cr_assert_eq(call_sigmoid(0.0f), 0.5f);
  cr_assert_eq(call_sigmoid(INFINITY), 1.0f);
  cr_assert_eq(call_sigmoid(-INFINITY), 0.0f);
  cr_assert_eq(call_gelu(INFINITY), INFINITY);
  cr_assert_eq(call_gelu(-20.0f), 0.0f);
  cr_assert_eq(call_gelu(100.0f), 100.0f);
  cr_assert_eq(call_gelu_rounded(INFINITY), INFINITY);
  cr_assert(isnan(call_gelu_rounded(-INFINITY)));
  cr_assert_eq(call_silu(INFINITY), INFINITY);
  cr_assert_eq(call_quick_gelu(INFINITY), INFINITY);
  cr_assert_eq(call_gelu_tanh(INFINITY), INFINITY);
  /* x * 0 of the equation */
  cr_assert(isnan(call_gelu(-INFINITY)) && isnan(call_silu(-INFINITY)));
  cr_assert(isnan(call_gelu_tanh(-INFINITY)) && isnan(call_quick_gelu(-INFINITY)));
}

/* NULL where y is a right logarithm of x, else what is wrong. elementary.h promises nothing of a positive
 * number below the normal ones but that it is no NaN. */
static const char *fault_of_log(float x, float y) {
  if (isnan(x) || x <= 0) return isnan(y) ? NULL : "should be NaN";
  if (isinf(x)) return y == x ? NULL : "should stay infinite";
  if (x < FLT_MIN) return isfinite(y) && y < -87 ? NULL : "should be a number below -87";
  const double expected = log((double)x), error = fabs((double)y - expected);
  int exponent;
  frexp(1 + fabs(expected), &exponent);
  return error <= 3 * ldexp(1, exponent - 24) ? NULL : "is off by more than 3 ulp of 1 + |log(x)|";
}

Test(elementary, logarithm) {
  float x[BLOCK], y[BLOCK];
  uint32_t bits = 0;
  const uint32_t step = is_long() ? 509 : 2039;
  for (uint64_t done = 0; done < (1ull << 32) / step; done += BLOCK) {
    for (int i = 0; i < BLOCK; i++, bits += step) x[i] = attn2c_from_bits(bits);
    loop_log(y, x, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
      const char *what = fault_of_log(x[i], y[i]);
      cr_assert_null(what, "log(%a) = %a, expected %a: %s", x[i], y[i], log((double)x[i]), what);
      const float single = call_log(x[i]);
      cr_assert((isnan(single) && isnan(y[i])) || attn2c_bits(single) == attn2c_bits(y[i]), "at %a", x[i]);
    }
  }
  /* around the least and the largest numbers, 1, and where the power of two changes */
  static const float at[] = {0, FLT_MIN, 1, 0.70710678f, 1.41421356f, 2, FLT_MAX, INFINITY};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int32_t near = -1000; near <= 1000; near++) {
      const float each = attn2c_from_bits(attn2c_bits(at[i]) + (uint32_t)near);
      const char *what = fault_of_log(each, call_log(each));
      cr_assert_null(what, "log(%a) = %a: %s", each, call_log(each), what);
    }
  cr_assert_eq(call_log(1.0f), 0.0f);
  cr_assert(isnan(call_log(-0.0f)) && isnan(call_log(-INFINITY)));
}

/* gelu_tanh is looser only where its tanh is nearly -1. */
Test(elementary, gelu_tanh_where_it_matters) {
  for (int i = -4000; i <= 40000; i++) {
    const float x = (float)i * 1e-3f, y = call_gelu_tanh(x);
    cr_assert_leq(fabs((double)y - reference_gelu_tanh(x)), 1e-6 * fabs(reference_gelu_tanh(x)), "at %a", x);
  }
}
