/* test_check_mixed.c - the check of calls of several sequences, on a model of any length written by hand: an
 * attention of two heads with a table of positions, one of distances, and a pool. Right, it passes; each way
 * in which a sequence could depend on its call is found. */
#define _POSIX_C_SOURCE 200809L
#include "readers.h"
#include "check/check.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, WIDTH = 4, HEADS = 2, DIM = WIDTH / HEADS, DISTANCES = 2 * MOST - 1, PADDED = 16 };
enum { X, POSITIONS, TABLE, H, S, D, P, Y, POOLED, TENSORS };
/* Places in the arena. */
enum {
  OF_H = 0,
  OF_S = OF_H + MOST * PADDED,
  SQUARE = HEADS * MOST * MOST,
  OF_D = OF_S + SQUARE,
  OF_P = OF_D + SQUARE,
  MARK = OF_P + SQUARE,
  FLOATS = MARK + 1 + SQUARE
};
enum { WEIGHTS = MOST * WIDTH + HEADS * DISTANCES };

typedef enum {
  RIGHT,
  TABLE_FROM_FIRST,    /* the first columns of the table, not those in the middle */
  POSITIONS_CONTINUED, /* from one sequence to the next */
  SCORES_APART,        /* as far apart as the longest sequence's */
  PLACE_SEEN,          /* a sequence's number changes the last bit */
  NEIGHBOUR_SEEN,      /* a NaN in the next sequence does */
  CALL_REMEMBERED,     /* what an earlier call left in the arena does */
  MANY_DIFFER,         /* a call of more than one sequence differs from the trace */
  UNWANTED_OVERLAPS,   /* what the caller does not want lies over the other output's last sequence */
  POOLED_UNWRITTEN     /* of all sequences but the first */
} fault;

static fault present;

/* One sequence of a call: its number, its rows, and where they are. */
typedef struct {
  const attn2c_call *call;
  ptrdiff_t number, first, keys;
} one;

static float *place(const one *s, int of, int head, ptrdiff_t query) {
  const ptrdiff_t each = present == SCORES_APART ? MOST : s->keys;
  return s->call->arena + of + (HEADS * s->first + head * each + query) * MOST;
}

/* Computes the weights of a query. */
static void weigh(const one *s, int head, ptrdiff_t query) {
  const float *table = s->call->weights + MOST * WIDTH + head * DISTANCES,
              *h = s->call->arena + s->first * PADDED;
  float *scores = place(s, OF_S, head, query), *placed = place(s, OF_D, head, query), total = 0,
        most = -INFINITY;
  float *weights = place(s, OF_P, head, query);
  const ptrdiff_t middle = present == TABLE_FROM_FIRST ? s->keys - 1 : MOST - 1;
  for (ptrdiff_t j = 0; j < s->keys; j++) {
    scores[j] = 0;
    for (int k = head * DIM; k < (head + 1) * DIM; k++)
      scores[j] += h[query * PADDED + k] * h[j * PADDED + k];
    placed[j] = scores[j] + table[j - query + middle];
    most = fmaxf(most, placed[j]);
  }
  for (ptrdiff_t j = 0; j < s->keys; j++) total += weights[j] = expf(placed[j] - most);
  for (ptrdiff_t j = 0; j < s->keys; j++) weights[j] /= total;
}

/* True if the present fault changes the sequence's result. */
static int is_hit(const one *s) {
  const attn2c_sequences *n = s->call->sequences;
  const float *x = s->call->in[0];
  const int has_next = s->number + 1 < n->count;
  return (present == PLACE_SEEN && s->number > 0) ||
         (present == CALL_REMEMBERED && s->call->arena[MARK] == 7) ||
         (present == NEIGHBOUR_SEEN && has_next && isnan(x[(s->first + s->keys) * WIDTH]));
}

