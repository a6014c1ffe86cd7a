/* test_tolerance.c - the tolerances of the ops beyond the plain layer: what float arithmetic makes of each
 * passes, and a small fault fails. */
#include "one_op.h"
#include "check/tolerance.h"
#include "ops/gather.h"
#include "ops/hadamard.h"

#include <float.h>

enum { B = 2, H = 2, S = 3, T = 5, D = 24, SCORES = B * H * S * T, ROWS = B * S * H * D };

static float a[B * T * H * D], b[B * T * H * D], c[B * T * H * D], want[B * T * H * D], got[B * T * H * D],
    allowed[B * T * H * D];

static void fill(float *x, int count, double step, double size) {
  for (int i = 0; i < count; i++) x[i] = (float)(size * sin(step * (i + 1)));
}

static attn2c_comparison judge(void) {
  attn2c_comparison found;
  const attn2c_tensor *shape = &tensors[op.result];
  attn2c_tolerance tolerance = {.allowed = allowed, .relative_l2 = -1};
  cr_assert_eq(run(allowed), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_tolerance_op(&model, &op, values, allowed, &message), ATTN2C_OK, "%s", text);
  attn2c_compare(shape, want, got, shape->shape[shape->rank - 1], &tolerance, &found);
  return found;
}

/* got[] is right; and wrong once its element `at` is off by a share, or, where nothing may be, by one bit. */
static void right_until_changed(int at, double share) {
  attn2c_comparison found = judge();
  cr_assert(found.passed, "%s: %s: expected %.9g, got %.9g, allowed %g", op.op, found.why, found.expected,
            found.got, found.allowed);
  float right = got[at];
  got[at] = share ? (float)(right * (1 + share)) : nextafterf(right, 1000);
  cr_assert_neq(got[at], right);
  cr_assert_not(judge().passed, "%s: %g for %g, allowed %g", op.op, got[at], right, allowed[at]);
  got[at] = right;
}

static void same_shapes(const char *name, int operands) {
  float *from[] = {a, b};
  start(name);
  for (int i = 0; i < operands; i++) op.operands[i] = tensor("x", ATTN2C_F32, from[i], B, H, S, T);
  op.result = tensor("y", ATTN2C_F32, want, B, H, S, T);
}

Test(tolerance, one_rounding_is_exact) {
  fill(a, SCORES, 0.7, 3), fill(b, SCORES, 1.9, 1e3);
  a[5] = FLT_MIN / 3; /* of a product that is rounded to a denormal number */
  same_shapes("multiply", 2);
  for (int i = 0; i < SCORES; i++) got[i] = a[i] * b[i];
  right_until_changed(7, 0);
  same_shapes("scale", 1);
  attribute(0, "factor", 0.1, NULL);
  for (int i = 0; i < SCORES; i++) got[i] = 0.1f * a[i];
  right_until_changed(7, 0);
  for (int relu = 0; relu < 2; relu++) {
    same_shapes("weigh", 1);
    attribute(0, "scale", 0.1, NULL);
    attribute(1, "relu", relu, NULL);
    for (int i = 0; i < SCORES; i++) got[i] = relu && a[i] < 0 ? 0 : 0.1f * a[i];
    right_until_changed(2, 0);
  }
  same_shapes("add_array", 2);
  attribute(0, "shape", 2, NULL);
  for (int i = 0; i < SCORES; i++) got[i] = a[i] + b[i];
  right_until_changed(7, 0);
}

