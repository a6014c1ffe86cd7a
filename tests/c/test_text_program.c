/* test_text_program.c - what the program does with texts: picks, spans, what is written for a terminal,
 * lines. */
#define _POSIX_C_SOURCE 200809L
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "program/answers/answers.h"
#include "program/text/rank.h"
#include "program/text/source.h"
#include "scratch.h"

TestSuite(text_program, .init = scratch_open, .fini = scratch_close);

Test(text_program, the_best_are_sorted_and_equal_ones_keep_their_order) {
  const float scores[] = {1.0f, 3.0f, -2.0f, 3.0f, NAN};
  attn2c_pick picks[5];
  cr_assert_eq(attn2c_best(scores, 4, ATTN2C_SOFTMAX, 3, picks), 3);
  cr_assert_eq(picks[0].number, 1);
  cr_assert_eq(picks[1].number, 3);
  cr_assert_eq(picks[2].number, 0);
  const double sum = 2.0 + exp(-2.0) + exp(-5.0);
  cr_assert_float_eq(picks[0].score, 1.0 / sum, 1e-12);
  cr_assert_float_eq(picks[2].score, exp(-2.0) / sum, 1e-12);
  cr_assert_eq(attn2c_best(scores, 5, ATTN2C_AS_IT_IS, 5, picks), 5);
  cr_assert_eq(picks[4].number, 4);
  const float with_nan[] = {NAN, 2.0f, 1.0f};
  cr_assert_eq(attn2c_best(with_nan, 3, ATTN2C_AS_IT_IS, 2, picks), 2);
  cr_assert_eq(picks[0].number, 1);
  cr_assert_eq(picks[1].number, 2);
  cr_assert_eq(attn2c_best(scores, 1, ATTN2C_SIGMOID, 5, picks), 1);
  cr_assert_float_eq(picks[0].score, 1.0 / (1.0 + exp(-1.0)), 1e-12);
}

Test(text_program, large_scores_do_not_overflow) {
  const float scores[] = {1e30f, -1e30f};
  attn2c_pick picks[2];
  cr_assert_eq(attn2c_best(scores, 2, ATTN2C_SOFTMAX, 2, picks), 2);
  cr_assert_eq(picks[0].score, 1.0);
  cr_assert_eq(picks[1].score, 0.0);
}

Test(text_program, a_span_stays_where_it_may_and_is_no_longer_than_allowed) {
  const float begins[] = {9, 0, 5, 1, 0}, ends[] = {9, 6, 0, 2, 4};
  const unsigned char may[] = {0, 1, 1, 1, 1}, none[] = {0, 0, 0, 0, 0};
  attn2c_span span = attn2c_best_span(begins, ends, 5, may, -1, 15);
  cr_assert_eq(span.first, 2);
  cr_assert_eq(span.last, 4);
  const double of_begins = 1 + exp(5) + exp(1) + 1, of_ends = exp(6) + 1 + exp(2) + exp(4);
  cr_assert_float_eq(span.score, exp(5) * exp(4) / (of_begins * of_ends), 1e-12);
  span = attn2c_best_span(begins, ends, 5, may, -1, 2);
  cr_assert_eq(span.first, 2);
  cr_assert_eq(span.last, 3);
  cr_assert_eq(attn2c_best_span(begins, ends, 5, none, -1, 15).first, -1);
  span = attn2c_best_span(begins, ends, 5, may, 0, 15); /* row 0 has no answer, and most of the probability */
  cr_assert_eq(span.first, 2);
  cr_assert_eq(span.last, 4);
  cr_assert_float_eq(span.score, exp(5) * exp(4) / ((exp(9) + of_begins) * (exp(9) + of_ends)), 1e-12);
}

Test(text_program, the_cosine_is_that_of_the_angle) {
  const float a[] = {3, 4}, b[] = {-8, 6}, zero[] = {0, 0};
  cr_assert_float_eq(attn2c_cosine(a, a, 2), 1.0, 1e-12);
  cr_assert_float_eq(attn2c_cosine(a, b, 2), 0.0, 1e-12);
  cr_assert_eq(attn2c_cosine(a, zero, 2), 0.0);
  cr_assert_eq(attn2c_cosine(zero, a, 2), 0.0);
}