static void run_sequence(const one *s) {
  const float *x = (const float *)s->call->in[0] + s->first * WIDTH, *positions = s->call->weights;
  float *h = s->call->arena + s->first * PADDED, unwanted[MOST * WIDTH];
  float *y = s->call->out[0] ? (float *)s->call->out[0] + s->first * WIDTH : unwanted;
  float *pooled = s->call->out[1] ? (float *)s->call->out[1] + s->number * WIDTH : NULL;
  const ptrdiff_t from = present == POSITIONS_CONTINUED ? s->first : 0;
  for (ptrdiff_t i = 0; i < s->keys; i++)
    for (int k = 0; k < WIDTH; k++) h[i * PADDED + k] = x[i * WIDTH + k] + positions[(from + i) * WIDTH + k];
  for (int head = 0; head < HEADS; head++)
    for (ptrdiff_t i = 0; i < s->keys; i++) {
      weigh(s, head, i);
      for (int k = head * DIM; k < (head + 1) * DIM; k++) {
        y[i * WIDTH + k] = 0;
        for (ptrdiff_t j = 0; j < s->keys; j++)
          y[i * WIDTH + k] += place(s, OF_P, head, i)[j] * h[j * PADDED + k];
      }
    }
  if (is_hit(s)) y[0] = nextafterf(y[0], 10);
  for (int k = 0; pooled && k < WIDTH && !(present == POOLED_UNWRITTEN && s->number > 0); k++) {
    float sum = 0;
    for (ptrdiff_t i = 0; i < s->keys; i++) sum += y[i * WIDTH + k];
    pooled[k] = sum / (float)s->keys;
  }
}

static int run_trace(const attn2c_call *call) {
  const attn2c_sequences *n = call->sequences;
  if (n->rows > MOST || n->first[n->count] != n->rows) return ATTN2C_FORMAT;
  for (ptrdiff_t i = 0; i < n->count; i++)
    run_sequence(&(one){call, i, n->first[i], n->first[i + 1] - n->first[i]});
  return ATTN2C_OK;
}

static int run_shipped(const attn2c_call *call) {
  const int status = run_trace(call);
  float *y = call->out[0];
  if (present == MANY_DIFFER && call->sequences->count > 1 && y) y[1] = nextafterf(y[1], 10);
  if (present == UNWANTED_OVERLAPS && call->sequences->count > 1 && y && !call->out[1])
    y[(call->sequences->rows - 1) * WIDTH] = 1;
  call->arena[MARK] = 7;
  return status;
}

static const attn2c_tensor tensors[TENSORS] = {
    {"x", ATTN2C_INPUT, ATTN2C_F32, 3, {1, MOST, WIDTH}, 0, 0, -1, 0},
    {"positions", ATTN2C_WEIGHT, ATTN2C_F32, 2, {MOST, WIDTH}, 0, 0, -1, 0},
    {"table", ATTN2C_CONSTANT, ATTN2C_F32, 2, {HEADS, DISTANCES}, 0, 0, -1, 0},
    {"h", ATTN2C_SCRATCH, ATTN2C_F32, 3, {1, MOST, WIDTH}, 0, 0, OF_H, PADDED},
    {"scores", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, HEADS, MOST, MOST}, 0, 0, OF_S, MOST},
    {"placed", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, HEADS, MOST, MOST}, 0, 0, OF_D, MOST},
    {"weights", ATTN2C_SCRATCH, ATTN2C_F32, 4, {1, HEADS, MOST, MOST}, 0, 0, OF_P, MOST},
    {"y", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, MOST, WIDTH}, 0, 0, -1, 0},
    {"pooled", ATTN2C_OUTPUT, ATTN2C_F32, 2, {1, WIDTH}, 0, 0, -1, 0},
};
static const attn2c_growth growth[TENSORS] = {{{0, 1, 0}, 0},    {{1, 0}, 1},       {{0, 2}, 1},
                                              {{0, 1, 0}, 0},    {{0, 0, 1, 1}, 0}, {{0, 0, 1, 1}, 0},
                                              {{0, 0, 1, 1}, 0}, {{0, 1, 0}, 0},    {{0, 0}, 0}};
static const attn2c_attribute heads[] = {
    {"heads", HEADS, NULL}, {"causal", 0, NULL}, {"left", -1, NULL}, {"right", -1, NULL}, {NULL, 0, NULL}};