Test(tolerance, one_rounding_in_a_table) {
  static int32_t lengths[B] = {2, 4};
  fill(a, SCORES, 0.7, 3), fill(b, H * (S + T - 1), 1.9, 1e3);
  start("add_distance");
  op.operands[0] = tensor("s", ATTN2C_F32, a, B, H, S, T);
  op.operands[1] = tensor("table", ATTN2C_F32, b, H, S + T - 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, H, S, T);
  for (int i = 0; i < SCORES; i++)
    got[i] = a[i] + b[i / (S * T) % H * (S + T - 1) + i % T - i / T % S + S - 1];
  right_until_changed(9, 0);
  start("add_length");
  op.operands[0] = tensor("s", ATTN2C_F32, a, B, H, S, T);
  op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, B, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, H, S, T);
  attribute(0, "value", -10000, NULL);
  for (int i = 0; i < SCORES; i++) got[i] = i % T >= lengths[i / (H * S * T)] ? a[i] + -10000.0f : a[i];
  right_until_changed(4, 0);
  start("head_scale");
  op.operands[0] = tensor("w", ATTN2C_F32, a, B, H, S, T);
  op.operands[1] = tensor("mask", ATTN2C_F32, b, 2, H, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, H, S, T);
  attribute(0, "layer", 1, NULL);
  for (int i = 0; i < SCORES; i++) got[i] = a[i] * b[H + i / (S * T) % H];
  right_until_changed(9, 0);
}

Test(tolerance, moves_are_exact) {
  fill(a, 60, 0.7, 1);
  start("swap");
  op.operands[0] = tensor("x", ATTN2C_F32, a, 3, 4, 5, 0);
  op.result = tensor("y", ATTN2C_F32, want, 4, 3, 5, 0);
  for (int i = 0; i < 60; i++) got[i] = a[(i / 5 % 3 * 4 + i / 15) * 5 + i % 5];
  right_until_changed(11, 0);
  start("join");
  op.operands[0] = tensor("x", ATTN2C_F32, a, 1, 4, 5, 0);
  op.result = tensor("y", ATTN2C_F32, want, 1, 5, 5, 0);
  attribute(0, "zeros", 1, NULL);
  for (int i = 0; i < 25; i++) got[i] = i < 20 ? a[i] : 0;
  right_until_changed(22, 0);
  start("split_heads");
  op.operands[0] = tensor("x", ATTN2C_F32, a, 2, 3, 8, 0);
  op.result = tensor("y", ATTN2C_F32, want, 2, 4, 3, 2);
  attribute(0, "heads", 4, NULL);
  for (int i = 0; i < 48; i++) got[i] = a[(i / 24 * 3 + i / 2 % 3) * 8 + i / 6 % 4 * 2 + i % 2];
  right_until_changed(7, 0);
  start("patches");
  op.operands[0] = tensor("x", ATTN2C_F32, a, 1, 1, 2, 2);
  op.result = tensor("y", ATTN2C_F32, want, 1, 4, 1, 0);
  attribute(0, "patch", 1, NULL);
  for (int i = 0; i < 4; i++) got[i] = a[i];
  right_until_changed(2, 0);
  float index[] = {0};
  start("bucket_table");
  op.operands[0] = tensor("table", ATTN2C_F32, a, 1, 4, 0, 0);
  op.operands[1] = tensor("index", ATTN2C_F32, index, 1, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, 4, 1, 0, 0);
  right_until_changed(2, 0);
}

Test(tolerance, norms_without_a_mean) {
  fill(a, 4 * D, 0.7, 1), fill(b, D, 1.1, 2);
  for (int form = 0; form < 2; form++) {
    start(form ? "normalise" : "rms_norm");
    op.operands[0] = tensor("x", ATTN2C_F32, a, 4, D, 0, 0);
    if (!form) op.operands[1] = tensor("gain", ATTN2C_F32, b, D, 0, 0, 0);
    op.result = tensor("y", ATTN2C_F32, want, 4, D, 0, 0);
    attribute(0, "eps", form ? 1e-12 : 1e-5, NULL);
    for (int r = 0; r < 4; r++) {
      float squares = 0;
      for (int i = 0; i < D; i++) squares += a[r * D + i] * a[r * D + i];
      float factor = 1 / sqrtf(form ? squares : squares / D + 1e-5f);
      for (int i = 0; i < D; i++) got[r * D + i] = a[r * D + i] * factor * (form ? 1 : b[i]);
    }
    right_until_changed(D + 3, 1e-6);
  }
}

