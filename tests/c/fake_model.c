/* fake_model.c - the hand-written model: its descriptor, its three variants in plain C
 * with one kernel call, and its faulty forms. */
#define _POSIX_C_SOURCE 200809L
#include "readers.h"
#include "fake_model.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { TOKENS = FAKE_BATCH * FAKE_ROWS, PANEL = 16, BIAS = FAKE_IN * PANEL, WEIGHT_FLOATS = BIAS + PANEL };
enum { X, LENGTHS, WEIGHT, BIAS_TENSOR, LINEAR, Y, POOLED, RELU_ONLY, GAIN, TOTAL, PAIR, WHOLE, TENSORS };

static const attn2c_tensor tensors[TENSORS] = {
    [X] = {"x", ATTN2C_INPUT, ATTN2C_F32, 3, {FAKE_BATCH, FAKE_ROWS, FAKE_IN}, 0, 0, -1, 0},
    [LENGTHS] = {"lengths", ATTN2C_INPUT, ATTN2C_I32, 1, {FAKE_BATCH}, 1, FAKE_ROWS + 1, -1, 0},
    [WEIGHT] = {"fc.weight", ATTN2C_WEIGHT, ATTN2C_F32, 2, {FAKE_OUT, FAKE_IN}, 0, 0, -1, 0},
    [BIAS_TENSOR] = {"fc.bias", ATTN2C_WEIGHT, ATTN2C_F32, 1, {FAKE_OUT}, 0, 0, -1, 0},
    [LINEAR] = {"fc", ATTN2C_SCRATCH, ATTN2C_F32, 3, {FAKE_BATCH, FAKE_ROWS, FAKE_OUT}, 0, 0, 0, PANEL},
    [Y] = {"y", ATTN2C_OUTPUT, ATTN2C_F32, 3, {FAKE_BATCH, FAKE_ROWS, FAKE_OUT}, 0, 0, -1, 0},
    [POOLED] = {"pooled", ATTN2C_OUTPUT, ATTN2C_F32, 2, {FAKE_BATCH, FAKE_OUT}, 0, 0, -1, 0},
    [RELU_ONLY] = {"relu", ATTN2C_OUTPUT, ATTN2C_F32, 3, {FAKE_BATCH, FAKE_ROWS, FAKE_IN}, 0, 0, -1, 0},
    [GAIN] = {"gain", ATTN2C_INPUT, ATTN2C_F32, 1, {FAKE_OUT}, 0, 0, -1, 0},
    [PAIR] = {"pair", ATTN2C_SHARED_INPUT, ATTN2C_F32, 1, {FAKE_BATCH}, 0, 0, -1, 0},
    [WHOLE] = {"x", ATTN2C_SHARED_INPUT, ATTN2C_F32, 3, {FAKE_BATCH, FAKE_ROWS, FAKE_IN}, 0, 0, -1, 0},
    [TOTAL] = {"total", ATTN2C_OUTPUT, ATTN2C_F32, 1, {FAKE_OUT}, 0, 0, -1, 0},
};

static const attn2c_attribute none[] = {{NULL, 0.0, NULL}};
static const attn2c_attribute relu[] = {{"function", 0.0, "relu"}, {NULL, 0.0, NULL}};
static const attn2c_attribute mean[] = {{"function", 0.0, "mean"}, {NULL, 0.0, NULL}};

#define LINEAR_FLOPS (2.0 * TOKENS * FAKE_IN * FAKE_OUT)

static const attn2c_op ops[] = {
    {"linear", "layer 0", LINEAR, {X, WEIGHT, BIAS_TENSOR, -1, -1, -1}, none, LINEAR_FLOPS, ATTN2C_NO_ROLE},
    {"activate", "layer 0", Y, {LINEAR, -1, -1, -1, -1, -1}, relu, 0.0, ATTN2C_NO_ROLE},
    {"pool", "output", POOLED, {Y, LENGTHS, -1, -1, -1, -1}, mean, 0.0, ATTN2C_NO_ROLE},
};
static const attn2c_op relu_ops[] = {
    {"activate", "layer 0", RELU_ONLY, {X, -1, -1, -1, -1, -1}, relu, 0.0, ATTN2C_NO_ROLE}};

static const char *const weight_names[] = {"fc.weight", "linear.weight", NULL};
static const char *const bias_names[] = {"fc.bias", NULL};
static const attn2c_stored stored[] = {{.names = weight_names, .rank = 2, .shape = {FAKE_OUT, FAKE_IN}},
                                       {.names = bias_names, .rank = 1, .shape = {FAKE_OUT}}};
