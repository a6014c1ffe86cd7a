/* test_check_mask.c - the check of a program that leaves out what a static mask removes, through a chain of
 * scores and weights: what it may leave out, what NaN makes of it, and what must not pass. */
#define _POSIX_C_SOURCE 200809L
#include "readers.h"
#include "check/check.h"
#include "check/check_parts.h"
#include "check/check_trace.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5, PADDED = 16, TILE = N * PADDED };
enum { X, BIAS, HEAD_MASK, S, SCALED, BIASED, P, W, MEAN, C, TENSORS };
enum { SCORES, SCALE, ADD_ARRAY, SOFTMAX, HEAD_SCALE, MEAN_HEADS, CONTEXT, OPS };

typedef enum { RIGHT, SCORE_LEAKS, WEIGHT_LEAKS, SCALED_WEIGHT_LEAKS, MEAN_LEAKS, ZERO_FOR_NAN } fault;

static fault present;
static int nan_rows; /* rows without a key give NaN */

static const attn2c_tensor tensors[TENSORS] = {
    {"x", ATTN2C_INPUT, ATTN2C_F32, 3, {1, N, N}, 0, 0, -1, 0},
    {"mask_bias", ATTN2C_SHARED_INPUT, ATTN2C_F32, 2, {N, N}, 0, 0, -1, 0},
    {"head_mask", ATTN2C_SHARED_INPUT, ATTN2C_F32, 2, {1, 1}, 0, 0, -1, 0},
    {"scores", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 0 * TILE, PADDED},
    {"scaled", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 1 * TILE, PADDED},
    {"biased", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 2 * TILE, PADDED},
    {"weights", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 3 * TILE, PADDED},
    {"masked_heads", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 4 * TILE, PADDED},
    {"attention_0", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, N, N}, 0, 0, -1, 0},
    {"hidden", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, N, N}, 0, 0, -1, 0},
};

static attn2c_attribute causal[] = {{"heads", 1, NULL}, {"causal", 1, NULL}, {NULL, 0, NULL}};
static attn2c_attribute softmax[] = {{"scale", 1, NULL}, {"fully_masked_nan", 0, NULL}, {NULL, 0, NULL}};
static attn2c_attribute context[] = {
    {"heads", 1, NULL}, {"causal", 1, NULL}, {"fully_masked_nan", 0, NULL}, {NULL, 0, NULL}};
static attn2c_attribute half[] = {{"factor", 0.5, NULL}, {NULL, 0, NULL}};
static attn2c_attribute plane[] = {{"shape", 1, NULL}, {NULL, 0, NULL}};
static attn2c_attribute layer[] = {{"layer", 0, NULL}, {NULL, 0, NULL}};
static attn2c_attribute none[] = {{NULL, 0, NULL}};
static attn2c_op ops[OPS] = {
    {"scores", "layer 0", S, {X, X, -1, -1, -1, -1}, causal, 1, ATTN2C_MAKES_SCORES},
    {"scale", "layer 0", SCALED, {S, -1, -1, -1, -1, -1}, half, 0, ATTN2C_SCORES_TO_SCORES},
    {"add_array", "layer 0", BIASED, {SCALED, BIAS, -1, -1, -1, -1}, plane, 0, ATTN2C_SCORES_TO_SCORES},
    {"softmax", "layer 0", P, {BIASED, -1, -1, -1, -1, -1}, softmax, 0, ATTN2C_SCORES_TO_WEIGHTS},
    {"head_scale", "layer 0", W, {P, HEAD_MASK, -1, -1, -1, -1}, layer, 0, ATTN2C_WEIGHTS_TO_WEIGHTS},
    {"mean_heads", "layer 0", MEAN, {W, -1, -1, -1, -1, -1}, none, 0, ATTN2C_MEAN_OF_WEIGHTS},
    {"context", "layer 0", C, {W, X, -1, -1, -1, -1}, context, 1, ATTN2C_READS_WEIGHTS},
};

