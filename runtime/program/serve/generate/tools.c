/* tools.c - the known forms are a table. Texts are read while they come: a call is one as soon as it is
 * whole, and text that turned out to be none is content. */
#define _GNU_SOURCE
#include "program/serve/generate/tools.h"

#include <ctype.h>

#include "generate/draw.h"
#include "program/answers/json_line.h"
#include "program/grammar/parts.h"
#include "program/system.h"

enum { MOST_NAME = 64, ID = 9 };

/* A template has the first form whose signs are in it. Without `begin`, arguments are no JSON. */
static const attn2c_tool_form forms[] = {
    /* Qwen3-Coder, GLM 4.5, LFM2 */
    {.signs = {"<function="}},
    {.signs = {"<arg_key>"}},
    {.signs = {"<|tool_call_start|>"}},
    /* DeepSeek V3, R1 and its distilled models; V3.1 */
    {.signs = {"<｜tool▁call▁begin｜>", "```json"},
     .begin = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
     .middle = "\n```json\n",
     .end = "\n```<｜tool▁call▁end｜>",
     .open = "<｜tool▁calls▁begin｜>",
     .close = "<｜tool▁calls▁end｜>",
     .takes_text = 1},
    {.signs = {"<｜tool▁call▁begin｜>"},
     .begin = "<｜tool▁call▁begin｜>",
     .middle = "<｜tool▁sep｜>",
     .end = "<｜tool▁call▁end｜>",
     .open = "<｜tool▁calls▁begin｜>",
     .close = "<｜tool▁calls▁end｜>",
     .takes_text = 1},
    /* Mistral from v11 of its tokenizer on; before */
    {.signs = {"[TOOL_CALLS]", "[ARGS]"}, .begin = "[TOOL_CALLS]", .id = "[CALL_ID]", .middle = "[ARGS]"},
    {.signs = {"[TOOL_CALLS]"}, .begin = "[TOOL_CALLS]", .lead = " ", .is_list = 1},
    /* Command R7B */
    {.signs = {"<|START_ACTION|>"},
     .begin = "<|START_ACTION|>",
     .end = "<|END_ACTION|>",
     .name = "tool_name",
     .arguments = "parameters",
     .is_list = 1},
    /* Granite 3.2, Phi 4 mini, Nemotron, Jamba and Hunyuan, Granite 3.0 */
    {.signs = {"<|tool_call|>"}, .begin = "<|tool_call|>", .end = "<|/tool_call|>", .is_list = 1},
    {.signs = {"functools["}, .begin = "functools", .is_list = 1},
    {.signs = {"<TOOLCALL>"}, .begin = "<TOOLCALL>", .end = "</TOOLCALL>", .is_list = 1},
    {.signs = {"<tool_calls>"}, .begin = "<tool_calls>", .end = "</tool_calls>", .is_list = 1},
    {.signs = {"<tool_call>["}, .begin = "<tool_call>", .is_list = 1},
    /* Granite 20B, Hermes and Qwen, Llama 3.1 to 3.3 */
    {.signs = {"<function_call>"}, .begin = "<function_call>", .lead = " "},
    {.signs = {"<tool_call>"}, .begin = "<tool_call>", .end = "\n</tool_call>", .lead = "\n"},
    {.signs = {"{\"name\": ", "\"parameters\": "},
     .begin = "<|python_tag|>",
     .arguments = "parameters",
     .is_bare = 1},
};

static int has_text(const attn2c_chat_template *template, const char *text) {
  const size_t length = strlen(text);
  for (int32_t i = 0; i < template->word_count; i++)
    if (memmem(template->words[i].text, template->words[i].length, text, length)) return 1;
  return 0;
}

const attn2c_tool_form *attn2c_tool_form_of(const attn2c_chat_template *template) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    int count = 0;
    while (count < 2 && forms[i].signs[count] && has_text(template, forms[i].signs[count])) count++;
    if (count < 2 && forms[i].signs[count]) continue;
    return forms[i].begin ? &forms[i] : NULL;
  }
  return NULL;
}

