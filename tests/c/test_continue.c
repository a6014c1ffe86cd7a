/* test_continue.c - calls that add tokens to sequences, through an entry written by hand: it keeps an id in
 * pages as an emitted model keeps its keys and values, and its logits are sums over all that a sequence has.
 * So a call with a wrong position, place or range of rows gives other logits. */
#define _DEFAULT_SOURCE
#include "faults.h"
#include "guarded.h"
#include "model/continue.h"
#include "model/sequences.h"
#include "model/state.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CONTEXT = 21, PAGE = 4, PAGES = 6, CALL_ROWS = 6, SEQUENCES = 3, FIRST_ID = 2, IDS = 40, WIDTH = 3 };
enum { KEYS = 2, PLACE_OF_VALUES = PAGES * PAGE * KEYS, STATE = PLACE_OF_VALUES + PAGES * PAGE + 8 };

#define NO_ARENA -1, 0
#define OF_IDS                                                                                               \
  {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {1, CONTEXT}, FIRST_ID, IDS, NO_ARENA},                               \
      {"best", ATTN2C_OUTPUT, ATTN2C_I32, 2, {1, CONTEXT}, 0, 0, NO_ARENA}, {                                \
    "logits", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, CONTEXT, WIDTH}, 0, 0, NO_ARENA                              \
  }