/* Only the columns j <= i of row i are touched, except in outputs. */
static int compute(const attn2c_call *call) {
  const float *x = call->in[0], *bias = call->in[1], *head_mask = call->in[2];
  void *const *out = call->out;
  float unwanted[2][N * N];
  float *mean = out[0] ? out[0] : unwanted[0], *hidden = out[1] ? out[1] : unwanted[1];
  for (int i = 0; i < N; i++) {
    float *s = call->arena + i * PADDED, *scaled = s + TILE, *biased = scaled + TILE, *p = biased + TILE,
          *w = p + TILE;
    float most = -INFINITY, sum = 0;
    for (int j = 0; j <= i; j++) {
      s[j] = 0;
      for (int d = 0; d < N; d++) s[j] += x[i * N + d] * x[j * N + d];
      scaled[j] = 0.5f * s[j];
      biased[j] = scaled[j] + bias[i * N + j];
      if (isnan(biased[j]) || biased[j] > most) most = biased[j];
    }
    for (int j = 0; j <= i; j++) sum += p[j] = most == -INFINITY ? 0 : expf(biased[j] - most);
    for (int j = 0; j <= i; j++) {
      p[j] = p[j] / (nan_rows && present != ZERO_FOR_NAN ? sum : sum + 1e-30f);
      w[j] = p[j] * head_mask[0];
    }
    if (present == SCORE_LEAKS && i == 1) biased[3] = 1;
    if (present == WEIGHT_LEAKS && i == 1) p[3] = 1e-3f;
    if (present == SCALED_WEIGHT_LEAKS && i == 1) w[3] = 1e-3f;
    for (int j = 0; j < N; j++) mean[i * N + j] = j <= i ? w[j] : 0;
    if (present == MEAN_LEAKS && i == 1) mean[N + 3] = 1e-3f;
    for (int d = 0; d < N; d++) {
      hidden[i * N + d] = 0;
      for (int j = 0; j <= i; j++) hidden[i * N + d] += w[j] * x[j * N + d];
    }
  }
  return ATTN2C_OK;
}

static const int inputs[] = {X, BIAS, HEAD_MASK}, outputs[] = {MEAN, C};
static const attn2c_entry entry = {"forward", ops, OPS, inputs, outputs, 3, 2, 2, compute};
static const attn2c_descriptor descriptor = {.readers = &all_readers,
                                             .name = "chain",
                                             .entries = &entry,
                                             .tensors = tensors,
                                             .entry_count = 1,
                                             .tensor_count = TENSORS,
                                             .layers = 1,
                                             .threads = 1,
                                             .arena_floats = 5 * TILE};
static const attn2c_run traces[] = {compute};
static const attn2c_program program = {&descriptor, traces, 5 * TILE, NULL, NULL, NULL, NULL};

static float x[N * N], bias[N * N], head_mask[1];
static char *printed;
static char text[512];

static void plain_inputs(void) {
  for (int i = 0; i < N * N; i++) x[i] = (float)sin(i + 1), bias[i] = (float)cos(3 * i);
  head_mask[0] = 0.75f;
}

static int check(fault with) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  size_t size;
  cr_assert_eq(attn2c_source_random(7, &descriptor, &source, &message), ATTN2C_OK, "%s", text);
  attn2c_model model = {.descriptor = &descriptor, .provider = "c", .workers = 1};
  const void *in[] = {x, bias, head_mask};
  free(printed);
  printed = NULL;
  FILE *out = open_memstream(&printed, &size);
  cr_assert_not_null(out);
  present = with;
  softmax[1].number = context[2].number = nan_rows;
  int status = attn2c_check(&program, &model, source, in, 7, 0, out, 0, "-", &message);
  fclose(out);
  attn2c_source_close(source);
  return status;
}

