/* test_stop.c - stop strings in texts that come in pieces, against a search in the whole text: where the text
 * ends, and that what is shown is as long as can be, and never ends within a character. */
#include "generate/stop.h"

#include "base/utf8.h"
#include "faults.h"
#include "generate/draw.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define DRAW(limit) attn2c_draw_below(attn2c_draw_bits(seed, n++), (limit))

static char text[4096];
static attn2c_message message;

static attn2c_stop *create(const char *const *strings, int count) {
  attn2c_stop *stop;
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_stop_create(&stop, strings, count, &message), ATTN2C_OK, "%s", text);
  return stop;
}

/* Returns the number of the stop string that ended the text, or -1. */
static int ended_by(attn2c_stop *stop) { return attn2c_stop_feed(stop, "", 0); }

static uint64_t shown_after(attn2c_stop *stop, const char *piece) {
  attn2c_stop_feed(stop, piece, strlen(piece));
  return attn2c_stop_shown(stop);
}

Test(stop, pieces) {
  static const char *const strings[] = {"<end>", "\n\nUser:"};
  attn2c_stop *stop = create(strings, 2);
  cr_assert_eq(shown_after(stop, "a b"), 3);
  cr_assert_eq(shown_after(stop, " <e"), 4);
  cr_assert_eq(shown_after(stop, "x"), 7);
  cr_assert_eq(shown_after(stop, "\n"), 7);
  cr_assert_eq(shown_after(stop, "\n"), 7);
  cr_assert_eq(shown_after(stop, "\n"), 8); /* the last two may begin the string */
  cr_assert_eq(shown_after(stop, "User"), 8);
  cr_assert_eq(ended_by(stop), -1);
  cr_assert_eq(shown_after(stop, ": more"), 8);
  cr_assert_eq(ended_by(stop), 1);
  cr_assert_eq(shown_after(stop, "more"), 8);
  attn2c_stop_reset(stop);
  cr_assert_eq(ended_by(stop), -1);
  cr_assert_eq(shown_after(stop, "12<en"), 2);
  attn2c_stop_end(stop);
  cr_assert_eq(attn2c_stop_shown(stop), 5);
  attn2c_stop_free(stop);
}

/* Takes a piece that is not of the text, such as a special token's. */
static uint64_t shown_after_hidden(attn2c_stop *stop, const char *piece) {
  attn2c_stop_feed_hidden(stop, piece, strlen(piece));
  return attn2c_stop_shown(stop);
}

Test(stop, hidden_pieces) {
  static const char *const strings[] = {"<s>\n\n", "b<e>", "cd", "<s><e>"};
  attn2c_stop *stop = create(strings, 4);
  cr_assert_eq(shown_after(stop, "a"), 1);
  cr_assert_eq(shown_after_hidden(stop, "<s>"), 1);
  cr_assert_eq(shown_after(stop, "\n"), 1); /* the string began in a hidden piece */
  cr_assert_eq(shown_after(stop, "x"), 3);
  cr_assert_eq(shown_after_hidden(stop, "<s>"), 3);
  cr_assert_eq(shown_after(stop, "\n\n"), 3);
  cr_assert_eq(ended_by(stop), 0);
  attn2c_stop_reset(stop);
  cr_assert_eq(shown_after(stop, "ab"), 1);
  cr_assert_eq(shown_after_hidden(stop, "<e>"), 1);
  cr_assert_eq(ended_by(stop), 1);
  attn2c_stop_reset(stop);
  cr_assert_eq(shown_after(stop, "ac"), 1);
  cr_assert_eq(shown_after_hidden(stop, "<s>"), 1); /* the text's own strings go on */
  cr_assert_eq(shown_after(stop, "d"), 1);
  cr_assert_eq(ended_by(stop), 2);
  attn2c_stop_reset(stop);
  cr_assert_eq(shown_after(stop, "a"), 1);
  shown_after_hidden(stop, "<s>");
  cr_assert_eq(shown_after_hidden(stop, "<e>"), 1);
  cr_assert_eq(ended_by(stop), 3);
  attn2c_stop_free(stop);
}

Test(stop, the_first_to_end_and_the_longest_of_these) {
  static const char *const first[] = {"abc", "b"}, *const longest[] = {"c", "bc", "abcd"};
  attn2c_stop *stop = create(first, 2);
  cr_assert_eq(shown_after(stop, "xabc"), 2);
  cr_assert_eq(ended_by(stop), 1);
  attn2c_stop_free(stop);
  stop = create(longest, 3);
  cr_assert_eq(shown_after(stop, "abc"), 1);
  cr_assert_eq(ended_by(stop), 1);
  attn2c_stop_free(stop);
}

