/* test_check.c - the check of a whole program, on one written by hand: an attention of one head with a
 * residual and an argmax. Right, it passes; each way of being wrong makes it fail, and the first op that is
 * wrong is the one that is named. */
#define _POSIX_C_SOURCE 200809L
#include "readers.h"
#include "check/check.h"
#include "check/check_calls.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4, PADDED = 16 }; /* tokens, and width; floats between rows of the trace's arena */
enum { X, WQ, BQ, SEEN, Q, S, P, C, Y, BEST, TENSORS };

typedef enum {
  RIGHT,
  SCORES_FLIPPED,    /* a sign */
  CONTEXT_OFF,       /* by 1e-4 */
  WEIGHTS_NAN,       /* where a number belongs */
  MASK_LEAKS,        /* a masked key has a weight */
  LINEAR_UNWRITTEN,  /* its last element */
  CONTEXT_OF_ZEROS,  /* all of them */
  BEST_WRONG,        /* an index */
  SHIPPED_DIFFERS,   /* from the trace, in the last bit */
  SHIPPED_UNSTEADY,  /* from run to run */
  SHIPPED_UNWRITTEN, /* an element of the output */
  SHIPPED_ALONE,     /* an output, where the other is not wanted */
  FAILS              /* with a status */
} fault;

static fault present;
static int calls;

/* Where the trace keeps what the shipped variant keeps on its stack. */
static float *row(float *arena, int64_t offset, int i) { return arena + offset + (int64_t)i * PADDED; }

static void put_result(int traced, const float *context, const float *x, void *const *out) {
  float unwanted[N * N], *y = out[0] ? out[0] : unwanted;
  int32_t nobodys[N], *best = out[1] ? out[1] : nobodys;
  const int is_alone = !out[0] || !out[1];
  for (int i = 0; i < N; i++) {
    best[i] = 0;
    for (int c = 0; c < N; c++) {
      y[i * N + c] = context[i * PADDED + c] + x[i * N + c];
      if (y[i * N + c] > y[i * N + best[i]]) best[i] = c;
    }
  }
  if (present == BEST_WRONG) best[3] = (best[3] + 1) % N;
  if (traced) return;
  calls++;
  if (present == SHIPPED_DIFFERS) y[5] = nextafterf(y[5], 10);
  if (present == SHIPPED_UNSTEADY && calls % 2 == 0) y[5] = nextafterf(y[5], 10);
  if (present == SHIPPED_UNWRITTEN) y[15] = NAN;
  if (present == SHIPPED_ALONE && is_alone) y[5] = nextafterf(y[5], 10), best[3] = (best[3] + 1) % N;
}

/* The same steps for both variants; tensors lie at the offsets of the descriptor. Keys from lengths[0] on,
 * and those after the query, are masked. */
static int compute(const attn2c_call *call, int traced) {
  const float *x = call->in[0], *weights = call->weights;
  float *arena = call->arena;
  int seen = ((const int32_t *)call->in[1])[0];
  if (present == FAILS) return ATTN2C_FORMAT;
  for (int i = 0; i < N; i++)
    for (int o = 0; o < N; o++) {
      float sum = weights[N * N + o];
      for (int k = 0; k < N; k++) sum += x[i * N + k] * weights[o * N + k];
      if (present != LINEAR_UNWRITTEN || i * N + o != 15) row(arena, 0, i)[o] = sum;
    }
  for (int i = 0; i < N; i++) {
    float *s = row(arena, 64, i), *p = row(arena, 128, i), *c = row(arena, 192, i), total = 0,
          most = -INFINITY;
    for (int j = 0; j <= i; j++) {
      s[j] = j < seen ? 0 : -INFINITY;
      for (int k = 0; k < N && j < seen; k++) s[j] += row(arena, 0, i)[k] * x[j * N + k];
      if (present == SCORES_FLIPPED && i == 2 && j == 1) s[j] = -s[j];
      most = fmaxf(most, s[j]);
    }
    for (int j = 0; j <= i; j++) total += p[j] = expf(0.5f * (s[j] - most));
    for (int j = 0; j <= i; j++) p[j] /= total;
    if (present == WEIGHTS_NAN && i == 1) p[0] = NAN;
    if (present == MASK_LEAKS && i == 1) p[3] = 1e-3f;
    for (int k = 0; k < N; k++) {
      c[k] = 0;
      for (int j = 0; j <= i && j < seen; j++) c[k] += p[j] * x[j * N + k];
      if (present == CONTEXT_OFF && i == 3 && k == 2) c[k] += 1e-4f;
      if (present == CONTEXT_OF_ZEROS) c[k] = 0;
    }
  }
  put_result(traced, arena + 192, x, call->out);
  return ATTN2C_OK;
}