static const attn2c_attribute scale[] = {{"scale", 1, NULL}, {NULL, 0, NULL}};
static const attn2c_attribute mean[] = {{"function", 0, "mean"}, {NULL, 0, NULL}};
static const attn2c_attribute nothing[] = {{NULL, 0, NULL}};
static const attn2c_op ops[] = {
    {"add", "input", H, {X, POSITIONS, -1, -1, -1, -1}, nothing, 0, ATTN2C_NO_ROLE},
    {"scores", "layer 0", S, {H, H, -1, -1, -1, -1}, heads, 0, ATTN2C_MAKES_SCORES},
    {"add_distance", "layer 0", D, {S, TABLE, -1, -1, -1, -1}, nothing, 0, ATTN2C_SCORES_TO_SCORES},
    {"softmax", "layer 0", P, {D, -1, -1, -1, -1, -1}, scale, 0, ATTN2C_SCORES_TO_WEIGHTS},
    {"context", "layer 0", Y, {P, H, -1, -1, -1, -1}, heads, 0, ATTN2C_READS_WEIGHTS},
    {"pool", "output", POOLED, {Y, -1, -1, -1, -1, -1}, mean, 0, ATTN2C_NO_ROLE},
};
enum { OPS = sizeof ops / sizeof ops[0] };
static const int inputs[] = {X}, outputs[] = {Y, POOLED};
static const char *const names[] = {"positions", NULL};
static const attn2c_stored stored[] = {{.names = names, .rank = 2, .shape = {MOST, WIDTH}}};
static const attn2c_view views[] = {
    {.stored = 0, .rows = MOST, .columns = WIDTH, .row_step = WIDTH, .column_step = 1, .factor = 1}};
static const attn2c_weight weights[] = {
    {.tensor = POSITIONS, .view_count = 1, .random_deviation = 0.5},
    {.tensor = TABLE, .formula = "alibi -11", .offset = MOST * WIDTH},
};
static const attn2c_entry entry = {"forward", ops, OPS, inputs, outputs, 1, 2, 100, run_shipped};
static const attn2c_axes in_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_axes out_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING}, {0, -1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_size sizes[] = {{1, MOST}};
static const attn2c_lengths any = {in_axes, out_axes, sizes, 1, NULL};
static const attn2c_descriptor descriptor = {.readers = &all_readers,
                                             .name = "any",
                                             .entries = &entry,
                                             .entry_count = 1,
                                             .tensors = tensors,
                                             .weights = weights,
                                             .stored = stored,
                                             .views = views,
                                             .stored_count = 1,
                                             .tensor_count = TENSORS,
                                             .weight_count = 2,
                                             .layers = 1,
                                             .threads = 1,
                                             .parameters = MOST * WIDTH,
                                             .weight_floats = WEIGHTS,
                                             .arena_floats = FLOATS,
                                             .lengths = &any,
                                             .is_open = 1,
                                             .growth = growth};
static const attn2c_run traces[] = {run_trace};
static const attn2c_program program = {&descriptor, traces, FLOATS, NULL, NULL, NULL, NULL};

static char *printed;
static size_t printed_size;
static char text[512];

/* Checks the program with a fault and a seed, into `out`. */
static int check_into(FILE *out, fault with, uint64_t seed, attn2c_source *source, attn2c_model *model,
                      attn2c_message *message) {
  float x[MOST * WIDTH];
  for (int i = 0; i < MOST * WIDTH; i++) x[i] = sinf((float)(i * i + 1));
  const void *in[] = {x};
  present = with;
  return attn2c_check(&program, model, source, in, seed, 0, out, 0, "-", message);
}

static int check(fault with, uint64_t seed) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  static float packed[WEIGHTS];
  cr_assert_eq(attn2c_source_random(7, &descriptor, &source, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_source_read(source, 0, packed, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_source_read(source, 1, packed + MOST * WIDTH, &message), ATTN2C_OK);
  attn2c_model model = {
      .descriptor = &descriptor, .weights = packed, .own = packed, .provider = "c", .workers = 1};
  free(printed);
  printed = NULL;
  FILE *out = open_memstream(&printed, &printed_size);
  cr_assert_not_null(out);
  const int status = check_into(out, with, seed, source, &model, &message);
  fclose(out);
  attn2c_source_close(source);
  return status;
}

static const char *first_to_diverge(void) {
  const char *found = strstr(printed, "first to diverge: ");
  return found ? found : "nothing";
}

Test(check_mixed, a_right_program_passes_with_any_lengths) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    cr_assert_eq(check(RIGHT, seed), ATTN2C_OK, "%s\n%s", text, printed);
    /* One sequence of the greatest length: 6 ops, 2 outputs 4 times. Several: the
     * same ops, the outputs end to end and 8 times. */
    cr_assert_not_null(strstr(printed, "\n38 passed, 0 failed"), "%s", printed);
    cr_assert_not_null(strstr(printed, "\noutput pooled, by itself, "), "%s", printed);
    cr_assert_not_null(strstr(printed, "\noutput y, beside others, "), "%s", printed);
    cr_assert_not_null(strstr(printed, "\noutput y, call 2 of 3, divided, "), "%s", printed);
  }
}

