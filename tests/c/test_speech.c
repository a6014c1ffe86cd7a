/* test_speech.c - the rules of timestamps, and the division of a window's tokens into segments. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "speech/rules.h"
#include "speech/segments.h"
#include "speech/words.h"
#include "golden_text.h"

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

Test(timestamps, come_first_and_not_too_late) { expect(NULL, 0, -9, "-------xxx----"); }

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

/* The last window of a sound may have an odd number of rows, two to a timestamp. */
enum { WINDOW = 31 };
static attn2c_segment found[9];
static int32_t next;

static int32_t divide(const int32_t *ids, int32_t count) {
  return attn2c_segments(&speech, ids, count, WINDOW, found, &next);
}

static void expect_segment(int i, int32_t first, int32_t count, int32_t begin, int32_t end) {
  const attn2c_segment s = found[i];
  cr_assert(s.first == first && s.count == count && s.begin == begin && s.end == end,
            "segment %d: %d %d %d %d", i, s.first, s.count, s.begin, s.end);
}

Test(segments, end_with_pairs_and_what_follows_is_left_out) {
  cr_assert_eq(divide((int32_t[]){T, 1, T + 2, T + 2, 2, 3, T + 4, T + 5, 1}, 9), 2);
  expect_segment(0, 0, 3, 0, 4);
  expect_segment(1, 3, 4, 4, 8);
  cr_assert_eq(next, 8);
}

Test(segments, that_a_single_timestamp_closes_end_the_window) {
  cr_assert_eq(divide((int32_t[]){T, 1, T + 2, T + 3, 2, T + 4}, 6), 2);
  expect_segment(1, 3, 3, 6, 8);
  cr_assert_eq(next, WINDOW);
}

Test(segments, without_pairs_are_one) {
  cr_assert_eq(divide((int32_t[]){T + 1, 1, 2, T + 4}, 4), 1);
  expect_segment(0, 0, 4, 0, 8);
  cr_assert_eq(next, WINDOW);
  cr_assert_eq(divide((int32_t[]){1, 2}, 2), 1);
  expect_segment(0, 0, 2, 0, WINDOW);
  cr_assert_eq(divide((int32_t[]){T, 1}, 2), 1);
  expect_segment(0, 0, 2, 0, WINDOW);
  cr_assert_eq(divide(NULL, 0), 1);
  expect_segment(0, 0, 0, 0, WINDOW);
}

/* Two heads of one layer, of a number each: a key of row r is r in both, a query says how much a token sees
 * it. */
enum { ROWS = 6, SEEN = 5 };
static const attn2c_speech_head heads[] = {{0, 0}, {0, 1}};

static void expect_times(const float *queries, int32_t tokens, int32_t heard, int32_t median,
                         const int32_t *expected) {
  static float keys[ROWS * 2], work[4 * 64];
  for (int i = 0; i < ROWS * 2; i++) keys[i] = (float)(i / 2);
  const attn2c_speech with = {
      .heads = heads, .head_count = 2, .layer_count = 1, .head_width = 1, .median = median, .head_scale = 1};
  const float *const layer_queries[] = {queries}, *const layer_keys[] = {keys};
  const attn2c_attended attended = {layer_queries, layer_keys, 2, tokens, ROWS, heard};
  int32_t times[8];
  cr_assert_leq(attn2c_speech_times_room(tokens, ROWS), sizeof work / sizeof *work);
  attn2c_speech_times(&with, &attended, work, times);
  for (int i = 0; i < tokens; i++) cr_assert_eq(times[i], expected[i], "token %d: %d", i, times[i]);
}

Test(times, follow_what_tokens_see) {
  /* The first token sees the first rows, the last one the last. */
  expect_times((float[]){-3, -3, 0, 0, 3, 3}, 3, ROWS, 1, (int32_t[]){0, 1, 5});
  /* Rows after those that sound are not seen. */
  expect_times((float[]){-3, -3, 3, 3}, 2, 1, 1, (int32_t[]){0, 0});
  /* One token says nothing about rows. */
  expect_times((float[]){1, 1}, 1, SEEN, 3, (int32_t[]){0});
}

/* The rows are what transformers' functions give. */
Test(times, never_fall) {
  expect_times((float[]){3, 3, -3, -3, 3, 3, -3, -3}, 4, ROWS, 7, (int32_t[]){0, 0, 3, 5});
  expect_times((float[]){-3, 1, -1, -2, 2, 2, 3, -3}, 4, ROWS, 3, (int32_t[]){0, 0, 4, 5});
}

/* Words as transformers finds them, made by tests/hf/speech.py splits. */
static const struct {
  int is_dense;
  const char *text, *words;
} splits[] = {
    {0, " Hello, world (and \042you\042)!", " Hello,| world| (and| \042you\042)!"},
    {0, " well-known... it's 5 o'clock", " well|-known...| it's| 5| o|'clock"},
    {0, "a - b -c", "a| -| b| -c"},
    {0, " \302\277Qu\303\251? \302\241S\303\255!", " \302\277Qu\303\251?| \302\241S\303\255!"},
    {1, "\344\275\240\345\245\275\343\200\202\342\200\234\344\270\226\347\225\214\342\200\235",
     "\344\275\240\345\245\275\343\200\202|\342\200\234|\344\270\226\347\225\214\342\200\235"},
    {0, "\344\275\240\345\245\275", "\344\275\240\345\245\275"},
    {1, " a b", " a| b"},
    {0, "", ""},
    {0, " 'x' [y] {z}", " 'x'| [y]| {z}"},
    {1, "\360\237\230\200\340\270\201\340\270\263!", "\360\237\230\200|\340\270\201|\340\270\263!"},
};

Test(words, are_those_of_transformers) {
  tokenizer t = open_golden("gpt2");
  attn2c_spoken_words words = {.room = 0};
  for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
    const attn2c_text_input input = input_of(splits[i].text, strlen(splits[i].text));
    attn2c_text_tokens tokens;
    cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
    const size_t bytes = tokens.length * sizeof(int32_t);
    int32_t *ids = memcpy(malloc(bytes + 1), tokens.length ? tokens.ids : (const int32_t *)"", bytes);
    const int32_t count = (int32_t)tokens.length;
    cr_assert_eq(attn2c_speech_words(t.work, ids, count, splits[i].is_dense, &words), ATTN2C_OK);
    char found[200] = "";
    int32_t next = 0;
    for (int32_t w = 0; w < words.count; w++) {
      const attn2c_spoken *word = &words.list[w];
      cr_assert(word->first == next && word->count > 0);
      next += word->count;
      snprintf(found + strlen(found), sizeof found - strlen(found), "%s%.*s", w ? "|" : "",
               (int)(word->end - word->begin), words.text + word->begin);
    }
    cr_assert_eq(next, count);
    cr_assert_str_eq(found, splits[i].words);
    free(ids);
  }
  attn2c_spoken_words_free(&words);
  close_golden(&t);
}

Test(words, of_languages_without_spaces) {
  cr_assert(attn2c_speech_is_dense("zh") && attn2c_speech_is_dense("yue") && !attn2c_speech_is_dense("en"));
}
