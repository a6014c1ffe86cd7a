/* tools.c - reads calls of tools in texts while they come: a call is one as soon as it is whole, and text
 * that turned out to be none is content. */
#define _GNU_SOURCE
#include "program/serve/generate/tool_parts.h"
#include "program/system.h"

/* An answer with more beginnings of calls that are none has no other call. A text that may become a call is
 * read again when it is longer by this part: reading takes a time that grows as the text. */
enum { MOST_FAILED = 100, PART = 64 };

/* Finds where a JSON list or object ends. */
static tool_found take_value(const tool_answer *a, size_t *at) {
  int depth = 0, is_text = 0;
  if (*at < a->length && a->text[*at] != '{' && a->text[*at] != '[') return TOOL_NO;
  for (size_t i = *at; i < a->length; i++) {
    const char c = a->text[i];
    if (is_text && c == '\\')
      i++;
    else if (c == '"')
      is_text = !is_text;
    else if (!is_text && (c == '{' || c == '['))
      depth++;
    else if (!is_text && (c == '}' || c == ']') && --depth == 0) {
      *at = i + 1;
      return TOOL_YES;
    }
  }
  return a->is_whole ? TOOL_NO : TOOL_LATER;
}

/* Returns what the schema of a tool's arguments is; NULL: nothing. */
static const json_t *parameters_of(const attn2c_tools *tools, const char *name) {
  size_t i;
  json_t *tool;
  json_array_foreach(tools->list, i, tool) {
    const json_t *function = json_object_get(tool, "function");
    if (strcmp(json_string_value(json_object_get(function, "name")), name) == 0)
      return json_object_get(function, "parameters");
  }
  return NULL;
}

/* Adds the calls of a value. Returns 0 if one of them is none. */
static int add_calls(const tool_answer *a, const char *name, const char *text, size_t length, size_t number,
                     json_t *calls) {
  const attn2c_tool_form *form = a->tools->form;
  json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL), *list = NULL, *each;
  size_t i;
  int is_right = value != NULL;
  if (name)
    is_right = json_is_object(value) && tool_add_call(a, name, value, number, calls);
  else if (is_right)
    list = json_is_array(value) ? json_incref(value) : json_pack("[O]", value);
  if (!name) is_right = json_array_size(list) > 0;
  json_array_foreach(list, i, each) is_right =
      is_right && tool_add_call(a, json_string_value(json_object_get(each, attn2c_tool_name_key(form))),
                                json_object_get(each, attn2c_tool_arguments_key(form)), number + i, calls);
  json_decref(list);
  json_decref(value);
  return is_right;
}

/* Reads the name of a tool in front of `middle`, and an id between them. */
static tool_found take_name(const tool_answer *a, size_t *at, char *name) {
  char id[TOOL_MOST_NAME + 1];
  const size_t length = tool_take_word(a, at, name);
  if (*at == a->length) return tool_at_end(a);
  if (length == 0) return TOOL_NO;
  tool_found is_there = tool_take(a, at, a->tools->form->id);
  if (is_there == TOOL_LATER) return TOOL_LATER;
  if (is_there == TOOL_YES) tool_take_word(a, at, id);
  return tool_take(a, at, a->tools->form->middle);
}

static size_t key_length(const tool_answer *a, size_t at) {
  const size_t from = at;
  while (at < a->length && !tool_ends_key(a->tools->form, a->text[at])) at++;
  return at - from;
}

/* Sets an argument, which is released. Returns 0 if there is one with its name. */
static int set_argument(json_t *arguments, const char *key, size_t length, json_t *value) {
  ATTN2C_OWN char *name = attn2c_copied(key, length);
  const int is_set =
      name && value && !json_object_get(arguments, name) && json_object_set(arguments, name, value) == 0;
  json_decref(value);
  return is_set;
}

/* Reads arguments that have marks around their names and values, up to what is none. */
static tool_found take_marked(const tool_answer *a, size_t *at, const json_t *parameters, json_t *arguments) {
  const attn2c_tool_form *form = a->tools->form;
  while (1) {
    *at = tool_skip_space(a, *at);
    const tool_found is_there = tool_take(a, at, form->key);
    if (is_there != TOOL_YES) return is_there == TOOL_NO && *at < a->length ? TOOL_YES : tool_at_end(a);
    const size_t key = *at, length = key_length(a, key);
    *at += length;
    const tool_found is_named = *at == a->length ? tool_at_end(a) : tool_take(a, at, form->assign);
    if (is_named != TOOL_YES) return is_named;
    size_t from = *at;
    const char *found = memmem(a->text + from, a->length - from, form->value_end, strlen(form->value_end));
    if (!found) return tool_at_end(a);
    size_t end = (size_t)(found - a->text);
    *at = end + strlen(form->value_end);
    if (form->has_lines && end > from && a->text[from] == '\n') from++;
    if (form->has_lines && end > from && a->text[end - 1] == '\n') end--;
    char *name = attn2c_copied(a->text + key, length);
    json_t *value = name ? tool_typed(parameters, name, a->text + from, end - from) : NULL;
    free(name);
    if (!set_argument(arguments, a->text + key, length, value)) return TOOL_NO;
  }
}