static int run_shipped(const attn2c_call *call) { return compute(call, 0); }
static int run_trace(const attn2c_call *call) { return compute(call, 1); }

static const attn2c_tensor tensors[TENSORS] = {
    {"x", ATTN2C_INPUT, ATTN2C_F32, 3, {1, N, N}, 0, 0, -1, 0},
    {"wq", ATTN2C_WEIGHT, ATTN2C_F32, 2, {N, N}, 0, 0, -1, 0},
    {"bq", ATTN2C_WEIGHT, ATTN2C_F32, 1, {N}, 0, 0, -1, 0},
    {"lengths", ATTN2C_INPUT, ATTN2C_I32, 1, {1}, 1, N + 1, -1, 0},
    {"l0.q", ATTN2C_SCRATCH, ATTN2C_F32, 3, {1, N, N}, 0, 0, 0, PADDED},
    {"l0.scores", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 64, PADDED},
    {"l0.weights", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, 1, N, N}, 0, 0, 128, PADDED},
    {"l0.context", ATTN2C_SCRATCH, ATTN2C_F32, 3, {1, N, N}, 0, 0, 192, PADDED},
    {"hidden", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, N, N}, 0, 0, -1, 0},
    {"best", ATTN2C_OUTPUT, ATTN2C_I32, 2, {1, N}, 0, 0, -1, 0},
};
static const attn2c_attribute mask[] = {
    {"heads", 1, NULL}, {"causal", 1, NULL}, {"left", -1, NULL}, {"right", -1, NULL}, {NULL, 0, NULL}};
static const attn2c_attribute scale[] = {{"scale", 0.5, NULL}, {NULL, 0, NULL}};
static const attn2c_attribute nothing[] = {{NULL, 0, NULL}};
static attn2c_op ops[] = {
    {"linear", "layer 0", Q, {X, WQ, BQ, -1, -1, -1}, nothing, 128, ATTN2C_NO_ROLE},
    {"scores", "layer 0", S, {Q, X, SEEN, -1, -1, -1}, mask, 80, ATTN2C_MAKES_SCORES},
    {"softmax", "layer 0", P, {S, -1, -1, -1, -1, -1}, scale, 0, ATTN2C_SCORES_TO_WEIGHTS},
    {"context", "layer 0", C, {P, X, SEEN, -1, -1, -1}, mask, 80, ATTN2C_READS_WEIGHTS},
    {"add", "layer 0", Y, {C, X, -1, -1, -1, -1}, nothing, 0, ATTN2C_NO_ROLE},
    {"argmax", "output", BEST, {Y, -1, -1, -1, -1, -1}, nothing, 0, ATTN2C_NO_ROLE},
};
static const int inputs[] = {X, SEEN}, outputs[] = {Y, BEST};
static const char *const wq_names[] = {"wq", NULL}, *const bq_names[] = {"bq", NULL};
static const attn2c_stored stored[] = {{.names = wq_names, .rank = 2, .shape = {N, N}},
                                       {.names = bq_names, .rank = 1, .shape = {N}}};
static const attn2c_view views[] = {
    {.stored = 0, .rows = N, .columns = N, .row_step = N, .column_step = 1, .factor = 1},
    {.stored = 1, .rows = N, .columns = 1, .row_step = 1, .column_step = 1, .factor = 1}};
static const attn2c_weight weights[] = {
    {.tensor = WQ, .view_count = 1, .random_deviation = 0.5},
    {.tensor = BQ, .first_view = 1, .view_count = 1, .random_deviation = 0.5, .offset = N * N},
};
static const attn2c_entry entry = {"forward", ops, 6, inputs, outputs, 2, 2, 288, run_shipped};
static const attn2c_descriptor descriptor = {.readers = &all_readers,
                                             .name = "fake",
                                             .entries = &entry,
                                             .entry_count = 1,
                                             .tensors = tensors,
                                             .weights = weights,
                                             .stored = stored,
                                             .views = views,
                                             .stored_count = 2,
                                             .tensor_count = TENSORS,
                                             .weight_count = 2,
                                             .layers = 1,
                                             .threads = 1,
                                             .parameters = 20,
                                             .weight_floats = 20,
                                             .arena_floats = 256};
static const attn2c_run trace = run_trace;
static const attn2c_program program = {&descriptor, &trace, 256, NULL, NULL, NULL, NULL};