Test(masked, through_the_chain) {
  static const attn2c_masked want[OPS] = {ATTN2C_MASKED_SCORES,  ATTN2C_MASKED_SCORES,  ATTN2C_MASKED_SCORES,
                                          ATTN2C_MASKED_WEIGHTS, ATTN2C_MASKED_WEIGHTS, ATTN2C_UNMASKED,
                                          ATTN2C_UNMASKED};
  const attn2c_op *scores;
  for (int number = 0; number < OPS; number++) {
    cr_assert_eq(attn2c_check_masked(&entry, number, &scores), want[number], "op %d", number);
    cr_assert_eq(scores, want[number] == ATTN2C_UNMASKED ? NULL : &ops[SCORES], "op %d", number);
  }
  cr_assert_eq(attn2c_check_mask_of_weights(&entry, MEAN_HEADS), &ops[SCORES]);
  cr_assert_null(attn2c_check_mask_of_weights(&entry, ADD_ARRAY), "scores are no weights");
  cr_assert_eq(attn2c_check_scores_of(&entry, &ops[HEAD_SCALE]), BIASED);
  cr_assert_eq(attn2c_check_scores_of(&entry, &ops[SOFTMAX]), BIASED);
  cr_assert_eq(attn2c_check_scores_of(&entry, &ops[SCALE]), -1);
  /* A window, too, is a mask that is known; lengths are none, nor is a chain that something else begins. */
  causal[1] = (attn2c_attribute){"right", 0, NULL};
  cr_assert_eq(attn2c_check_masked(&entry, HEAD_SCALE, &scores), ATTN2C_MASKED_WEIGHTS);
  causal[1] = (attn2c_attribute){"left", 2, NULL};
  cr_assert_eq(attn2c_check_masked(&entry, SCALE, &scores), ATTN2C_MASKED_SCORES);
  causal[1] = (attn2c_attribute){"offset", 2, NULL};
  cr_assert_eq(attn2c_check_masked(&entry, HEAD_SCALE, &scores), ATTN2C_UNMASKED);
  causal[1] = (attn2c_attribute){"causal", 1, NULL};
  ops[SCALE].role = ATTN2C_NO_ROLE;
  cr_assert_eq(attn2c_check_masked(&entry, HEAD_SCALE, &scores), ATTN2C_UNMASKED);
  cr_assert_null(scores);
  ops[SCALE].role = ATTN2C_SCORES_TO_WEIGHTS;
  cr_assert_eq(attn2c_check_masked(&entry, SCALE, &scores), ATTN2C_MASKED_WEIGHTS);
  cr_assert_eq(attn2c_check_masked(&entry, ADD_ARRAY, &scores), ATTN2C_UNMASKED, "of weights");
}

Test(masked, what_stands_there_before_the_run) {
  static float arena[5 * TILE], mean[N * N], hidden[N * N];
  void *out[] = {mean, hidden};
  attn2c_check_trace trace = {
      .model = &descriptor, .entry = &entry, .arena = arena, .floats = 5 * TILE, .outputs = out};
  attn2c_check_trace_fill(&trace);
  for (int e = 0; e < 5 * TILE; e++) {
    float value = arena[e];
    if (e % PADDED >= N)
      cr_assert(isnan(value), "padding");
    else if (e < 3 * TILE)
      cr_assert_eq(value, -INFINITY, "%d", e);
    else
      cr_assert_eq(value, 0, "%d", e);
  }
  for (int e = 0; e < N * N; e++) cr_assert(isnan(mean[e]) && isnan(hidden[e]));
}

Test(masked, left_out_is_right) {
  plain_inputs();
  cr_assert_eq(check(RIGHT), ATTN2C_OK, "%s\n%s", text, printed);
}

Test(masked, nan_and_infinity_go_through_alike) {
  const float specials[] = {NAN, INFINITY, -INFINITY};
  for (nan_rows = 0; nan_rows < 2; nan_rows++)
    for (int i = 0; i < 3; i++)
      for (int where = 0; where < 4; where++) {
        plain_inputs();
        if (where == 0) x[2 * N + 1] = specials[i];
        if (where == 1) bias[3 * N + 2] = specials[i];
        if (where == 2) bias[1 * N + 4] = specials[i]; /* masked: not even NaN gets through */
        if (where == 3) head_mask[0] = specials[i];
        cr_assert_eq(check(RIGHT), ATTN2C_OK, "%g at %d: %s\n%s", specials[i], where, text, printed);
      }
}

Test(masked, rows_without_a_key) {
  plain_inputs();
  for (int j = 0; j < N; j++) bias[2 * N + j] = -INFINITY;
  for (nan_rows = 0; nan_rows < 2; nan_rows++) cr_assert_eq(check(RIGHT), ATTN2C_OK, "%s\n%s", text, printed);
  nan_rows = 1;
  cr_assert_eq(check(ZERO_FOR_NAN), ATTN2C_MISMATCH, "%s", printed);
}

Test(masked, what_leaks_is_found) {
  static const struct {
    fault with;
    const char *first;
  } cases[] = {{SCORE_LEAKS, "first to diverge: biased at [0][0][1][3]"},
               {WEIGHT_LEAKS, "first to diverge: weights at [0][0][1][3]"},
               {SCALED_WEIGHT_LEAKS, "first to diverge: masked_heads at [0][0][1][3]"},
               {MEAN_LEAKS, "first to diverge: attention_0 at [0][1][3]"}};
  for (int nan = 0; nan < 2; nan++) /* in the very row, too */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      plain_inputs();
      if (nan) bias[N] = NAN;
      cr_assert_eq(check(cases[i].with), ATTN2C_MISMATCH, "case %zu\n%s", i, printed);
      if (!nan) cr_assert(strstr(printed, cases[i].first), "%s\n%s", cases[i].first, printed);
    }
}
