/* test_breakers.c - the breakers of DRY: each token of the list has the text in it, or ends with its
 * beginning and is followed by the tokens of the rest; no such token is missing. */
#include "generate/breakers.h"

#include "faults.h"
#include "golden_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { VOCABULARY = 600 };

/* True if the breakers after `first` have a token with the rest of a text. */
static int is_there(const tokenizer *t, const int32_t *list, int32_t size, int32_t token, const char *rest) {
  int32_t ids[ATTN2C_BREAKER_TOKENS];
  size_t count = 0;
  if (*rest) {
    const attn2c_text_input input = {.text = rest,
                                     .length = strlen(rest),
                                     .plain = 1,
                                     .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
    attn2c_text_tokens tokens;
    cr_assert_eq(attn2c_text_encode(t->work, &input, &tokens), ATTN2C_OK);
    count = tokens.length < ATTN2C_BREAKER_TOKENS ? tokens.length : ATTN2C_BREAKER_TOKENS;
    memcpy(ids, tokens.ids, count * sizeof *ids);
  }
  int found = 0;
  for (int32_t at = 0; at < size; at += 1 + list[at])
    found += list[at] == (int32_t)count + 1 && list[at + 1] == token &&
             memcmp(list + at + 2, ids, count * sizeof *ids) == 0;
  return found;
}

static void check(const tokenizer *t, const char *const *texts, int count, int least) {
  int32_t *list, size, numbers = 0, expected = 0;
  cr_assert_eq(attn2c_dry_breakers(t->work, VOCABULARY, texts, count, &list, &size), ATTN2C_OK);
  for (int32_t at = 0; at < size; at += 1 + list[at]) numbers++;
  for (int32_t token = 0; token < VOCABULARY; token++) {
    char piece[200];
    const char *text;
    size_t length;
    cr_assert_eq(attn2c_text_decode(t->work, &token, 1, 0, &text, &length), ATTN2C_OK);
    cr_assert_lt(length, sizeof piece);
    memcpy(piece, text, length), piece[length] = '\0';
    for (int i = 0; i < count; i++) {
      const char *seen[40];
      int others = 0;
      const int is_in = strstr(piece, texts[i]) != NULL;
      for (size_t from = 0; from < length && !is_in; from++) {
        const char *rest = texts[i] + (length - from);
        if (length - from >= strlen(texts[i]) || strncmp(piece + from, texts[i], length - from) != 0)
          continue;
        seen[others++] = rest;
      }
      if (is_in) seen[others++] = "";
      for (int j = 0; j < others; j++)
        cr_assert_geq(is_there(t, list, size, token, seen[j]), 1, "token %d '%s' of '%s'", token, piece,
                      texts[i]);
      expected += others;
    }
  }
  cr_assert(numbers <= expected && numbers >= least, "%d breakers, but %d to %d are expected", numbers, least,
            expected);
  free(list);
}

Test(breakers, by_the_definition) {
  static const char *const usual[] = {"\n", ":", "\"", "*"}, *const words[] = {"the", " one two", "e"};
  static const char *const names[] = {"gpt2", "gemma", "llama3"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tokenizer t = open_golden(names[i]);
    check(&t, usual, 4, 1);
    check(&t, words, 3, 3);
    check(&t, words, 0, 0);
    close_golden(&t);
  }
}

Test(breakers, faults) {
  static const char *const empty[] = {"a", ""}, *const words[] = {"the", " one two"};
  int32_t *list = NULL, size = 1;
  tokenizer t = open_golden("gpt2");
  cr_assert_eq(attn2c_dry_breakers(t.work, VOCABULARY, empty, 2, &list, &size), ATTN2C_USAGE);
  cr_assert(!list && size == 0);
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    const int status = attn2c_dry_breakers(t.work, VOCABULARY, words, 2, &list, &size);
    if (status == ATTN2C_OK) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert(!list && size == 0);
  }
  faults_clear();
  free(list);
  close_golden(&t);
}
