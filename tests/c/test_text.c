/* test_text.c - the tokenizer's interface: statuses, memory that runs out, long and broken texts. Results
 * are compared with the real library in tests/spec/whole/text_spec.lua. */
#include "faults.h"
#include "golden_text.h"
#include "scratch.h"
#include "text/stages.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(text, .init = scratch_open, .fini = scratch_close);

Test(text, damaged_tables_are_refused_in_one_line) {
  tokenizer t;
  char note[200];
  attn2c_tokenizer *text = (attn2c_tokenizer *)&t;
  read_tables(&t, "bert_uncased");
  for (int which = 0; which < 5; which++) {
    uint8_t *copy = malloc(t.size);
    size_t size = which == 0 ? 20 : which == 1 ? t.size - 8 : t.size;
    memcpy(copy, t.tables, t.size);
    if (which == 2) copy[0] = 'X';
    if (which == 3) copy[8] = 99;
    if (which == 4) copy[t.size - 1] ^= 1;
    attn2c_message message = attn2c_message_make(note, sizeof note);
    cr_assert_eq(attn2c_text_open(copy, size, ATTN2C_TEXT_VERIFY, &text, &message), ATTN2C_FORMAT, "%d",
                 which);
    cr_assert_null(text);
    cr_assert(strncmp(note, "tokenizer tables: ", 18) == 0 && !strchr(note, '\n'), "%s", note);
    free(copy);
  }
  cr_assert_eq(attn2c_text_open(NULL, 0, 0, &text, NULL), ATTN2C_FORMAT);
  free(t.tables);
}

/* Tables may lie anywhere in a mapped file. */
Test(text, tables_need_no_alignment) {
  tokenizer t;
  attn2c_tokenizer *text;
  read_tables(&t, "xlmr");
  uint8_t *moved = malloc(t.size + 3);
  memcpy(moved + 3, t.tables, t.size);
  cr_assert_eq(attn2c_text_open(moved + 3, t.size, ATTN2C_TEXT_VERIFY, &text, NULL), ATTN2C_OK);
  attn2c_text_close(text);
  free(moved);
  free(t.tables);
}

static int open_encode_decode(const tokenizer *t) {
  attn2c_tokenizer *text = NULL;
  attn2c_text_work *work = NULL;
  attn2c_text_tokens tokens = {0};
  static const char sample[] =
      "The quick ﬁ brown e\xcc\x81\xcc\xa3 \xff fox's [MASK] 12 中文 yesterday <mask> jumping jumping";
  attn2c_text_input input = input_of(sample, sizeof sample - 1);
  int32_t ids[128];
  const char *bytes;
  size_t length;
  int status = attn2c_text_open(t->tables, t->size, 0, &text, NULL);
  if (status == ATTN2C_OK) status = attn2c_text_work_create(text, &work);
  input.pair = sample, input.pair_length = 20;
  if (status == ATTN2C_OK) status = attn2c_text_encode(work, &input, &tokens);
  size_t count = tokens.length < 128 ? tokens.length : 128;
  if (count) memcpy(ids, tokens.ids, count * sizeof *ids);
  if (status == ATTN2C_OK) status = attn2c_text_decode(work, ids, count, 0, &bytes, &length);
  attn2c_text_work_destroy(work);
  attn2c_text_close(text);
  return status;
}

Test(text, every_allocation_may_fail, .timeout = 600) {
  static const char *const names[] = {"added", "roberta", "llama_old", "xlmr", "albert", "split_previous"};
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    tokenizer t;
    read_tables(&t, names[n]);
    long failures = 0;
    faults_clear();
    long before = faults_live_blocks();
    for (long nth = 1;; nth++) {
      faults_clear();
      faults_allocation(nth, nth & 1);
      int status = open_encode_decode(&t);
      long met = faults_met();
      faults_clear();
      cr_assert_eq(faults_live_blocks(), before, "%s: blocks are left at allocation %ld", names[n], nth);
      if (!met) {
        cr_assert_eq(status, ATTN2C_OK);
        break;
      }
      cr_assert_eq(status, ATTN2C_MEMORY, "%s: allocation %ld gives %d", names[n], nth, status);
      failures++;
    }
    cr_assert(failures > 20, "%s: %ld", names[n], failures);
    free(t.tables);
  }
}

