/* nearest.c - finds words of a list: equal ones, and near ones by insertions, deletions and replacements of
 * letters. */
#include "program/options.h"

enum { LONGEST = 32 };

static int distance(const char *a, const char *b) {
  int row[LONGEST + 1];
  const int length = (int)strlen(b);
  for (int j = 0; j <= length; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      const int above = row[j], cost = a[i - 1] != b[j - 1];
      row[j] = (int)attn2c_lesser(attn2c_lesser(above + 1, row[j - 1] + 1), diagonal + cost);
      diagonal = above;
    }
  }
  return row[length];
}

const char *attn2c_nearest(const char *word, int count, const char *(*of)(const void *list, int i),
                           const void *list) {
  const int length = (int)strnlen(word, LONGEST + 1);
  const char *best = NULL;
  int nearest = length < 8 ? (length + 1) / 3 : 3; /* largest distance that is still near */
  if (length > LONGEST) return NULL;
  for (int i = 0; i < count; i++) {
    const char *each = of(list, i);
    if (strlen(each) > LONGEST) continue;
    const int d = distance(word, each);
    if (d < nearest || (d == nearest && !best)) best = each, nearest = d;
  }
  return best;
}

int attn2c_number_of_word(const char *words, const char *text) {
  for (int number = 0; *words; number++) {
    const size_t length = strcspn(words, ", ");
    if (strlen(text) == length && memcmp(words, text, length) == 0) return number;
    words += length + strspn(words + length, ", ");
    if (strncmp(words, "or ", 3) == 0) words += 3;
  }
  return -1;
}