static const attn2c_tensor tensors[] = {OF_IDS};
static const attn2c_axes input_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_axes output_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING}, {0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_size sizes[] = {{1, CONTEXT}};
static const attn2c_lengths lengths = {input_axes, output_axes, sizes, 1, NULL};

/* Calls of the entry, and the one that fails; 0: none. */
static int calls, failing;
static ptrdiff_t rows_of[256], asked; /* of each call; rows of the last whose outputs are wanted */

/* Writes the sums of the tokens before and at `position`. */
static void write_logits(const float *state, int64_t position, float *logits) {
  for (int j = 0; j < WIDTH; j++) logits[j] = 0.0f;
  for (int64_t i = 0; i <= position; i++) {
    for (int j = 0; j < KEYS; j++)
      logits[j] += state[i / PAGE * PAGE * KEYS + j * PAGE + i % PAGE] * (float)(i + 1);
    logits[KEYS] += state[PLACE_OF_VALUES + i] * (float)(1 + i * i % 17);
  }
}

static int run(const attn2c_call *call) {
  const attn2c_sequences *n = call->sequences;
  const int32_t *ids = call->in[0];
  float *logits = call->out[1];
  cr_assert(n->rows >= 1 && n->rows <= CALL_ROWS && n->first[0] == 0 && n->first[n->count] == n->rows);
  cr_assert(n->wanted >= 0 && n->wanted <= n->rows);
  asked = n->rows - n->wanted;
  rows_of[calls++] = n->rows;
  if (calls == failing) return ATTN2C_FORMAT;
  for (ptrdiff_t s = 0; s < n->count; s++) {
    float *state = call->state + n->slot[s] * STATE;
    cr_assert(n->slot[s] >= 0 && n->slot[s] < SEQUENCES);
    for (ptrdiff_t row = n->first[s]; row < n->first[s + 1]; row++) {
      const int64_t at = n->past[s] + row - n->first[s];
      cr_assert(at >= 0 && at < CONTEXT);
      for (int j = 0; j < KEYS; j++)
        state[at / PAGE * PAGE * KEYS + j * PAGE + at % PAGE] = (float)(ids[row] * (j + 1) % 23);
      state[PLACE_OF_VALUES + at] = (float)ids[row];
      if (logits && row >= n->wanted) write_logits(state, at, logits + (row - n->wanted) * WIDTH);
    }
  }
  return ATTN2C_OK;
}

static const int inputs[] = {0}, outputs[] = {1, 2};
static const attn2c_entry entry = {"forward", NULL, 0, inputs, outputs, 1, 2, 1, run};
static const attn2c_state_part kept[] = {{0, 0, 0, PAGE *KEYS, 1, -1, ATTN2C_F32, 0, 0},
                                         {0, 0, PLACE_OF_VALUES, PAGE, 0, -1, ATTN2C_F32, 0, 0}};
static const attn2c_state_symbol symbols[] = {{"tokens", CONTEXT}, {"source", 2 * PAGE}};
static const attn2c_continued continued = {.call_rows = CALL_ROWS,
                                           .sequences = SEQUENCES,
                                           .state_floats = STATE,
                                           .page = PAGE,
                                           .kept = kept,
                                           .kept_count = 2,
                                           .symbols = symbols,
                                           .symbol_count = 1,
                                           .logits = 1,
                                           .run_anew = attn2c_run_anew};
static const attn2c_descriptor descriptor = {.entries = &entry,
                                             .tensors = tensors,
                                             .entry_count = 1,
                                             .tensor_count = 3,
                                             .arena_floats = 16,
                                             .is_open = 1,
                                             .lengths = &lengths,
                                             .continued = &continued};
static const attn2c_model model = {.descriptor = &descriptor, .workers = 1};

static attn2c_context *context;
static int32_t ids[CONTEXT + 1];
static float want[CONTEXT][WIDTH], got[CONTEXT * WIDTH + WIDTH];

/* A context whose state has no number, tokens, and the logits of each. */
static void open(void) {
  float state[STATE];
  calls = failing = 0;
  faults_clear();
  cr_assert_eq(attn2c_sequences_create(&model, &context), ATTN2C_OK);
  memset(context->state, 0xff, sizeof(float) * SEQUENCES * STATE);
  for (int i = 0; i <= CONTEXT; i++) ids[i] = FIRST_ID + (i * 31 + 7) % (IDS - FIRST_ID);
  for (int i = 0; i < CONTEXT; i++) {
    for (int j = 0; j < KEYS; j++)
      state[i / PAGE * PAGE * KEYS + j * PAGE + i % PAGE] = (float)(ids[i] * (j + 1) % 23);
    state[PLACE_OF_VALUES + i] = (float)ids[i];
    write_logits(state, i, want[i]);
  }
}

static void close(void) { attn2c_context_destroy(context); }

static int add(int64_t sequence, int64_t from, int64_t count) {
  return attn2c_prefill(context, sequence, ids + from, count, ATTN2C_LOGITS_LAST, got);
}

/* Adds the tokens [from, from + count), and compares the logits of the last one. */
static void expect(int64_t sequence, int64_t from, int64_t count) {
  cr_assert_eq(add(sequence, from, count), ATTN2C_OK);
  cr_assert_arr_eq(got, want[from + count - 1], sizeof want[0]);
  cr_assert_eq(attn2c_position(context, sequence), from + count);
}

/* Sequence 0 has `count` tokens; the next one has the logits that it must have. */
static void expect_unchanged(int64_t count) {
  failing = 0;
  cr_assert_eq(attn2c_position(context, 0), count);
  expect(0, count, 1);
}

Test(carry_on, logits_do_not_depend_on_chunks, .init = open, .fini = close) {
  for (int chunk = 1; chunk <= CONTEXT; chunk++) {
    cr_assert_eq(attn2c_rewind(context, chunk % SEQUENCES, 0), ATTN2C_OK);
    for (int at = 0; at < CONTEXT; at += chunk)
      expect(chunk % SEQUENCES, at, CONTEXT - at < chunk ? CONTEXT - at : chunk);
  }
}

Test(carry_on, a_long_prompt_takes_calls_of_the_most_rows, .init = open, .fini = close) {
  expect(1, 0, 2 * CALL_ROWS + 1);
  cr_assert_eq(calls, 3);
  cr_assert(rows_of[0] == CALL_ROWS && rows_of[1] == CALL_ROWS && rows_of[2] == 1);
}

Test(carry_on, gives_the_logits_of_all_tokens_or_of_none, .init = open, .fini = close) {
  cr_assert_eq(attn2c_prefill(context, 0, ids, 3, ATTN2C_LOGITS_ALL, NULL), ATTN2C_OK);
  cr_assert_eq(attn2c_prefill(context, 0, ids + 3, 2, ATTN2C_LOGITS_LAST, NULL), ATTN2C_OK);
  for (int i = 0; i <= CONTEXT * WIDTH; i++) got[i] = -1.0f;
  cr_assert_eq(attn2c_prefill(context, 0, ids + 5, CONTEXT - 5, ATTN2C_LOGITS_ALL, got), ATTN2C_OK);
  cr_assert_arr_eq(got, want[5], (CONTEXT - 5) * sizeof want[0]);
  cr_assert_eq(got[(CONTEXT - 5) * WIDTH], -1.0f, "after the last token's");
}

Test(carry_on, stays_within_the_arrays_of_its_caller, .init = open, .fini = close) {
  const size_t of_ids = CONTEXT * sizeof *ids, of_all = sizeof want, of_one = sizeof want[0];
  int32_t *own = guarded_allocate(of_ids);
  float *all = guarded_allocate(of_all), *one = guarded_allocate(of_one);
  memcpy(own, ids, of_ids);
  cr_assert_eq(attn2c_prefill(context, 0, own, CONTEXT, ATTN2C_LOGITS_ALL, all), ATTN2C_OK);
  cr_assert_arr_eq(all, want, of_all);
  cr_assert_eq(attn2c_prefill(context, 1, own + 1, CONTEXT - 1, ATTN2C_LOGITS_LAST, one), ATTN2C_OK);
  guarded_free(own, of_ids), guarded_free(all, of_all), guarded_free(one, of_one);
  const int32_t last[] = {2};
  own = guarded_allocate(sizeof *own), one = guarded_allocate(of_one);
  *own = ids[0];
  cr_assert_eq(attn2c_decode(context, 1, last, own, one), ATTN2C_OK);
  cr_assert_arr_eq(one, want[0], of_one);
  guarded_free(own, sizeof *own), guarded_free(one, of_one);
}

Test(carry_on, adds_a_token_to_each_of_several_sequences, .init = open, .fini = close) {
  static const int32_t order[] = {2, 0, 1};
  expect(0, 0, 5), expect(2, 0, 9); /* sequence 1 has none */
  for (int step = 0; step < 12; step++) {
    const int32_t some[] = {ids[9 + step], ids[5 + step], ids[step]};
    float *logits = step == 4 ? NULL : got;
    cr_assert_eq(attn2c_decode(context, SEQUENCES, order, some, logits), ATTN2C_OK);
    cr_assert_eq(rows_of[calls - 1], SEQUENCES);
    if (!logits) continue;
    cr_assert_arr_eq(got, want[9 + step], sizeof want[0]);
    cr_assert_arr_eq(got + WIDTH, want[5 + step], sizeof want[0]);
    cr_assert_arr_eq(got + 2 * WIDTH, want[step], sizeof want[0]);
  }
  cr_assert(attn2c_position(context, 0) == 17 && attn2c_position(context, 1) == 12 &&
            attn2c_position(context, 2) == 21);
}

/* Adds tokens to the sequences of `order`, each from a place of its own, and compares the logits of all
 * tokens or of each last one. Arrays end where memory does. */
static void extend(const int32_t *order, const int32_t *counts, const int32_t *from, int64_t count,
                   attn2c_which_logits which) {
  int64_t tokens = 0, rows = 0;
  for (int64_t i = 0; i < count; i++) tokens += counts[i];
  const size_t of_ids = (size_t)tokens * sizeof *ids;
  const size_t of_logits = (size_t)(which == ATTN2C_LOGITS_ALL ? tokens : count) * sizeof want[0];
  int32_t *own = guarded_allocate(of_ids);
  float *logits = guarded_allocate(of_logits), *row = logits;
  for (int64_t i = 0; i < count; rows += counts[i++])
    memcpy(own + rows, ids + from[i], (size_t)counts[i] * sizeof *ids);
  calls = 0;
  cr_assert_eq(attn2c_extend(context, count, order, counts, own, which, logits), ATTN2C_OK);
  cr_assert_leq(calls, (tokens + CALL_ROWS - 1) / CALL_ROWS + 1);
  for (int64_t i = 0; i < count; i++) {
    const int first = which == ATTN2C_LOGITS_ALL ? 0 : counts[i] - 1;
    for (int token = first; token < counts[i]; token++, row += WIDTH)
      cr_assert_arr_eq(row, want[from[i] + token], sizeof want[0], "sequence %d, token %d", order[i], token);
    cr_assert_eq(attn2c_position(context, order[i]), from[i] + counts[i]);
  }
  guarded_free(own, of_ids), guarded_free(logits, of_logits);
}

/* Every mixture of prompts, guesses and single tokens: some are one call, others need several. */
Test(carry_on, several_tokens_of_several_sequences_share_calls, .init = open, .fini = close) {
  static const int32_t order[] = {2, 0, 1}, sizes_of[] = {1, 2, 5, 7, 13};
  for (int number = 0; number < 2 * 125; number++) {
    const attn2c_which_logits which = number % 2 == 0 ? ATTN2C_LOGITS_LAST : ATTN2C_LOGITS_ALL;
    const int of = number / 2;
    const int32_t counts[] = {sizes_of[of % 5], sizes_of[of / 5 % 5], sizes_of[of / 25]};
    const int32_t from[] = {of % 4, of % 7, of % 9};
    for (int i = 0; i < SEQUENCES; i++) {
      cr_assert_eq(attn2c_rewind(context, order[i], 0), ATTN2C_OK);
      if (from[i] > 0) expect(order[i], 0, from[i]);
    }
    extend(order, counts, from, 1 + of % SEQUENCES, which);
  }
}

Test(carry_on, a_prompt_shares_its_last_call_with_single_tokens, .init = open, .fini = close) {
  static const int32_t order[] = {1, 2, 0}, counts[] = {1, 2 * CALL_ROWS + 2, 1}, from[] = {3, 0, 2};
  static const int32_t guesses[] = {2, 3, 1};
  expect(1, 0, 3), expect(0, 0, 2);
  extend(order, counts, from, 3, ATTN2C_LOGITS_LAST);
  cr_assert(calls == 3 && rows_of[0] == CALL_ROWS && rows_of[1] == CALL_ROWS && rows_of[2] == 4);
  cr_assert_eq(asked, 3);
  const int32_t then[] = {4, 2 * CALL_ROWS + 2, 3};
  extend(order, guesses, then, 3, ATTN2C_LOGITS_ALL);
  cr_assert(calls == 1 && asked == 6, "guesses of all sequences are one call");
}

Test(carry_on, refuses_a_mixture_of_which_one_sequence_is_wrong, .init = open, .fini = close) {
  static const int32_t order[] = {0, 2}, twice[] = {0, 0}, zero[] = {2, 0}, many[] = {2, CONTEXT + 1};
  static const int32_t counts[] = {2, 3};
  expect(0, 0, 7);
  const int so_far = calls;
  const attn2c_which_logits last = ATTN2C_LOGITS_LAST;
  cr_assert_eq(attn2c_extend(context, 2, order, zero, ids + 7, last, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_extend(context, 2, order, many, ids + 7, last, got), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_extend(context, 2, twice, counts, ids + 7, last, got), ATTN2C_USAGE);
  ids[11] = IDS;
  cr_assert_eq(attn2c_extend(context, 2, order, counts, ids + 7, last, got), ATTN2C_FORMAT);
  ids[11] = FIRST_ID;
  cr_assert(calls == so_far && attn2c_position(context, 2) == 0);
  failing = calls + 1;
  cr_assert_eq(attn2c_extend(context, 2, order, counts, ids + 7, last, got), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_position(context, 2), 0);
  expect_unchanged(7);
}

Test(carry_on, goes_back_and_on_with_other_tokens, .init = open, .fini = close) {
  expect(0, 0, 11);
  cr_assert_eq(attn2c_rewind(context, 0, 11), ATTN2C_OK);
  cr_assert_eq(attn2c_rewind(context, 0, 6), ATTN2C_OK);
  cr_assert_eq(attn2c_prefill(context, 0, ids, 9, ATTN2C_LOGITS_LAST, got), ATTN2C_OK);
  cr_assert_neq(memcmp(got, want[14], sizeof want[0]), 0, "the other tokens count");
  cr_assert_eq(attn2c_rewind(context, 0, 6), ATTN2C_OK);
  expect(0, 6, 15);
}

Test(carry_on, a_copy_goes_on_by_itself, .init = open, .fini = close) {
  for (int count = 0; count < CONTEXT; count++) {
    cr_assert_eq(attn2c_rewind(context, 0, 0), ATTN2C_OK);
    if (count > 0) expect(0, 0, count);
    memset(context->state + 2 * STATE, 0xff, sizeof(float) * STATE);
    cr_assert_eq(attn2c_sequence_copy(context, 0, 2, 0), ATTN2C_OK);
    cr_assert_eq(attn2c_sequence_copy(context, 2, 2, 0), ATTN2C_OK);
    cr_assert_eq(attn2c_position(context, 2), count);
    cr_assert_eq(attn2c_rewind(context, 0, 0), ATTN2C_OK);
    cr_assert_eq(attn2c_prefill(context, 0, ids + 1, count + 1, ATTN2C_LOGITS_LAST, NULL), ATTN2C_OK);
    expect(2, count, 1);
  }
}

/* Tokens that both sequences have stay as they are: only pages from the first that differs are copied. */
Test(carry_on, a_copy_leaves_the_pages_that_both_have, .init = open, .fini = close) {
  for (int same = 0; same <= 11; same++) {
    cr_assert_eq(attn2c_rewind(context, 0, 0), ATTN2C_OK);
    cr_assert_eq(attn2c_rewind(context, 1, 0), ATTN2C_OK);
    expect(0, 0, 15);
    expect(1, 0, 11);
    float *to = context->state + STATE, *values = to + PLACE_OF_VALUES;
    const int kept_pages = same / PAGE;
    for (int i = 0; i < kept_pages * PAGE; i++) values[i] = -1.0f;
    for (int i = kept_pages * PAGE; i < PAGES * PAGE; i++) values[i] = -2.0f;
    cr_assert_eq(attn2c_sequence_copy(context, 0, 1, same), ATTN2C_OK);
    cr_assert_eq(attn2c_position(context, 1), 15);
    for (int i = 0; i < PAGES * PAGE;
         i += 1 + (i == 14)) { /* nothing is in the last place of the fourth page */
      const float copied = context->state[PLACE_OF_VALUES + i];
      cr_assert_eq(values[i],
                   i < kept_pages * PAGE ? -1.0f
                   : i < 4 * PAGE        ? copied
                                         : -2.0f,
                   "same %d, %d", same, i);
    }
    memcpy(values, context->state + PLACE_OF_VALUES, (size_t)kept_pages * PAGE * sizeof *values);
    expect(1, 15, 1);
  }
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, -1), ATTN2C_USAGE);
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 16), ATTN2C_USAGE, "the first has 15");
  cr_assert_eq(attn2c_sequence_copy(context, 1, 0, 16), ATTN2C_USAGE);
}

