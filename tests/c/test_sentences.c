/* test_sentences.c - texts are cut where their sentences end, and nowhere else. */
#include "program/text/generate.h"

#include <criterion/criterion.h>
#include <string.h>

/* Cuts a text at every end, with | between the parts. */
static const char *cut(const char *text) {
  static char parts[400];
  size_t used = 0, length = strlen(text);
  while (length > 0) {
    const size_t bytes = attn2c_sentence(text, length);
    cr_assert(bytes > 0 && bytes <= length);
    if (used) parts[used++] = '|';
    memcpy(parts + used, text, bytes);
    used += bytes, text += bytes, length -= bytes;
  }
  parts[used] = '\0';
  return parts;
}

Test(sentences, end_with_a_mark_before_a_blank) {
  cr_assert_str_eq(cut("A cat. A dog! Two?  3 of it"), "A cat. |A dog! |Two?  |3 of it");
  cr_assert_str_eq(cut("At 3.5 m. No!? Yes... Zoé"), "At 3.5 m. No!? |Yes... |Zoé");
  cr_assert_str_eq(cut("It is. it is not. Well"), "It is. it is not. |Well");
  cr_assert_str_eq(cut("Где вокзал? Там… Да"), "Где вокзал? |Там… |Да");
}

Test(sentences, have_quotes_and_brackets_after_their_mark) {
  cr_assert_str_eq(cut("“A cat.” (A dog.) \"Two!\" »x«"), "“A cat.” |(A dog.) |\"Two!\" |»x«");
  cr_assert_str_eq(cut("(He said: “Yes.”) No"), "(He said: “Yes.”) |No");
}

Test(sentences, of_chinese_and_japanese_need_no_blank) {
  cr_assert_str_eq(cut("東京の駅。どこ？「ここ！」はい"), "東京の駅。|どこ？|「ここ！」|はい");
}

Test(sentences, go_on_after_abbreviations) {
  cr_assert_str_eq(cut("Dr. A. Smith vs. St. Mary. Then"), "Dr. A. Smith vs. St. Mary. |Then");
  cr_assert_str_eq(cut("The U.S. Army. Drs. Smith. Zoé. Then"), "The U.S. Army. |Drs. |Smith. |Zoé. |Then");
}

Test(sentences, end_with_a_line) {
  cr_assert_str_eq(cut("one\n\n two\nthree"), "one\n\n |two\n|three");
  cr_assert_str_eq(cut("One.\nTwo. \n"), "One.\n|Two. \n");
  cr_assert_str_eq(cut("\n x"), "\n |x");
  cr_assert_str_eq(cut("a b"), "a b");
}
