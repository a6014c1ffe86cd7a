/* test_text_budget.c - a text's steps: they grow as the text does, for every kind of tokenizer; a text beyond
 * its budget is refused, a caller can stop one, and a limit of tokens ends the work early with the same
 * tokens.
 */
#include "golden_text.h"
#include "long.h"
#include "scratch.h"
#include "text/budget.h"
#include "text/stages.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(budget, .init = scratch_open, .fini = scratch_close, .timeout = 600);

/* All goldens, one after another. */
static void each_golden(void (*check)(const char *name, const tokenizer *t)) {
  DIR *folder = opendir("tests/text/goldens");
  int count = 0;
  cr_assert_not_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[256];
    snprintf(name, sizeof name, "%s", entry->d_name);
    char *end = strstr(name, ".json.gz");
    if (!end) continue;
    *end = 0;
    tokenizer t = open_golden(name);
    check(name, &t);
    close_golden(&t);
    count++;
  }
  closedir(folder);
  cr_assert(count >= 35, "%d goldens", count);
}

static char *repeated(const char *unit, size_t bytes, size_t *length) {
  size_t width = strlen(unit), count = bytes / width;
  char *text = malloc(count * width + 1);
  for (size_t i = 0; i < count; i++) memcpy(text + i * width, unit, width);
  *length = count * width;
  return text;
}

static uint64_t steps_of(const tokenizer *t, const char *text, size_t length) {
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of(text, length);
  cr_assert_eq(attn2c_text_encode(t->work, &input, &tokens), ATTN2C_OK, "%s", attn2c_text_fault(t->work));
  return t->work->budget.steps;
}

/* Steps of a text of twice the length, of the same unit. */
static void grows_linearly(const char *name, const tokenizer *t, const char *unit, size_t bytes) {
  size_t half, whole;
  char *text = repeated(unit, bytes, &half);
  uint64_t small = steps_of(t, text, half);
  free(text);
  text = repeated(unit, 2 * bytes, &whole);
  uint64_t large = steps_of(t, text, whole);
  free(text);
  cr_assert(small >= half, "%s, %s: %zu bytes take %llu steps", name, unit, half, (unsigned long long)small);
  cr_assert(large <= small * 22 / 10, "%s, %s: %zu bytes take %llu steps, %zu take %llu", name, unit, half,
            (unsigned long long)small, whole, (unsigned long long)large);
  cr_assert(large < whole * TEXT_STEPS_BYTE / 8, "%s, %s: %llu steps are near the limit", name, unit,
            (unsigned long long)large);
}

static const char *const units[] = {"a",
                                    " ",
                                    "\n",
                                    "7",
                                    ".",
                                    "\xcc\x81",
                                    "e\xcc\x81\xcc\xa3",
                                    "\xff",
                                    "the quick brown fox's 12 ",
                                    "中",
                                    "\xe2\x80\x8d",
                                    "[MASK]",
                                    "<mask> ",
                                    "\r\n "};

/* Every second unit, the others for the next golden; all of them in `make test-long`. */
static void check_growth(const char *name, const tokenizer *t) {
  static size_t turn;
  const size_t bytes = is_long() ? 4096 : 1024, step = is_long() ? 1 : 2;
  for (size_t u = turn++ % step; u < sizeof units / sizeof units[0]; u += step)
    grows_linearly(name, t, units[u], bytes);
}

/* The texts of the goldens, end to end: of every script, and bytes that are no text between them. */
#define SAMPLE_ROOM 100000
static char sample[SAMPLE_ROOM];
static size_t sample_length;

static void assert_beginning(const char *name, const tokenizer *t, size_t from, size_t length) {
  static const size_t limits[] = {1, 7, 60, 511};
  attn2c_text_work *work;
  attn2c_text_tokens all, some;
  attn2c_text_input input = input_of(sample + from, length);
  input.plain = 1;
  cr_assert_eq(attn2c_text_work_create(t->text, &work), ATTN2C_OK);
  const int expected = attn2c_text_encode(t->work, &input, &all);
  const uint64_t steps = t->work->budget.steps;
  for (size_t l = 0; l < 4 && expected == ATTN2C_OK; l++) {
    size_t count = all.length < limits[l] ? all.length : limits[l];
    input.limit.tokens = limits[l];
    cr_assert_eq(attn2c_text_encode(work, &input, &some), ATTN2C_OK, "%s: %s", name, attn2c_text_fault(work));
    cr_assert_eq(some.length, count, "%s: %zu tokens from %zu on, not %zu", name, some.length, from, count);
    cr_assert((some.removed > 0) == (all.length > count), "%s", name);
    for (size_t i = 0; i < count; i++)
      cr_assert(some.ids[i] == all.ids[i] && memcmp(&some.places[i], &all.places[i], sizeof *all.places) == 0,
                "%s: token %zu of the text from %zu on is another one for a limit of %zu", name, i, from,
                limits[l]);
    cr_assert(work->budget.steps <= 2 * steps, "%s: a limit makes more steps", name);
  }
  attn2c_text_work_destroy(work);
}