/* Returns a text, which is released, or what it stands for if the tool's schema allows no text. */
static json_t *retyped(const json_t *parameters, const char *key, size_t length, json_t *text) {
  ATTN2C_OWN char *name = attn2c_copied(key, length);
  const tool_argument about = name ? tool_argument_of(parameters, name) : (tool_argument){0};
  json_t *value = name && !about.takes_text
                      ? tool_typed(parameters, name, json_string_value(text), json_string_length(text))
                      : json_incref(text);
  json_decref(about.values);
  json_decref(text);
  return value;
}

/* Reads arguments NAME ASSIGN value with commas between them, up to `value_end`. */
static tool_found take_named(const tool_answer *a, size_t *at, const json_t *parameters, json_t *arguments) {
  const attn2c_tool_form *form = a->tools->form;
  int more = 1;
  while (1) {
    *at = tool_skip_space(a, *at);
    tool_found is_there = tool_take(a, at, form->value_end);
    if (is_there != TOOL_NO) return is_there;
    if (*at == a->length) return tool_at_end(a);
    const size_t length = key_length(a, *at);
    const char *key = a->text + *at;
    if (!more || length == 0) return TOOL_NO;
    *at = tool_skip_space(a, *at + length);
    is_there = tool_take(a, at, form->assign);
    if (is_there != TOOL_YES) return is_there;
    tool_literals from = {a->text, a->length, *at, form->quote, 0};
    json_t *value = tool_take_literal(&from);
    if (json_is_string(value) && !from.is_cut) value = retyped(parameters, key, length, value);
    const int is_set = set_argument(arguments, key, length, value);
    if (from.is_cut || !is_set) return from.is_cut ? tool_at_end(a) : TOOL_NO;
    *at = tool_skip_space(a, from.at);
    more = *at < a->length && a->text[*at] == ',';
    *at += (size_t)more;
  }
}

/* Reads a call whose arguments are no JSON, up to its end, or to what is between calls. */
static tool_found take_own(const tool_answer *a, size_t *at, size_t number, json_t *calls) {
  const attn2c_tool_form *form = a->tools->form;
  char name[TOOL_MOST_NAME + 1];
  tool_found is_there = take_name(a, at, name);
  json_auto_t *arguments = json_object();
  const json_t *parameters = is_there == TOOL_YES ? parameters_of(a->tools, name) : NULL;
  if (is_there == TOOL_YES) is_there = (form->key ? take_marked : take_named)(a, at, parameters, arguments);
  if (is_there == TOOL_YES && !form->is_list) is_there = tool_take(a, at, form->end);
  if (is_there == TOOL_YES && !tool_add_call(a, name, arguments, number, calls)) is_there = TOOL_NO;
  return is_there;
}

/* Reads such calls up to the end of their list. */
static tool_found take_list(const tool_answer *a, size_t *at, size_t number, json_t *calls) {
  tool_found is_there = TOOL_NO;
  while (is_there == TOOL_NO) {
    *at = tool_skip_space(a, *at);
    is_there = take_own(a, at, number++, calls);
    if (is_there != TOOL_YES) return is_there;
    *at = tool_skip_space(a, *at);
    if (*at < a->length && a->text[*at] == ',') *at = tool_skip_space(a, *at + 1);
    is_there = *at == a->length ? tool_at_end(a) : tool_take(a, at, a->tools->form->end);
    if (is_there == TOOL_NO && *at == a->length) return TOOL_NO;
  }
  return is_there;
}

/* Reads a call in JSON, or a list of them. The text after it may be missing. */
static tool_found take_json(const tool_answer *a, size_t *at, size_t number, json_t *calls) {
  const attn2c_tool_form *form = a->tools->form;
  char name[TOOL_MOST_NAME + 1];
  tool_found is_there = form->middle ? take_name(a, at, name) : TOOL_YES;
  if (is_there == TOOL_YES) *at = tool_skip_space(a, *at);
  const size_t value = *at;
  if (is_there == TOOL_YES) is_there = take_value(a, at);
  if (is_there != TOOL_YES) return is_there;
  const size_t end = *at;
  if (tool_take(a, at, form->end) == TOOL_LATER) return TOOL_LATER;
  return add_calls(a, form->middle ? name : NULL, a->text + value, end - value, number, calls) ? TOOL_YES
                                                                                               : TOOL_NO;
}

