/* test_reference.c - the generic reference, op by op, against numbers worked out by hand: values, masks, what
 * becomes of NaN and infinities, and the refusal of what does not fit. */
#include "readers.h"
#include "one_op.h"

Test(linear, product_and_bias) {
  float x[] = {1, 2, 3, -1, 0, 2}, weight[] = {1, 0, 1, 2, -1, 0.5f}, bias[] = {10, 20}, y[4], magnitude[4];
  start("linear");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 3, 0);
  op.operands[1] = tensor("w", ATTN2C_F32, weight, 2, 3, 0, 0);
  op.operands[2] = tensor("b", ATTN2C_F32, bias, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 2, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){14, 21.5, 11, 19}, 4, 0);
  /* |bias| + sum |x w| */
  assert_near(magnitude, (double[]){14, 25.5, 13, 23}, 4, 0);
  op.operands[2] = -1;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){4, 1.5, 1, -1}, 4, 0);
}

Test(linear, accumulates_in_double) {
  /* In float 1e8 + 1 is 1e8. */
  float x[] = {1e8f, 1, -1e8f}, weight[] = {1, 1, 1}, y[1];
  start("linear");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 3, 0, 0);
  op.operands[1] = tensor("w", ATTN2C_F32, weight, 1, 3, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 1, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK);
  cr_assert_eq(y[0], 1.0f);
  x[1] = NAN;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  cr_assert(isnan(y[0]));
}

Test(linear, refuses_what_does_not_fit) {
  float x[6] = {0}, weight[6] = {0}, y[4];
  start("linear");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 0, 0);
  op.operands[1] = tensor("w", ATTN2C_F32, weight, 3, 2, 0, 0);
  op.result = tensor("l0.q", ATTN2C_F32, y, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  cr_assert(strstr(text, "linear") && strstr(text, "l0.q") && strstr(text, "*i, oi, o -> *o"), "%s", text);
  op.operands[1] = -1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(embed, rows_of_the_table) {
  int32_t ids[] = {2, 0};
  float table[] = {1, 2, 3, 4, 5, 6}, y[4];
  start("embed");
  op.operands[0] = tensor("ids", ATTN2C_I32, ids, 1, 2, 0, 0);
  op.operands[1] = tensor("table", ATTN2C_F32, table, 3, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){5, 6, 1, 2}, 4, 0);
  for (int wrong = 0; wrong < 2; wrong++) {
    ids[1] = wrong ? -1 : 3;
    message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(run(NULL), ATTN2C_FORMAT);
    cr_assert(strstr(text, "ids: element 1 is") && strstr(text, "from 0 to 2"), "%s", text);
  }
}

Test(embed, scales_of_rows) {
  int32_t ids[] = {2, 0};
  float table[] = {1, -127, 3, 4, 5, 6}, scale[] = {0.5f, NAN, 3}, y[4];
  start("embed");
  op.operands[0] = tensor("ids", ATTN2C_I32, ids, 1, 2, 0, 0);
  op.operands[1] = tensor("table", ATTN2C_F32, table, 3, 2, 0, 0);
  op.operands[2] = tensor("scale", ATTN2C_F32, scale, 3, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){15, 18, 0.5, -63.5}, 4, 0);
  tensors[2].shape[0] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  cr_assert(strstr(text, "one a row of the table"), "%s", text);
}

Test(add, repeats_a_suffix) {
  float a[] = {1, 2, 3, 4, 5, 6, 7, 8}, b[] = {10, 20, 30, 40}, y[8];
  start("add");
  op.operands[0] = tensor("a", ATTN2C_F32, a, 2, 2, 2, 0);
  op.operands[1] = tensor("b", ATTN2C_F32, b, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){11, 22, 33, 44, 15, 26, 37, 48}, 8, 0);
  tensors[1].rank = 1;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){11, 22, 13, 24, 15, 26, 17, 28}, 8, 0);
  tensors[1].shape[0] = 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(copy, moves_everything) {
  float x[] = {1, NAN, -INFINITY}, y[3];
  start("copy");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 3, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){1, NAN, -INFINITY}, 3, 0);
}