Test(check_mixed, the_lengths_are_others_with_another_seed) {
  cr_assert_eq(check(RIGHT, 1), ATTN2C_OK);
  char *first = strdup(printed);
  cr_assert_eq(check(RIGHT, 1), ATTN2C_OK);
  cr_assert_str_eq(printed, first);
  int differ = 0;
  for (uint64_t seed = 2; seed < 8; seed++) {
    cr_assert_eq(check(RIGHT, seed), ATTN2C_OK);
    differ += strcmp(strchr(printed, '\n'), strchr(first, '\n')) != 0;
  }
  cr_assert_gt(differ, 3);
  free(first);
}

static const struct {
  fault with;
  const char *first; /* what the line that names the first to diverge has */
} faulty[] = {
    {TABLE_FROM_FIRST, "first to diverge: placed, "},
    {POSITIONS_CONTINUED, "first to diverge: h, "},
    {SCORES_APART, "first to diverge: scores, "},
    {PLACE_SEEN, "first to diverge: output y, by itself, "},
    {NEIGHBOUR_SEEN, "first to diverge: output y, beside others, "},
    {CALL_REMEMBERED, "first to diverge: output y, run again"},
    {MANY_DIFFER, "first to diverge: output y, shipped = trace, "},
    {POOLED_UNWRITTEN, "first to diverge: pooled, "},
    {UNWANTED_OVERLAPS, "first to diverge: output y, by itself, "},
};

Test(check_mixed, names_the_first_that_is_wrong) {
  for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++)
    for (uint64_t seed = 1; seed <= 5; seed++) {
      cr_assert_eq(check(faulty[i].with, seed), ATTN2C_MISMATCH, "fault %d: %s", faulty[i].with, printed);
      cr_assert_eq(strncmp(first_to_diverge(), faulty[i].first, strlen(faulty[i].first)), 0, "fault %d: %s",
                   faulty[i].with, first_to_diverge());
    }
}

Test(check_mixed, every_allocation_may_fail) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_source *source;
  float packed[WEIGHTS] = {0};
  cr_assert_eq(attn2c_source_random(7, &descriptor, &source, &message), ATTN2C_OK);
  attn2c_source_read(source, 0, packed, &message);
  attn2c_source_read(source, 1, packed + MOST * WIDTH, &message);
  attn2c_model model = {
      .descriptor = &descriptor, .weights = packed, .own = packed, .provider = "c", .workers = 1};
  FILE *out = fopen("/dev/null", "w");
  int status = ATTN2C_MEMORY;
  long nth = 1;
  for (; status == ATTN2C_MEMORY && nth < 5000; nth++) {
    message = attn2c_message_make(text, sizeof text);
    faults_clear();
    faults_allocation(nth, 0);
    status = check_into(out, RIGHT, 3, source, &model, &message);
    cr_assert_eq(faults_live_blocks(), 0, "allocation %ld", nth);
    if (faults_met()) cr_assert_eq(status, ATTN2C_MEMORY, "allocation %ld", nth);
    if (faults_met()) cr_assert(strstr(text, "memory"), "allocation %ld: %s", nth, text);
  }
  faults_clear();
  cr_assert_eq(status, ATTN2C_OK);
  cr_assert_gt(nth, 100);
  fclose(out);
  attn2c_source_close(source);
}