/* Numbers around 1, with a cutoff near some of them: an element may be kept in one result only. A number that
 * is farther below the cutoff must be 0. */
Test(tolerance, sparsify) {
  fill(a, 4 * D, 0.7, 1);
  for (int i = 0; i < 4 * D; i++) a[i] += 1;
  start("sparsify");
  op.operands[0] = tensor("x", ATTN2C_F32, a, 4, D, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, 4, D, 0, 0);
  attribute(0, "factor", 0.5, NULL);
  int above = -1, below = -1;
  for (int r = 0; r < 4; r++) {
    float mean = 0, squares = 0;
    for (int i = 0; i < D; i++) mean += a[r * D + i] / D;
    for (int i = 0; i < D; i++) squares += (a[r * D + i] - mean) * (a[r * D + i] - mean);
    const float cutoff = mean + 0.5f * sqrtf(squares / D);
    for (int i = 0; i < D; i++) {
      got[r * D + i] = fmaxf(a[r * D + i] - cutoff, 0);
      *(got[r * D + i] > 0.1f ? &above : &below) = r * D + i;
    }
  }
  right_until_changed(above, 1e-5);
  got[below] = 1e-6f;
  cr_assert_not(judge().passed);
}

Test(tolerance, softmax_of_rows) {
  fill(a, 4 * D, 0.7, 3);
  for (int form = 0; form < 2; form++) {
    start(form ? "log_softmax" : "softmax_rows");
    op.operands[0] = tensor("x", ATTN2C_F32, a, 4, D, 0, 0);
    op.result = tensor("y", ATTN2C_F32, want, 4, D, 0, 0);
    for (int r = 0; r < 4; r++) {
      float largest = -INFINITY, sum = 0;
      for (int i = 0; i < D; i++) largest = fmaxf(largest, a[r * D + i]);
      for (int i = 0; i < D; i++) sum += expf(a[r * D + i] - largest);
      for (int i = 0; i < D; i++) {
        float t = a[r * D + i] - largest;
        got[r * D + i] = form ? t - logf(sum) : expf(t) / sum;
      }
    }
    right_until_changed(D + 3, 1e-5);
  }
}

/* 3 u of |x1 cos| + |x2 sin|, and what stays is exact. */
Test(tolerance, rotate) {
  const int half = D / 4;
  fill(a, ROWS, 0.7, 1), fill(b, S * half, 1.1, 1), fill(c, S * half, 2.3, 1);
  start("rotate");
  op.operands[0] = tensor("x", ATTN2C_F32, a, B, S, H * D, 0);
  op.operands[1] = tensor("cos", ATTN2C_F32, b, S, half, 0, 0);
  op.operands[2] = tensor("sin", ATTN2C_F32, c, S, half, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, S, H * D, 0);
  attribute(0, "heads", H, NULL);
  for (int i = 0; i < ROWS; i++) {
    int row = i / (H * D) % S, d = i % D;
    got[i] = a[i];
    if (d < half) got[i] = a[i] * b[row * half + d] - a[i + half] * c[row * half + d];
    if (d >= half && d < 2 * half)
      got[i] = a[i] * b[row * half + d - half] + a[i - half] * c[row * half + d - half];
  }
  right_until_changed(1, 3e-6);
  double size = fabs((double)a[1] * b[1]) + fabs((double)a[1 + half] * c[1]);
  cr_assert_float_eq(allowed[1] / (3 * ATTN2C_ROUNDOFF * size), 1, 1e-6);
  right_until_changed(2 * half, 0);
}

/* Windows in pairs: what both of a pair have cancels where the weight of its row is 0, and leaves its
 * roundings. */