static const char *name_key(const attn2c_tool_form *form) { return form->name ? form->name : "name"; }

static const char *arguments_key(const attn2c_tool_form *form) {
  return form->arguments ? form->arguments : "arguments";
}

/* A text that is read. */
typedef struct {
  const attn2c_tools *tools;
  const char *text;
  size_t length;
  int is_whole;
  uint64_t seed;
} answer;

typedef enum { NO, YES, LATER } found;

static int is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

static size_t skip_space(const answer *a, size_t at) {
  while (at < a->length && is_space(a->text[at])) at++;
  return at;
}

/* Finds a marker at a place, which then is after it. NULL is found nowhere. */
static found take(const answer *a, size_t *at, const char *marker) {
  if (!marker) return NO;
  const size_t length = strlen(marker), left = a->length - *at;
  if (memcmp(a->text + *at, marker, left < length ? left : length) != 0) return NO;
  if (left < length) return a->is_whole ? NO : LATER;
  *at += length;
  return YES;
}

/* Finds where a JSON list or object ends. */
static found take_value(const answer *a, size_t *at) {
  int depth = 0, is_text = 0;
  if (*at < a->length && a->text[*at] != '{' && a->text[*at] != '[') return NO;
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
      return YES;
    }
  }
  return a->is_whole ? NO : LATER;
}

static int is_of_name(char c) { return c == '_' || c == '-' || c == '.' || isalnum((unsigned char)c); }

int attn2c_tool_name(const char *name) {
  size_t length = 0;
  while (is_of_name(name[length])) length++;
  return length > 0 && length <= MOST_NAME && !name[length];
}

int attn2c_tools_find(const attn2c_tools *tools, const char *name) {
  size_t i;
  json_t *tool;
  json_array_foreach(tools->list, i, tool) {
    const char *other = json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
    if (name && other && strcmp(name, other) == 0) return 1;
  }
  return 0;
}

/* Adds a call, if it is one. Arguments may be JSON in a text. The id has 9 letters and digits, as Mistral's
 * templates ask for. */
static int add_call(const answer *a, const char *name, const json_t *given, size_t number, json_t *calls) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  json_t *read = json_is_string(given) ? json_loads(json_string_value(given), JSON_REJECT_DUPLICATES, NULL)
                                       : json_incref((json_t *)given);
  char *arguments = read ? attn2c_json_shortest(read) : NULL, id[ID + 1] = "";
  if (!given) arguments = attn2c_copied("{}", 2);
  uint64_t bits = attn2c_draw_bits(a->seed, (uint64_t)number);
  for (int i = 0; i < ID; i++, bits /= 62) id[i] = letters[bits % 62];
  json_t *call = (json_is_object(read) || !given) && attn2c_tools_find(a->tools, name)
                     ? json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function", "name",
                                 name, "arguments", arguments)
                     : NULL;
  json_decref(read);
  free(arguments);
  return json_array_append_new(calls, call) == 0;
}

/* Adds the calls of a value. Returns 0 if one of them is none. */
static int add_calls(const answer *a, const char *name, const char *text, size_t length, size_t number,
                     json_t *calls) {
  const attn2c_tool_form *form = a->tools->form;
  json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL), *list = NULL, *each;
  size_t i;
  int is_right = value != NULL;
  if (name)
    is_right = json_is_object(value) && add_call(a, name, value, number, calls);
  else if (is_right)
    list = json_is_array(value) ? json_incref(value) : json_pack("[O]", value);
  if (!name) is_right = json_array_size(list) > 0;
  json_array_foreach(list, i, each) is_right =
      is_right && add_call(a, json_string_value(json_object_get(each, name_key(form))),
                           json_object_get(each, arguments_key(form)), number + i, calls);
  json_decref(list);
  json_decref(value);
  return is_right;
}