Test(text_program, similar_texts_are_a_matrix) {
  const float embeddings[] = {3, 4, -8, 6, 6, 8, NAN, 1};
  char room[400];
  for (int json = 0; json < 2; json++) {
    FILE *out = fmemopen(room, sizeof room, "w");
    cr_assert_eq(attn2c_similar_write("texts", ATTN2C_COSINE, embeddings, json ? 4 : 3, 2,
                                      json ? ATTN2C_ANSWERS_JSONL : ATTN2C_ANSWERS_TEXT, out, NULL),
                 ATTN2C_OK);
    fputc('\0', out);
    fclose(out);
    cr_expect_str_eq(room, json ? "{\"similar\":[1.000000,0.000000,1.000000,null]}\n"
                                  "{\"similar\":[0.000000,1.000000,0.000000,null]}\n"
                                  "{\"similar\":[1.000000,0.000000,1.000000,null]}\n"
                                  "{\"similar\":[null,null,null,null]}\n"
                                : " 1.0000\t 0.0000\t 1.0000\n 0.0000\t 1.0000\t 0.0000\n"
                                  " 1.0000\t 0.0000\t 1.0000\n");
  }
}

/* Two queries and texts at angles from them; one text and one query have no tokens. */
static attn2c_rank *make_rank(attn2c_answer_format format, int *status) {
  static const float east[] = {1, 0}, north[] = {0, 2}, almost[] = {9, 1}, between[] = {3, 3},
                     odd[] = {NAN, 1};
  static const attn2c_text_facts facts;
  attn2c_rank *rank = attn2c_rank_open(0, &facts, 2, format);
  *status = rank ? ATTN2C_OK : ATTN2C_MEMORY;
  if (!rank) return NULL;
  attn2c_meaning of_east = {.kind = ATTN2C_ANSWER_EMBEDDING, .count = 1, .width = 2};
  of_east.values = malloc(sizeof east);
  if (of_east.values) memcpy(of_east.values, east, sizeof east);
  *status |= of_east.values ? attn2c_rank_query(rank, "east", 4, &of_east) : ATTN2C_MEMORY;
  attn2c_meaning_free(&of_east);
  if (!*status) *status = attn2c_rank_query(rank, "no\tn\033e", 6, NULL);
  const float *const values[] = {odd, between, east, NULL, almost, east, north};
  static const char *const texts[] = {"odd", "between", "first", "", "almost", "second", "north"};
  for (int i = 0; i < 7 && !*status; i++)
    *status = attn2c_rank_text(rank, texts[i], strlen(texts[i]),
                               &(attn2c_meaning){.kind = ATTN2C_ANSWER_EMBEDDING,
                                                 .count = 1,
                                                 .width = 2,
                                                 .values = (float *)(uintptr_t)values[i]});
  return rank;
}

static const char *rank_written(attn2c_answer_format format) {
  static char room[1000];
  char said[200];
  attn2c_message message = attn2c_message_make(said, sizeof said);
  int status;
  attn2c_rank *rank = make_rank(format, &status);
  cr_assert_eq(status, ATTN2C_OK);
  FILE *out = fmemopen(room, sizeof room, "w");
  cr_assert_eq(attn2c_rank_write(rank, NULL, out, &message), ATTN2C_OK, "%s", said);
  fputc('\0', out);
  fclose(out);
  attn2c_rank_close(rank);
  return room;
}

Test(text_program, a_query_ranks_texts_by_their_cosine_equal_ones_in_their_order) {
  cr_assert_str_eq(rank_written(ATTN2C_ANSWERS_NONE), "east\n1.0000\t3\tfirst\n1.0000\t6\tsecond\n\n"
                                                      "no\\tn\\u{1B}e\nnan\t1\todd\nnan\t2\tbetween\n");
  cr_assert_str_eq(rank_written(ATTN2C_ANSWERS_JSONL),
                   "{\"query\":\"east\",\"texts\":[{\"score\":1.0,\"number\":3,\"text\":\"first\"},"
                   "{\"score\":1.0,\"number\":6,\"text\":\"second\"}]}\n"
                   "{\"query\":\"no\\tn\\u001Be\",\"texts\":[{\"score\":null,\"number\":1,\"text\":\"odd\"},"
                   "{\"score\":null,\"number\":2,\"text\":\"between\"}]}\n");
}