static float x[N * N] = {0.5f, -1,   0.25f, 2,     1,    1.5f,  -0.5f, 0.75f,
                         -2,   0.3f, 1.1f,  -0.7f, 0.9f, -1.2f, 0.6f,  1.4f};
static int32_t lengths[1] = {3};
static char *printed;
static size_t printed_size;
static char text[512];

/* Checks the program with this fault; what is printed is in `printed`, the message in `text`. */
static int check(fault with, int json) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  float packed[20];
  cr_assert_eq(attn2c_source_random(7, &descriptor, &source, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_source_read(source, 0, packed, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_source_read(source, 1, packed + N * N, &message), ATTN2C_OK);
  attn2c_model model = {
      .descriptor = &descriptor, .weights = packed, .own = packed, .provider = "c", .workers = 1};
  const void *in[] = {x, lengths};
  free(printed);
  printed = NULL;
  FILE *out = open_memstream(&printed, &printed_size);
  cr_assert_not_null(out);
  present = with, calls = 0;
  int status = attn2c_check(&program, &model, source, in, 7, 0, out, json, "./fake check --seed 7", &message);
  fclose(out);
  attn2c_source_close(source);
  return status;
}

/* The line of `printed` that begins with this, or "". */
static const char *line(const char *beginning) {
  static char found[256];
  found[0] = '\0';
  for (const char *at = printed; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
    if (strncmp(at, beginning, strlen(beginning)) == 0) {
      snprintf(found, sizeof found, "%.*s", (int)strcspn(at, "\n"), at);
      return found;
    }
  return found;
}

Test(check, a_right_program_passes) {
  cr_assert_eq(check(RIGHT, 0), ATTN2C_OK, "%s\n%s", text, printed);
  /* 6 ops, 2 outputs end to end, and three times the bits of each */
  cr_assert_str_eq(line("14 passed"), "14 passed, 0 failed", "%s", printed);
  cr_assert_str_eq(line("first"), "");
  const char *const rows[] = {"l0.q ",
                              "l0.scores ",
                              "l0.weights ",
                              "l0.context ",
                              "hidden ",
                              "best ",
                              "output hidden, end to end ",
                              "output best, end to end ",
                              "output hidden, shipped = trace ",
                              "output best, shipped = trace ",
                              "output hidden, run again ",
                              "output best, run again ",
                              "output hidden, by itself ",
                              "output best, by itself "};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *found = line(rows[i]);
    cr_assert(strlen(found) > 4 && strcmp(found + strlen(found) - 3, " ok") == 0, "%s: %s", rows[i], found);
    cr_assert_leq(strlen(found), 110);
  }
  cr_assert_str_eq(text, "");
}

static struct faulty {
  fault with;
  char first[64]; /* how the line that names the first to diverge begins */
  int failed;
} faulty[] = {
    {SCORES_FLIPPED, "l0.scores at [0][0][2][1]: expected ", 0},
    {CONTEXT_OFF, "l0.context at [0][3][2]: expected ", 0},
    {WEIGHTS_NAN, "l0.weights at [0][0][1][0]: expected ", 0},
    {MASK_LEAKS, "l0.weights at [0][0][1][3]: expected 0, ", 1},
    {LINEAR_UNWRITTEN, "l0.q at [0][3][3]: expected ", 0},
    {CONTEXT_OF_ZEROS, "l0.context at [0]", 0},
    {BEST_WRONG, "best at [0][3]: expected ", 2},
    {SHIPPED_DIFFERS, "output hidden, shipped = trace at [0][1][1]: expected ", 1},
    {SHIPPED_UNSTEADY, "output hidden, run again at [0][1][1]: expected ", 1},
    {SHIPPED_UNWRITTEN, "output hidden, shipped = trace at [0][3][3]: expected ", 1},
    {SHIPPED_ALONE, "output hidden, by itself at [0][1][1]: expected ", 2},
};

Test(check, names_the_first_that_is_wrong) {
  for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++) {
    cr_assert_eq(check(faulty[i].with, 0), ATTN2C_MISMATCH, "fault %d: %s\n%s", faulty[i].with, text,
                 printed);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "first to diverge: %s", faulty[i].first);
    const char *found = line("first to diverge: ");
    cr_assert_eq(strncmp(found, wanted, strlen(wanted)), 0, "fault %d: %s", faulty[i].with, found);
    cr_assert(strstr(found, "seed 7; repeat: ./fake check --seed 7"), "%s", found);
    if (!faulty[i].failed) continue;
    snprintf(wanted, sizeof wanted, "%d passed, %d failed", 14 - faulty[i].failed, faulty[i].failed);
    cr_assert_str_eq(line(wanted), wanted, "%s", printed);
  }
}

