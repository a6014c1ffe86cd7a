/* test_speech.c - the rules of timestamps, and the division of a window's tokens into segments. */
#include <criterion/criterion.h>
#include <math.h>

#include "generate/speech_rules.h"
#include "generate/speech_segments.h"

/* Text 0 to 3, end 4, start 5, no timestamps 6, timestamps from 7 on. */
enum { END = 4, WITHOUT = 6, T = 7, VOCABULARY = 14 };
static const attn2c_speech speech = {.end = END, .no_timestamps = WITHOUT, .most_initial = 2};

/* Expects that after ids exactly the tokens whose characters are 'x' may follow. */
static void expect(const int32_t *ids, int32_t count, float timestamps, const char *allowed) {
  float scores[VOCABULARY];
  for (int i = 0; i < VOCABULARY; i++) scores[i] = i < T ? 0.0F : timestamps;
  attn2c_timestamps(&speech, ids, count, scores, VOCABULARY);
  for (int i = 0; i < VOCABULARY; i++)
    cr_assert_eq(isinf(scores[i]) == 0, allowed[i] == 'x', "token %d after %d: %g", i, count,
                 (double)scores[i]);
}

#define AFTER(timestamps, allowed, ...)                                                                      \
  expect((const int32_t[]){__VA_ARGS__}, (int32_t)(sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)),        \
         timestamps, allowed)

Test(timestamps, come_first_and_not_too_late) { expect(NULL, 0, 0, "-------xxx----"); }

Test(timestamps, come_in_pairs_that_never_fall) {
  AFTER(-9, "xxxxxx--------", T + 1);           /* text after the first one */
  AFTER(-9, "xxxxxx---xxxxx", T + 1, 2);        /* a segment does not end at its beginning */
  AFTER(-9, "----xx----xxxx", T + 1, 2, T + 3); /* the pair, or the end */
  AFTER(-9, "xxxxxx--------", T + 1, 2, T + 3, T + 3);
  AFTER(-9, "xxxxxx-----xxx", T + 1, 2, T + 3, T + 3, 1);
}

Test(timestamps, are_taken_if_they_are_likelier_together) {
  AFTER(-2, "xxxxxx---xxxxx", T + 1, 2);        /* 5 e^-2 is less than 1 */
  AFTER(-1.5F, "---------xxxxx", T + 1, 2);     /* 5 e^-1.5 is more */
  AFTER(-INFINITY, "xxxxxx--------", T + 1, 2); /* there is none */
}

static attn2c_segment found[9];
static int32_t next;

static int32_t divide(const int32_t *ids, int32_t count) {
  return attn2c_segments(&speech, ids, count, 30, found, &next);
}

static void expect_segment(int i, int32_t first, int32_t count, int32_t begin, int32_t end) {
  const attn2c_segment s = found[i];
  cr_assert(s.first == first && s.count == count && s.begin == begin && s.end == end,
            "segment %d: %d %d %d %d", i, s.first, s.count, s.begin, s.end);
}

Test(segments, end_with_pairs_and_what_follows_is_left_out) {
  cr_assert_eq(divide((int32_t[]){T, 1, T + 2, T + 2, 2, 3, T + 4, T + 5, 1}, 9), 2);
  expect_segment(0, 0, 3, 0, 2);
  expect_segment(1, 3, 4, 2, 4);
  cr_assert_eq(next, 8);
}

Test(segments, that_a_single_timestamp_closes_end_the_window) {
  cr_assert_eq(divide((int32_t[]){T, 1, T + 2, T + 3, 2, T + 4}, 6), 2);
  expect_segment(1, 3, 3, 3, 4);
  cr_assert_eq(next, 30);
}

Test(segments, without_pairs_are_one) {
  cr_assert_eq(divide((int32_t[]){T + 1, 1, 2, T + 4}, 4), 1);
  expect_segment(0, 0, 4, 0, 4);
  cr_assert_eq(next, 30);
  cr_assert_eq(divide((int32_t[]){1, 2}, 2), 1);
  expect_segment(0, 0, 2, 0, 15);
  cr_assert_eq(divide((int32_t[]){T, 1}, 2), 1);
  expect_segment(0, 0, 2, 0, 15);
  cr_assert_eq(divide(NULL, 0), 1);
  expect_segment(0, 0, 0, 0, 15);
}