/* Reads a word; the rest of one that is too long is left. */
static size_t take_word(const answer *a, size_t *at, char *word) {
  size_t length = 0;
  while (*at < a->length && length < MOST_NAME && is_of_name(a->text[*at])) word[length++] = a->text[(*at)++];
  word[length] = '\0';
  return length;
}

/* Reads the name of a tool in front of `middle`, and an id between them. */
static found take_name(const answer *a, size_t *at, char *name) {
  char id[MOST_NAME + 1];
  if (take_word(a, at, name) == 0 && *at < a->length) return NO;
  found is_there = take(a, at, a->tools->form->id);
  if (is_there == LATER) return LATER;
  if (is_there == YES) take_word(a, at, id);
  return take(a, at, a->tools->form->middle);
}

/* Finds what a call begins with, after white space. *after: where a text goes on that has no call here. */
static found take_begin(const answer *a, const attn2c_tool_place *place, size_t *at, size_t *after) {
  const attn2c_tool_form *form = a->tools->form;
  if (a->tools->is_forced && place->at == 0) return YES;
  if (form->is_bare && place->calls > 0 && a->text[*at] == ';') *at = skip_space(a, *at + 1);
  found is_there = take(a, at, form->open);
  if (is_there == YES) *at = skip_space(a, *at);
  if (is_there != LATER) is_there = take(a, at, form->begin);
  *after = *at > *after ? *at : *after;
  if (is_there == NO && form->is_bare && !place->has_content && *at < a->length)
    return a->text[*at] == '{' || a->text[*at] == '[' ? YES : NO;
  return is_there;
}

/* Reads what may be calls at a place after white space, and adds them. */
static found take_calls(const answer *a, const attn2c_tool_place *place, size_t *at, size_t *after,
                        json_t *calls) {
  const attn2c_tool_form *form = a->tools->form;
  char name[MOST_NAME + 1];
  size_t end = *at;
  const size_t before = json_array_size(calls);
  found is_there = take_begin(a, place, &end, after);
  if (is_there == YES) end = skip_space(a, end);
  if (is_there == YES && form->middle) is_there = take_name(a, &end, name);
  if (is_there == YES) end = skip_space(a, end);
  const size_t value = end;
  if (is_there == YES) is_there = take_value(a, &end);
  if (is_there != YES) return is_there;
  size_t last = skip_space(a, end);
  const char *marker = form->end;
  while (marker && is_space(*marker)) marker++;
  is_there = take(a, &last, marker);
  if (is_there == LATER) return LATER;
  if (!add_calls(a, form->middle ? name : NULL, a->text + value, end - value, (size_t)place->calls, calls)) {
    while (json_array_size(calls) > before) json_array_remove(calls, json_array_size(calls) - 1);
    return NO;
  }
  *at = is_there == YES ? last : end;
  return YES;
}

/* Takes what begins at place->at, and returns 0 if nothing can be decided yet. */
static int step(const answer *a, attn2c_tool_place *place, char *content, size_t *written, json_t *calls) {
  const size_t first = place->at, at = skip_space(a, first);
  size_t end = at, after = at + 1, count = json_array_size(calls);
  if (at == a->length && !a->is_whole) return 0;
  const int is_late = place->calls > 0 && !a->tools->is_parallel;
  found is_call = at == a->length ? NO : is_late ? YES : take_calls(a, place, &end, &after, calls);
  if (is_call == NO && at < a->length && place->calls > 0) {
    is_call = take(a, &end, a->tools->form->close);
    count = json_array_size(calls);
  }
  if (is_call == LATER) return 0;
  if (is_call == YES) {
    while (!a->tools->is_parallel && json_array_size(calls) > count + 1)
      json_array_remove(calls, json_array_size(calls) - 1);
    place->calls += (int32_t)(json_array_size(calls) - count);
    place->at = is_late ? a->length : end;
    place->follows_call = 1;
    return 1;
  }
  const size_t from = place->follows_call ? at : first;
  place->at = at == a->length ? at : after;
  if (place->at > from) memcpy(content + *written, a->text + from, place->at - from);
  *written += place->at - from;
  place->has_content |= at < a->length;
  place->follows_call = 0;
  return 1;
}

