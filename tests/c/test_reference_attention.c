/* test_reference_attention.c - the reference of attention beyond the plain form, against its definitions in
 * loops: prefixes, positions before the first, keys that are always seen, shared key heads, additive scores;
 * masks of the caller; other weights than softmax. */
#include "one_op.h"

enum { B = 2, H = 6, K = 2, S = 4, T = 7, D = 3, MOST_SCORES = B * H * S * T };

static float q[B * S * H * D], k[B * T * K * D], v[H * D], s[MOST_SCORES], y[MOST_SCORES],
    magnitude[MOST_SCORES];
static int32_t lengths[B];

static void fill(float *x, int count, double step) {
  for (int i = 0; i < count; i++) x[i] = (float)sin(step * (i + 1));
}

typedef struct {
  int causal, left, right, prefix, offset, extra, lengths[2]; /* lengths of -1: none */
} mask;

static const mask masks[] = {
    {0, -1, -1, 0, 0, 0, {-1, -1}}, {1, -1, -1, 0, 0, 0, {-1, -1}}, {1, -1, -1, 3, 0, 0, {-1, -1}},
    {1, -1, -1, 0, 3, 0, {-1, -1}}, {1, -1, -1, 0, 2, 1, {4, 0}},   {0, 1, 1, 2, 1, 2, {3, 4}},
    {0, 0, -1, 0, 3, 0, {4, 1}},    {1, 1, -1, 1, 2, 3, {1, 2}},    {0, -1, -1, 0, 0, 2, {0, 5}},
};

/* As the attributes are defined. */
static int is_masked(const mask *m, int b, int i, int j) {
  if (j >= T - m->extra) return 0;
  if (m->lengths[b] >= 0 && j >= m->offset + m->lengths[b]) return 1;
  if (j < m->prefix) return 0;
  int p = i + m->offset;
  return (m->causal && j > p) || (m->left >= 0 && j < p - m->left) || (m->right >= 0 && j > p + m->right);
}

static void mask_attributes(const mask *m) {
  attribute(0, "heads", H, NULL);
  attribute(1, "causal", m->causal, NULL);
  attribute(2, "left", m->left, NULL);
  attribute(3, "right", m->right, NULL);
  attribute(4, "prefix", m->prefix, NULL);
  attribute(5, "offset", m->offset, NULL);
  attribute(6, "extra", m->extra, NULL);
}

static int lengths_of(const mask *m) {
  if (m->lengths[0] < 0) return -1;
  for (int b = 0; b < B; b++) lengths[b] = m->lengths[b];
  return tensor("lengths", ATTN2C_I32, lengths, B, 0, 0, 0);
}

Test(scores, masks_and_shared_key_heads) {
  fill(q, B * S * H * D, 0.7), fill(k, B * T * K * D, 1.1), fill(v, H * D, 0.3);
  for (int additive = 0; additive < 2; additive++)
    for (size_t at = 0; at < sizeof masks / sizeof masks[0]; at++) {
      start(additive ? "additive_scores" : "scores");
      op.operands[0] = tensor("q", ATTN2C_F32, q, B, S, H * D, 0);
      op.operands[1] = tensor("k", ATTN2C_F32, k, B, T, K * D, 0);
      if (additive) op.operands[2] = tensor("v", ATTN2C_F32, v, H, D, 0, 0);
      op.operands[2 + additive] = lengths_of(&masks[at]);
      op.result = tensor("s", ATTN2C_F32, y, B, H, S, T);
      mask_attributes(&masks[at]);
      cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
      for (int e = 0; e < MOST_SCORES; e++) {
        int j = e % T, i = e / T % S, h = e / (T * S) % H, b = e / (T * S * H);
        double want = 0, size = 0;
        for (int d = 0; d < D; d++) {
          double query = q[((b * S + i) * H + h) * D + d], key = k[((b * T + j) * K + h / 3) * D + d];
          double term = additive ? v[h * D + d] * tanh(query + key) : query * key;
          want += term, size += fabs(term);
        }
        if (is_masked(&masks[at], b, i, j)) {
          cr_assert_eq(y[e], -INFINITY, "mask %zu: %d %d %d %d is %g", at, b, h, i, j, y[e]);
        } else {
          cr_assert_eq(y[e], (float)want, "mask %zu: %d %d %d %d", at, b, h, i, j);
          cr_assert_float_eq(magnitude[e], size, 1e-6 * size);
        }
      }
    }
}