Test(carry_on, refuses_a_sequence_that_the_context_does_not_have, .init = open, .fini = close) {
  static const int64_t none[] = {-1, SEQUENCES, INT32_MAX, INT32_MIN};
  expect(0, 0, 7);
  const int so_far = calls;
  for (int i = 0; i < 4; i++) {
    const int32_t some[] = {1, (int32_t)none[i]};
    cr_assert_eq(add(none[i], 0, 1), ATTN2C_USAGE);
    cr_assert_eq(attn2c_decode(context, 2, some, ids, got), ATTN2C_USAGE);
    cr_assert_eq(attn2c_position(context, none[i]), -1);
    cr_assert_eq(attn2c_rewind(context, none[i], 0), ATTN2C_USAGE);
    cr_assert_eq(attn2c_sequence_copy(context, none[i], 0, 0), ATTN2C_USAGE);
    cr_assert_eq(attn2c_sequence_copy(context, 0, none[i], 0), ATTN2C_USAGE);
  }
  cr_assert_eq(calls, so_far);
  expect_unchanged(7);
}

Test(carry_on, refuses_calls_without_tokens_or_arrays, .init = open, .fini = close) {
  static const int32_t some[] = {0, 1, 2, 0};
  expect(0, 0, 7);
  for (int count = -1; count <= 0; count++) {
    cr_assert_eq(add(0, 7, count), ATTN2C_USAGE);
    cr_assert_eq(attn2c_decode(context, count, some, ids, got), ATTN2C_USAGE);
  }
  cr_assert_eq(attn2c_prefill(context, 0, NULL, 1, ATTN2C_LOGITS_LAST, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_decode(context, 1, NULL, ids, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_decode(context, 1, some, NULL, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_decode(context, SEQUENCES + 1, some, ids, got), ATTN2C_USAGE);
  expect_unchanged(7);
}

Test(carry_on, refuses_two_tokens_of_one_sequence, .init = open, .fini = close) {
  static const int32_t twice[] = {0, 2, 0};
  expect(0, 0, 7);
  cr_assert_eq(attn2c_decode(context, 3, twice, ids, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_position(context, 2), 0);
  expect_unchanged(7);
}

/* A token id out of range, wherever it is, lets no call begin. */
Test(carry_on, refuses_ids_out_of_range, .init = open, .fini = close) {
  static const int32_t bad[] = {FIRST_ID - 1, IDS, -1, INT32_MAX, INT32_MIN};
  static const int32_t all[] = {0, 1, 2};
  expect(0, 0, 2);
  const int so_far = calls;
  for (int i = 0; i < 5; i++) {
    for (int at = 2; at < CONTEXT; at += 6) {
      const int32_t kept_id = ids[at];
      ids[at] = bad[i];
      cr_assert_eq(add(0, 2, CONTEXT - 2), ATTN2C_FORMAT);
      ids[at] = kept_id;
    }
    const int32_t some[] = {ids[2], ids[2], bad[i]};
    cr_assert_eq(attn2c_decode(context, 3, all, some, got), ATTN2C_FORMAT);
    cr_assert_eq(attn2c_position(context, 1), 0);
  }
  cr_assert_eq(calls, so_far);
  expect_unchanged(2);
}

Test(carry_on, refuses_tokens_beyond_the_end, .init = open, .fini = close) {
  static const int32_t two[] = {1, 0, 1};
  cr_assert_eq(add(0, 0, CONTEXT + 1), ATTN2C_FORMAT);
  expect(0, 0, CONTEXT - 1);
  cr_assert_eq(add(0, CONTEXT - 1, 2), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_prefill(context, 0, ids, INT32_MAX, ATTN2C_LOGITS_LAST, got), ATTN2C_FORMAT);
  expect_unchanged(CONTEXT - 1);
  cr_assert_eq(add(0, 0, 1), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_decode(context, 2, two, ids, got), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_decode(context, 2, two + 1, ids, got), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_position(context, 1), 0, "the sequence beside it takes no token either");
  cr_assert_eq(attn2c_rewind(context, 0, CONTEXT - 1), ATTN2C_OK);
  expect_unchanged(CONTEXT - 1);
}

Test(carry_on, refuses_to_go_on_to_a_position_that_it_has_not, .init = open, .fini = close) {
  static const int64_t bad[] = {8, -1, INT64_MAX, INT64_MIN};
  expect(0, 0, 7);
  for (int i = 0; i < 4; i++) cr_assert_eq(attn2c_rewind(context, 0, bad[i]), ATTN2C_USAGE);
  expect_unchanged(7);
}

Test(carry_on, a_call_that_fails_changes_no_position, .init = open, .fini = close) {
  static const int32_t two[] = {1, 0};
  expect(0, 0, 7);
  for (int i = 0; i < 2; i++) {
    failing = calls + 1 + i;
    cr_assert_eq(add(0, 7, CALL_ROWS + 1), ATTN2C_FORMAT);
    cr_assert_eq(attn2c_position(context, 0), 7);
  }
  failing = calls + 1;
  cr_assert_eq(attn2c_decode(context, 2, two, ids, got), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_position(context, 1), 0);
  expect_unchanged(7);
}

Test(carry_on, whole_sequences_take_the_place_of_those_that_it_has, .init = open, .fini = close) {
  static const int32_t each[] = {2, 3, 1, 4, CONTEXT, 1, 1, 1, 1};
  enum { COUNT = sizeof each / sizeof *each, ROWS = 35 };
  int32_t rows[ROWS];
  float logits[ROWS][WIDTH];
  const void *in[] = {rows};
  void *out[] = {NULL, logits};
  expect(0, 0, 7);
  for (int i = 0, at = 0; i < COUNT; at += each[i++]) memcpy(rows + at, ids, (size_t)each[i] * sizeof *ids);
  cr_assert_eq(attn2c_sequences_run(context, COUNT, each, 0, in, out), ATTN2C_OK);
  for (int i = 0, at = 0; i < COUNT; at += each[i++])
    cr_assert_arr_eq(logits[at], want, (size_t)each[i] * sizeof want[0]);
  cr_assert_eq(calls, 2 + 1 + 5 + 1, "calls are full where they can be");
  for (int i = 0; i < SEQUENCES; i++) cr_assert_eq(attn2c_position(context, i), 0);
}

Test(carry_on, whole_sequences_whose_outputs_nobody_wants_ask_for_no_row, .init = open, .fini = close) {
  static const int32_t each[] = {4};
  const void *in[] = {ids};
  void *out[] = {NULL, NULL};
  asked = -1;
  cr_assert_eq(attn2c_sequences_run(context, 1, each, 0, in, out), ATTN2C_OK);
  cr_assert_eq(asked, 0);
}

Test(carry_on, whole_sequences_ask_for_rows_where_any_output_is_wanted, .init = open, .fini = close) {
  static const int32_t each[] = {4};
  int32_t best[4];
  const void *in[] = {ids};
  void *out[] = {best, NULL};
  asked = -1;
  cr_assert_eq(attn2c_sequences_run(context, 1, each, 0, in, out), ATTN2C_OK);
  cr_assert_eq(asked, 4);
}

Test(carry_on, allocates_nothing, .init = open, .fini = close) {
  static const int32_t all[] = {0, 1, 2}, each[] = {CONTEXT};
  const void *in[] = {ids};
  void *out[] = {NULL, got};
  const long before = faults_allocations();
  expect(0, 0, 15);
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_decode(context, 3, all, ids, got), ATTN2C_OK);
  cr_assert_eq(attn2c_rewind(context, 0, 3), ATTN2C_OK);
  cr_assert_eq(attn2c_sequences_run(context, 1, each, 0, in, out), ATTN2C_OK);
  cr_assert_eq(faults_allocations(), before);
}

Test(carry_on, a_context_is_made_whole_or_not_at_all) {
  int made = 0;
  for (long nth = 1; !made && nth < 20; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    const int status = attn2c_sequences_create(&model, &context);
    made = faults_met() == 0;
    faults_allocation(0, 0);
    cr_assert_eq(status, made ? ATTN2C_OK : ATTN2C_MEMORY);
    if (made) attn2c_context_destroy(context);
    cr_assert_eq(faults_live_blocks(), 0, "allocation %ld", nth);
  }
  cr_assert(made);
}

Test(carry_on, refuses_a_context_that_cannot, .init = open, .fini = close) {
  static const int32_t first[] = {0};
  static const attn2c_descriptor plain = {.entries = &entry,
                                          .tensors = tensors,
                                          .entry_count = 1,
                                          .tensor_count = 3,
                                          .arena_floats = 16,
                                          .is_open = 1,
                                          .lengths = &lengths};
  static const attn2c_model other = {.descriptor = &plain, .workers = 1};
  attn2c_context *contexts[3] = {NULL};
  cr_assert_eq(attn2c_sequences_create(&other, &contexts[1]), ATTN2C_OK);
  cr_assert_eq(attn2c_context_create(&model, &contexts[2]), ATTN2C_OK); /* not prepared for calls */
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(attn2c_prefill(contexts[i], 0, ids, 1, ATTN2C_LOGITS_LAST, got), ATTN2C_USAGE);
    cr_assert_eq(attn2c_decode(contexts[i], 1, first, ids, got), ATTN2C_USAGE);
    attn2c_context_destroy(contexts[i]);
  }
  cr_assert_eq(attn2c_position(NULL, 0), -1);
  cr_assert_eq(attn2c_rewind(NULL, 0, 0), ATTN2C_USAGE);
  cr_assert_eq(attn2c_sequence_copy(NULL, 0, 0, 0), ATTN2C_USAGE);
}

/* A layer with a window has forgotten keys of a sequence that then begins anew. */
Test(carry_on, copies_a_sequence_that_began_anew) {
  static const attn2c_state_window windows[] = {{3, 2 * PAGE}};
  attn2c_state_part parts[] = {kept[0], kept[1]};
  attn2c_continued of = continued;
  attn2c_descriptor own = descriptor;
  const attn2c_model windowed = {.descriptor = &own, .workers = 1};
  parts[0].window = parts[1].window = 0;
  of.kept = parts, of.windows = windows, of.window_count = 1, own.continued = &of;
  cr_assert_eq(attn2c_sequences_create(&windowed, &context), ATTN2C_OK);
  context->positions[0] = 20, context->forgotten[0] = 4 * PAGE;
  cr_assert_eq(attn2c_rewind(context, 0, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_position(context, 1), 0);
  attn2c_context_destroy(context);
}

/* The second part has the keys of a source, which a call has written whole: a copy reads them where they are,
 * and they stay when tokens are added, taken back or forgotten. */
Test(carry_on, keeps_the_keys_of_a_source) {
  enum { SOURCE = PAGE + 2, LEFT = 3 };
  static const attn2c_state_window windows[] = {{LEFT, 3 * PAGE}};
  attn2c_state_part parts[] = {kept[0], kept[1]};
  attn2c_continued of = continued;
  attn2c_descriptor own = descriptor;
  const attn2c_model model_of_source = {.descriptor = &own, .workers = 1};
  parts[0].window = 0, parts[1].grows_with = 1;
  of.kept = parts, of.symbol_count = 2, of.windows = windows, of.window_count = 1, own.continued = &of;
  cr_assert_eq(attn2c_sequences_create(&model_of_source, &context), ATTN2C_OK);
  float *state = context->state;
  int32_t *sources = context->positions + SEQUENCES;
  for (int i = 0; i < STATE; i++) state[i] = (float)i, state[STATE + i] = -1.0f;
  sources[0] = SOURCE, context->positions[0] = 1;
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 0), ATTN2C_OK);
  cr_assert(sources[1] == SOURCE && attn2c_position(context, 1) == 1);
  cr_assert_arr_eq(state + STATE, state, PAGE * KEYS * sizeof *state, "a page of tokens");
  cr_assert_eq(state[STATE + PAGE * KEYS], -1.0f, "no more of them");
  const float *copy = state + STATE + PLACE_OF_VALUES;
  cr_assert_eq(*copy, -1.0f, "no key of the source is copied");
  cr_assert_eq(attn2c_state_part_of(context, 1, &parts[1]), state + PLACE_OF_VALUES);
  cr_assert_eq(attn2c_rewind(context, 0, 0), ATTN2C_OK);
  cr_assert(sources[0] == SOURCE && attn2c_position(context, 0) == 0);
  context->positions[1] = 2 * PAGE + 3; /* the next call makes room in the window */
  const int32_t first[] = {0, 3}, past[] = {context->positions[1]}, slot[] = {1};
  const attn2c_sequences n = {.rows = 3, .count = 1, .first = first, .past = past, .slot = slot};
  attn2c_state_room(context, &n);
  cr_assert_eq(context->forgotten[1], 0, "there is room");
  of.call_rows = 1, context->positions[1] = 3 * PAGE;
  const int32_t later[] = {3 * PAGE};
  const attn2c_sequences next = {.rows = 3, .count = 1, .first = first, .past = later, .slot = slot};
  attn2c_state_room(context, &next);
  cr_assert_eq(context->forgotten[1], 2 * PAGE);
  for (int i = 0; i < 2 * PAGE; i++)
    cr_assert_eq(state[PLACE_OF_VALUES + i], (float)(PLACE_OF_VALUES + i),
                 "no window moves the source's keys");
  for (int i = 0; i < STATE; i++) state[STATE + i] = -1.0f;
  context->positions[0] = context->positions[1] = 2, context->forgotten[1] = 0;
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 1), ATTN2C_OK);
  cr_assert_eq(state[STATE + 1], 1.0f, "the token that differs");
  context->positions[0] = context->positions[1] = 2 * PAGE;
  context->forgotten[1] = PAGE; /* its pages are others: all are copied */
  state[STATE] = -1.0f;
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 2 * PAGE), ATTN2C_OK);
  cr_assert(context->forgotten[1] == 0 && state[STATE + 1] == 1.0f && state[STATE] == 0.0f);
  state[STATE] = -1.0f;
  cr_assert_eq(attn2c_sequence_copy(context, 0, 1, 2 * PAGE), ATTN2C_OK);
  cr_assert_eq(state[STATE], -1.0f, "now none is");
  attn2c_context_destroy(context);
}