Test(tolerance, pairs) {
  enum { WIDTH = 4, IN = 3 * WIDTH, WINDOWS = 5, OUT = 2, PAIRS = (WINDOWS + 1) / 2 };
  static float rows[(2 * WINDOWS + 1) * WIDTH], pairs[PAIRS * 4 * WIDTH];
  fill(rows, (2 * WINDOWS + 1) * WIDTH, 0.7, 1), fill(b, OUT * IN, 1.3, 1);
  for (int i = 0; i < WINDOWS; i += 2)
    for (int j = 0; j < WIDTH; j++) rows[(2 * i + 2) * WIDTH + j] *= 1000;
  for (int j = 2 * WIDTH; j < IN; j++) b[j] = 0;
  for (int i = 0; i < WINDOWS * IN; i++) a[i] = rows[i / IN * 2 * WIDTH + i % IN];
  attn2c_pair_rows(pairs, rows, PAIRS, WIDTH, WIDTH, 4 * WIDTH, 2 * WINDOWS + 1);
  start("linear");
  op.operands[0] = tensor("x", ATTN2C_F32, a, 1, WINDOWS, IN, 0);
  op.operands[1] = tensor("weight", ATTN2C_F32, b, OUT, IN, 0, 0);
  op.operands[3] = tensor("pairs", ATTN2C_F32, pairs, 1, PAIRS, 4 * WIDTH, 0);
  op.result = tensor("y", ATTN2C_F32, want, 1, WINDOWS, OUT, 0);
  for (int i = 0; i < WINDOWS * OUT; i++) {
    const int window = i / OUT, is_second = window % 2;
    const float *w = b + i % OUT * IN, *middle = rows + (4 * (window / 2) + 2) * WIDTH;
    got[i] = 0;
    for (int j = 0; j < WIDTH; j++) got[i] += middle[j] * (w[j] + w[2 * WIDTH + j]);
    for (int j = 0; j < 2 * WIDTH; j++)
      got[i] += pairs[window / 2 * 4 * WIDTH + is_second * 2 * WIDTH + j] * w[is_second * WIDTH + j];
  }
  right_until_changed(0, 0.1);
  double size = 0;
  for (int j = 0; j < WIDTH; j++)
    size += fabs((double)a[j] * b[j]) + fabs((double)a[WIDTH + j] * b[WIDTH + j]) +
            2 * fabs((double)a[2 * WIDTH + j] * b[j]);
  cr_assert_float_eq(allowed[0] / (4 * sqrt(IN) * ATTN2C_ROUNDOFF * size), 1, 1e-6);
  right_until_changed(OUT, 0.1);
}

/* Four roundings of two terms that cancel; and of a gate the roundings of its sums. */
Test(tolerance, gates) {
  static float gates[B * S * H], weight[8 * D], bias[8], factors[H];
  fill(a, SCORES, 0.7, 3), fill(b, H * (S + T - 1), 1.9, 3), fill(gates, B * S * H, 0.4, 2);
  start("add_gated");
  op.operands[0] = tensor("s", ATTN2C_F32, a, B, H, S, T);
  op.operands[1] = tensor("table", ATTN2C_F32, b, H, S + T - 1, 0, 0);
  op.operands[2] = tensor("gates", ATTN2C_F32, gates, B, S, H, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, H, S, T);
  for (int i = 0; i < SCORES; i++) {
    const int row = i / T % S, head = i / (T * S) % H, batch = i / (T * S * H);
    got[i] = a[i] + gates[(batch * S + row) * H + head] * b[head * (S + T - 1) + i % T - row + S - 1];
  }
  right_until_changed(9, 1e-4);
  static int32_t boxes[B * T * 4];
  for (int i = 0; i < B * T * 4; i++) boxes[i] = i * 7 % 11;
  fill(gates, H * 5, 1.2, 3);
  start("add_places");
  op.operands[0] = tensor("s", ATTN2C_F32, a, B, H, T, T);
  op.operands[1] = tensor("boxes", ATTN2C_I32, boxes, B, T, 4, 0);
  op.operands[2] = tensor("across", ATTN2C_F32, b, H, 5, 0, 0);
  op.operands[3] = tensor("down", ATTN2C_F32, gates, H, 5, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, H, T, T);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < B * H * T * T; i++) got[i] = want[i];
  right_until_changed(9, 1e-4);
  fill(a, B * S * H * D, 0.7, 1), fill(weight, 8 * D, 1.3, 1), fill(bias, 8, 0.3, 1),
      fill(factors, H, 0.9, 2);
  start("position_gates");
  op.operands[0] = tensor("x", ATTN2C_F32, a, B, S, H * D, 0);
  op.operands[1] = tensor("weight", ATTN2C_F32, weight, 8, D, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 8, 0, 0, 0);
  op.operands[3] = tensor("factors", ATTN2C_F32, factors, H, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, S, H, 0);
  attribute(0, "heads", H, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < B * S * H; i++) got[i] = want[i];
  right_until_changed(3, 1e-4);
}