/* Finds what a call begins with, after white space. *after: where a text goes on that has no call here. */
static tool_found take_begin(const tool_answer *a, const attn2c_tool_place *place, size_t *at,
                             size_t *after) {
  const attn2c_tool_form *form = a->tools->form;
  if (a->tools->is_forced && place->at == 0) return TOOL_YES;
  if (form->is_first && place->has_content) return TOOL_NO;
  if (form->is_bare && place->calls > 0 && a->text[*at] == ';') *at = tool_skip_space(a, *at + 1);
  tool_found is_there = tool_take(a, at, form->open);
  if (is_there == TOOL_YES) *at = tool_skip_space(a, *at);
  if (is_there != TOOL_LATER) is_there = tool_take(a, at, form->begin);
  *after = *at > *after ? *at : *after;
  if (is_there == TOOL_NO && form->is_bare && !place->has_content && *at < a->length)
    return a->text[*at] == '{' || a->text[*at] == '[' ? TOOL_YES : TOOL_NO;
  return is_there;
}

/* Reads what may be calls at a place after white space, and adds them. */
static tool_found take_calls(const tool_answer *a, const attn2c_tool_place *place, size_t *at, size_t *after,
                             json_t *calls) {
  const attn2c_tool_form *form = a->tools->form;
  const size_t before = json_array_size(calls);
  size_t end = *at;
  tool_found is_there = take_begin(a, place, &end, after);
  if (is_there == TOOL_YES) {
    end = tool_skip_space(a, end);
    is_there = (!form->assign   ? take_json
                : form->is_list ? take_list
                                : take_own)(a, &end, (size_t)place->calls, calls);
  }
  if (is_there == TOOL_YES) *at = end;
  while (is_there != TOOL_YES && json_array_size(calls) > before)
    json_array_remove(calls, json_array_size(calls) - 1);
  return is_there;
}

/* Reads calls in the template's form, or in the other that its model writes. */
static tool_found take_any(const tool_answer *a, const attn2c_tool_place *place, size_t *at, size_t *after,
                           json_t *calls) {
  const tool_found is_there = take_calls(a, place, at, after, calls);
  if (is_there == TOOL_YES || !a->tools->form->also) return is_there;
  attn2c_tools tools = *a->tools;
  tools.form = tools.form->also;
  const tool_answer other = {&tools, a->text, a->length, a->is_whole, a->seed};
  const tool_found is_other = take_calls(&other, place, at, after, calls);
  return is_other == TOOL_NO ? is_there : is_other;
}

/* Takes what begins at place->at, and returns 0 if nothing can be decided yet. */
static int step(const tool_answer *a, attn2c_tool_place *place, attn2c_tool_news *news) {
  json_t *calls = news->calls;
  const size_t first = place->at, at = tool_skip_space(a, first);
  size_t end = at, after = at + 1, count = json_array_size(calls);
  if (at == a->length && !a->is_whole) return 0;
  const int is_late = place->calls > 0 && !a->tools->is_parallel;
  tool_found is_call = at == a->length || place->failed > MOST_FAILED ? TOOL_NO
                       : is_late                                      ? TOOL_YES
                                 : take_any(a, place, &end, &after, calls);
  if (is_call == TOOL_NO && at < a->length && place->calls > 0) {
    is_call = tool_take(a, &end, a->tools->form->close);
    count = json_array_size(calls);
  }
  if (is_call == TOOL_LATER) return 0;
  if (is_call == TOOL_YES) {
    while (!a->tools->is_parallel && json_array_size(calls) > count + 1)
      json_array_remove(calls, json_array_size(calls) - 1);
    place->calls += (int32_t)(json_array_size(calls) - count);
    place->at = is_late ? a->length : end;
    place->follows_call = 1;
    return 1;
  }
  const size_t from = place->follows_call ? at : first;
  place->at = at == a->length ? at : after;
  place->failed += after > at + 1;
  if (place->at > from) memcpy(news->content + news->content_length, a->text + from, place->at - from);
  news->content_length += place->at - from;
  place->has_content |= at < a->length;
  place->follows_call = 0;
  return 1;
}

void attn2c_tools_take(const attn2c_tools *tools, uint64_t seed, const char *text, size_t length,
                       int is_whole, attn2c_tool_place *place, attn2c_tool_news *news) {
  const tool_answer a = {tools, text, length, is_whole, seed};
  if (!is_whole && length - place->read < (place->read - place->at) / PART) return;
  place->read = length;
  while (place->at < length && (tools->form->has_channels ? tool_take_channel : step)(&a, place, news))
    continue;
}