/* Making space in a window keeps the keys that a query sees after going back by the tokens of a call. */
Test(carry_on, goes_back_by_a_call_after_a_window_forgot) {
  enum { LEFT = 3, POSITION = 3 * CALL_ROWS };
  static const attn2c_state_window windows[] = {{LEFT, 4 * PAGE}};
  attn2c_state_part parts[] = {kept[0], kept[1]};
  attn2c_continued of = continued;
  attn2c_descriptor own = descriptor;
  const attn2c_model windowed = {.descriptor = &own, .workers = 1};
  parts[0].window = parts[1].window = 0;
  of.kept = parts, of.windows = windows, of.window_count = 1, own.continued = &of;
  cr_assert_eq(attn2c_sequences_create(&windowed, &context), ATTN2C_OK);
  const int32_t first[] = {0, CALL_ROWS}, past[] = {POSITION}, slot[] = {0};
  const attn2c_sequences n = {.rows = CALL_ROWS, .count = 1, .first = first, .past = past, .slot = slot};
  context->positions[0] = POSITION;
  attn2c_state_room(context, &n);
  cr_assert_gt(context->forgotten[0], 0);
  cr_assert_eq(attn2c_rewind(context, 0, POSITION - CALL_ROWS), ATTN2C_OK);
  cr_assert_eq(attn2c_rewind(context, 0, context->forgotten[0]), ATTN2C_USAGE);
  attn2c_context_destroy(context);
}

