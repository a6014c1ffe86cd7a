/* test_encode.c - sources that an encoder reads into sequences, through entries written by hand: `encode`
 * keeps the ids of a source in pages, and the logits of a token are sums over its sequence's source and
 * tokens. So a wrong source, place or length gives other logits. */
#define _DEFAULT_SOURCE
#include "faults.h"
#include "guarded.h"
#include "model/continue.h"
#include "model/sequences.h"
#include "model/state.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CONTEXT = 9, SOURCE = 11, LEAST = 2, PAGE = 4, SEQUENCES = 3, CALL_ROWS = 5 };
enum { TOKENS = 30, SYMBOLS = 20, FIRST_SYMBOL = 3, TYPES = 4 };
enum { PLACE_OF_SOURCE = 3 * PAGE, STATE = 6 * PAGE + 2 };

#define NO_ARENA -1, 0
static const attn2c_tensor tensors[] = {
    {"source_ids", ATTN2C_INPUT, ATTN2C_I32, 2, {1, SOURCE}, FIRST_SYMBOL, SYMBOLS, NO_ARENA},
    {"source_types", ATTN2C_ZEROS_INPUT, ATTN2C_I32, 2, {1, SOURCE}, 0, TYPES, NO_ARENA},
    {"source_rows", ATTN2C_INPUT, ATTN2C_F32, 3, {1, SOURCE, 2}, 0, 0, NO_ARENA},
    {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {1, CONTEXT}, 0, TOKENS, NO_ARENA},
    {"logits", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, CONTEXT, 1}, 0, 0, NO_ARENA}};
