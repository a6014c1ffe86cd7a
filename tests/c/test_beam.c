/* test_beam.c - the steps of a beam search and its processors, against numbers worked out by hand; what is
 * refused. */
#include "generate/beam.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { VOCABULARY = 6, STOP = 5 };

static const int32_t stop[] = {STOP, 4};
static char text[2000];
static attn2c_message message;

static attn2c_beam_options options(int32_t beams) {
  message = attn2c_message_make(text, sizeof text);
  return (attn2c_beam_options){.beams = beams,
                               .length_penalty = 1,
                               .repetition_penalty = 1,
                               .forced_bos = -1,
                               .stop_tokens = stop,
                               .stop_count = 1};
}

/* A search and its beams' ids. */
typedef struct {
  attn2c_beam *beam;
  int32_t ids[4][32], count;
  attn2c_beam_next next[4];
  int status;
} search;

static search begin(const attn2c_beam_options *o, int32_t prompt, int32_t most) {
  search s = {.count = prompt};
  cr_assert_eq(attn2c_beam_check(o, 4, VOCABULARY, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_beam_create(&s.beam, o, VOCABULARY, 32, NULL), ATTN2C_OK);
  attn2c_beam_begin(s.beam, prompt, most);
  return s;
}

/* Does a step by the logarithms of probabilities, and moves the ids. */
static void step(search *s, int32_t rows, const double probabilities[][VOCABULARY]) {
  float logits[4 * VOCABULARY];
  int32_t before[4][32];
  const int32_t *ids[4];
  for (int i = 0; i < rows * VOCABULARY; i++)
    logits[i] = (float)log(probabilities[i / VOCABULARY][i % VOCABULARY]) + 3;
  memcpy(before, s->ids, sizeof before);
  for (int i = 0; i < 4; i++) ids[i] = before[i];
  s->status = attn2c_beam_step(s->beam, logits, ids, s->count, s->next, &message);
  for (int i = 0; i < 4 && !attn2c_beam_has_ended(s->beam); i++) {
    memcpy(s->ids[i], before[s->next[i].beam], sizeof before[0]);
    s->ids[i][s->count] = s->next[i].token;
  }
  s->count++;
}

static void expect(const search *s, int32_t i, double score, int32_t count, const int32_t *ids) {
  const attn2c_beam_answer found = attn2c_beam_at(s->beam, i);
  cr_assert_eq(found.count, count, "answer %d has %d tokens", i, found.count);
  cr_assert_arr_eq(found.ids, ids, (size_t)count * sizeof *ids);
  cr_assert(fabs((double)found.score - score) < 1e-5, "answer %d: %g, not %g", i, (double)found.score, score);
}

static const double first[1][VOCABULARY] = {{0.05, 0.4, 0.3, 0.05, 0.05, 0.15}};
static const double second[2][VOCABULARY] = {{0.1, 0.1, 0.1, 0.1, 0.1, 0.5},
                                             {0.02, 0.6, 0.2, 0.08, 0.05, 0.05}};

/* 1 and 2 go on; then 1 with the stop token and 2 with 1 are the best two, 0.4 * 0.5 and 0.3 * 0.6. */
Test(beam, steps) {
  const attn2c_beam_options o = options(2);
  search s = begin(&o, 1, 3);
  step(&s, 1, first);
  cr_assert_eq(s.status, ATTN2C_OK);
  cr_assert_eq(s.next[0].token, 1);
  cr_assert_eq(s.next[1].token, 2);
  cr_assert_eq(attn2c_beam_count(s.beam), 0, "the stop token is the third candidate of two beams");
  step(&s, 2, second);
  cr_assert(attn2c_beam_has_ended(s.beam), "the length is reached");
  cr_assert_eq(attn2c_beam_count(s.beam), 2);
  expect(&s, 0, log(0.2) / 2, 2, (const int32_t[]){1, STOP});
  expect(&s, 1, log(0.18) / 2, 2, (const int32_t[]){2, 1});
  attn2c_beam_free(s.beam);
}

/* With more room, a stop token that is the best candidate is an answer, and the search goes on with the
 * others. */
Test(beam, an_answer_frees_its_place) {
  const attn2c_beam_options o = options(2);
  search s = begin(&o, 1, 9);
  step(&s, 1, first);
  step(&s, 2, second);
  cr_assert_not(attn2c_beam_has_ended(s.beam));
  cr_assert_eq(attn2c_beam_count(s.beam), 1);
  expect(&s, 0, log(0.2) / 2, 2, (const int32_t[]){1, STOP});
  cr_assert_eq(s.next[0].beam, 1);
  cr_assert_eq(s.next[0].token, 1);
  cr_assert_eq(s.next[1].beam, 1);
  cr_assert_eq(s.next[1].token, 2);
  attn2c_beam_free(s.beam);
}

/* Two answers after two steps: 0.5, and 0.4 * 0.8 of two tokens. The best running beam has 0.4 * 0.15: it is
 * worse than both as it is, and may become better in the 8 tokens that an answer may have, if longer answers
 * score higher. */
Test(beam, early_stopping) {
  static const double one[1][VOCABULARY] = {{0.4, 0.02, 0.02, 0.03, 0.03, 0.5}};
  static const double two[2][VOCABULARY] = {{0.02, 0.15, 0.01, 0.01, 0.01, 0.8},
                                            {0.2, 0.2, 0.2, 0.2, 0.19, 0.01}};
  static const double lp[] = {1, 1, 1, 3, -1};
  static const int stopping[] = {ATTN2C_STOP_FALSE, ATTN2C_STOP_TRUE, ATTN2C_STOP_NEVER, ATTN2C_STOP_NEVER,
                                 ATTN2C_STOP_NEVER};
  static const int ends[] = {1, 1, 0, 0, 1};
  for (int i = 0; i < 5; i++) {
    attn2c_beam_options o = options(2);
    o.length_penalty = lp[i];
    o.early_stopping = stopping[i];
    search s = begin(&o, 1, 9);
    step(&s, 1, one);
    cr_assert_eq(attn2c_beam_count(s.beam), 1);
    cr_assert_not(attn2c_beam_has_ended(s.beam));
    step(&s, 2, two);
    cr_assert_eq(attn2c_beam_count(s.beam), 2);
    const int is_first_longer = lp[i] > 0;
    expect(&s, is_first_longer, log(0.5), 1, (const int32_t[]){STOP});
    expect(&s, !is_first_longer, log(0.32) / pow(2, lp[i]), 2, (const int32_t[]){0, STOP});
    cr_assert_eq(attn2c_beam_has_ended(s.beam), ends[i], "case %d", i);
    attn2c_beam_free(s.beam);
  }
}

/* A better answer takes the place of the worst. */
Test(beam, the_worst_answer_is_dropped) {
  static const double one[1][VOCABULARY] = {{0.45, 0.2, 0.05, 0.05, 0.05, 0.2}};
  static const double even[2][VOCABULARY] = {{0.01, 0.01, 0.01, 0.9, 0.01, 0.06},
                                             {0.05, 0.05, 0.05, 0.05, 0.05, 0.75}};
  static const double last[2][VOCABULARY] = {{0.01, 0.01, 0.01, 0.01, 0.01, 0.95},
                                             {0.2, 0.2, 0.2, 0.2, 0.1, 0.1}};
  attn2c_beam_options o = options(2);
  o.early_stopping = ATTN2C_STOP_NEVER;
  o.length_penalty = 0;
  search s = begin(&o, 1, 5);
  step(&s, 1, one);
  step(&s, 2, even);
  expect(&s, 0, log(0.15), 2, (const int32_t[]){1, STOP});
  step(&s, 2, last);
  cr_assert_eq(attn2c_beam_count(s.beam), 2);
  expect(&s, 0, log(0.45 * 0.9 * 0.95), 3, (const int32_t[]){0, 3, STOP});
  expect(&s, 1, log(0.15), 2, (const int32_t[]){1, STOP});
  attn2c_beam_free(s.beam);
}

/* No answer is replaced by a worse one, which is the second candidate of the third step. */
Test(beam, a_worse_answer_is_not_kept) {
  static const double one[1][VOCABULARY] = {{0.6, 0.03, 0.02, 0.02, 0.03, 0.3}};
  static const double two[2][VOCABULARY] = {{0.02, 0.9, 0.01, 0.01, 0.01, 0.05},
                                            {0.2, 0.2, 0.2, 0.2, 0.1, 0.1}};
  static const double three[2][VOCABULARY] = {{0.0025, 0.0025, 0.98, 0.0025, 0.0025, 0.01},
                                              {0.2, 0.2, 0.2, 0.2, 0.1, 0.1}};
  attn2c_beam_options o = options(2);
  o.length_penalty = 0;
  search s = begin(&o, 1, 9);
  step(&s, 1, one);
  step(&s, 2, two);
  cr_assert_eq(attn2c_beam_count(s.beam), 2);
  step(&s, 2, three);
  cr_assert_not(attn2c_beam_has_ended(s.beam));
  expect(&s, 0, log(0.3), 1, (const int32_t[]){STOP});
  expect(&s, 1, log(0.6 * 0.05), 2, (const int32_t[]){0, STOP});
  attn2c_beam_free(s.beam);
}

/* An answer for each beam ends a search with early stopping, though a running beam is better. */
Test(beam, early_stopping_with_a_better_beam) {
  static const double one[1][VOCABULARY] = {{0.4, 0.02, 0.02, 0.03, 0.03, 0.5}};
  static const double two[2][VOCABULARY] = {{0.02, 0.6, 0.01, 0.01, 0.06, 0.3},
                                            {0.2, 0.2, 0.2, 0.2, 0.19, 0.01}};
  static const double lp[] = {1, 1, -1, -1};
  static const int stopping[] = {ATTN2C_STOP_FALSE, ATTN2C_STOP_TRUE, ATTN2C_STOP_FALSE, ATTN2C_STOP_NEVER};
  for (int i = 0; i < 4; i++) {
    attn2c_beam_options o = options(2);
    o.length_penalty = lp[i];
    o.early_stopping = stopping[i];
    search s = begin(&o, 1, 9);
    step(&s, 1, one);
    step(&s, 2, two);
    cr_assert_eq(attn2c_beam_count(s.beam), 2);
    cr_assert_eq(attn2c_beam_has_ended(s.beam), stopping[i] == ATTN2C_STOP_TRUE, "case %d", i);
    attn2c_beam_free(s.beam);
  }
}

/* Two stop tokens give three candidates a beam, so that two beams go on. */
Test(beam, several_stop_tokens) {
  static const double one[1][VOCABULARY] = {{0.1, 0.11, 0.12, 0.07, 0.2, 0.4}};
  static const double two[2][VOCABULARY] = {{0.1, 0.12, 0.05, 0.03, 0.3, 0.4},
                                            {0.1, 0.05, 0.12, 0.03, 0.3, 0.4}};
  attn2c_beam_options o = options(2);
  o.stop_count = 2;
  o.early_stopping = ATTN2C_STOP_NEVER;
  search s = begin(&o, 1, 9);
  step(&s, 1, one);
  cr_assert_eq(attn2c_beam_count(s.beam), 2);
  cr_assert_eq(s.next[0].token, 2);
  cr_assert_eq(s.next[1].token, 1);
  step(&s, 2, two); /* the best four candidates are stop tokens */
  cr_assert(s.next[0].beam == 0 && s.next[0].token == 1);
  cr_assert(s.next[1].beam == 1 && s.next[1].token == 2);
  attn2c_beam_free(s.beam);
}

/* Scores of a row of 0 to -5 after the processors. */
static void processed(const attn2c_beam_options *o, const int32_t *ids, int32_t count, int32_t prompt,
                      int32_t most, float *row) {
  const attn2c_history history = {ids, count, prompt, most, NULL};
  float values[32];
  for (int i = 0; i < VOCABULARY; i++) row[i] = (float)(i == 1 ? 1 : -i);
  cr_assert_eq(attn2c_beam_check(o, 4, VOCABULARY, &message), ATTN2C_OK, "%s", text);
  attn2c_penalise(o->repetition_penalty, &history, row, VOCABULARY, values);
  attn2c_process(o, &history, row, VOCABULARY);
}

/* True if exactly these tokens have -inf; others: bits. */
static int are_forbidden(const float *row, unsigned bits) {
  unsigned found = 0;
  for (int i = 0; i < VOCABULARY; i++) found |= (unsigned)(row[i] == -INFINITY) << i;
  return found == bits;
}

Test(processors, by_hand) {
  static const int32_t ids[] = {1, 2, 3, 1, 2, 1, 2};
  float row[VOCABULARY];
  attn2c_beam_options o = options(2);
  o.repetition_penalty = 2;
  processed(&o, ids, 7, 3, 20, row);
  cr_assert(row[1] == 0.5f && row[2] == -4 && row[3] == -6 && row[4] == -4 && row[5] == -5,
            "once each token");
  o = options(2);
  o.no_repeat_ngram = 3; /* 1 2 was followed by 3 and by 1 */
  processed(&o, ids, 7, 3, 20, row);
  cr_assert(are_forbidden(row, 1 << 3 | 1 << 1));
  o.no_repeat_ngram = 1;
  processed(&o, ids, 3, 3, 20, row);
  cr_assert(are_forbidden(row, 1 << 1 | 1 << 2 | 1 << 3));
  o.no_repeat_ngram = 8;
  processed(&o, ids, 7, 3, 20, row);
  cr_assert(are_forbidden(row, 0));
  static const int32_t words[] = {1, 4, 3, 1, 2, 5, 2, 3, 0, 1, STOP};
  o = options(2);
  o.bad_words = words;
  o.bad_words_count = 11; /* 4; 1 2 5; 3 0; the stop token, which stays */
  processed(&o, ids, 6, 3, 20, row);
  cr_assert(are_forbidden(row, 1 << 4));
  processed(&o, ids, 7, 3, 20, row);
  cr_assert(are_forbidden(row, 1 << 4 | 1 << 5));
  processed(&o, ids, 3, 3, 20, row);
  cr_assert(are_forbidden(row, 1 << 4 | 1 << 0));
}

Test(processors, lengths) {
  static const int32_t ids[] = {1, 2, 3, 1, 2, 1, 2}, suppressed = 2;
  float row[VOCABULARY];
  attn2c_beam_options o = options(2);
  o.min_length = 5;
  for (int32_t count = 3; count < 7; count++) {
    processed(&o, ids, count, 3, 20, row);
    cr_assert(are_forbidden(row, count < 5 ? 1 << STOP : 0));
  }
  o = options(2);
  o.min_tokens = 2;
  for (int32_t count = 3; count < 7; count++) {
    processed(&o, ids, count, 3, 20, row);
    cr_assert(are_forbidden(row, count < 5 ? 1 << STOP : 0));
  }
  o = options(2);
  o.forced_eos = stop;
  o.forced_eos_count = 2;
  processed(&o, ids, 5, 3, 7, row);
  cr_assert(are_forbidden(row, 0));
  processed(&o, ids, 6, 3, 7, row);
  cr_assert(are_forbidden(row, 15));
  cr_assert(row[4] == 0 && row[5] == 0);
  o = options(2);
  o.forced_bos = 2;
  o.begin_suppressed = &suppressed;
  o.begin_suppressed_count = 1;
  processed(&o, ids, 1, 1, 20, row);
  cr_assert(are_forbidden(row, 63 - 4) && row[2] == 0, "begin_suppressed counts from the token after");
  processed(&o, ids, 2, 1, 20, row);
  cr_assert(are_forbidden(row, 4));
  processed(&o, ids, 3, 1, 20, row);
  cr_assert(are_forbidden(row, 0));
  processed(&o, ids, 2, 2, 20, row);
  cr_assert(are_forbidden(row, 4), "nothing is forced after two tokens");
  o.suppressed = &suppressed;
  o.suppressed_count = 1;
  processed(&o, ids, 5, 2, 20, row);
  cr_assert(are_forbidden(row, 4));
}

/* A forced token is the same in all beams, of which only the first has a score; then they differ. */
Test(beam, forced_bos) {
  attn2c_beam_options o = options(2);
  o.forced_bos = 3;
  search s = begin(&o, 1, 9);
  step(&s, 1, first);
  cr_assert_eq(s.next[0].token, 3);
  cr_assert_eq(s.next[1].token, 3);
  step(&s, 2,
       (const double[2][VOCABULARY]){{0.5, 0.3, 0.05, 0.05, 0.05, 0.05}, {0.5, 0.3, 0.05, 0.05, 0.05, 0.05}});
  cr_assert(s.next[0].beam == 0 && s.next[1].beam == 0);
  cr_assert(s.next[0].token == 0 && s.next[1].token == 1);
  attn2c_beam_free(s.beam);
}

Test(beam, renormalize) {
  static const int32_t suppressed[] = {1, 2};
  attn2c_beam_options o = options(2);
  o.suppressed = suppressed;
  o.suppressed_count = 2;
  for (o.renormalize = 0; o.renormalize < 2; o.renormalize++) {
    search s = begin(&o, 1, 2);
    step(&s, 1, first);
    expect(&s, 0, log(0.15 / (o.renormalize ? 0.3 : 1)), 1, (const int32_t[]){STOP});
    attn2c_beam_free(s.beam);
  }
}

Test(beam, refuses_logits_and_ends_without_a_token) {
  static const double nan_row[1][VOCABULARY] = {{0.1, NAN, 0.1, 0.1, 0.1, 0.1}};
  static const double infinite[1][VOCABULARY] = {{0.1, INFINITY, 0.1, 0.1, 0.1, 0.1}};
  static const double none[1][VOCABULARY] = {{0, 0, 0, 0, 0, 0}};
  static const int32_t all[] = {0, 1, 2, 3, 4, 5};
  attn2c_beam_options o = options(2);
  const double(*rows[])[VOCABULARY] = {nan_row, infinite, none};
  for (int i = 0; i < 3; i++) {
    search s = begin(&o, 1, 9);
    step(&s, 1, rows[i]);
    cr_assert_eq(s.status, ATTN2C_FORMAT);
    attn2c_beam_free(s.beam);
  }
  o.suppressed = all;
  o.suppressed_count = 6;
  search s = begin(&o, 1, 9);
  step(&s, 1, first);
  cr_assert_eq(s.status, ATTN2C_FORMAT);
  cr_assert(strstr(text, "no token is allowed") != NULL);
  attn2c_beam_free(s.beam);
}

/* The largest of long rows, with equal ones in the order of their ids. */
Test(beam, long_rows) {
  enum { LONG = 1000 };
  static float logits[LONG];
  attn2c_beam_options o = options(4);
  attn2c_beam *beam;
  attn2c_beam_next next[4];
  const int32_t ids[1] = {0}, *const all[] = {ids};
  for (int shift = 0; shift < LONG; shift += 37) {
    for (int i = 0; i < LONG; i++) logits[i] = (float)((i * 7919 + shift) % LONG) * 0.01f;
    logits[(shift + 500) % LONG] = logits[(shift + 100) % LONG] = 12;
    logits[(shift + 300) % LONG] = 11;
    cr_assert_eq(attn2c_beam_create(&beam, &o, LONG, 9, NULL), ATTN2C_OK);
    attn2c_beam_begin(beam, 1, 9);
    cr_assert_eq(attn2c_beam_step(beam, logits, all, 1, next, &message), ATTN2C_OK);
    const int32_t a = (shift + 500) % LONG, b = (shift + 100) % LONG;
    cr_assert_eq(next[0].token, a < b ? a : b);
    cr_assert_eq(next[1].token, a < b ? b : a);
    cr_assert_eq(next[2].token, (shift + 300) % LONG);
    attn2c_beam_free(beam);
  }
  memset(logits, 0, sizeof logits);
  cr_assert_eq(attn2c_beam_create(&beam, &o, LONG, 9, NULL), ATTN2C_OK);
  attn2c_beam_begin(beam, 1, 9);
  cr_assert_eq(attn2c_beam_step(beam, logits, all, 1, next, &message), ATTN2C_OK);
  for (int i = 0; i < 4; i++) cr_assert_eq(next[i].token, i);
  attn2c_beam_free(beam);
}

Test(beam, options_that_are_refused) {
  static const int32_t bad[] = {6}, negative[] = {-1}, cut[] = {2, 1}, none[] = {0, 1};
  const attn2c_beam_options usual = options(2);
  attn2c_beam_options wrong[14];
  const char *const names[14] = {
      "beams",      "beams",      "length_penalty", "length_penalty",    "early_stopping",
      "min_length", "forced_bos", "forced_eos",     "suppressed",        "begin_suppressed",
      "bad_words",  "bad_words",  "stop_tokens",    "repetition_penalty"};
  for (int i = 0; i < 14; i++) wrong[i] = usual;
  wrong[0].beams = 0;
  wrong[1].beams = 5;
  wrong[2].length_penalty = NAN;
  wrong[3].length_penalty = 9;
  wrong[4].early_stopping = 3;
  wrong[5].min_length = -1;
  wrong[6].forced_bos = 6;
  wrong[7].forced_eos = bad, wrong[7].forced_eos_count = 1;
  wrong[8].suppressed = negative, wrong[8].suppressed_count = 1;
  wrong[9].begin_suppressed = bad, wrong[9].begin_suppressed_count = 1;
  wrong[10].bad_words = cut, wrong[10].bad_words_count = 2;
  wrong[11].bad_words = none, wrong[11].bad_words_count = 2;
  wrong[12].stop_tokens = bad;
  wrong[13].repetition_penalty = 0;
  for (int i = 0; i < 14; i++) {
    message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(attn2c_beam_check(&wrong[i], 4, VOCABULARY, &message), ATTN2C_USAGE, "%d", i);
    cr_assert_eq(strncmp(text, names[i], strlen(names[i])), 0, "%d: %s", i, text);
    cr_assert_null(strchr(text, '\n'));
  }
}