Test(tolerance, additive_scores) {
  fill(a, ROWS, 0.7, 1), fill(b, B * T * H * D, 1.1, 1), fill(c, H * D, 2.3, 1);
  start("additive_scores");
  op.operands[0] = tensor("q", ATTN2C_F32, a, B, S, H * D, 0);
  op.operands[1] = tensor("k", ATTN2C_F32, b, B, T, H * D, 0);
  op.operands[2] = tensor("v", ATTN2C_F32, c, H, D, 0, 0);
  op.result = tensor("s", ATTN2C_F32, want, B, H, S, T);
  attribute(0, "heads", H, NULL);
  double size_at_7 = 0;
  for (int e = 0; e < SCORES; e++) {
    int j = e % T, i = e / T % S, h = e / (T * S) % H, n = e / (T * S * H);
    float sum = 0;
    for (int d = 0; d < D; d++) {
      float term = c[h * D + d] * tanhf(a[((n * S + i) * H + h) * D + d] + b[((n * T + j) * H + h) * D + d]);
      sum += term * (1 + 3e-5f); /* as far off as each tanh may be */
      if (e == 7) size_at_7 += fabs((double)term);
    }
    got[e] = sum;
  }
  attn2c_comparison found = judge();
  cr_assert(found.passed, "%s: expected %.9g, got %.9g", found.why, found.expected, found.got);
  cr_assert_float_eq(allowed[7] / ((4e-5 + (1 + 4 * sqrt(D)) * 0x1p-24) * size_at_7), 1, 1e-5);
  got[7] += (float)(1e-4 * size_at_7);
  cr_assert_not(judge().passed);
}

Test(tolerance, add_relative) {
  enum { M = 6 };
  fill(a, SCORES, 0.7, 3), fill(b, ROWS, 1.1, 1), fill(c, (2 * M - 1) * D, 2.3, 1);
  a[4] = -INFINITY;
  start("add_relative");
  op.operands[0] = tensor("s", ATTN2C_F32, a, B, H, S, T);
  op.operands[1] = tensor("q", ATTN2C_F32, b, B, S, H * D, 0);
  op.operands[2] = tensor("table", ATTN2C_F32, c, 2 * M - 1, D, 0, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, H, S, T);
  double size_at_7 = fabs((double)a[7]);
  for (int e = 0; e < SCORES; e++) {
    int j = e % T, i = e / T % S, h = e / (T * S) % H, n = e / (T * S * H);
    float sum = 0;
    for (int d = 0; d < D; d++) {
      float term = b[((n * S + i) * H + h) * D + d] * c[(i - j + M - 1) * D + d];
      sum += term;
      if (e == 7) size_at_7 += fabs((double)term);
    }
    got[e] = a[e] + sum;
  }
  attn2c_comparison found = judge();
  cr_assert(found.passed, "%s: expected %.9g, got %.9g", found.why, found.expected, found.got);
  cr_assert_float_eq(allowed[7] / (4 * sqrt(D) * 0x1p-24 * size_at_7), 1, 1e-5);
  got[7] += (float)(1e-5 * size_at_7);
  cr_assert_not(judge().passed);
}