static const attn2c_axes axes[] = {
    {0, 1, -1, ATTN2C_HIDES_NOTHING}, {0, 1, -1, ATTN2C_HIDES_NOTHING}, {0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_size source_sizes[] = {{1, SOURCE}}, sizes[] = {{1, CONTEXT}};
static const attn2c_lengths source_lengths = {axes, NULL, source_sizes, LEAST, NULL};
static const attn2c_lengths lengths = {axes, axes, sizes, 1, NULL};

static int encodings, calls; /* calls of each entry */

/* Returns what `encode` keeps of a row of its inputs. */
static float kept_of(int32_t id, int32_t type, const float *row) {
  return (float)(id + 100 * type) + row[0] - row[1];
}

static int encode(const attn2c_call *call) {
  const attn2c_sequences *n = call->sequences;
  const int32_t *ids = call->in[0], *types = call->in[1];
  const float *rows = call->in[2];
  encodings++;
  cr_assert(n->count >= 1 && n->rows <= SOURCE && n->first[0] == 0 && n->first[n->count] == n->rows);
  for (ptrdiff_t s = 0; s < n->count; s++)
    for (ptrdiff_t row = n->first[s]; row < n->first[s + 1]; row++)
      call->state[n->slot[s] * STATE + PLACE_OF_SOURCE + row - n->first[s]] =
          kept_of(ids[row], types[row], rows + 2 * row);
  return ATTN2C_OK;
}

static float logit_of(const float *source, int64_t rows, const float *tokens, int64_t count) {
  float sum = 0.0f;
  for (int64_t i = 0; i < rows; i++) sum += source[i] * (float)(i + 1);
  for (int64_t i = 0; i < count; i++) sum += 1000.0f * tokens[i] * (float)(i + 1);
  return sum;
}

static int forward(const attn2c_call *call) {
  const attn2c_sequences *n = call->sequences;
  const int32_t *ids = call->in[0];
  float *logits = call->out[0];
  calls++;
  for (ptrdiff_t s = 0; s < n->count; s++) {
    float *state = call->state + n->slot[s] * STATE;
    const float *source = call->state + n->origin[s] * STATE + PLACE_OF_SOURCE;
    for (ptrdiff_t row = n->first[s]; row < n->first[s + 1]; row++) {
      const ptrdiff_t at = n->past[s] + row - n->first[s];
      state[at] = (float)ids[row];
      if (logits && row >= n->wanted) logits[row - n->wanted] = logit_of(source, n->source[s], state, at + 1);
    }
  }
  return ATTN2C_OK;
}

static const int source_inputs[] = {0, 1, 2}, inputs[] = {3}, outputs[] = {4};
static const attn2c_entry entries[] = {{"encode", NULL, 0, source_inputs, NULL, 3, 0, 1, encode},
                                       {"forward", NULL, 0, inputs, outputs, 1, 1, 1, forward}};
static const attn2c_state_part kept[] = {{3, 0, 0, PAGE, 0, -1, ATTN2C_F32, 0, 0},
                                         {0, 0, PLACE_OF_SOURCE, PAGE, 0, -1, ATTN2C_F32, 1, 0}};
static const attn2c_state_symbol symbols[] = {{"tokens", CONTEXT}, {"source", SOURCE}};
static const attn2c_continued continued = {.call_rows = CALL_ROWS,
                                           .sequences = SEQUENCES,
                                           .state_floats = STATE,
                                           .page = PAGE,
                                           .kept = kept,
                                           .kept_count = 2,
                                           .symbols = symbols,
                                           .symbol_count = 2,
                                           .source = 1,
                                           .source_lengths = &source_lengths,
                                           .logits = 0,
                                           .run_anew = attn2c_run_anew};
static const attn2c_descriptor descriptor = {.entries = entries,
                                             .tensors = tensors,
                                             .entry_count = 2,
                                             .tensor_count = 5,
                                             .arena_floats = 16,
                                             .is_open = 1,
                                             .lengths = &lengths,
                                             .continued = &continued};
static const attn2c_model model = {.descriptor = &descriptor, .workers = 1};

static attn2c_context *context;
enum { ROWS = 3 * SOURCE };
static int32_t ids[ROWS], types[ROWS], tokens[CONTEXT];
static float rows[ROWS][2];
static const void *in[] = {ids, types, rows};

static void open(void) {
  encodings = calls = 0;
  faults_clear();
  cr_assert_eq(attn2c_sequences_create(&model, &context), ATTN2C_OK);
  memset(context->state, 0xff, sizeof(float) * SEQUENCES * STATE);
  for (int i = 0; i < ROWS; i++) {
    ids[i] = FIRST_SYMBOL + (i * 7 + i * i) % (SYMBOLS - FIRST_SYMBOL), types[i] = i % TYPES;
    rows[i][0] = (float)(i % 5), rows[i][1] = (float)(i % 3);
  }
  for (int i = 0; i < CONTEXT; i++) tokens[i] = (i * 11 + 2) % TOKENS;
}

static void close(void) { attn2c_context_destroy(context); }

/* Returns the logits of the last of the first `count` tokens, for the source whose rows begin at `from`. */
static float want(int from, int length, int count, int has_types) {
  float source[SOURCE], each[CONTEXT];
  for (int i = 0; i < length; i++)
    source[i] = kept_of(ids[from + i], has_types ? types[from + i] : 0, rows[from + i]);
  for (int i = 0; i < count; i++) each[i] = (float)tokens[i];
  return logit_of(source, length, each, count);
}

/* Reads one source, rows [from, from + length), into a sequence. */
static int read_one(int32_t sequence, int from, int32_t length) {
  const void *const one[] = {ids + from, types + from, rows + from};
  return attn2c_encode(context, 1, &sequence, &length, one);
}

/* Adds a sequence's tokens up to `to`, and compares the logits of the last. */
static void expect(int64_t sequence, int to, int from, int length) {
  const int64_t position = attn2c_position(context, sequence);
  float got = -1.0f;
  cr_assert_eq(attn2c_prefill(context, sequence, tokens + position, to - position, ATTN2C_LOGITS_LAST, &got),
               ATTN2C_OK);
  cr_assert_eq(got, want(from, length, to, 1), "sequence %d, token %d", (int)sequence, to);
}

Test(encode, reads_each_source_into_its_sequence, .init = open, .fini = close) {
  static const int32_t order[] = {2, 0, 1};
  for (int first = LEAST; first <= SOURCE; first++)
    for (int second = LEAST; second <= SOURCE; second++) {
      const int32_t each[] = {first, second, SOURCE};
      cr_assert_eq(attn2c_encode(context, 3, order, each, in), ATTN2C_OK);
      for (int i = 0, from = 0; i < 3; from += each[i++]) {
        cr_assert_eq(attn2c_position(context, order[i]), 0);
        expect(order[i], 1 + i, from, each[i]);
      }
    }
}

/* Sources that fit are one call. One call, several, and a call for each keep the same bits. */
Test(encode, a_division_into_calls_does_not_show, .init = open, .fini = close) {
  static const int32_t order[] = {1, 2, 0}, each[] = {4, SOURCE - 4, LEAST + 1};
  cr_assert_eq(attn2c_encode(context, 3, order, each, in), ATTN2C_OK);
  cr_assert_eq(encodings, 2);
  float state[SEQUENCES * STATE];
  memcpy(state, context->state, sizeof state);
  memset(context->state, 0xff, sizeof state);
  for (int i = 0, from = 0; i < 3; from += each[i++])
    cr_assert_eq(read_one(order[i], from, each[i]), ATTN2C_OK);
  cr_assert_arr_eq(context->state, state, sizeof state);
}

Test(encode, an_input_that_is_left_out_is_zeros, .init = open, .fini = close) {
  static const int32_t order[] = {1, 0}, each[] = {SOURCE, 3};
  const void *const without[] = {ids, NULL, rows};
  float got[2];
  cr_assert_eq(attn2c_encode(context, 2, order, each, without), ATTN2C_OK);
  cr_assert_eq(attn2c_decode(context, 2, order, (int32_t[]){tokens[0], tokens[0]}, got), ATTN2C_OK);
  cr_assert(got[0] == want(0, SOURCE, 1, 0) && got[1] == want(SOURCE, 3, 1, 0));
}

Test(encode, another_source_begins_a_sequence_anew, .init = open, .fini = close) {
  cr_assert_eq(read_one(1, 0, SOURCE), ATTN2C_OK);
  expect(1, 6, 0, SOURCE);
  cr_assert_eq(read_one(2, 3, 5), ATTN2C_OK);
  cr_assert_eq(read_one(1, 7, 4), ATTN2C_OK);
  cr_assert_eq(attn2c_position(context, 1), 0);
  expect(1, 4, 7, 4);
  expect(2, 2, 3, 5);
}

Test(encode, going_back_keeps_the_source, .init = open, .fini = close) {
  cr_assert_eq(read_one(0, 2, 7), ATTN2C_OK);
  expect(0, CONTEXT, 2, 7);
  for (int to = CONTEXT - 1; to >= 0; to--) {
    cr_assert_eq(attn2c_rewind(context, 0, to), ATTN2C_OK);
    expect(0, to + 1, 2, 7);
  }
}

Test(encode, a_copy_has_the_source_and_goes_on_by_itself, .init = open, .fini = close) {
  cr_assert_eq(read_one(0, 0, SOURCE), ATTN2C_OK);
  expect(0, 3, 0, SOURCE);
  cr_assert_eq(attn2c_sequence_copy(context, 0, 2, 0), ATTN2C_OK);
  cr_assert_eq(read_one(0, 9, 6), ATTN2C_OK);
  expect(2, 5, 0, SOURCE);
  expect(0, 5, 9, 6);
  cr_assert_eq(attn2c_sequence_copy(context, 1, 0, 0), ATTN2C_OK);
  float got;
  cr_assert_eq(attn2c_prefill(context, 0, tokens, 1, ATTN2C_LOGITS_LAST, &got), ATTN2C_USAGE,
               "a copy of a sequence without a source has none");
}

/* Sequence 0 has a source and 4 tokens, and calls of the entries so far are `before`. Nothing has changed. */
static void expect_unchanged(const float *state, int before) {
  cr_assert_eq(encodings + calls, before);
  cr_assert_arr_eq(context->state, state, sizeof(float) * SEQUENCES * STATE);
  cr_assert(attn2c_position(context, 0) == 4 && attn2c_position(context, 1) == 0);
  cr_assert_eq(*attn2c_state_grown(context, 1, 0), SOURCE);
  cr_assert_eq(*attn2c_state_grown(context, 1, 1), 0);
}

/* Copies read one place. A new source leaves it to the others, and the last that reads it frees it. */
Test(encode, copies_share_their_source_until_one_reads_another, .init = open, .fini = close) {
  cr_assert_eq(read_one(0, 0, 7), ATTN2C_OK);
  for (int32_t to = 1; to < SEQUENCES; to++) cr_assert_eq(attn2c_sequence_copy(context, 0, to, 0), ATTN2C_OK);
  context->state[STATE + PLACE_OF_SOURCE] = context->state[2 * STATE + PLACE_OF_SOURCE] = -1.0f;
  for (int32_t i = 0; i < SEQUENCES; i++) expect(i, 2, 0, 7);
  cr_assert_eq(read_one(0, 5, 4), ATTN2C_OK); /* the others read the place that was its own */
  expect(0, 3, 5, 4);
  expect(1, 3, 0, 7);
  const int32_t both[] = {1, 2}, lengths_of_both[] = {3, 5};
  const void *const two[] = {ids + 9, types + 9, rows + 9};
  cr_assert_eq(attn2c_encode(context, 2, both, lengths_of_both, two), ATTN2C_OK);
  expect(0, 4, 5, 4);
  expect(1, 4, 9, 3);
  expect(2, 4, 12, 5);
  for (int32_t i = 0; i < SEQUENCES; i++)
    for (int32_t k = 0; k < i; k++) cr_assert_neq(context->origins[i], context->origins[k]);
}

Test(encode, tokens_need_a_source, .init = open, .fini = close) {
  static const int32_t both[] = {0, 1}, each[] = {1, 1};
  float state[SEQUENCES * STATE], got[2];
  void *out[] = {got};
  const void *of_forward[] = {tokens};
  cr_assert_eq(read_one(0, 0, SOURCE), ATTN2C_OK);
  expect(0, 4, 0, SOURCE);
  const int before = encodings + calls;
  memcpy(state, context->state, sizeof state);
  cr_assert_eq(attn2c_prefill(context, 1, tokens, 2, ATTN2C_LOGITS_LAST, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_prefill(context, 1, tokens, 2, ATTN2C_LOGITS_LAST, NULL), ATTN2C_USAGE);
  cr_assert_eq(attn2c_decode(context, 2, both, tokens, got), ATTN2C_USAGE);
  cr_assert_eq(attn2c_sequences_run(context, 2, each, 0, of_forward, out), ATTN2C_USAGE);
  expect_unchanged(state, before);
}

Test(encode, whole_sequences_read_the_sources_of_those_of_the_context, .init = open, .fini = close) {
  static const int32_t order[] = {1, 0, 2}, of_sources[] = {5, SOURCE, LEAST}, each[] = {2, 1, 3, 1};
  int32_t all[7];
  float got[7];
  const void *of_forward[] = {all};
  void *out[] = {got};
  for (int i = 0, at = 0; i < 4; at += each[i++]) memcpy(all + at, tokens, (size_t)each[i] * sizeof *all);
  cr_assert_eq(attn2c_encode(context, 3, order, of_sources, in), ATTN2C_OK);
  cr_assert_eq(attn2c_sequences_run(context, 3, each, 0, of_forward, out), ATTN2C_OK);
  cr_assert_eq(got[1], want(5, SOURCE, 2, 1));
  cr_assert_eq(got[2], want(0, 5, 1, 1));
  cr_assert_eq(got[5], want(5 + SOURCE, LEAST, 3, 1));
  cr_assert_eq(attn2c_sequences_run(context, 4, each, 0, of_forward, out), ATTN2C_USAGE,
               "there are 3 sources");
  expect(0, 2, 5, SOURCE);
  cr_assert_eq(attn2c_sequence_copy(context, 1, 0, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_sequences_run(context, 4, each, 0, of_forward, out), ATTN2C_USAGE,
               "nor are there 4 where one is another one's copy");
}

Test(encode, a_call_that_is_refused_changes_nothing, .init = open, .fini = close) {
  static const int32_t twice[] = {1, 1}, none[] = {1, SEQUENCES}, below[] = {1, -1}, both[] = {1, 0};
  static const int32_t each[] = {3, 4}, few[] = {3, LEAST - 1}, many[] = {3, SOURCE + 1},
                       negative[] = {3, -3};
  const void *const without[] = {ids, types, NULL}, *const no_ids[] = {NULL, types, rows};
  float state[SEQUENCES * STATE];
  cr_assert_eq(read_one(0, 0, SOURCE), ATTN2C_OK);
  expect(0, 4, 0, SOURCE);
  const int before = encodings + calls;
  memcpy(state, context->state, sizeof state);
  cr_assert_eq(attn2c_encode(context, 2, twice, each, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, none, each, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, below, each, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, both, each, without), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, both, each, no_ids), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, NULL, each, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, both, NULL, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 0, both, each, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, -1, both, each, in), ATTN2C_USAGE);
  cr_assert_eq(attn2c_encode(context, 2, both, few, in), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_encode(context, 2, both, many, in), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_encode(context, 2, both, negative, in), ATTN2C_FORMAT);
  expect_unchanged(state, before);
}

/* An integer out of range, in any row of any source, lets no call begin. The last row of the last source is
 * the last that is read. */
Test(encode, an_integer_out_of_range_lets_no_call_begin, .init = open, .fini = close) {
  static const int32_t both[] = {1, 0}, each[] = {SOURCE, 4};
  static const int32_t bad_ids[] = {FIRST_SYMBOL - 1, SYMBOLS, INT32_MIN, INT32_MAX},
                       bad_types[] = {-1, TYPES};
  float state[SEQUENCES * STATE];
  cr_assert_eq(read_one(0, 0, SOURCE), ATTN2C_OK);
  expect(0, 4, 0, SOURCE);
  const int before = encodings + calls;
  memcpy(state, context->state, sizeof state);
  for (int at = 0; at < SOURCE + 4; at++) {
    const int32_t id = ids[at], type = types[at];
    for (int i = 0; i < 4; i++) {
      ids[at] = bad_ids[i];
      cr_assert_eq(attn2c_encode(context, 2, both, each, in), ATTN2C_FORMAT, "id of row %d", at);
    }
    ids[at] = id;
    for (int i = 0; i < 2; i++) {
      types[at] = bad_types[i];
      cr_assert_eq(attn2c_encode(context, 2, both, each, in), ATTN2C_FORMAT, "type of row %d", at);
    }
    types[at] = type;
  }
  expect_unchanged(state, before);
  ids[SOURCE + 4] = SYMBOLS;
  cr_assert_eq(attn2c_encode(context, 2, both, each, in), ATTN2C_OK);
}

Test(encode, stays_within_the_arrays_of_its_caller, .init = open, .fini = close) {
  static const int32_t both[] = {2, 1}, each[] = {SOURCE, 3};
  enum { ALL = SOURCE + 3 };
  int32_t *own_ids = guarded_allocate(ALL * sizeof *ids), *own_types = guarded_allocate(ALL * sizeof *types);
  float *own_rows = guarded_allocate(ALL * sizeof *rows);
  memcpy(own_ids, ids, ALL * sizeof *ids), memcpy(own_types, types, ALL * sizeof *types);
  memcpy(own_rows, rows, ALL * sizeof *rows);
  const void *const own[] = {own_ids, own_types, own_rows};
  cr_assert_eq(attn2c_encode(context, 2, both, each, own), ATTN2C_OK);
  expect(1, 1, SOURCE, 3);
  guarded_free(own_ids, ALL * sizeof *ids), guarded_free(own_types, ALL * sizeof *types);
  guarded_free(own_rows, ALL * sizeof *rows);
}

Test(encode, allocates_nothing, .init = open, .fini = close) {
  static const int32_t order[] = {1, 2, 0}, each[] = {4, SOURCE, LEAST};
  const long before = faults_allocations();
  cr_assert_eq(attn2c_encode(context, 3, order, each, in), ATTN2C_OK);
  cr_assert_eq(faults_allocations(), before);
}

Test(encode, refuses_a_context_that_cannot) {
  static const int32_t first[] = {0}, each[] = {LEAST};
  attn2c_continued without = continued;
  attn2c_descriptor plain = descriptor;
  const attn2c_model other = {.descriptor = &plain, .workers = 1};
  without.source = 0, plain.continued = &without;
  attn2c_context *contexts[2];
  cr_assert_eq(attn2c_sequences_create(&other, &contexts[0]), ATTN2C_OK);
  cr_assert_eq(attn2c_context_create(&model, &contexts[1]), ATTN2C_OK); /* not prepared for calls */
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(attn2c_encode(contexts[i], 1, first, each, in), ATTN2C_USAGE);
    attn2c_context_destroy(contexts[i]);
  }
}

/* A model with adapters has entries that add them, each before its own. The state of a source tells the
 * adapter that it was read with, and a logit the one of its token. */
enum { ADAPTERS = 2, OF_SOURCE = 5000, OF_TOKEN = 100000 };

static int encode_adapted(const attn2c_call *call) {
  const attn2c_sequences *n = call->sequences;
  const int32_t *adapters = call->in[3];
  const int status = encode(call);
  for (ptrdiff_t s = 0; s < n->count; s++)
    call->state[n->slot[s] * STATE + PLACE_OF_SOURCE] += (float)(OF_SOURCE * adapters[s]);
  return status;
}

static int adapted(const attn2c_call *call) {
  const int32_t *adapters = call->in[1];
  const int status = forward(call);
  for (ptrdiff_t s = 0; s < call->sequences->count; s++)
    ((float *)call->out[0])[s] += (float)(OF_TOKEN * adapters[s]);
  return status;
}

Test(encode, reads_a_source_with_its_sequences_adapter) {
  static const attn2c_tensor own_tensors[] = {
      {"source_ids", ATTN2C_INPUT, ATTN2C_I32, 2, {1, SOURCE}, FIRST_SYMBOL, SYMBOLS, NO_ARENA},
      {"source_types", ATTN2C_ZEROS_INPUT, ATTN2C_I32, 2, {1, SOURCE}, 0, TYPES, NO_ARENA},
      {"source_rows", ATTN2C_INPUT, ATTN2C_F32, 3, {1, SOURCE, 2}, 0, 0, NO_ARENA},
      {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {1, CONTEXT}, 0, TOKENS, NO_ARENA},
      {"logits", ATTN2C_OUTPUT, ATTN2C_F32, 3, {1, CONTEXT, 1}, 0, 0, NO_ARENA},
      {"adapters", ATTN2C_ZEROS_INPUT, ATTN2C_I32, 1, {1}, 0, ADAPTERS + 1, NO_ARENA}};
  static const int of_source[] = {0, 1, 2, 5}, of_tokens[] = {3, 5};
  static const attn2c_entry own_entries[] = {
      {"encode_adapted", NULL, 0, of_source, NULL, 4, 0, 1, encode_adapted},
      {"encode", NULL, 0, of_source, NULL, 4, 0, 1, encode},
      {"adapted", NULL, 0, of_tokens, outputs, 2, 1, 1, adapted},
      {"forward", NULL, 0, of_tokens, outputs, 2, 1, 1, forward}};
  static const attn2c_axes of_source_axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING},
                                               {0, 1, -1, ATTN2C_HIDES_NOTHING},
                                               {0, 1, -1, ATTN2C_HIDES_NOTHING},
                                               {0, -1, -1, ATTN2C_HIDES_NOTHING}};
  static const attn2c_lengths of_sources = {of_source_axes, NULL, source_sizes, LEAST, NULL};
  static const attn2c_state_symbol own_symbols[] = {
      {"tokens", CONTEXT}, {"adapter", ADAPTERS}, {"source", SOURCE}};
  static const attn2c_state_part own_kept[] = {{3, 0, 0, PAGE, 0, -1, ATTN2C_F32, 0, 0},
                                               {0, 0, PLACE_OF_SOURCE, PAGE, 0, -1, ATTN2C_F32, 2, 0}};
  static const char *const names[] = {"a", "b", NULL};
  attn2c_continued own_continued = continued;
  own_continued.kept = own_kept, own_continued.symbols = own_symbols, own_continued.symbol_count = 3;
  own_continued.source = 2, own_continued.adapter = 1, own_continued.source_lengths = &of_sources;
  attn2c_descriptor own = descriptor;
  own.entries = own_entries, own.entry_count = 4, own.tensors = own_tensors, own.tensor_count = 6;
  own.continued = &own_continued, own.adapters = names;
  const attn2c_model with = {.descriptor = &own, .workers = 1};
  open();
  close();
  cr_assert_eq(attn2c_sequences_create(&with, &context), ATTN2C_OK);

  static const int32_t order[] = {0, 1, 2}, each[] = {3, 3, 3}, start[] = {4, 4, 4};
  const void *const own_in[] = {ids, types, rows, NULL};
  float got[SEQUENCES];
  cr_assert_eq(attn2c_set_adapter(context, 1, 1), ATTN2C_OK);
  cr_assert_eq(attn2c_encode(context, 3, order, each, own_in), ATTN2C_OK); /* 0, 1, 0 */
  cr_assert_eq(attn2c_decode(context, 3, order, start, got), ATTN2C_OK);
  for (int i = 0; i < 3; i++) { /* a logit has the source's first row once */
    const float source[] = {kept_of(ids[3 * i], types[3 * i], rows[3 * i]) + (float)(i == 1 ? OF_SOURCE : 0),
                            kept_of(ids[3 * i + 1], types[3 * i + 1], rows[3 * i + 1]),
                            kept_of(ids[3 * i + 2], types[3 * i + 2], rows[3 * i + 2])};
    cr_assert_eq(got[i], logit_of(source, 3, (float[]){4}, 1) + (float)(i == 1 ? OF_TOKEN : 0), "%d", i);
  }
  /* It stays with tokens; without, another one forgets the source, and the same one does not. */
  cr_assert_eq(attn2c_set_adapter(context, 1, 2), ATTN2C_USAGE);
  cr_assert_eq(attn2c_rewind(context, 1, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_set_adapter(context, 1, 1), ATTN2C_OK);
  cr_assert_eq(attn2c_decode(context, 1, order + 1, start, got), ATTN2C_OK);
  cr_assert_eq(attn2c_rewind(context, 1, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_set_adapter(context, 1, 2), ATTN2C_OK);
  cr_assert_eq(attn2c_decode(context, 1, order + 1, start, got), ATTN2C_USAGE);
  /* A call may give adapters. Whole sequences keep the adapters of sources. */
  const void *const given[] = {ids, types, rows, (int32_t[]){2, 0, 1}}, *const wrong[] = {ids, types, rows,
                                                                                          start};
  cr_assert_eq(attn2c_encode(context, 3, order, each, wrong), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_encode(context, 3, order, each, given), ATTN2C_OK);
  void *const out[] = {got};
  const int32_t ones[] = {1, 1, 1};
  const void *const whole[] = {start, NULL}, *const same[] = {start, given[3]},
                    *const other[] = {start, ones};
  cr_assert_eq(attn2c_sequences_run(context, 3, ones, 0, whole, out), ATTN2C_OK);
  cr_assert(got[0] > 2 * OF_TOKEN && got[1] < OF_TOKEN && got[2] > OF_TOKEN && got[2] < 2 * OF_TOKEN);
  cr_assert_eq(attn2c_sequences_run(context, 3, ones, 0, same, out), ATTN2C_OK);
  cr_assert_eq(attn2c_sequences_run(context, 3, ones, 0, other, out), ATTN2C_USAGE);
  close();
}