Test(activate, each_function) {
  static const struct {
    const char *name;
    double want[8]; /* of -3, -0.5, 0, 1, 2.5, NaN, infinity, -infinity */
  } cases[] = {
      {"relu", {0, 0, 0, 1, 2.5, NAN, INFINITY, 0}},
      {"gelu", {-0.00404969409, -0.154268769, 0, 0.841344746, 2.48447584, NAN, INFINITY, NAN}},
      {"gelu_tanh", {-0.00363739208, -0.15428599, 0, 0.841191991, 2.48491573, NAN, INFINITY, NAN}},
      {"quick_gelu", {-0.0180713097, -0.149611563, 0, 0.845795766, 2.46501383, NAN, INFINITY, NAN}},
      {"silu", {-0.14227762, -0.188770334, 0, 0.731058579, 2.31035455, NAN, INFINITY, NAN}},
      {"sigmoid", {0.0474258732, 0.377540669, 0.5, 0.731058579, 0.92414182, NAN, 1, 0}},
      {"log_relu", {0, 0, 0, 0.693147181, 1.25276297, NAN, INFINITY, 0}},
      {"tanh", {-0.995054754, -0.462117157, 0, 0.761594156, 0.986614298, NAN, 1, -1}},
  };
  float x[] = {-3, -0.5f, 0, 1, 2.5f, NAN, INFINITY, -INFINITY}, y[8];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start("activate");
    op.operands[0] = tensor("x", ATTN2C_F32, x, 8, 0, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, 8, 0, 0, 0);
    attribute(0, "function", 0, cases[i].name);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    assert_near(y, cases[i].want, 8, 2e-7);
  }
  attribute(0, "function", 0, "swish");
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(activate, gelu_does_not_cancel_far_out) {
  /* -10 times the normal distribution at -10, which is 7.61985302e-24 */
  float x[] = {-10}, y[1];
  start("activate");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 0, 0, 0);
  attribute(0, "function", 0, "gelu");
  cr_assert_eq(run(NULL), ATTN2C_OK);
  cr_assert_float_eq(y[0] / -7.61985302e-23, 1, 1e-6);
}

Test(layer_norm, mean_variance_gain_bias) {
  float x[] = {1, 2, 3, 6, 5, 5, 5, 5}, gain[] = {1, 2, 1, 0.5f}, bias[] = {0, 1, 0, -1}, y[8];
  start("layer_norm");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 4, 0, 0);
  op.operands[1] = tensor("gain", ATTN2C_F32, gain, 4, 0, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 4, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 4, 0, 0);
  attribute(0, "eps", 0.5, NULL); /* the variance is 3.5, so that the divisor is 2 */
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){-1, 0, 0, -0.25, 0, 1, 0, -1}, 8, 1e-7);
  op.operands[1] = op.operands[2] = -1;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){-1, -0.5, 0, 1.5, 0, 0, 0, 0}, 8, 1e-7);
  x[1] = NAN;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(y, (double[]){NAN, NAN, NAN, NAN, 0, 0, 0, 0}, 8, 0);
}

/* Two heads of width 1: q[i] k[j], with masks; and what must be -inf. */
Test(scores, heads_and_masks) {
  static const struct {
    double causal, left, right;
    int length;        /* of the keys; 0: not given */
    const char *shown; /* of the 3 x 3 pairs, row by row */
  } cases[] = {
      {0, -1, -1, 0, "111111111"}, {1, -1, -1, 0, "100110111"}, {0, 1, -1, 0, "111111011"},
      {0, -1, 1, 0, "110111111"},  {0, 0, 0, 0, "100010001"},   {1, 1, -1, 0, "100110011"},
      {0, -1, -1, 2, "110110110"}, {1, -1, -1, 1, "100100100"},
  };
  float q[] = {1, 10, 2, 20, 3, 30}, k[] = {1, 2, 3, 4, 5, 6}, s[18], magnitude[18];
  for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
    int32_t lengths[] = {cases[at].length};
    start("scores");
    op.operands[0] = tensor("q", ATTN2C_F32, q, 1, 3, 2, 0);
    op.operands[1] = tensor("k", ATTN2C_F32, k, 1, 3, 2, 0);
    if (cases[at].length) op.operands[2] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
    op.result = tensor("s", ATTN2C_F32, s, 1, 2, 3, 3);
    attribute(0, "heads", 2, NULL);
    attribute(1, "causal", cases[at].causal, NULL);
    attribute(2, "left", cases[at].left, NULL);
    attribute(3, "right", cases[at].right, NULL);
    cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
    for (int h = 0; h < 2; h++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          float want = cases[at].shown[i * 3 + j] == '1' ? q[i * 2 + h] * k[j * 2 + h] : -INFINITY;
          cr_assert_eq(s[h * 9 + i * 3 + j], want, "case %zu, head %d, %d, %d", at, h, i, j);
        }
  }
}