Test(check, calls_for_some_outputs_want_each_alone_and_all_but_each) {
  float values[9];
  void *all[9], *some[9];
  for (int i = 0; i < 9; i++) all[i] = &values[i];
  for (int count = 1; count <= 9; count++) {
    attn2c_entry of = entry;
    of.output_count = count;
    const attn2c_check_job job = {.entry = &of};
    const int alone = count > 1 ? count : 0, left_out = count > 2 && count < 9 ? count : 0;
    for (int number = 0; number <= alone + left_out; number++) {
      const char *what = attn2c_check_some_outputs(&job, number, all, some);
      cr_assert_eq(what != NULL, number < alone + left_out, "call %d for %d", number, count);
      for (int i = 0; what && i < count; i++) {
        const int is_wanted = number < count ? i == number : i != number - count;
        cr_assert_eq(some[i], is_wanted ? all[i] : NULL, "call %d for %d, output %d", number, count, i);
      }
      if (what) cr_assert_str_eq(what, number < count ? "by itself" : "all but one");
    }
  }
}

Test(check, an_op_is_judged_on_its_own_operands) {
  /* The weights and all after them follow from the scores that are there: only the scores and the ends are
   * wrong. */
  check(SCORES_FLIPPED, 0);
  const char *const right[] = {"l0.q ", "l0.weights ", "l0.context ", "hidden ", "output hidden, run again "};
  for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
    const char *found = line(right[i]);
    cr_assert(found[0] && strcmp(found + strlen(found) - 3, " ok") == 0, "%s: %s", right[i], found);
  }
  const char *end = line("output hidden, end to end ");
  cr_assert(end[0] && strcmp(end + strlen(end) - 4, "FAIL") == 0, "%s", end);
}

Test(check, nan_and_infinity_go_through_alike) {
  const float specials[] = {NAN, INFINITY};
  for (int i = 0; i < 2; i++) {
    float kept = x[13];
    x[13] = specials[i]; /* of the last token, which only the last query would see and lengths[0] masks */
    cr_assert_eq(check(RIGHT, 0), ATTN2C_OK, "%s\n%s", text, printed);
    x[13] = kept, kept = x[5];
    x[5] = specials[i];
    cr_assert_eq(check(RIGHT, 0), ATTN2C_OK, "%s\n%s", text, printed);
    x[5] = kept;
    cr_assert_str_eq(line("overflow: "), "");
  }
}

Test(check, says_where_numbers_become_too_large) {
  const float kept = x[5];
  x[5] = 1e30f; /* its query is finite, but not the squares in the scores */
  check(RIGHT, 0);
  cr_assert_str_eq(line("overflow: "),
                   "overflow: l0.scores has values or sums beyond 3.4e38, the largest float: weights "
                   "or inputs are too large for f32");
  check(RIGHT, 1);
  cr_assert_not_null(strstr(printed, "\"overflow\":\"l0.scores\""), "%s", printed);
  x[5] = kept;
  check(WEIGHTS_NAN, 0); /* is wrong with numbers of any size */
  cr_assert_str_eq(line("overflow: "), "");
}

