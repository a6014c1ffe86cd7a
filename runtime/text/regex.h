/* regex.h - patterns, matched by PCRE2. They come from the tables, where gen/text/regex.lua wrote them in
 * PCRE2's dialect. A match sees the text through a window, which grows as long as more of the text could
 * change the match. So the cost is of the text that it reads. Steps count in the text's budget. */
#pragma once

#include "text/budget.h"
#include "text/tables.h"

typedef struct text_regex text_regex;     /* may be shared by threads */
typedef struct text_matcher text_matcher; /* belongs to one caller */

/* place: the name of the pattern in messages. */
int text_regex_compile(text_span pattern, int jit, const char *place, text_regex **regex,
                       attn2c_message *message);
void text_regex_free(text_regex *regex);

int text_matcher_create(text_budget *budget, text_matcher **matcher);
void text_matcher_free(text_matcher *matcher);

/* The state of a search for all matches of a text, from left to right. */
typedef struct text_search {
  const text_regex *regex;
  text_matcher *matcher;
  const uint8_t *text;
  size_t length, at, last_end;
  int has_last, exact;
  int open; /* 1: more text follows, which is not known */
  size_t
      settled; /* the end of a search without a match: no match begins before this place, whatever follows */
} text_search;

text_search text_search_start(const text_regex *regex, text_matcher *matcher, const uint8_t *text,
                              size_t length);
/* Finds the next match, [begin, end), and sets *found. An empty match never directly follows a match. */
int text_search_next(text_search *search, int *found, size_t *begin, size_t *end);
/* Sets *matches to 1 if the pattern matches at the start of the text. */
int text_regex_starts(const text_regex *regex, text_matcher *matcher, const uint8_t *text, size_t length,
                      int *matches);