Test(tolerance, mean_heads) {
  fill(a, SCORES, 0.7, 3);
  start("mean_heads");
  op.operands[0] = tensor("w", ATTN2C_F32, a, B, H, S, T);
  op.result = tensor("y", ATTN2C_F32, want, B, S, T, 0);
  for (int e = 0; e < B * S * T; e++)
    got[e] = (a[e / (S * T) * H * S * T + e % (S * T)] + a[(e / (S * T) * H + 1) * S * T + e % (S * T)]) / H;
  right_until_changed(3, 1e-5);
}

/* Queries and weights are rounded to integers of 16 bits where these are multiplied with integers. So numbers
 * of half a unit, beside a largest one that is multiplied with 0, may be 0, but not two units. */
Test(tolerance, scores_and_contexts_of_integers) {
  const double unit = 1.0 / 127 / 256;
  float x[T * D], numbers[T * D], scale[T];
  for (int is_context = 0; is_context < 2; is_context++) {
    const int count = is_context ? T : D, stride = is_context ? D : 1;
    memset(numbers, 0, sizeof numbers);
    for (int i = 0; i < count; i++) x[i] = i == 0 ? 0.75f : (float)(0.75 * unit / 2);
    for (int i = 1; i < count; i++) numbers[i * stride] = (float)(120 + i);
    for (int i = 0; i < T; i++) scale[i] = 0.5f;
    start(is_context ? "context" : "scores");
    op.operands[0] =
        is_context ? tensor("p", ATTN2C_F32, x, 1, 1, 1, T) : tensor("q", ATTN2C_F32, x, 1, 1, D, 0);
    op.operands[1] = tensor("kept", ATTN2C_F32, numbers, 1, T, D, 0);
    op.operands[3] = tensor("scale", ATTN2C_F32, scale, 1, T, 1, 0);
    op.result =
        is_context ? tensor("c", ATTN2C_F32, want, 1, 1, D, 0) : tensor("s", ATTN2C_F32, want, 1, 1, 1, T);
    attribute(0, "heads", 1, NULL);
    attribute(1, "left", -1, NULL);
    attribute(2, "right", -1, NULL);
    memset(got, 0, sizeof got);
    cr_assert(judge().passed, "%s", op.op);
    cr_assert_gt(want[0], 0);
    got[0] = -want[0];
    cr_assert_not(judge().passed, "%s", op.op);
    op.operands[3] = -1; /* floats are not rounded */
    got[0] = 0;
    cr_assert_not(judge().passed, "%s", op.op);
  }
}

/* log2(block) + 3 roundings of the sum of magnitudes. */
Test(tolerance, hadamard) {
  enum { BLOCK = 8 };
  fill(a, ROWS, 0.7, 1);
  start("hadamard");
  op.operands[0] = tensor("x", ATTN2C_F32, a, B, S, H * D, 0);
  op.result = tensor("y", ATTN2C_F32, want, B, S, H * D, 0);
  attribute(0, "heads", H, NULL);
  attribute(1, "block", BLOCK, NULL);
  attn2c_hadamard(got, a, B * S, H, D, BLOCK, (float)(1 / sqrt(BLOCK)), H * D, H * D);
  right_until_changed(9, 1e-5);
  double size = 0;
  for (int i = 0; i < BLOCK; i++) size += fabs((double)a[BLOCK + i]) / sqrt(BLOCK);
  cr_assert_float_eq(allowed[9] / (6 * ATTN2C_ROUNDOFF * size), 1, 1e-6);
}
