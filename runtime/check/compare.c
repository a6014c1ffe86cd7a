/* compare.c - compares one tensor with the reference's. An element's badness is its error divided by the
 * allowed error, so that the worst element is the worst under its own tolerance, not the largest. */
#include "check/compare.h"
#include "reference/ops.h"

#include <float.h>
#include <math.h>

/* If a larger share of results is zero, where zero is wrong, the comparison says nothing about the rest. */
#define ZERO_SHARE 0.3

/* The state of one comparison. */
typedef struct {
  double worst; /* badness of the worst element so far; -1 before the first */
  double error_squares, want_squares;
  int64_t element, zeros;
} progress;

static void locate(const attn2c_tensor *tensor, int64_t element, int64_t *where) {
  for (int axis = tensor->rank - 1; axis >= 0; axis--) {
    where[axis] = element % tensor->shape[axis];
    element /= tensor->shape[axis];
  }
}

static void start(const attn2c_tensor *tensor, progress *state, attn2c_comparison *comparison) {
  *state = (progress){-1, 0, 0, 0, 0};
  *comparison = (attn2c_comparison){.rank = tensor->rank, .passed = 1, .why = ""};
}

/* Keeps the first reason, which is the most specific. */
static void fail(attn2c_comparison *comparison, const char *why) {
  if (comparison->passed) comparison->why = why;
  comparison->passed = 0;
}

static int same_class(double want, double got) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  return want == got;
}

/* Counts one element. `error` is not NaN, and `allowed` is not negative. */
static void count(const attn2c_tensor *tensor, double want, double got, double error, double allowed,
                  progress *state, attn2c_comparison *comparison) {
  int passes = error <= allowed;
  double badness = error == 0 ? 0 : error / allowed; /* infinite if nothing is allowed */
  if (error > comparison->largest_absolute) comparison->largest_absolute = error;
  if (want != 0 && isfinite(want) && error / fabs(want) > comparison->largest_relative)
    comparison->largest_relative = error / fabs(want);
  if (isfinite(want) && isfinite(got)) {
    state->error_squares += error * error;
    state->want_squares += want * want;
  }
  if (got == 0 && fabs(want) >= FLT_MIN) state->zeros++;
  if (!passes && comparison->violations++ == 0) comparison->first = state->element;
  if (badness > state->worst) {
    state->worst = badness;
    locate(tensor, state->element, comparison->where);
    comparison->expected = want;
    comparison->got = got;
    comparison->allowed = allowed;
  }
  state->element++;
}

/* Returns sqrt(errors / wants), and 0 if both are 0. */
static double ratio_of_norms(const progress *state) {
  return state->error_squares == 0 ? 0 : sqrt(state->error_squares / state->want_squares);
}

void attn2c_compare(const attn2c_tensor *tensor, const float *want, const float *got,
                    int64_t leading_dimension, const attn2c_tolerance *tolerance,
                    attn2c_comparison *comparison) {
  progress state;
  start(tensor, &state, comparison);
  int64_t elements = attn2c_elements(tensor), width = attn2c_reference_width(tensor), other_class = 0;
  for (int64_t i = 0; i < elements; i++) {
    double w = want[i], g = got[i / width * leading_dimension + i % width];
    if (!isfinite(w) || !isfinite(g)) {
      int same = same_class(w, g);
      other_class += !same;
      count(tensor, w, g, same ? 0 : INFINITY, 0, &state, comparison);
    } else {
      double allowed = (tolerance->allowed ? tolerance->allowed[i] : 0) + tolerance->absolute +
                       tolerance->relative * fabs(w);
      count(tensor, w, g, fabs(g - w), allowed > 0 ? allowed : 0, &state, comparison);
    }
  }
  comparison->relative_l2 = ratio_of_norms(&state);
  if (other_class) fail(comparison, "NaN or infinity differs");
  if (comparison->violations) fail(comparison, "error above the tolerance");
  if ((double)state.zeros > ZERO_SHARE * (double)elements)
    fail(comparison, "zeros where the reference has none");
  if (tolerance->relative_l2 >= 0 && !(comparison->relative_l2 <= tolerance->relative_l2))
    fail(comparison, "relative L2 above the tolerance");
}

void attn2c_compare_indices(const attn2c_tensor *tensor, const int32_t *want, const int32_t *got,
                            const float *operand, int64_t width, int64_t picks, double margin,
                            attn2c_comparison *comparison) {
  progress state;
  start(tensor, &state, comparison);
  int64_t elements = attn2c_elements(tensor);
  for (int64_t i = 0; i < elements; i++) {
    double error = fabs((double)want[i] - (double)got[i]), allowed = 0;
    if (operand && error > 0 && got[i] >= 0 && got[i] < width) {
      const float *row = operand + i / picks * width;
      double behind = (double)row[want[i]] - (double)row[got[i]];
      if (fabs(behind) < margin) allowed = error;
    }
    count(tensor, want[i], got[i], error, allowed, &state, comparison);
  }
  comparison->relative_l2 = ratio_of_norms(&state);
  if (comparison->violations) fail(comparison, "another index");
}

void attn2c_compare_bits(const attn2c_tensor *tensor, const void *want, const void *got,
                         attn2c_comparison *comparison) {
  progress state;
  start(tensor, &state, comparison);
  int64_t elements = attn2c_elements(tensor);
  for (int64_t i = 0; i < elements; i++) {
    uint32_t want_bits, got_bits;
    memcpy(&want_bits, (const char *)want + i * 4, 4);
    memcpy(&got_bits, (const char *)got + i * 4, 4);
    double w, g;
    if (tensor->type == ATTN2C_I32)
      w = ((const int32_t *)want)[i], g = ((const int32_t *)got)[i];
    else
      w = ((const float *)want)[i], g = ((const float *)got)[i];
    double error = 0;
    if (want_bits != got_bits) {
      error = isfinite(w) && isfinite(g) ? fabs(g - w) : INFINITY;
      /* Bits may differ although the values are equal: 0 and -0. */
      if (error == 0) error = DBL_MIN;
    }
    count(tensor, w, g, error, 0, &state, comparison);
  }
  comparison->relative_l2 = ratio_of_norms(&state);
  if (comparison->violations) fail(comparison, "bits differ");
}

void attn2c_compare_row_sums(const attn2c_tensor *tensor, const float *want, const float *got,
                             int64_t leading_dimension, double limit, attn2c_comparison *comparison) {
  int64_t width = attn2c_reference_width(tensor), rows = attn2c_elements(tensor) / width;
  for (int64_t r = 0; r < rows; r++) {
    double want_sum = 0, got_sum = 0;
    for (int64_t i = 0; i < width; i++) {
      want_sum += want[r * width + i];
      got_sum += got[r * leading_dimension + i];
    }
    if (!(want_sum > 0.5) || fabs(got_sum - 1) <= limit) continue;
    comparison->violations++;
    if (comparison->passed) {
      locate(tensor, r * width, comparison->where);
      comparison->expected = 1;
      comparison->got = got_sum;
      comparison->allowed = limit;
    }
    fail(comparison, "the row does not sum to 1");
  }
}