size_t attn2c_tools_take(const attn2c_tools *tools, uint64_t seed, const char *text, size_t length,
                         int is_whole, attn2c_tool_place *place, char *content, json_t *calls) {
  const answer a = {tools, text, length, is_whole, seed};
  size_t written = 0;
  while (place->at < length && step(&a, place, content, &written, calls)) continue;
  return written;
}

int attn2c_tools_have(const attn2c_tools *tools, const char *text, size_t length) {
  const attn2c_tool_form *form = tools->form;
  const char *const all[] = {form->begin, form->end, form->open, form->close, form->middle, form->id};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] && memmem(all[i], strlen(all[i]), text, length)) return 1;
  return 0;
}

const char *attn2c_tools_opening(const attn2c_tools *tools, char *buffer, size_t size) {
  const attn2c_tool_form *form = tools->form;
  const int is_there = tools->is_forced && !form->is_bare;
  snprintf(buffer, size, "%s%s", is_there && form->open ? form->open : "", is_there ? form->begin : "");
  return buffer;
}

static void put_text(schema_text *to, const char *text) {
  if (text && *text) schema_put_literal(to, text, strlen(text));
}

/* Puts a call of a tool, whose arguments are a rule. */
static void put_call(schema_text *to, const attn2c_tool_form *form, const char *name, size_t rule) {
  if (form->middle) {
    put_text(to, name);
    put_text(to, form->middle);
    schema_put(to, "schema%zu ", rule);
    return;
  }
  schema_text head = {0};
  schema_put(&head, "{\"%s\": \"%s\", \"%s\": ", name_key(form), name, arguments_key(form));
  put_text(to, head.bytes);
  to->failed |= head.failed;
  free(head.bytes);
  schema_put(to, "schema%zu \"}\" ", rule);
}

int attn2c_tools_grammar(const attn2c_tools *tools, char **text, attn2c_message *message) {
  const attn2c_tool_form *form = tools->form;
  const size_t most = json_array_size(tools->list);
  attn2c_named_schema *schemas = calloc(most, sizeof *schemas);
  json_t *none = json_pack("{s:s, s:{}}", "type", "object", "properties"), *tool;
  schema_text root = {0}, call = {0};
  size_t i, count = 0;
  int status = ATTN2C_MEMORY;
  json_array_foreach(tools->list, i, tool) {
    const json_t *function = json_object_get(tool, "function"),
                 *schema = json_object_get(function, "parameters");
    const char *name = json_string_value(json_object_get(function, "name"));
    if (!schemas || (tools->only && strcmp(tools->only, name) != 0)) continue;
    const int is_none = !schema || json_is_null(schema) || json_object_size(schema) == 0;
    schema_put(&call, count ? "| " : "");
    put_call(&call, form, name, count);
    schemas[count++] = (attn2c_named_schema){is_none ? none : schema, name};
  }
  put_text(&root, form->lead);
  if (form->is_list) {
    schema_put(&root, "\"[\" call %s\"]\" ", tools->is_parallel ? "(\", \" call)* " : "");
  } else {
    schema_put(&root, "call ");
    put_text(&root, form->end);
    if (tools->is_parallel && !form->is_bare) {
      schema_put(&root, "(\"\\n\"? ");
      put_text(&root, form->begin);
      put_text(&root, form->lead);
      schema_put(&root, "call ");
      put_text(&root, form->end);
      schema_put(&root, ")* ");
    }
    put_text(&root, form->close);
  }
  schema_put(&root, "\ncall ::= %s", call.bytes ? call.bytes : "");
  if (count > 0 && none && !root.failed && !call.failed)
    status = attn2c_schema_rules(schemas, count, root.bytes, text, message);
  free(root.bytes);
  free(call.bytes);
  free(schemas);
  json_decref(none);
  return status;
}