Test(text_program, ranks_are_in_memory_or_not_at_all) {
  for (int format = ATTN2C_ANSWERS_TEXT; format <= ATTN2C_ANSWERS_NPY; format++) {
    int status = ATTN2C_MEMORY;
    for (int n = 1; status != ATTN2C_OK; n++) {
      cr_assert_lt(n, 100);
      faults_clear();
      faults_allocation(n, 0);
      attn2c_rank_close(make_rank((attn2c_answer_format)format, &status));
      cr_assert(status == (faults_met() ? ATTN2C_MEMORY : ATTN2C_OK));
      cr_assert_eq(faults_live_blocks(), 0);
      faults_clear();
    }
  }
}

static const char *written(const char *text, size_t length) {
  static char room[200];
  FILE *out = fmemopen(room, sizeof room, "w");
  attn2c_safe_write(text, length, out);
  fputc('\0', out);
  fclose(out);
  return room;
}

Test(text_program, nothing_reaches_a_terminal_raw) {
  cr_assert_str_eq(written("a\tb\n\r\\", 6), "a\\tb\\n\\r\\\\");
  cr_assert_str_eq(written("\033[31m\0\x7f", 7), "\\u{1B}[31m\\u{0}\\u{7F}");
  cr_assert_str_eq(written("\xc2\x9b \xe2\x80\xae \xf3\xa0\x80\x81", 11), "\\u{9B} \\u{202E} \\u{E0001}");
  cr_assert_str_eq(written("\xc3\xa9 \xff\xe2\x82", 6), "\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd");
  char mended[30];
  const size_t length = attn2c_utf8_mend("x\xff\xc3\xa9", 4, mended);
  cr_assert_eq(length, 6);
  cr_assert(memcmp(mended, "x\xef\xbf\xbd\xc3\xa9", 6) == 0);
}

static char noted[300]; /* what the last call of collected said beside */

/* The lines of a source as "text|pair;" and how it ends. */
static int collected(attn2c_arguments *arguments, char *text, size_t size) {
  char said[500];
  attn2c_message message = attn2c_message_make(said, sizeof said);
  attn2c_text_source *source;
  FILE *notes = fmemopen(memset(noted, 0, sizeof noted), sizeof noted, "w");
  int status = attn2c_text_source_open(arguments, notes, &source, &message);
  text[0] = '\0';
  while (status == ATTN2C_OK) {
    attn2c_line line;
    const attn2c_line_state state = attn2c_text_source_next(source, 1, &line, &status, &message);
    if (state != ATTN2C_LINE_READ) break;
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%.*s|%.*s;", (int)line.length, line.text, (int)line.pair_length,
             line.pair ? line.pair : "");
    attn2c_text_source_forget(source);
  }
  attn2c_text_source_close(source);
  fclose(notes);
  return status;
}

Test(text_program, lines_of_a_file_come_with_their_pairs) {
  static const char lines[] = "one\r\n\ntwo\tthree\tfour\nlast";
  char text[300];
  const char *path = scratch_path("lines");
  scratch_put(path, lines, sizeof lines - 1);
  attn2c_text_word texts[] = {{ATTN2C_TEXT_ANY, path, "--text"}, {ATTN2C_TEXT_STRING, path, "--text-string"}};
  attn2c_text_word pairs[] = {{ATTN2C_TEXT_ANY, path, "--text-pair"}};
  attn2c_arguments arguments = {.texts = texts, .text_count = 1};
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_OK);
  cr_assert_str_eq(text, "one|;|;two\tthree\tfour|;last|;");
  arguments.pairs = pairs, arguments.pair_count = 1;
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_OK);
  cr_assert_str_eq(text, "one|one;|;two\tthree\tfour|two\tthree\tfour;last|last;");
  arguments.text_count = 2; /* a text more than pairs */
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_USAGE);
  pairs[0].word = "-";
  arguments.text_count = 1;
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "");
}