/* Every sixth place, another one for each golden in turn; all of them in `make test-long`. */
static void check_beginning(const char *name, const tokenizer *t) {
  static size_t turn;
  const size_t step = 10007, places = is_long() ? 1 : 6;
  for (size_t from = turn++ % places * step; from + 9000 < sample_length; from += places * step) {
    assert_beginning(name, t, from, 9000);
    assert_beginning(name, t, from, 700);
  }
}

static void read_sample(void) {
  tokenizer t;
  read_tables(&t, "gpt2");
  free(t.tables);
  sample_length = scratch_get(scratch_path("texts"), sample, SAMPLE_ROOM);
  cr_assert(sample_length > 50000 && sample_length < SAMPLE_ROOM);
}

static void check_golden(const char *name, const tokenizer *t) {
  check_growth(name, t);
  check_beginning(name, t);
}

Test(budget, steps_grow_with_the_text_and_a_limit_gives_the_first_tokens_of_all) {
  read_sample();
  each_golden(check_golden);
}

/* Text far after the limit takes no step, where the tokenizer cuts texts at all. */
Test(budget, the_rest_of_a_text_takes_no_steps) {
  static const char *const names[] = {"bert_uncased", "gpt2",   "llama3",    "qwen2",        "xlmr",
                                      "albert",       "suffix", "llama_old", "unigram_bytes"};
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    tokenizer t = open_golden(names[n]);
    attn2c_text_tokens tokens;
    size_t length;
    char *text = repeated("the quick brown fox jumps over the lazy dog. ", 4000000, &length);
    attn2c_text_input input = input_of(text, length);
    input.limit.tokens = 128;
    for (int pair = 0; pair < 2; pair++) {
      if (pair) input.pair = "a short one", input.pair_length = 11;
      cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
      cr_assert_eq(tokens.length, 128);
      cr_assert(tokens.removed > 0);
      cr_assert(t.work->budget.steps < 200000, "%s: %llu steps", names[n],
                (unsigned long long)t.work->budget.steps);
    }
    free(text);
    close_golden(&t);
  }
}

static size_t count_of(const attn2c_text_tokens *tokens, int source) {
  size_t count = 0;
  for (size_t i = 0; i < tokens->length; i++) count += tokens->sources[i] == source;
  return count;
}

/* The longer text has the odd token, however far after the limit its end is; of two of
 * the same length the second has it. */
Test(budget, the_odd_token_of_a_pair_is_the_longer_texts) {
  static const struct {
    size_t first, second, expected;
  } cases[] = {{50000, 49000, 64}, {49000, 50000, 63}, {50000, 50000, 63}, {9000, 900, 64}, {900, 9000, 63}};
  tokenizer t = open_golden("bert_uncased");
  size_t length;
  char *text = repeated("fox ", 60000, &length);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    attn2c_text_tokens tokens;
    attn2c_text_input input = input_of(text, cases[c].first);
    input.pair = text, input.pair_length = cases[c].second;
    input.plain = 1;
    input.limit.tokens = 127;
    cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
    cr_assert_eq(count_of(&tokens, 0), cases[c].expected, "case %zu: %zu", c, count_of(&tokens, 0));
    cr_assert_eq(count_of(&tokens, 1), 127 - cases[c].expected);
  }
  free(text);
  close_golden(&t);
}

/* A tokenizer of the letter A with one added token: some of it and a b. */
static tokenizer open_long_token(size_t letters) {
  static char json[40000];
  size_t at =
      (size_t)snprintf(json, sizeof json, "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":1,\"content\":\"");
  memset(json + at, 'A', letters), at += letters;
  at += (size_t)snprintf(
      json + at, sizeof json - at,
      "b\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,"
      "\"special\":true}],\"model\":{\"type\":\"BPE\",\"unk_token\":null,\"vocab\":{\"A\":0},"
      "\"merges\":[]}}");
  cr_assert(at < sizeof json);
  scratch_put(scratch_path("long.json"), json, at);
  return open_golden(scratch_path("long.json"));
}

/* A text's time does not depend on the length of tokens, where each byte could begin the long one. */
Test(budget, a_token_of_20000_letters_takes_one_pass) {
  attn2c_text_tokens tokens;
  tokenizer t = open_long_token(20000);
  size_t length;
  char *text = repeated("A", 300000, &length);
  attn2c_text_input input = input_of(text, length);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK, "%s", attn2c_text_fault(t.work));
  cr_assert_eq(tokens.length, length);
  cr_assert(t.work->budget.steps < 100 * length, "%llu steps", (unsigned long long)t.work->budget.steps);
  text[50000] = 'b';
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  cr_assert_eq(tokens.length, length - 20000);
  cr_assert_eq(tokens.ids[30000], 1);
  cr_assert_eq(tokens.places[30000].begin, 30000);
  cr_assert_eq(tokens.places[30000].end, 50001);
  free(text);
  close_golden(&t);
}

