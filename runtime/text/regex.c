/* regex.c - patterns by PCRE2, in UTF mode with Unicode's properties. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"
#include "text/unicode.h"

#include <pcre2.h>

/* Limit of PCRE2's own steps at one place of the text: the default of PCRE2 and Oniguruma. It is higher for
 * long texts, in which PCRE2 may read megabytes of blanks one by one. */
#define STEPS          10000000u
#define STEPS_PER_BYTE 16
#define HEAP_KIB       (256u << 10)

/* Bytes of the text that a search sees at first, and PCRE2's steps at one place. Both may grow by factors. */
#define WINDOW        256
#define WINDOW_GROWTH 4
#define FIRST_STEPS   1024u
#define STEPS_GROWTH  16

/* Steps that a search counts in addition to the bytes that it reads. */
#define SEARCH_STEPS 16

/* The exact pattern, and a faster one for texts without certain bytes, if there are such bytes. */
struct text_regex {
  pcre2_code *exact, *plain;
  uint8_t rare[256];
  int has_rare;
};

struct text_matcher {
  pcre2_match_data *data;
  pcre2_match_context *context;
  text_budget *budget;
};

static int compile(text_span pattern, int jit, const char *place, pcre2_code **code,
                   attn2c_message *message) {
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE;
  int error = 0;
  PCRE2_SIZE where = 0;
  *code = pcre2_compile(pattern.bytes, pattern.length, options, &error, &where, NULL);
  /* Without executable memory the pattern is interpreted. */
  if (*code && jit) (void)pcre2_jit_compile(*code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  if (*code) return ATTN2C_OK;
  if (error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED) return ATTN2C_MEMORY;
  PCRE2_UCHAR reason[128] = "";
  (void)pcre2_get_error_message(error, reason, sizeof reason); /* the message is cut to the array's size */
  attn2c_say(message, "tokenizer tables: %s: PCRE2 refuses the pattern: %s", place, (const char *)reason);
  return ATTN2C_FORMAT;
}

/* A packed pattern (gen/text/regex.lua): the plain one's length, a set of 256 bits, the two patterns. */
#define SET_BYTES  32
#define PACK_BYTES (4 + SET_BYTES)

int text_regex_compile(text_span packed, int jit, const char *place, text_regex **regex,
                       attn2c_message *message) {
  const uint8_t *at = packed.bytes;
  *regex = NULL;
  size_t plain =
      packed.length < PACK_BYTES ? 0 : at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
  if (packed.length < PACK_BYTES || plain > packed.length - PACK_BYTES) {
    attn2c_say(message, "tokenizer tables: %s: the pattern is incomplete", place);
    return ATTN2C_FORMAT;
  }
  text_regex *made = calloc(1, sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  for (size_t byte = 0; byte < 256; byte++)
    made->rare[byte] = at[4 + byte / 8] >> byte % 8 & 1, made->has_rare |= made->rare[byte];
  text_span first = {at + PACK_BYTES, plain},
            second = {at + PACK_BYTES + plain, packed.length - PACK_BYTES - plain};
  int status = compile(second, jit, place, &made->exact, message);
  if (status == ATTN2C_OK && made->has_rare) status = compile(first, jit, place, &made->plain, message);
  if (status == ATTN2C_OK)
    *regex = made;
  else
    text_regex_free(made);
  return status;
}

void text_regex_free(text_regex *regex) {
  if (!regex) return;
  pcre2_code_free(regex->exact);
  pcre2_code_free(regex->plain);
  free(regex);
}

int text_matcher_create(text_budget *budget, text_matcher **matcher) {
  text_matcher *made = malloc(sizeof *made);
  *matcher = NULL;
  if (!made) return ATTN2C_MEMORY;
  made->budget = budget;
  made->data = pcre2_match_data_create(1, NULL);
  made->context = pcre2_match_context_create(NULL);
  *matcher = made;
  if (made->data && made->context) {
    pcre2_set_heap_limit(made->context, HEAP_KIB);
    return ATTN2C_OK;
  }
  text_matcher_free(made);
  *matcher = NULL;
  return ATTN2C_MEMORY;
}

void text_matcher_free(text_matcher *matcher) {
  if (!matcher) return;
  pcre2_match_data_free(matcher->data);
  pcre2_match_context_free(matcher->context);
  free(matcher);
}

text_search text_search_start(const text_regex *regex, text_matcher *matcher, const uint8_t *text,
                              size_t length) {
  int exact = !regex->has_rare;
  for (size_t i = 0; i < length && !exact; i++) exact = regex->rare[text[i]];
  return (text_search){.regex = regex, .matcher = matcher, .text = text, .length = length, .exact = exact};
}

/* Returns the end of a window of `width` bytes: the beginning of a character, or the text's end. */
static size_t window_end(const text_search *search, size_t width) {
  if (width >= search->length - search->at) return search->length;
  size_t end = search->at + width;
  while ((search->text[end] & 0xc0) == 0x80) end--;
  return end;
}

static int has_more(const text_search *search, size_t end) { return end < search->length || search->open; }

/* Calls PCRE2 once and returns its result, PCRE2_ERROR_PARTIAL if text after `end` could change the match.
 * The interpreter is used if the machine code's stack is too small. */
static int match(const text_search *search, size_t end, uint32_t options, uint64_t steps) {
  const pcre2_code *code = search->exact ? search->regex->exact : search->regex->plain;
  text_matcher *matcher = search->matcher;
  options |= PCRE2_NO_UTF_CHECK | (has_more(search, end) ? PCRE2_PARTIAL_HARD : 0);
  pcre2_set_match_limit(matcher->context, steps > UINT32_MAX ? UINT32_MAX : (uint32_t)steps);
  int result = pcre2_match(code, search->text, end, search->at, options, matcher->data, matcher->context);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT)
    result = pcre2_match(code, search->text, end, search->at, options | PCRE2_NO_JIT, matcher->data,
                         matcher->context);
  return result;
}

/* The limits of a search: its window, and PCRE2's steps at one place. PCRE2 counts the steps for each place
 * from 0, so that one_place is set to try only one. */
typedef struct limits {
  size_t width;
  uint64_t steps;
  int one_place;
} limits;

static uint64_t first_steps(size_t span) { return FIRST_STEPS + (uint64_t)span * STEPS_PER_BYTE; }

/* Continues at `end`, because there is no match before it. Returns 1 if the search is over. */
static int pass(text_search *search, size_t end, limits *now) {
  size_t width = 1;
  if (now->one_place && search->at < search->length) {
    text_read(search->text + search->at, &width);
    search->at += width;
  } else {
    search->at = end;
    if (end == search->length) return search->settled = end, 1;
  }
  *now = (limits){WINDOW, 0, 0};
  return 0;
}

/* Widens the window, as more text could change the match at `begin`. Returns 1 if there is none. */
static int widen(text_search *search, size_t begin, size_t end, limits *now) {
  if (begin > search->at && begin <= end) search->at = begin;
  if (end == search->length) return search->settled = search->at, 1;
  now->width *= WINDOW_GROWTH;
  return 0;
}

/* Finds the first match at `at` or after it. */
static int find(text_search *search, int *found) {
  limits now = {WINDOW, 0, 0};
  const PCRE2_SIZE *places = pcre2_get_ovector_pointer(search->matcher->data);
  *found = 0;
  for (int is_over = 0; !is_over;) {
    size_t end = window_end(search, now.width), span = end - search->at;
    if (now.steps < first_steps(span)) now.steps = first_steps(span);
    int result = match(search, end, now.one_place ? PCRE2_ANCHORED : 0, now.steps);
    /* An empty match at the window's end has not seen the text that follows. */
    if (result >= 0 && places[0] == end && has_more(search, end)) result = PCRE2_ERROR_NOMATCH;
    *found = result >= 0;
    if (*found && now.width == WINDOW && places[1] >= search->at) span = places[1] - search->at;
    uint64_t steps = SEARCH_STEPS + span + (now.one_place ? now.steps : 0);
    int status = text_spend(search->matcher->budget, steps);
    if (status != ATTN2C_OK || *found) return status;
    if (result == PCRE2_ERROR_NOMATCH) {
      is_over = pass(search, end, &now);
    } else if (result == PCRE2_ERROR_PARTIAL) {
      is_over = widen(search, places[0], end, &now);
    } else if (result == PCRE2_ERROR_MATCHLIMIT) {
      if (now.steps >= STEPS + (uint64_t)search->length * STEPS_PER_BYTE) return ATTN2C_FORMAT;
      now.steps *= STEPS_GROWTH, now.one_place = 1;
    } else {
      return result == PCRE2_ERROR_NOMEMORY ? ATTN2C_MEMORY : ATTN2C_FORMAT;
    }
  }
  return ATTN2C_OK;
}

int text_search_next(text_search *search, int *found, size_t *begin, size_t *end) {
  while (search->at <= search->length) {
    int status = find(search, found);
    if (status != ATTN2C_OK || !*found) return status;
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(search->matcher->data);
    *begin = places[0], *end = places[1];
    /* \K and lookbehinds can move a match before the place where the search began. */
    if (*begin > *end || *begin < search->at) return ATTN2C_FORMAT;
    if (*begin < *end || !search->has_last || search->last_end != *end) {
      search->at = search->last_end = *end;
      search->has_last = 1;
      return ATTN2C_OK;
    }
    size_t width = 1;
    if (search->at < search->length) text_read(search->text + search->at, &width);
    search->at += width;
  }
  search->settled = search->length;
  *found = 0;
  return ATTN2C_OK;
}

int text_regex_starts(const text_regex *regex, text_matcher *matcher, const uint8_t *text, size_t length,
                      int *matches) {
  text_search search = text_search_start(regex, matcher, text, length);
  int result = match(&search, length, PCRE2_ANCHORED, STEPS);
  *matches = result >= 0;
  if (result < 0 && result != PCRE2_ERROR_NOMATCH)
    return result == PCRE2_ERROR_NOMEMORY ? ATTN2C_MEMORY : ATTN2C_FORMAT;
  return text_spend(matcher->budget, SEARCH_STEPS);
}