Test(text, bytes_that_are_no_text_are_one_character_each_part) {
  tokenizer t = open_golden("gpt2");
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("a\0\xe2\x82z\xff", 6);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  attn2c_text_place last = tokens.places[tokens.length - 1];
  cr_assert_eq(last.byte_begin, 5);
  cr_assert_eq(last.byte_end, 6);
  cr_assert_eq(last.begin, 4);
  cr_assert_eq(last.end, 5);
  close_golden(&t);
}

Test(text, limits_that_leave_nothing_are_refused) {
  tokenizer t = open_golden("bert_uncased");
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("the quick brown fox", 19);
  input.pair = "the lazy dogs jumps over the quick brown fox", input.pair_length = 44;
  input.limit = (attn2c_text_limit){5, ATTN2C_TEXT_ONLY_FIRST, 0};
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_FORMAT);
  cr_assert_str_eq(attn2c_text_fault(t.work), "the limit leaves nothing of the text that it cuts");
  input.limit = (attn2c_text_limit){5, ATTN2C_TEXT_LONGEST_FIRST, 0};
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  cr_assert_eq(tokens.length, 5);
  cr_assert(tokens.removed > 0);
  close_golden(&t);
}

/* The letters of the vocabulary are tokens, so that texts of letters have a token for each letter. */
static void letters_are(const tokenizer *t, const attn2c_text_tokens *tokens, int source,
                        const char *expected) {
  char found[64];
  size_t count = 0, length;
  for (size_t i = 0; i < tokens->length; i++)
    if (tokens->sources[i] == source) found[count++] = *attn2c_text_token(t->text, tokens->ids[i], &length);
  found[count] = 0;
  cr_assert_str_eq(found, expected);
}

/* The rest of an odd limit is the longer text's, or the second's of two that are as long. */
Test(text, a_limit_halves_two_texts) {
  static const struct {
    const char *text, *pair;
    size_t limit;
    int from_left;
    const char *left[2];
  } cases[] = {
      {"a b c d e f", "g h i j k l", 8, 0, {"ab", "ghi"}},
      {"a b c d e f", "g h i j k l", 9, 0, {"abc", "ghi"}},
      {"a b c d e f", "g h i j", 8, 0, {"abc", "gh"}},
      {"a b c d", "g h i j k l", 8, 0, {"ab", "ghi"}},
      {"a b c d", "g h i j k l", 8, 1, {"cd", "jkl"}},
      {"a", "g h i j k l", 8, 0, {"a", "ghij"}},
      {"a b c d e f", "g", 8, 1, {"cdef", "g"}},
  };
  tokenizer t = open_golden("bert_uncased");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    attn2c_text_tokens tokens;
    attn2c_text_input input = input_of(cases[i].text, strlen(cases[i].text));
    input.pair = cases[i].pair, input.pair_length = strlen(cases[i].pair);
    input.limit = (attn2c_text_limit){cases[i].limit, ATTN2C_TEXT_LONGEST_FIRST, cases[i].from_left};
    cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
    cr_assert_eq(tokens.length, cases[i].limit);
    letters_are(&t, &tokens, 0, cases[i].left[0]);
    letters_are(&t, &tokens, 1, cases[i].left[1]);
    cr_assert_eq(tokens.removed,
                 (strlen(cases[i].text) + strlen(cases[i].pair)) / 2 + 1 + 3 - cases[i].limit);
  }
  close_golden(&t);
}

