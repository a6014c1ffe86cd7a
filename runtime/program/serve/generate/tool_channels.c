/* tool_channels.c - answers that are messages with headers (gpt-oss):
 * `<|channel|>analysis<|message|>TEXT<|end|>`. A header may name a tool that the text is for, and the first
 * header's beginning is in the prompt. */
#define _GNU_SOURCE
#include "program/serve/generate/tool_parts.h"
#include "program/system.h"

/* Where a message has its text. */
enum { HEADER, CONTENT, REASONING, CALL };

static const char message_mark[] = "<|message|>", recipient[] = "to=functions.";

/* Returns the place of a text in the rest of an answer; its end if it is nowhere. */
static size_t find(const tool_answer *a, size_t from, size_t end, const char *text) {
  const char *at = memmem(a->text + from, end - from, text, strlen(text));
  return at ? (size_t)(at - a->text) : end;
}

/* True if a header may be at a place. *is_open: more text must tell. */
static int is_header(const tool_answer *a, size_t at, int *is_open) {
  static const char *const begins[] = {"<|start|>", "<|channel|>", "<|message|>", " to=", "<|constrain|>"};
  const size_t left = a->length - at;
  *is_open = 0;
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    const size_t length = strlen(begins[i]);
    if (memcmp(a->text + at, begins[i], left < length ? left : length) != 0) continue;
    *is_open = left < length && !a->is_whole;
    return left >= length;
  }
  return 0;
}

/* Returns the first mark that ends a text, or the place from which one may begin. */
static size_t end_of(const tool_answer *a, size_t at, int *is_ended) {
  static const char *const marks[] = {"<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"};
  for (size_t i = at; i < a->length; i++) {
    const size_t left = a->length - i;
    for (size_t k = 0; a->text[i] == '<' && k < sizeof marks / sizeof *marks; k++) {
      const size_t length = strlen(marks[k]);
      if (memcmp(a->text + i, marks[k], left < length ? left : length) != 0) continue;
      *is_ended = left >= length;
      if (*is_ended || !a->is_whole) return i;
    }
  }
  *is_ended = a->is_whole;
  return a->length;
}

static void put(const tool_answer *a, size_t from, size_t end, char *to, size_t *length) {
  if (end > from) memcpy(to + *length, a->text + from, end - from);
  *length += end - from;
}

/* Reads the header at place->at. Returns 0 if its end is not there. */
static int take_header(const tool_answer *a, attn2c_tool_place *place, int is_forced) {
  const size_t mark = find(a, place->at, a->length, message_mark);
  if (mark == a->length) { /* a header that is cut is no text */
    if (a->is_whole) place->at = a->length;
    return 0;
  }
  const size_t named = find(a, place->at, mark, recipient);
  place->name = is_forced ? place->at : named + strlen(recipient);
  place->stage = is_forced || named < mark                     ? CALL
                 : find(a, place->at, mark, "analysis") < mark ? REASONING
                                                               : CONTENT;
  place->at = mark + strlen(message_mark);
  return 1;
}

/* Adds the call whose text ends at `end`, or adds the text as content. */
static void take_call(const tool_answer *a, attn2c_tool_place *place, size_t end, attn2c_tool_news *news) {
  char name[TOOL_MOST_NAME + 1];
  size_t from = place->name;
  json_auto_t *arguments = json_loadb(a->text + place->at, end - place->at, JSON_REJECT_DUPLICATES, NULL);
  tool_take_word(a, &from, name);
  if (!json_is_object(arguments) || !tool_add_call(a, name, arguments, (size_t)place->calls, news->calls))
    put(a, place->at, end, news->content, &news->content_length);
  else
    place->calls++;
}

int tool_take_channel(const tool_answer *a, attn2c_tool_place *place, attn2c_tool_news *news) {
  static const char *const ends[] = {"<|end|>", "<|call|>", "<|return|>"};
  if (place->calls > 0 && !a->tools->is_parallel) {
    place->at = a->length;
    return 1;
  }
  if (place->stage == HEADER) {
    const int is_forced = a->tools->is_forced && place->at == 0;
    int is_open = 0;
    if (is_forced || is_header(a, place->at, &is_open)) return take_header(a, place, is_forced);
    if (is_open) return 0;
    place->stage = CONTENT;
  }
  int is_ended;
  const size_t end = end_of(a, place->at, &is_ended);
  if (place->stage == CALL && !is_ended) return 0;
  if (place->stage == CALL)
    take_call(a, place, end, news);
  else if (place->stage == REASONING)
    put(a, place->at, end, news->reasoning, &news->reasoning_length);
  else
    put(a, place->at, end, news->content, &news->content_length);
  const int is_new = end > place->at || is_ended;
  place->at = end;
  if (is_ended) place->stage = HEADER;
  for (size_t i = 0; i < sizeof ends / sizeof *ends && is_ended; i++)
    if (tool_take(a, &place->at, ends[i]) == TOOL_YES) break;
  return is_new;
}