Test(stop, characters) {
  static const char *const strings[] = {"\xc3\xa9!"};
  attn2c_stop *stop = create(strings, 1);
  cr_assert_eq(shown_after(stop, "a\xe2"), 1);
  cr_assert_eq(shown_after(stop, "\x82"), 1);
  cr_assert_eq(shown_after(stop, "\xac"), 4);
  cr_assert_eq(shown_after(stop, "\xc3"), 4);
  cr_assert_eq(shown_after(stop, "\xa9"), 4); /* may become the string */
  cr_assert_eq(shown_after(stop, "?"), 7);
  cr_assert_eq(shown_after(stop, "\xf0\x9f\x98"), 7);
  cr_assert_eq(shown_after(stop, "x"), 11); /* can be no character any more */
  cr_assert_eq(shown_after(stop, "\xed\xa0"), 13);
  cr_assert_eq(shown_after(stop, "\xff\xc0\x80"), 16);
  cr_assert_eq(shown_after(stop, "\xe2\x82"), 16);
  attn2c_stop_end(stop);
  cr_assert_eq(attn2c_stop_shown(stop), 16, "an end that is no character is not shown");
  attn2c_stop_free(stop);
  stop = create(NULL, 0);
  cr_assert_eq(shown_after(stop, "abc\xc3"), 3);
  attn2c_stop_free(stop);
}

Test(stop, refused) {
  static char lengthy[1026];
  static const char *many[65];
  static const char *const strings[] = {"", "ok", "a\xff"};
  attn2c_stop *stop = (attn2c_stop *)text;
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_stop_create(&stop, strings, 3, &message), ATTN2C_USAGE);
  cr_assert_null(stop);
  cr_assert_str_eq(text, "stop: string 1 has 0 bytes, but 1 to 1024 are allowed\n"
                         "stop: string 3 is not UTF-8 at byte 1, but only UTF-8 is allowed");
  memset(lengthy, 'a', 1025);
  for (int i = 0; i < 65; i++) many[i] = lengthy;
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_stop_create(&stop, many, 1, &message), ATTN2C_USAGE);
  cr_assert_str_eq(text, "stop: string 1 has 1025 bytes, but 1 to 1024 are allowed");
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_stop_create(&stop, many, 65, &message), ATTN2C_USAGE);
  cr_assert_str_eq(text, "stop: 65 strings, but 0 to 64 are allowed");
}

Test(stop, memory) {
  static const char *const strings[] = {"one", "two"};
  attn2c_stop *stop = NULL;
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    const int status = attn2c_stop_create(&stop, strings, 2, &message);
    if (status == ATTN2C_OK) {
      cr_assert_eq(nth, 6);
      break;
    }
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_null(stop);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  const long before = faults_allocations();
  shown_after(stop, "a twone");
  cr_assert_eq(faults_allocations(), before);
  attn2c_stop_free(stop);
  cr_assert_eq(faults_live_blocks(), 0);
}

/* How many bytes of `whole` may be shown, by definition; *found gets the string. */
static size_t shown_of(const char *whole, size_t size, const char *const *strings, int count, int *found) {
  *found = -1;
  for (size_t end = 1; end <= size; end++) {
    size_t longest = 0;
    for (int i = 0; i < count; i++) {
      const size_t n = strlen(strings[i]);
      if (n <= end && n > longest && memcmp(whole + end - n, strings[i], n) == 0) longest = n, *found = i;
    }
    if (*found >= 0) return end - longest;
  }
  size_t held = 0;
  for (size_t n = 1; n <= size; n++)
    for (int i = 0; i < count; i++)
      if (strlen(strings[i]) > n && memcmp(whole + size - n, strings[i], n) == 0) held = n;
  /* an end that some bytes would make a character */
  static const char seconds[] = "\x80\x90\xa0\xbf";
  for (size_t n = 1; n <= 3 && n <= size; n++)
    for (int i = 0; i < 4; i++)
      for (size_t width = n + 1; width <= 4; width++) {
        char character[4] = {seconds[i], seconds[i], seconds[i], seconds[i]};
        memcpy(character, whole + size - n, n);
        if (attn2c_utf8_width(character, width) == width && n > held) held = n;
      }
  return size - held;
}

Test(stop, random_texts) {
  static const char *const letters[] = {"a", "b", "ab", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  static const char bytes[] = "ab\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0";
  int stopped = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    uint64_t n = 0;
    char strings[4][40], whole[60];
    const char *list[4];
    const int count = (int)DRAW(5);
    for (int i = 0; i < count; i++) {
      strings[i][0] = '\0';
      for (uint64_t parts = 1 + DRAW(5); parts > 0; parts--) strcat(strings[i], letters[DRAW(6)]);
      list[i] = strings[i];
    }
    attn2c_stop *stop = create(list, count);
    uint64_t shown = 0;
    int found;
    for (size_t size = 1; size <= 40; size++) {
      const uint64_t kinds = DRAW(2) ? 2 : 13;
      whole[size - 1] = bytes[DRAW(kinds)];
      const int fed = attn2c_stop_feed(stop, whole + size - 1, 1);
      const size_t expected = shown_of(whole, size, list, count, &found);
      cr_assert_eq(attn2c_stop_shown(stop), expected, "seed %llu, %zu bytes: %llu, but %zu is expected",
                   (unsigned long long)seed, size, (unsigned long long)attn2c_stop_shown(stop), expected);
      cr_assert_eq(fed, found);
      cr_assert_geq(attn2c_stop_shown(stop), shown);
      shown = attn2c_stop_shown(stop);
    }
    attn2c_stop_reset(stop);
    cr_assert_eq(attn2c_stop_feed(stop, whole, 40), found, "in one piece");
    cr_assert_eq(attn2c_stop_shown(stop), shown);
    stopped += found >= 0;
    attn2c_stop_free(stop);
  }
  cr_assert(stopped > 500 && stopped < 2900, "%d", stopped);
}