static const attn2c_view views[] = {
    {.stored = 0, .rows = FAKE_OUT, .columns = FAKE_IN, .row_step = FAKE_IN, .column_step = 1, .factor = 1},
    {.stored = 1, .rows = FAKE_OUT, .columns = 1, .row_step = 1, .column_step = 1, .factor = 1}};
static const attn2c_weight weights[] = {
    {.tensor = WEIGHT,
     .view_count = 1,
     .random_deviation = 0.35,
     .offset = 0,
     .panel = PANEL,
     .panel_count = 0,
     .tail = {FAKE_OUT, 0}},
    {.tensor = BIAS_TENSOR, .first_view = 1, .view_count = 1, .random_deviation = 0.1, .offset = BIAS},
};

/* C[n][m] = B[n][k] . A[k][m] with the one shape below. */
static void in_c(const void *of_a, const void *of_b, void *of_c) {
  const float *a = of_a, *b = of_b;
  float *c = of_c;
  for (int n = 0; n < TOKENS; n++) {
    for (int m = 0; m < FAKE_OUT; m++) {
      float sum = 0.0f;
      for (int k = 0; k < FAKE_IN; k++) sum += a[k * PANEL + m] * b[n * FAKE_IN + k];
      c[n * PANEL + m] = sum;
    }
  }
}

static const attn2c_kernel_shape kernels[] = {
    {.m = FAKE_OUT, .n = TOKENS, .k = FAKE_IN, .lda = PANEL, .ldb = FAKE_IN, .ldc = PANEL, .beta = 0}};

static fake_form selected = FAKE_TWO_INPUTS;
static int calls;

static double nanoseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* All variants: linear results lie in the arena, 16 floats apart; y is made from them. */
static int steps(const attn2c_call *call, double *nanoseconds, int is_trace) {
  const float *packed = call->weights;
  float *arena = call->arena;
  const void *const *in = call->in;
  void *const *out = call->out;
  const float *x = in[selected == FAKE_PAIR];
  float *y = out[0];
  float unwanted[TOKENS * FAKE_OUT];
  if (selected == FAKE_FAILING) return ATTN2C_FORMAT;
  const double start = nanoseconds_now();
  if (selected == FAKE_NO_WEIGHTS) {
    for (int i = 0; i < TOKENS * FAKE_IN; i++) {
      if (y != NULL) y[i] = x[i] < 0.0f ? 0.0f : x[i];
    }
    if (nanoseconds != NULL) nanoseconds[0] += nanoseconds_now() - start;
    return ATTN2C_OK;
  }
  if (y == NULL) y = unwanted;
  (call->kernels[0] ? call->kernels[0] : in_c)(packed, x, arena);
  for (int i = 0; i < TOKENS; i++) {
    for (int j = 0; j < FAKE_OUT; j++) arena[i * PANEL + j] += packed[BIAS + j];
  }
  const double linear_end = nanoseconds_now();
  const int last = TOKENS * FAKE_OUT - 1;
  for (int i = 0; i <= last; i++) {
    if (selected == FAKE_UNWRITTEN && i == last) break;
    const float v = arena[i / FAKE_OUT * PANEL + i % FAKE_OUT];
    y[i] = v < 0.0f ? 0.0f : v;
  }
  for (int i = 0; selected == FAKE_PAIR && i <= last; i++) y[i] *= ((const float *)in[0])[1];
  calls++;
  if (selected == FAKE_NOT_FINITE) y[7] = NAN;
  if (selected == FAKE_UNSTEADY) y[7] = (float)calls;
  if (selected == FAKE_UNLIKE && is_trace) y[7] += 1.0f;
  if (selected == FAKE_WRONG) y[7] += 1.0f;
  const double relu_end = nanoseconds_now();
  if (selected == FAKE_SHARED) {
    const float *gain = in[1];
    float *total = out[1];
    for (int j = 0; total != NULL && j < FAKE_OUT; j++) total[j] = 0.0f;
    for (int i = 0; i <= last; i++) {
      y[i] *= gain[i % FAKE_OUT];
      if (total != NULL) total[i % FAKE_OUT] += y[i];
    }
  }
  if (selected == FAKE_TWO_INPUTS) {
    const int32_t *lengths = in[1];
    float *pooled = out[1];
    for (int b = 0; b < FAKE_BATCH; b++) {
      if (lengths[b] < 1 || lengths[b] > FAKE_ROWS) return ATTN2C_FORMAT;
      for (int j = 0; pooled != NULL && j < FAKE_OUT; j++) {
        double sum = 0.0;
        for (int s = 0; s < lengths[b]; s++) sum += y[(b * FAKE_ROWS + s) * FAKE_OUT + j];
        pooled[b * FAKE_OUT + j] = (float)(sum / lengths[b]);
      }
    }
  }
  if (nanoseconds != NULL) {
    nanoseconds[0] += linear_end - start;
    nanoseconds[1] += relu_end - linear_end;
    if (selected == FAKE_TWO_INPUTS) nanoseconds[2] += nanoseconds_now() - relu_end;
  }
  return ATTN2C_OK;
}