/* Letters whose longest word is a hundred characters, not bytes. */
Test(text, a_word_may_have_a_hundred_characters) {
  tokenizer t = open_golden("bert_uncased");
  for (int width = 1; width <= 2; width++)
    for (size_t count = 99; count <= 101; count++) {
      char word[300];
      attn2c_text_tokens tokens;
      for (size_t i = 0; i < count; i++)
        memcpy(word + i * (size_t)width, width == 1 ? "a" : "\xd0\xb8", (size_t)width);
      attn2c_text_input input = input_of(word, count * (size_t)width);
      input.plain = 1;
      cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
      size_t length;
      const char *first = attn2c_text_token(t.text, tokens.ids[0], &length);
      const int is_unknown = length == 5 && memcmp(first, "[UNK]", 5) == 0;
      cr_assert_eq(is_unknown, count == 101, "%zu characters of %d bytes", count, width);
      if (is_unknown) cr_assert_eq(tokens.length, 1);
    }
  close_golden(&t);
}

/* Compares the windows over ten letters, each with two special tokens around it. */
static void windows_are(const tokenizer *t, size_t room, size_t stride, int from_left,
                        const char *const expected[], const size_t removed[]) {
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("a b c d e f g h i j", 19);
  input.limit = (attn2c_text_limit){room + 2, ATTN2C_TEXT_ONLY_FIRST, from_left};
  int status = attn2c_text_encode(t->work, &input, &tokens);
  for (size_t i = 0; expected[i]; i++) {
    cr_assert_eq(status, ATTN2C_OK);
    letters_are(t, &tokens, 0, expected[i]);
    cr_assert_eq(tokens.length, strlen(expected[i]) + 2);
    cr_assert_eq(tokens.removed, removed[i], "window %zu: %zu", i, tokens.removed);
    status = attn2c_text_encode_next(t->work, &input, stride, &tokens);
  }
  cr_assert_eq(status, ATTN2C_OK);
  cr_assert_eq(tokens.length, 0);
}

Test(text, windows_share_as_many_tokens_as_asked_for) {
  tokenizer t = open_golden("bert_uncased");
  windows_are(&t, 4, 1, 0, (const char *const[]){"abcd", "defg", "ghij", NULL}, (size_t[]){6, 3, 0});
  windows_are(&t, 4, 1, 1, (const char *const[]){"ghij", "defg", "abcd", NULL}, (size_t[]){6, 3, 0});
  windows_are(&t, 5, 2, 0, (const char *const[]){"abcde", "defgh", "ghij", NULL}, (size_t[]){5, 2, 0});
  windows_are(&t, 5, 2, 1, (const char *const[]){"fghij", "cdefg", "abcd", NULL}, (size_t[]){5, 2, 0});
  windows_are(&t, 6, 0, 0, (const char *const[]){"abcdef", "ghij", NULL}, (size_t[]){4, 0});
  windows_are(&t, 6, 0, 1, (const char *const[]){"efghij", "abcd", NULL}, (size_t[]){4, 0});
  windows_are(&t, 10, 3, 1, (const char *const[]){"abcdefghij", NULL}, (size_t[]){0});
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("a b c d e f g h i j", 19);
  input.limit = (attn2c_text_limit){6, ATTN2C_TEXT_ONLY_FIRST, 0};
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  cr_assert_eq(attn2c_text_encode_next(t.work, &input, 4, &tokens), ATTN2C_FORMAT);
  cr_assert_str_eq(attn2c_text_fault(t.work), "the stride is not less than the tokens of a window");
  close_golden(&t);
}

/* A tokenizer of a few tokens, by its tokenizer.json. */
static tokenizer open_own(const char *json) {
  const char *path = scratch_path("own.json");
  scratch_put(path, json, strlen(json));
  return open_golden(path);
}

#define ADDED(id, content)                                                                                   \
  "{\"id\":" #id ",\"content\":\"" content                                                                   \
  "\",\"lstrip\":false,\"rstrip\":false,\"single_word\":false,\"normalized\":false,\"special\":true}"