Test(text_program, a_byte_order_mark_is_no_part_of_the_first_line) {
  char text[300];
  const char *path = scratch_path("marked");
  attn2c_text_word texts[] = {{ATTN2C_TEXT_FILE, path, "--text-file"}};
  attn2c_arguments arguments = {.texts = texts, .text_count = 1, .program = "p"};
  scratch_put(path, "\xef\xbb\xbfone\n\xef\xbb\xbftwo", 13);
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_OK);
  cr_assert_str_eq(text, "one|;\xef\xbb\xbftwo|;");
  cr_assert_str_empty(noted);
  scratch_put(path, "one\nf\xfcr\nf\xfcr\n", 12);
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_OK);
  cr_assert_not_null(strstr(noted, ": line 2: bytes that are not UTF-8 count as U+FFFD\n"), "%s", noted);
  cr_assert_null(strstr(noted, "line 3"));
  scratch_put(path, "\xff\xfeo\0\n\0", 6);
  cr_assert_eq(collected(&arguments, text, sizeof text), ATTN2C_FORMAT);
}

Test(text_program, a_pair_is_expected_for_each_text) {
  static const struct {
    const char *texts, *pairs;
    int status;
  } cases[] = {{"a\nb\n", "a\nb\n", ATTN2C_OK}, {"a\nb", "a\nb\n", ATTN2C_OK}, {"a\nb", "a\n", ATTN2C_USAGE},
               {"a\n", "a\nb", ATTN2C_USAGE},   {"a\n\n", "a", ATTN2C_USAGE},  {"", "a", ATTN2C_USAGE}};
  char text[300], paths[2][200];
  snprintf(paths[0], sizeof paths[0], "%s", scratch_path("texts"));
  snprintf(paths[1], sizeof paths[1], "%s", scratch_path("pairs"));
  attn2c_text_word texts[] = {{ATTN2C_TEXT_FILE, paths[0], "--text-file"}};
  attn2c_text_word pairs[] = {{ATTN2C_TEXT_FILE, paths[1], "--pair-file"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scratch_put(paths[0], cases[i].texts, strlen(cases[i].texts));
    scratch_put(paths[1], cases[i].pairs, strlen(cases[i].pairs));
    attn2c_arguments arguments = {.texts = texts, .text_count = 1, .pairs = pairs, .pair_count = 1};
    cr_expect_eq(collected(&arguments, text, sizeof text), cases[i].status, "%zu: %s", i, text);
    if (cases[i].status != ATTN2C_OK) cr_expect_str_empty(text);
  }
  attn2c_text_word inputs[] = {{ATTN2C_TEXT_ANY, "-", "--text"}, {ATTN2C_TEXT_ANY, "-", "--text"}};
  attn2c_arguments twice = {.texts = inputs, .text_count = 2};
  cr_assert_not_null(freopen("/dev/null", "r", stdin));
  cr_expect_eq(collected(&twice, text, sizeof text), ATTN2C_USAGE);
  attn2c_arguments none = {.texts = inputs};
  cr_expect_eq(collected(&none, text, sizeof text), ATTN2C_USAGE);
}

Test(text_program, without_memory_a_source_says_so) {
  char text[300];
  const char *path = scratch_path("lines");
  scratch_put(path, "a\nb\n", 4);
  attn2c_text_word texts[] = {{ATTN2C_TEXT_FILE, path, "--text-file"}};
  attn2c_arguments arguments = {.texts = texts, .text_count = 1};
  int failed = 0, done = 0;
  for (int n = 1; n < 40 && !done; n++) {
    faults_clear();
    faults_allocation(n, 0);
    const int status = collected(&arguments, text, sizeof text);
    done = faults_met() == 0;
    cr_assert_eq(faults_live_blocks(), 0);
    faults_clear();
    if (!done) {
      cr_assert_eq(status, ATTN2C_MEMORY);
      failed++;
    }
  }
  cr_assert(done);
  cr_assert_gt(failed, 3);
}