Test(check, json) {
  for (int wrong = 0; wrong < 2; wrong++) {
    cr_assert_eq(check(wrong ? LINEAR_UNWRITTEN : RIGHT, 1), wrong ? ATTN2C_MISMATCH : ATTN2C_OK, "%s", text);
    json_error_t error;
    json_t *root = json_loads(printed, 0, &error);
    cr_assert_not_null(root, "%s in %s", error.text, printed);
    cr_assert_str_eq(json_string_value(json_object_get(root, "model")), "fake");
    cr_assert_str_eq(json_string_value(json_object_get(root, "entry")), "forward");
    cr_assert_eq(json_integer_value(json_object_get(root, "seed")), 7);
    json_t *rows = json_object_get(root, "tensors"), *first = json_object_get(root, "first_to_diverge");
    cr_assert_eq(json_array_size(rows), 14);
    cr_assert_eq(json_integer_value(json_object_get(root, "passed")) +
                     json_integer_value(json_object_get(root, "failed")),
                 14);
    json_t *q = json_array_get(rows, 0);
    const char *const keys[] = {"name",     "shape", "max_abs", "max_rel", "rel_l2", "worst",
                                "expected", "got",   "passed",  "share",   "op"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
      cr_assert_not_null(json_object_get(q, keys[i]), "%s", keys[i]);
    cr_assert_eq(json_is_true(json_object_get(q, "passed")), !wrong);
    cr_assert_str_eq(json_string_value(json_object_get(q, "op")), "linear");
    cr_assert(json_is_null(json_object_get(json_array_get(rows, 11), "op")), "a comparison of outputs");
    cr_assert_eq(first != NULL, wrong);
    /* A NaN is a string: JSON has no number for it. */
    if (wrong) cr_assert_str_eq(json_string_value(json_object_get(first, "got")), "nan");
    if (wrong) cr_assert_str_eq(json_string_value(json_object_get(first, "repeat")), "./fake check --seed 7");
    json_t *kinds = json_object_get(root, "operations"), *kind = json_array_get(kinds, 0);
    cr_assert_str_eq(json_string_value(json_object_get(kind, "op")), "linear");
    cr_assert_gt(json_integer_value(json_object_get(kind, "count")), 0);
    cr_assert_str_eq(json_string_value(json_object_get(kind, "name")), "l0.q");
    json_t *share = json_object_get(kind, "worst_share");
    if (wrong) cr_assert_str_eq(json_string_value(share), "inf");
    if (!wrong) cr_assert(json_number_value(share) >= 0 && json_number_value(share) <= 1);
    json_decref(root);
  }
}

Test(check, adds_up_by_kind_of_operation) {
  cr_assert_eq(check(RIGHT, 0), ATTN2C_OK, "%s", text);
  const char *table =
      strstr(printed, "\noperation         count     worst share  of its tolerance, at\nlinear ");
  cr_assert_not_null(table, "%s", printed);
  cr_assert_lt(table, strstr(printed, " passed, "));
}

Test(check, what_cannot_be_judged_is_refused) {
  ops[1].op = "unheard";
  cr_assert_eq(check(RIGHT, 0), ATTN2C_USAGE);
  cr_assert(strstr(text, "unheard") && strstr(text, "op 1"), "%s", text);
  cr_assert_str_eq(line("14 passed"), "");
  ops[1].op = "scores";
  lengths[0] = 5;
  cr_assert_eq(check(RIGHT, 0), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "lengths: element 0 is 5, but must be from 1 to 4");
  lengths[0] = 3;
  cr_assert_eq(check(FAILS, 0), ATTN2C_FORMAT);
  cr_assert(strstr(text, "trace"), "%s", text);
}

Test(check, a_full_disk_is_no_success) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  float packed[20] = {0};
  cr_assert_eq(attn2c_source_random(7, &descriptor, &source, &message), ATTN2C_OK);
  attn2c_source_read(source, 0, packed, &message);
  attn2c_source_read(source, 1, packed + N * N, &message);
  attn2c_model model = {
      .descriptor = &descriptor, .weights = packed, .own = packed, .provider = "c", .workers = 1};
  const void *in[] = {x, lengths};
  present = RIGHT;
  FILE *full = fopen("/dev/full", "w");
  cr_assert_not_null(full);
  cr_assert_eq(attn2c_check(&program, &model, source, in, 7, 0, full, 0, "-", &message), ATTN2C_IO);
  cr_assert(strstr(text, "could not be written"), "%s", text);
  fclose(full);
  attn2c_source_close(source);
}

Test(check, every_allocation_may_fail) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  float packed[20];
  cr_assert_eq(attn2c_source_random(7, &descriptor, &source, &message), ATTN2C_OK);
  attn2c_source_read(source, 0, packed, &message);
  attn2c_source_read(source, 1, packed + N * N, &message);
  attn2c_model model = {
      .descriptor = &descriptor, .weights = packed, .own = packed, .provider = "c", .workers = 1};
  const void *in[] = {x, lengths};
  present = RIGHT;
  FILE *out = fopen("/dev/null", "w");
  int status = ATTN2C_MEMORY;
  long nth = 1;
  for (; status == ATTN2C_MEMORY && nth < 1000; nth++) {
    message = attn2c_message_make(text, sizeof text);
    faults_clear();
    faults_allocation(nth, 0);
    status = attn2c_check(&program, &model, source, in, 7, 0, out, 0, "-", &message);
    cr_assert_eq(faults_live_blocks(), 0, "allocation %ld", nth);
    if (faults_met()) cr_assert_eq(status, ATTN2C_MEMORY, "allocation %ld", nth);
    if (faults_met()) cr_assert(strstr(text, "memory"), "allocation %ld: %s", nth, text);
  }
  faults_clear();
  cr_assert_eq(status, ATTN2C_OK);
  cr_assert_gt(nth, 20);
  fclose(out);
  attn2c_source_close(source);
}