static int add_up(const attn2c_call *call) {
  const float *x = call->in[0], *y = call->in[1];
  for (int i = 0; i < WIDTH; i++) ((float *)call->out[0])[i] = x[i] + y[i];
  return ATTN2C_OK;
}

/* An entry of fixed size, which has other inputs and outputs, comes before the one that continues. */
Test(carry_on, goes_with_an_entry_that_has_other_inputs_and_outputs) {
  static const attn2c_tensor own_tensors[] = {
      OF_IDS,
      {"x", ATTN2C_INPUT, ATTN2C_F32, 2, {1, WIDTH}, 0, 0, NO_ARENA},
      {"y", ATTN2C_INPUT, ATTN2C_F32, 2, {1, WIDTH}, 0, 0, NO_ARENA},
      {"sum", ATTN2C_OUTPUT, ATTN2C_F32, 2, {1, WIDTH}, 0, 0, NO_ARENA}};
  static const int of_sum[] = {3, 4}, sum[] = {5};
  static const attn2c_entry entries[] = {{"add", NULL, 0, of_sum, sum, 2, 1, 1, add_up},
                                         {"forward", NULL, 0, inputs, outputs, 1, 2, 1, run}};
  attn2c_descriptor own = descriptor;
  own.entries = entries, own.entry_count = 2, own.tensors = own_tensors, own.tensor_count = 6;
  const attn2c_model both = {.descriptor = &own, .workers = 1};
  open();
  close();
  cr_assert_eq(attn2c_sequences_create(&both, &context), ATTN2C_OK);
  cr_assert(attn2c_lengths_of(&own, &entries[1]) == &lengths && !attn2c_lengths_of(&own, &entries[0]));
  const float x[] = {1, 2, 3}, y[] = {10, 20, 30}, both_of[] = {11, 22, 33};
  float added[WIDTH];
  const void *const in[] = {x, y};
  void *const out[] = {added};
  expect(0, 0, 9);
  cr_assert_eq(attn2c_context_run(context, &entries[0], in, out), ATTN2C_OK);
  cr_assert_arr_eq(added, both_of, sizeof added);
  expect(0, 9, 5); /* its state is untouched */
  const void *const whole_in[] = {ids};
  void *const whole_out[] = {NULL, got};
  cr_assert_eq(attn2c_sequences_run(context, 1, NULL, CONTEXT, whole_in, whole_out), ATTN2C_OK);
  cr_assert_arr_eq(got, want, sizeof want);
  close();
}