static int run(const attn2c_call *call) { return steps(call, NULL, 0); }
static int trace(const attn2c_call *call) { return steps(call, NULL, 1); }
static int profile(const attn2c_call *call) { return steps(call, call->nanoseconds, 0); }

static const int x_and_lengths[] = {X, LENGTHS}, y_and_pooled[] = {Y, POOLED}, relu_only[] = {RELU_ONLY};
static const int x_and_gain[] = {X, GAIN}, y_and_total[] = {Y, TOTAL};
static const attn2c_entry two_inputs = {"forward", ops,          3,  x_and_lengths, y_and_pooled, 2,
                                        2,         LINEAR_FLOPS, run};
static const attn2c_entry one_input = {"forward", ops,          2,  x_and_lengths, y_and_pooled, 1,
                                       1,         LINEAR_FLOPS, run};
static const attn2c_entry no_weights = {"forward", relu_ops, 1, x_and_lengths, relu_only, 1, 1, 0.0, run};

static const attn2c_entry shared = {"forward", ops, 2, x_and_gain, y_and_total, 2, 2, LINEAR_FLOPS, run};

static const int pair_and_x[] = {PAIR, X}, whole_x[] = {WHOLE};
static const attn2c_entry with_pair = {"forward", ops, 2, pair_and_x, y_and_pooled, 2, 1, LINEAR_FLOPS, run};
static const attn2c_entry whole = {"forward", ops, 2, whole_x, y_and_pooled, 1, 1, LINEAR_FLOPS, run};

static attn2c_descriptor model = {
    .readers = &all_readers,
    .name = "fake",
    .generator = "by hand",
    .description = "fake.lua",
    .description_hash = "0123456789abcdef",
    .target = "x86_64",
    .entries = &two_inputs,
    .tensors = tensors,
    .weights = weights,
    .stored = stored,
    .views = views,
    .stored_count = 2,
    .kernels = kernels,
    .entry_count = 1,
    .tensor_count = TENSORS,
    .weight_count = 2,
    .kernel_count = 1,
    .layers = 1,
    .threads = 1,
    .parameters = FAKE_OUT * FAKE_IN + FAKE_OUT,
    .weight_floats = WEIGHT_FLOATS,
    .arena_floats = TOKENS * PANEL,
    .lines = 3,
};

static const attn2c_run traces[] = {trace};
static const attn2c_run profiles[] = {profile};

static void nothing(const attn2c_kernel *k, float *scratch) {
  (void)k;
  scratch[0] = 0.0f;
}

static const attn2c_candidate candidates[] = {
    {"one panel", {{1, FAKE_OUT, FAKE_OUT, PANEL}}, {{1, TOKENS, {{1, TOKENS}}}}, {FAKE_IN, 1, 0}, 0}};
static const attn2c_part_product part_products[] = {
    {"6x8 n 6 +bias_relu", FAKE_OUT, FAKE_IN, TOKENS, FAKE_IN, PANEL, 1.0, candidates, 1, NULL, 0, NULL},
    {NULL, 0, 0, 0, 0, 0, 0.0, NULL, 0, NULL, 0, NULL}};
static const attn2c_part_row part_rows[] = {{"nothing", 16, nothing, 2.0, 0.0}, {NULL, 0, NULL, 0.0, 0.0}};
static const attn2c_parts parts[] = {{part_products, part_rows}};

extern const attn2c_program attn2c_the_program;
const attn2c_program attn2c_the_program = {
    .model = &model, .trace = traces, .trace_floats = TOKENS * PANEL, .profile = profiles, .parts = parts};

void fake_select(fake_form form) {
  selected = form;
  switch (form) {
  case FAKE_TWO_INPUTS:
    model.entries = &two_inputs;
    break;
  case FAKE_NO_WEIGHTS:
    model.entries = &no_weights;
    break;
  case FAKE_SHARED:
    model.entries = &shared;
    break;
  case FAKE_PAIR:
    model.entries = &with_pair;
    break;
  case FAKE_WHOLE:
    model.entries = &whole;
    break;
  default:
    model.entries = &one_input;
    break;
  }
  model.batch = form == FAKE_WHOLE ? FAKE_BATCH : 0;
  model.weight_count = form == FAKE_NO_WEIGHTS ? 0 : 2;
}
