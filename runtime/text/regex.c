/* regex.c - patterns by PCRE2, in UTF mode with Unicode's properties. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"
#include "text/unicode.h"

#include <pcre2.h>
#include <stdlib.h>

/* Steps of one match: the default of PCRE2 and Oniguruma, and more for long texts, where a blank line of
 * megabytes is gone through character by character. */
#define STEPS          10000000u
#define STEPS_PER_BYTE 16
#define HEAP_KIB       (256u << 10)

/* The exact pattern, and a faster one for texts without certain bytes. Without such bytes there is one. */
struct text_regex {
  pcre2_code *exact, *plain;
  uint8_t rare[256];
  int has_rare;
};

struct text_matcher {
  pcre2_match_data *data;
  pcre2_match_context *context;
};

static int compile(text_span pattern, int jit, const char *place, pcre2_code **code,
                   attn2c_message *message) {
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE;
  int error = 0;
  PCRE2_SIZE where = 0;
  *code = pcre2_compile(pattern.bytes, pattern.length, options, &error, &where, NULL);
  /* Where the system allows no executable memory the pattern is interpreted. */
  if (*code && jit) (void)pcre2_jit_compile(*code, PCRE2_JIT_COMPLETE);
  if (*code) return ATTN2C_OK;
  if (error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED) return ATTN2C_MEMORY;
  PCRE2_UCHAR reason[128] = "";
  (void)pcre2_get_error_message(error, reason, sizeof reason); /* cut to what the array takes */
  attn2c_say(message, "tokenizer tables: %s: PCRE2 refuses the pattern: %s", place, (const char *)reason);
  return ATTN2C_FORMAT;
}

/* What gen/text/regex.lua packs: the plain pattern's length, a set of 256 bits, the two patterns. */
#define SET_BYTES  32
#define PACK_BYTES (4 + SET_BYTES)

int text_regex_compile(text_span packed, int jit, const char *place, text_regex **regex,
                       attn2c_message *message) {
  const uint8_t *at = packed.bytes;
  *regex = NULL;
  size_t plain =
      packed.length < PACK_BYTES ? 0 : at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
  if (packed.length < PACK_BYTES || plain > packed.length - PACK_BYTES) {
    attn2c_say(message, "tokenizer tables: %s: the pattern is cut", place);
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

int text_matcher_create(text_matcher **matcher) {
  text_matcher *made = malloc(sizeof *made);
  *matcher = NULL;
  if (!made) return ATTN2C_MEMORY;
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

static void set_steps(text_matcher *matcher, size_t length) {
  uint64_t steps = STEPS + (uint64_t)length * STEPS_PER_BYTE;
  pcre2_set_match_limit(matcher->context, steps > UINT32_MAX ? UINT32_MAX : (uint32_t)steps);
}

text_search text_search_start(const text_regex *regex, text_matcher *matcher, const uint8_t *text,
                              size_t length) {
  int exact = !regex->has_rare;
  for (size_t i = 0; i < length && !exact; i++) exact = regex->rare[text[i]];
  set_steps(matcher, length);
  return (text_search){.regex = regex, .matcher = matcher, .text = text, .length = length, .exact = exact};
}

/* One match from `at` on. The interpreter takes over where the machine code's stack is too small. */
static int match(const text_search *search, uint32_t options, int *found) {
  const pcre2_code *code = search->exact ? search->regex->exact : search->regex->plain;
  pcre2_match_data *data = search->matcher->data;
  options |= PCRE2_NO_UTF_CHECK;
  int result =
      pcre2_match(code, search->text, search->length, search->at, options, data, search->matcher->context);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT)
    result = pcre2_match(code, search->text, search->length, search->at, options | PCRE2_NO_JIT, data,
                         search->matcher->context);
  *found = result >= 0;
  if (result >= 0 || result == PCRE2_ERROR_NOMATCH) return ATTN2C_OK;
  return result == PCRE2_ERROR_NOMEMORY ? ATTN2C_MEMORY : ATTN2C_FORMAT;
}

int text_search_next(text_search *search, int *found, size_t *begin, size_t *end) {
  while (search->at <= search->length) {
    int status = match(search, 0, found);
    if (status != ATTN2C_OK || !*found) return status;
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(search->matcher->data);
    *begin = places[0], *end = places[1];
    /* \K and lookbehinds can put a match before the place that the search began at. */
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
  *found = 0;
  return ATTN2C_OK;
}

int text_regex_starts(const text_regex *regex, text_matcher *matcher, const uint8_t *text, size_t length,
                      int *matches) {
  text_search search = text_search_start(regex, matcher, text, length);
  return match(&search, PCRE2_ANCHORED, matches);
}