Test(scores, refuses_what_does_not_fit) {
  static const mask plain = {0, -1, -1, 0, 0, 2, {5, 6}};
  start("scores");
  op.operands[0] = tensor("q", ATTN2C_F32, q, B, S, H * D, 0);
  op.operands[1] = tensor("k", ATTN2C_F32, k, B, T, K * D, 0);
  op.operands[2] = lengths_of(&plain);
  op.result = tensor("s", ATTN2C_F32, y, B, H, S, T);
  mask_attributes(&plain);
  cr_assert_eq(run(NULL), ATTN2C_FORMAT, "two of seven keys have no length");
  lengths[1] = 5;
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  tensors[1].shape[2] = 4 * D;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "4 key heads for 6");
  tensors[1].shape[2] = K * D;
  attribute(6, "extra", T + 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  attribute(6, "extra", 0.5, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  start("additive_scores");
  op.operands[0] = tensor("q", ATTN2C_F32, q, B, S, H * D, 0);
  op.operands[1] = tensor("k", ATTN2C_F32, k, B, T, K * D, 0);
  op.operands[2] = tensor("v", ATTN2C_F32, v, D, H, 0, 0);
  op.result = tensor("s", ATTN2C_F32, y, B, H, S, T);
  mask_attributes(&plain);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* Weights that are all 1/8 or 0, so that each sum is exact; a NaN value after a weight of 0. */
Test(context, masks_and_shared_value_heads) {
  enum { WIDTH = 2 };
  static float p[MOST_SCORES], values_of[B * T * K * WIDTH], c[B * S * H * WIDTH], size[B * S * H * WIDTH];
  for (int at = 0; at < (int)(sizeof masks / sizeof masks[0]); at++)
    for (int form = 0; form < 4; form++) { /* 1: nonzero; 2: fully_masked_nan */
      const int bad = at % T;
      for (int e = 0; e < MOST_SCORES; e++) p[e] = e % 3 == 0 || e % T == bad ? 0 : 0.125f;
      for (int e = 0; e < B * T * K * WIDTH; e++)
        values_of[e] = (form & 1) && e / (K * WIDTH) % T == bad ? NAN : (float)(e % 11);
      start("context");
      op.operands[0] = tensor("p", ATTN2C_F32, p, B, H, S, T);
      op.operands[1] = tensor("v", ATTN2C_F32, values_of, B, T, K * WIDTH, 0);
      op.operands[2] = lengths_of(&masks[at]);
      op.result = tensor("c", ATTN2C_F32, c, B, S, H * WIDTH, 0);
      mask_attributes(&masks[at]);
      attribute(7, "kv_heads", K, NULL);
      attribute(8, "nonzero", form & 1, NULL);
      attribute(9, "fully_masked_nan", form >> 1, NULL);
      cr_assert_eq(run(size), ATTN2C_OK, "%s", text);
      for (int e = 0; e < B * S * H * WIDTH; e++) {
        int d = e % WIDTH, h = e / WIDTH % H, i = e / (WIDTH * H) % S, b = e / (WIDTH * H * S), seen = 0;
        double want = 0;
        for (int j = 0; j < T; j++) {
          float weight = p[((b * H + h) * S + i) * T + j];
          if (is_masked(&masks[at], b, i, j)) continue;
          seen = 1;
          if (weight != 0) want += weight * values_of[((b * T + j) * K + h / 3) * WIDTH + d];
        }
        if (!seen && form & 2) want = NAN;
        cr_assert(isnan(want) ? isnan(c[e]) : c[e] == want, "mask %d, form %d, %d %d %d: %g, got %g", at,
                  form, b, i, h, want, c[e]);
      }
    }
  attribute(7, "kv_heads", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  attribute(7, "other", 4, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "one for each head, without the attribute");
}

Test(context, a_weight_of_nan_is_not_zero) {
  float p[] = {NAN, 0, 0, 0}, rows[] = {1, 2}, c[2];
  start("context");
  op.operands[0] = tensor("p", ATTN2C_F32, p, 1, 1, 2, 2);
  op.operands[1] = tensor("v", ATTN2C_F32, rows, 1, 2, 1, 0);
  op.result = tensor("c", ATTN2C_F32, c, 1, 2, 1, 0);
  attribute(0, "heads", 1, NULL);
  attribute(1, "nonzero", 1, NULL);
  attribute(2, "fully_masked_nan", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  /* Query 1 sees both keys, and makes nothing of them: that is not the same as to see none. */
  assert_near(c, (double[]){NAN, 0}, 2, 0);
}

Test(softmax, rows_without_any_key) {
  float scores[] = {-INFINITY, -INFINITY, 3, -INFINITY}, p[4];
  for (int nan = 0; nan < 2; nan++) {
    start("softmax");
    op.operands[0] = tensor("s", ATTN2C_F32, scores, 2, 2, 0, 0);
    op.result = tensor("p", ATTN2C_F32, p, 2, 2, 0, 0);
    attribute(0, "scale", 1e-38, NULL);
    attribute(1, "fully_masked_nan", nan, NULL);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    assert_near(p, (double[]){nan ? NAN : 0, nan ? NAN : 0, 1, 0}, 4, 0);
  }
}

/* Scores of which every fifth is masked, and one is NaN. */
static void fill_scores(void) {
  fill(s, MOST_SCORES, 0.7);
  for (int i = 0; i < MOST_SCORES; i += 5) s[i] = -INFINITY;
  s[3] = NAN;
}

static void assert_scores(const float *want, const char *what) {
  for (int e = 0; e < MOST_SCORES; e++)
    cr_assert(isnan(want[e]) ? isnan(y[e]) : y[e] == want[e], "%s: element %d: expected %g, got %g", what, e,
              want[e], y[e]);
}

/* Each shape of array, over all keys and over fewer: added; blocking; blocking by a value. */
Test(arrays, added_and_blocking) {
  static float added[MOST_SCORES], want[MOST_SCORES];
  static int32_t blocked[MOST_SCORES];
  static const int64_t shapes[3][4] = {{B, 0, 0, 0}, {S, 0, 0, 0}, {B, H, S, 0}};
  fill_scores();
  fill(added, MOST_SCORES, 1.9);
  for (int e = 0; e < MOST_SCORES; e++) blocked[e] = e % 3 == 1 ? -2 + e % 5 : 0;
  added[1] = -INFINITY, added[4] = INFINITY;
  for (int shape = 0; shape < 3; shape++)
    for (int columns = T - 2; columns <= T; columns += 2)
      for (int form = 0; form < 3; form++) {
        int64_t dims[4];
        memcpy(dims, shapes[shape], sizeof dims);
        dims[shape == 2 ? 3 : 1] = columns;
        start(form == 0 ? "add_array" : "block_array");
        op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
        op.operands[1] = tensor("array", form ? ATTN2C_I32 : ATTN2C_F32, form ? (void *)blocked : added,
                                dims[0], dims[1], dims[2], dims[3]);
        op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
        attribute(0, "shape", shape, NULL);
        if (form == 2) attribute(1, "value", -10000, NULL);
        cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
        for (int e = 0; e < MOST_SCORES; e++) {
          int j = e % T, i = e / T % S, h = e / (T * S) % H, b = e / (T * S * H);
          int row = shape == 0 ? b : shape == 1 ? i : (b * H + h) * S + i;
          want[e] = s[e];
          if (j >= columns || s[e] == -INFINITY) continue;
          if (form == 0) want[e] = s[e] + added[row * columns + j];
          if (form == 1 && blocked[row * columns + j]) want[e] = -INFINITY;
          if (form == 2 && blocked[row * columns + j]) want[e] = s[e] + -10000.0f;
        }
        assert_scores(want, op.op);
      }
  tensors[1].shape[3] = T + 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "more columns than keys");
  attribute(0, "shape", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(arrays, lengths_that_add) {
  static float want[MOST_SCORES];
  fill_scores();
  for (int extra = 0; extra < 3; extra++) {
    int offset = 2 * extra;
    lengths[0] = 1, lengths[1] = T - extra - offset;
    start("add_length");
    op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
    op.operands[1] = tensor("lengths", ATTN2C_I32, lengths, B, 0, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
    attribute(0, "extra", extra, NULL);
    cr_assert_eq(run(NULL), ATTN2C_USAGE, "without a value");
    attribute(1, "value", -0.1, NULL);
    attribute(2, "offset", offset, NULL);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    for (int e = 0; e < MOST_SCORES; e++) {
      int j = e % T, b = e / (T * S * H);
      want[e] = j >= offset + lengths[b] && j < T - extra ? s[e] + -0.1f : s[e];
    }
    assert_scores(want, "add_length");
    lengths[0] = T - extra - offset + 1;
    cr_assert_eq(run(NULL), ATTN2C_FORMAT);
  }
}

Test(weights, without_softmax) {
  static float want[MOST_SCORES];
  fill_scores();
  s[4] = INFINITY;
  for (int relu = 0; relu < 2; relu++) {
    start("weigh");
    op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
    op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
    attribute(0, "relu", relu, NULL);
    attribute(1, "scale", 0.3, NULL);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    for (int e = 0; e < MOST_SCORES; e++)
      want[e] = s[e] == -INFINITY ? 0 : relu && s[e] < 0 ? 0 : 0.3f * s[e];
    assert_scores(want, relu ? "relu" : "none");
  }
}

Test(weights, of_heads_by_layer) {
  static float want[MOST_SCORES], by_head[3 * H];
  fill_scores();
  for (int i = 0; i < 3 * H; i++) by_head[i] = (float)(i - 4) / 4;
  for (int layer = 0; layer < 3; layer++) {
    start("head_scale");
    op.operands[0] = tensor("w", ATTN2C_F32, s, B, H, S, T);
    op.operands[1] = tensor("mask", ATTN2C_F32, by_head, 3, H, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
    attribute(0, "layer", layer, NULL);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    for (int e = 0; e < MOST_SCORES; e++) want[e] = s[e] * by_head[layer * H + e / (T * S) % H];
    assert_scores(want, "head_scale");
  }
  attribute(0, "layer", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

Test(weights, mean_over_heads) {
  start("mean_heads");
  fill(s, MOST_SCORES, 0.7);
  op.operands[0] = tensor("w", ATTN2C_F32, s, B, H, S, T);
  op.result = tensor("y", ATTN2C_F32, y, B, S, T, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  for (int e = 0; e < B * S * T; e++) {
    double sum = 0, size = 0;
    for (int h = 0; h < H; h++) {
      double w = s[(e / (S * T) * H + h) * S * T + e % (S * T)];
      sum += w, size += fabs(w);
    }
    cr_assert_eq(y[e], (float)(sum / H));
    cr_assert_float_eq(magnitude[e], size, 1e-6 * size);
  }
  tensors[1].shape[1] = S + 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}