Test(text, added_tokens_are_the_longest_at_their_place) {
  tokenizer t =
      open_own("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},\"added_tokens\":[" ADDED(
          1, "<x>") "," ADDED(2, "<x><y>") "," ADDED(3, "<x><y><z>") "]}");
  static const int32_t expected[] = {2, 0, 1, 3};
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("<x><y>a<x><x><y><z>", 19);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  cr_assert_eq(tokens.length, 4);
  for (int i = 0; i < 4; i++) cr_expect_eq(tokens.ids[i], expected[i]);
  close_golden(&t);
}

static void decodes_to(const tokenizer *t, const int32_t *ids, size_t count, const char *expected) {
  const char *text;
  size_t length;
  cr_assert_eq(attn2c_text_decode(t->work, ids, count, 0, &text, &length), ATTN2C_OK);
  cr_expect(length == strlen(expected) && memcmp(text, expected, length) == 0, "%.*s", (int)length, text);
}

Test(text, spaces_that_nobody_put_in_front_stay) {
  static const char *const schemes[][2] = {{"always", "a b"}, {"first", "a b"}, {"never", " a b"}};
  for (size_t i = 0; i < 3; i++) {
    char json[400];
    snprintf(
        json, sizeof json,
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"_a\":0,\"_b\":1},\"merges\":[]},\"decoder\":{\"type\":"
        "\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"%s\"}}",
        schemes[i][0]);
    tokenizer t = open_own(json);
    decodes_to(&t, (const int32_t[]){0, 1}, 2, schemes[i][1]);
    close_golden(&t);
  }
}

Test(text, words_that_are_no_letters_of_bytes_stay) {
  tokenizer t =
      open_own("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\\u0120a\":0,\"b\\u4e2d\":1},\"merges\":[]},"
               "\"decoder\":{\"type\":\"ByteLevel\"}}");
  decodes_to(&t, (const int32_t[]){0, 1}, 2, " ab\xe4\xb8\xad");
  close_golden(&t);
}

/* One space before the first word was put there, and belongs to no place; two are the text's. */
Test(text, two_spaces_belong_to_no_word) {
  tokenizer t = open_own(
      "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\\u0120\":0,\"\\u0120\\u0120\":1,\"a\":2,\"\\u0120a\":3},"
      "\"merges\":[\"\\u0120 \\u0120\",\"\\u0120 a\"]},\"pre_tokenizer\":{\"type\":\"ByteLevel\","
      "\"add_prefix_space\":true,\"trim_offsets\":true},\"post_processor\":{\"type\":\"ByteLevel\","
      "\"add_prefix_space\":true,\"trim_offsets\":true}}");
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("   a", 4);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  cr_assert_eq(tokens.length, 2);
  cr_expect_eq(tokens.ids[0], 1);
  cr_expect_eq(tokens.places[0].begin, 2);
  cr_expect_eq(tokens.places[0].end, 2);
  cr_expect_eq(tokens.places[1].begin, 3);
  cr_expect_eq(tokens.places[1].end, 4);
  input = input_of("a", 1);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  cr_assert_eq(tokens.ids[0], 3);
  cr_expect_eq(tokens.places[0].begin, 0);
  cr_expect_eq(tokens.places[0].end, 1);
  close_golden(&t);
}

Test(text, ids_without_a_token_vanish) {
  tokenizer t = open_golden("bert_uncased");
  int32_t ids[] = {-1, 2147483647, (int32_t)t.text->tables.vocabulary};
  const char *text;
  size_t length = 7;
  cr_assert_eq(attn2c_text_decode(t.work, ids, 3, 0, &text, &length), ATTN2C_OK);
  cr_assert_eq(length, 0);
  cr_assert_null(attn2c_text_token(t.text, ids[2], &length));
  cr_assert_not_null(attn2c_text_token(t.text, 0, &length));
  close_golden(&t);
}
