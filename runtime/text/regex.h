/* regex.h - patterns, by PCRE2. They come from the tables, where gen/text/regex.lua left them in PCRE2's
 * dialect. A match sees the text through a window that grows while more of the text could change the match,
 * so that its cost depends on what it reads; matching counts its steps in the text's budget. */
#ifndef ATTN2C_TEXT_REGEX_H
#define ATTN2C_TEXT_REGEX_H

#include "text/budget.h"
#include "text/tables.h"

typedef struct text_regex text_regex;     /* shared */
typedef struct text_matcher text_matcher; /* one caller's */

/* place: how messages call the pattern. */
int text_regex_compile(text_span pattern, int jit, const char *place, text_regex **regex,
                       attn2c_message *message);
void text_regex_free(text_regex *regex);

int text_matcher_create(text_budget *budget, text_matcher **matcher);
void text_matcher_free(text_matcher *matcher);

/* Going through the matches of a text, from left to right. */
typedef struct text_search {
  const text_regex *regex;
  text_matcher *matcher;
  const uint8_t *text;
  size_t length, at, last_end;
  int has_last, exact;
  int open;       /* more text follows, which is not known */
  size_t settled; /* where nothing more was found: no match begins before this, whatever follows */
} text_search;

text_search text_search_start(const text_regex *regex, text_matcher *matcher, const uint8_t *text,
                              size_t length);
/* found: whether there is another match, [begin, end). No empty match follows a match at once. */
int text_search_next(text_search *search, int *found, size_t *begin, size_t *end);
/* Whether the pattern matches at the start of the text. */
int text_regex_starts(const text_regex *regex, text_matcher *matcher, const uint8_t *text, size_t length,
                      int *matches);

#endif
