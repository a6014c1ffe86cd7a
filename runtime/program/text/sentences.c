/* sentences.c - finds where the sentences of a text end, by the marks of many scripts. */
#include "program/text/generate.h"

static const char *const marks[] = {".", "!", "?", "…", "؟", "۔", "।", "։", NULL};
static const char *const wide_marks[] = {"。", "！", "？", NULL};
static const char *const closers[] = {"\"", "'", ")", "]", "”", "’", "»", "」", "』", "）", "“", NULL};
static const char *const abbreviations[] = {"Mr", "Mrs", "Ms", "Dr",  "Prof", "St", "Sr", "Jr",  "vs",  "etc",
                                            "cf", "No",  "Nr", "Fig", "Mme",  "Hr", "Fr", "Sra", "bzw", NULL};

/* Returns the bytes of the word of a list that a text begins with, or 0. */
static size_t one_of(const char *const *list, const char *text, size_t length) {
  for (; *list; list++) {
    const size_t bytes = strlen(*list);
    if (bytes <= length && memcmp(*list, text, bytes) == 0) return bytes;
  }
  return 0;
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static int is_small(char c) { return c >= 'a' && c <= 'z'; }
static int is_letter(char c) { return is_small(c) || (c >= 'A' && c <= 'Z'); }

/* True if a full stop after the text belongs to an initial or an abbreviation. */
static int is_short(const char *text, size_t length) {
  size_t begin = length;
  while (begin > 0 && is_letter(text[begin - 1])) begin--;
  /* A letter outside of ASCII before it: the word is a longer one. */
  if (begin > 0 && (unsigned char)text[begin - 1] >= 0x80) return 0;
  if (length - begin == 1) return 1;
  for (size_t i = 0; abbreviations[i]; i++)
    if (strlen(abbreviations[i]) == length - begin &&
        memcmp(abbreviations[i], text + begin, length - begin) == 0)
      return 1;
  return 0;
}

size_t attn2c_sentence(const char *text, size_t length) {
  size_t at = 0, bytes;
  while (at < length && text[at] != '\n') {
    const int is_wide = one_of(wide_marks, text + at, length - at) > 0;
    if (!is_wide && !one_of(marks, text + at, length - at)) {
      at++;
      continue;
    }
    const int is_stop = text[at] == '.' && is_short(text, at);
    while ((bytes = one_of(marks, text + at, length - at)) ||
           (bytes = one_of(wide_marks, text + at, length - at)))
      at += bytes;
    while ((bytes = one_of(closers, text + at, length - at))) at += bytes;
    size_t next = at;
    while (next < length && is_blank(text[next])) next++;
    if (!is_stop && (is_wide || next == length || (next > at && !is_small(text[next])))) return next;
  }
  while (at < length && is_blank(text[at])) at++;
  return at;
}