Test(scores, refuses_heads_and_lengths) {
  float q[6] = {0}, k[6] = {0}, s[18];
  int32_t lengths[] = {4};
  start("scores");
  op.operands[0] = tensor("q", ATTN2C_F32, q, 1, 3, 2, 0);
  op.operands[1] = tensor("k", ATTN2C_F32, k, 1, 3, 2, 0);
  op.operands[2] = tensor("lengths", ATTN2C_I32, lengths, 1, 0, 0, 0);
  op.result = tensor("s", ATTN2C_F32, s, 1, 2, 3, 3);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  attribute(0, "heads", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_FORMAT);
  cr_assert(strstr(text, "lengths[0]: 4"), "%s", text);
}

Test(softmax, rows) {
  float s[] = {2, 4, 4, -INFINITY, -INFINITY, -INFINITY, 1, NAN, 2, -INFINITY, 7, -INFINITY, 1000, 0, -1000},
        p[15];
  start("softmax");
  op.operands[0] = tensor("s", ATTN2C_F32, s, 5, 3, 0, 0);
  op.result = tensor("p", ATTN2C_F32, p, 5, 3, 0, 0);
  attribute(0, "scale", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(p, (double[]){0.0633789383, 0.468310531, 0.468310531, 0, 0, 0, NAN, NAN, NAN, 0, 1, 0, 1, 0, 0},
              15, 3e-8);
  /* Scaled by 1/2 the first row's largest is e times its smallest. */
  attribute(0, "scale", 0.5, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK);
  cr_assert_float_eq(p[1] / p[0], 2.718281828, 1e-6);
  s[0] = INFINITY;
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(p, (double[]){NAN, NAN, NAN, 0, 0, 0}, 6, 0);
}

/* Two heads of two queries; a sink is a score more, which scale does not multiply. */
Test(softmax, sinks_of_heads) {
  float s[] = {2, 4, 0, 0, 2, 4, -INFINITY, -INFINITY}, p[8], sinks[] = {2, -INFINITY};
  start("softmax");
  op.operands[0] = tensor("s", ATTN2C_F32, s, 1, 2, 2, 2);
  op.operands[1] = tensor("sinks", ATTN2C_F32, sinks, 2, 0, 0, 0);
  op.result = tensor("p", ATTN2C_F32, p, 1, 2, 2, 2);
  attribute(0, "scale", 0.5, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  const double e = 2.718281828459045;
  assert_near(p,
              (double[]){e / (e + 2 * e * e), e * e / (e + 2 * e * e), 1 / (2 + e * e), 1 / (2 + e * e),
                         1 / (1 + e), e / (1 + e), 0, 0},
              8, 6e-8);
  sinks[1] = 0; /* a row without keys gives 0 */
  cr_assert_eq(run(NULL), ATTN2C_OK);
  assert_near(p + 6, (double[]){0, 0}, 2, 0);
  op.operands[1] = tensor("others", ATTN2C_F32, sinks, 1, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* One head of width 3, three tokens, unscaled: scores, softmax and context one after the other. */
static void attention(double causal, float *s, float *p, float *c) {
  float q[] = {1, 0, 2, 2, 2, 2, 2, 1, 3}, k[] = {0, 1, 1, 4, 4, 0, 2, 3, 1},
        v[] = {1, 2, 3, 2, 8, 0, 2, 6, 3};
  start("scores");
  op.operands[0] = tensor("q", ATTN2C_F32, q, 1, 3, 3, 0);
  op.operands[1] = tensor("k", ATTN2C_F32, k, 1, 3, 3, 0);
  op.result = tensor("s", ATTN2C_F32, s, 1, 1, 3, 3);
  attribute(0, "heads", 1, NULL);
  attribute(1, "causal", causal, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  start("softmax");
  op.operands[0] = tensor("s", ATTN2C_F32, s, 1, 1, 3, 3);
  op.result = tensor("p", ATTN2C_F32, p, 1, 1, 3, 3);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  start("context");
  op.operands[0] = tensor("p", ATTN2C_F32, p, 1, 1, 3, 3);
  op.operands[1] = tensor("v", ATTN2C_F32, v, 1, 3, 3, 0);
  op.result = tensor("c", ATTN2C_F32, c, 1, 3, 3, 0);
  attribute(0, "heads", 1, NULL);
  attribute(1, "causal", causal, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
}

Test(attention, worked_example) {
  float s[9], p[9], c[9];
  attention(0, s, p, c);
  assert_near(s, (double[]){2, 4, 4, 4, 16, 12, 4, 12, 10}, 9, 0);
  assert_near(p,
              (double[]){0.0633789383, 0.468310531, 0.468310531, 6.03366485e-06, 0.982007865, 0.0179861014,
                         0.000295387223, 0.880536902, 0.119167711},
              9, 6e-8);
  assert_near(c,
              (double[]){1.93662106, 6.68310531, 1.59506841, 1.99999397, 7.9639916, 0.0539764053, 1.99970461,
                         7.75989225, 0.358389295},
              9, 5e-7);
}

Test(attention, worked_example_causal) {
  float s[9], p[9], c[9];
  attention(1, s, p, c);
  assert_near(s, (double[]){2, -INFINITY, -INFINITY, 4, 16, -INFINITY, 4, 12, 10}, 9, 0);
  assert_near(
      c, (double[]){1, 2, 3, 1.99999386, 7.99996313, 1.84325238e-05, 1.99970461, 7.75989225, 0.358389295}, 9,
      5e-7);
}

Test(context, a_masked_value_never_gets_out) {
  /* Key 1 holds NaN and even has a weight, but is causal to query 0 and after the length of batch 1. */
  float p[] = {0.5f, 0.5f, 0, 1, 0.25f, 0.75f, 0.5f, 0.5f}, v[] = {4, NAN, 8, INFINITY}, c[4], magnitude[4];
  int32_t lengths[] = {2, 1};
  start("context");
  op.operands[0] = tensor("p", ATTN2C_F32, p, 2, 1, 2, 2);
  op.operands[1] = tensor("v", ATTN2C_F32, v, 2, 2, 1, 0);
  op.operands[2] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
  op.result = tensor("c", ATTN2C_F32, c, 2, 2, 1, 0);
  attribute(0, "heads", 1, NULL);
  attribute(1, "causal", 1, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(c, (double[]){2, NAN, 2, 4}, 4, 0);
  lengths[1] = 0;
  cr_assert_eq(run(magnitude), ATTN2C_OK);
  assert_near(c, (double[]){2, NAN, 0, 0}, 4, 0);
}

Test(pool, each_function) {
  static const struct {
    const char *name;
    int with_lengths;
    double want[4];
  } cases[] = {
      {"mean", 0, {3, NAN, 8, 2}},
      {"max", 0, {5, NAN, 9, 6}},
      {"first", 0, {1, 2, 7, 6}},
      {"last", 0, {5, 6, 8, 0}},
      {"mean", 1, {2, NAN, 7, 6}},
      {"max", 1, {3, NAN, 7, 6}},
      {"first", 1, {1, 2, 7, 6}},
      {"last", 1, {3, NAN, 7, 6}},
      {"second", 0, {3, NAN, 9, 0}},
      {"root", 0, {5.19615242, NAN, 13.8564065, 3.46410162}},
      {"root", 1, {2.82842712, NAN, 7, 6}},
      {"weighted", 0, {3.66666667, NAN, 8.16666667, 1}},
      {"weighted", 1, {2.33333333, NAN, 7, 6}},
  };
  float x[] = {1, 2, 3, NAN, 5, 6, 7, 6, 9, 0, 8, 0}, y[4], magnitude[4];
  int32_t lengths[] = {2, 1};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start("pool");
    op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
    if (cases[i].with_lengths) op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
    attribute(0, "function", 0, cases[i].name);
    cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
    assert_near(y, cases[i].want, 4, 1e-6);
  }
  float both[8];
  start("pool");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
  op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, both, 2, 4, 0, 0);
  attribute(0, "function", 0, "first max");
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(both, (double[]){1, 2, 3, NAN, 7, 6, 7, 6}, 8, 0);
  attribute(0, "function", 0, "first  max");
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  attribute(0, "function", 0, "mean");
  lengths[0] = 0;
  cr_assert_eq(run(NULL), ATTN2C_FORMAT, "there is no last row of none");
  attribute(0, "function", 0, "median");
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(pool, a_sequence_of_one_row) {
  float x[] = {1, 2, 3, NAN, 5, 6, 7, 6, 9, 0, 8, 0}, y[4];
  int32_t lengths[] = {2, 1};
  start("pool");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
  op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 1, 2, 0);
  attribute(0, "function", 0, "last");
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "the result of a pool has no rows");
  attribute(1, "row", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){3, NAN, 7, 6}, 4, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  op.result = tensor("y", ATTN2C_F32, y, 2, 2, 1, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(pool, rows_that_a_mask_keeps) {
  static const struct {
    const char *name;
    int keeps;
    double want[4];
  } cases[] = {
      {"mean", 1, {3, 4, 0, 0}},
      {"max", 1, {5, 6, 0, 0}},
      {"last", 1, {5, 6, 0, 0}},
      {"root", 1, {4.24264069, 5.65685425, 0, 0}},
      {"weighted", 1, {4, 5, 0, 0}},
      {"first", 1, {1, 2, 7, 6}},
      {"mean", 0, {3, NAN, 8, 2}},
      {"max", 0, {3, NAN, 9, 6}},
      {"last", 0, {3, NAN, 8, 0}},
      {"root", 0, {3, NAN, 13.8564065, 3.46410162}},
      {"weighted", 0, {3, NAN, 8.16666667, 1}},
      {"second", 0, {3, NAN, 9, 0}},
  };
  float x[] = {1, 2, 3, NAN, 5, 6, 7, 6, 9, 0, 8, 0}, y[4], magnitude[4];
  int32_t mask[] = {1, 1, 0, 1, 0, 0, 0, 0}; /* a key of a past, then three rows */
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start("pool");
    op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
    op.operands[2] = tensor("mask", ATTN2C_I32, mask, 2, 4, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
    attribute(0, "function", 0, cases[i].name);
    attribute(1, "first", 1, NULL);
    attribute(2, "keeps", cases[i].keeps, NULL);
    cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
    assert_near(y, cases[i].want, 4, 1e-6);
  }
  attribute(1, "first", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a mask of more keys than rows");
}

/* The last row whose id is not `pad`; the first if all are, whatever its mask says. */
Test(pool, the_last_row_but_padding) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, 6, 9, 0, 8, 0}, y[4];
  int32_t ids[] = {0, 4, 0, 0, 0, 0}, lengths[] = {3, 2}, late[] = {4, 0, 4, 4, 4, 4},
          mask[] = {1, 1, 0, 0, 1, 0};
  const struct {
    int32_t *ids, *lengths, *mask;
    double want[4];
  } cases[] = {{ids, NULL, NULL, {3, 4, 7, 6}},  {ids, lengths, NULL, {3, 4, 7, 6}},
               {late, NULL, NULL, {5, 6, 8, 0}}, {late, lengths, NULL, {5, 6, 9, 0}},
               {late, NULL, mask, {1, 2, 9, 0}}, {ids, NULL, mask, {3, 4, 7, 6}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start("pool");
    op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
    if (cases[i].lengths) op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
    if (cases[i].mask) op.operands[2] = tensor("mask", ATTN2C_I32, mask, 2, 3, 0, 0);
    op.operands[3] = tensor("ids", ATTN2C_I32, cases[i].ids, 2, 3, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
    attribute(0, "function", 0, "last");
    attribute(1, "keeps", 1, NULL);
    attribute(2, "pad", 0, NULL);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    assert_near(y, cases[i].want, 4, 0);
  }
  op.operands[3] = tensor("ids", ATTN2C_I32, ids, 2, 2, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "fewer ids than rows");
}

/* Padded sequences, too, have all patches: whole images are cut. */
Test(pool, patches_are_all_rows_after_the_tokens) {
  float x[] = {1, 2, 3, NAN, 5, 6, 7, 6, 9, 0, 8, 0}, y[4], magnitude[4];
  int32_t lengths[] = {2, 3}, mask[] = {1, 0, 1, 1, 1, 0};
  for (int with = 0; with < 3; with++) {
    start("pool");
    op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
    if (with == 1) op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, 2, 0, 0, 0);
    if (with == 2) op.operands[2] = tensor("mask", ATTN2C_I32, mask, 2, 3, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, 2, 2, 0, 0);
    attribute(0, "function", 0, "patches");
    attribute(1, "tokens", 1, NULL);
    attribute(2, "keeps", 1, NULL);
    cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
    assert_near(y, (double[]){4, NAN, 8.5, 0}, 4, 1e-6);
    attribute(0, "function", 0, "tokens");
    attribute(1, "tokens", 2, NULL);
    cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
    assert_near(y, (double[]){2, NAN, 8, 3}, 4, 1e-6);
  }
}

Test(argmax, first_largest_and_nan) {
  float x[] = {1, 3, 3, NAN, 9, NAN, -INFINITY, -INFINITY, -INFINITY, 5, INFINITY, NAN};
  int32_t y[4];
  start("argmax");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 4, 3, 0, 0);
  op.result = tensor("y", ATTN2C_I32, y, 4, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  cr_assert_eq(y[0], 1);
  cr_assert_eq(y[1], 0);
  cr_assert_eq(y[2], 0);
  cr_assert_eq(y[3], 2);
}

Test(topk, first_of_equals_and_nan_before_all) {
  float x[] = {1, 3, 3, 2, NAN, 9, NAN, INFINITY, -INFINITY, -0.0f, 0, -INFINITY}, values[9];
  const float want[] = {3, 3, 2, NAN, NAN, INFINITY, 0, 0, -INFINITY};
  const int32_t places[] = {1, 2, 3, 0, 2, 3, 1, 2, 0};
  int32_t y[9];
  start("topk_indices");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 4, 0, 0);
  op.result = tensor("y", ATTN2C_I32, y, 3, 3, 0, 0);
  attribute(0, "k", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 9; i++) cr_assert_eq(y[i], places[i], "%d: %d", i, y[i]);
  cr_assert_eq(attn2c_reference_picks(&op), 3);
  start("topk_values");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 3, 4, 0, 0);
  op.result = tensor("y", ATTN2C_F32, values, 3, 3, 0, 0);
  attribute(0, "k", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 9; i++) cr_assert(isnan(want[i]) ? isnan(values[i]) : values[i] == want[i], "%d", i);
  cr_assert_eq(attn2c_reference_picks(&op), 0);
  attribute(0, "k", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(reference, refuses_an_unknown_op) {
  float x[1] = {0}, y[1];
  start("unheard");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 0, 0, 0);
  op.result = tensor("l0.q", ATTN2C_F32, y, 1, 0, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  cr_assert(strstr(text, "unheard") && strstr(text, "l0.q"), "%s", text);
  cr_assert_not(attn2c_reference_knows("unheard"));
  cr_assert(attn2c_reference_knows("layer_norm"));
}

/* x -> relu -> add itself -> argmax, whose operand stays for the caller. */
Test(reference, runs_an_entry_and_frees_what_is_used_up) {
  float x[] = {-1, 2, 3, 0};
  attn2c_tensor list[] = {{.name = "x", .rank = 2, .shape = {2, 2}},
                          {.name = "r", .rank = 2, .shape = {2, 2}},
                          {.name = "a", .rank = 2, .shape = {2, 2}},
                          {.name = "best", .type = ATTN2C_I32, .rank = 1, .shape = {2}}};
  attn2c_attribute relu[] = {{"function", 0, "relu"}, {NULL, 0, NULL}};
  attn2c_op ops[] = {{.op = "activate", .result = 1, .operands = {0, -1, -1, -1, -1, -1}, .attributes = relu},
                     {.op = "add", .result = 2, .operands = {1, 1, -1, -1, -1, -1}},
                     {.op = "argmax", .result = 3, .operands = {2, -1, -1, -1, -1, -1}}};
  int outputs[] = {3}, inputs[] = {0};
  attn2c_entry entry = {.name = "forward",
                        .ops = ops,
                        .op_count = 3,
                        .inputs = inputs,
                        .outputs = outputs,
                        .input_count = 1,
                        .output_count = 1};
  attn2c_descriptor chain = {.readers = &all_readers,
                             .name = "chain",
                             .tensors = list,
                             .tensor_count = 4,
                             .entries = &entry,
                             .entry_count = 1};
  void *all[] = {x, NULL, NULL, NULL};
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_reference_run(&chain, &entry, all, NULL, &message), ATTN2C_OK, "%s", text);
  cr_assert_null(all[1]);
  assert_near(all[2], (double[]){0, 4, 6, 0}, 4, 0);
  cr_assert_eq(((int32_t *)all[3])[0], 1);
  cr_assert_eq(((int32_t *)all[3])[1], 0);
  attn2c_reference_release(&entry, all);
  cr_assert_null(all[2]);
  cr_assert_null(all[3]);
  cr_assert_eq(all[0], (void *)x);
}