/* White characters after tokens that are white themselves, and take them: they are read once, not once a
 * token. */
Test(budget, tokens_of_white_characters_that_take_more_of_them_grow_linearly) {
  const char *json =
      "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":1,\"content\":\" \",\"single_word\":false,"
      "\"lstrip\":false,\"rstrip\":true,\"normalized\":true,\"special\":true}],\"model\":{"
      "\"type\":\"BPE\",\"unk_token\":null,\"vocab\":{\"A\":0},\"merges\":[]}}";
  scratch_put(scratch_path("white.json"), json, strlen(json));
  tokenizer t = open_golden(scratch_path("white.json"));
  grows_linearly("white", &t, " ", 10000);
  close_golden(&t);
}

/* A tokenizer of the digits, with a normalizer or a pre-tokenizer. */
static tokenizer open_digits(const char *normalizer, const char *pre_tokenizer) {
  static char text[8192];
  const char *vocabulary =
      "\"0\":0,\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6,\"7\":7,\"8\":8,\"9\":9,\"a\":10";
  int length = snprintf(text, sizeof text,
                        "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],"
                        "\"normalizer\":%s,\"pre_tokenizer\":%s,\"post_processor\":null,\"decoder\":null,"
                        "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
                        "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":false,"
                        "\"byte_fallback\":false,\"vocab\":{%s},\"merges\":[]}}",
                        normalizer, pre_tokenizer, vocabulary);
  cr_assert(length > 0 && (size_t)length < sizeof text);
  scratch_put(scratch_path("digits.json"), text, (size_t)length);
  return open_golden(scratch_path("digits.json"));
}

#define LOOKS_AHEAD                                                                                          \
  "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?=(\\\\d{3})+(?!\\\\d))\"},\"behavior\":\"Isolated\","      \
  "\"invert\":false}"

/* A pattern that reads to the end of the digits at each of them: published, and quadratic. */
Test(budget, a_quadratic_pattern_has_limits) {
  tokenizer t = open_digits("null", LOOKS_AHEAD);
  attn2c_text_work_destroy(t.work);
  attn2c_text_close(t.text);
  cr_assert_eq(attn2c_text_open(t.tables, t.size, ATTN2C_TEXT_JIT, &t.text, NULL), ATTN2C_OK);
  cr_assert_eq(attn2c_text_work_create(t.text, &t.work), ATTN2C_OK);
  attn2c_text_tokens tokens;
  size_t length;
  char *text = repeated("1234567890", 24000, &length);
  attn2c_text_input input = input_of(text, length);
  input.limit.tokens = 512;
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK, "%s", attn2c_text_fault(t.work));
  cr_assert_eq(tokens.length, 512);
  input.limit.tokens = ATTN2C_TEXT_ANY_LENGTH;
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_FORMAT);
  char expected[160];
  snprintf(expected, sizeof expected, "the tokenizer takes more than %llu steps for a text of %zu bytes",
           (unsigned long long)(TEXT_STEPS_LEAST + (uint64_t)length * TEXT_STEPS_BYTE), length);
  cr_assert_str_eq(attn2c_text_fault(t.work), expected);
  free(text);
  close_golden(&t);
}

/* Thirty Replaces that double a text make a billion of one letter. */
Test(budget, a_text_that_grows_has_limits) {
  static char normalizer[6000];
  strcpy(normalizer, "{\"type\":\"Sequence\",\"normalizers\":[");
  for (int i = 0; i < 30; i++) {
    strcat(normalizer, i ? "," : "");
    strcat(normalizer, "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}");
  }
  strcat(normalizer, "]}");
  tokenizer t = open_digits(normalizer, "null");
  attn2c_text_tokens tokens;
  attn2c_text_input input = input_of("a", 1);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_FORMAT);
  char expected[160];
  snprintf(expected, sizeof expected, "the tokenizer makes more than %zu bytes of a text of 1",
           TEXT_GROWTH_LEAST + TEXT_GROWTH_BYTE);
  cr_assert_str_eq(attn2c_text_fault(t.work), expected);
  close_golden(&t);
}

static int asked;
static int stops_at_third(void) { return ++asked >= 3; }

Test(budget, a_caller_stops_a_text_in_its_midst) {
  tokenizer t = open_digits("null", LOOKS_AHEAD);
  attn2c_text_tokens tokens;
  size_t length;
  char *text = repeated("1234567890", 60000, &length);
  attn2c_text_input input = input_of(text, length);
  attn2c_text_stop_by(t.work, stops_at_third);
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_USAGE);
  cr_assert_str_eq(attn2c_text_fault(t.work), "stopped");
  cr_assert_eq(asked, 3);
  cr_assert(t.work->budget.steps < 4000000, "%llu steps", (unsigned long long)t.work->budget.steps);
  attn2c_text_stop_by(t.work, NULL);
  input.length = 40;
  cr_assert_eq(attn2c_text_encode(t.work, &input, &tokens), ATTN2C_OK);
  free(text);
  close_golden(&t);
}
