#include <ctype.h>

#include "generate/draw.h"
#include "program/answers/answers.h"
#include "program/serve/generate/tool_parts.h"

enum { ID = 9 };

const char *attn2c_tool_name_key(const attn2c_tool_form *form) { return form->name ? form->name : "name"; }

const char *attn2c_tool_arguments_key(const attn2c_tool_form *form) {
  return form->arguments ? form->arguments : "arguments";
}

static int is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

size_t tool_skip_space(const tool_answer *a, size_t at) {
  while (at < a->length && is_space(a->text[at])) at++;
  return at;
}

tool_found tool_at_end(const tool_answer *a) { return a->is_whole ? TOOL_NO : TOOL_LATER; }

tool_found tool_take(const tool_answer *a, size_t *at, const char *marker) {
  size_t end = *at;
  if (!marker) return TOOL_NO;
  for (; *marker; marker++) {
    if (is_space(*marker)) {
      end = tool_skip_space(a, end);
      continue;
    }
    if (end == a->length) return tool_at_end(a);
    if (a->text[end++] != *marker) return TOOL_NO;
  }
  *at = end;
  return TOOL_YES;
}

static int is_of_name(char c) { return c == '_' || c == '-' || c == '.' || isalnum((unsigned char)c); }

size_t tool_take_word(const tool_answer *a, size_t *at, char *word) {
  size_t length = 0;
  while (*at < a->length && length < TOOL_MOST_NAME && is_of_name(a->text[*at]))
    word[length++] = a->text[(*at)++];
  word[length] = '\0';
  return length;
}

int tool_ends_key(const attn2c_tool_form *form, char c) {
  return c == *form->assign || strchr(form->key ? "\n" : " \t\r\n,()[]{}<>\"'", c);
}

int attn2c_tool_name(const char *name) {
  size_t length = 0;
  while (is_of_name(name[length])) length++;
  return length > 0 && length <= TOOL_MOST_NAME && !name[length];
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

/* The id of a call has 9 letters and digits, as Mistral's templates ask for. */
int tool_add_call(const tool_answer *a, const char *name, const json_t *given, size_t number, json_t *calls) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  json_auto_t *read = json_is_string(given)
                          ? json_loads(json_string_value(given), JSON_REJECT_DUPLICATES, NULL)
                          : json_incref((json_t *)given);
  char *arguments = read ? attn2c_json_shortest(read) : NULL, id[ID + 1] = "";
  if (!given) arguments = attn2c_copied("{}", 2);
  uint64_t bits = attn2c_draw_bits(a->seed, (uint64_t)number);
  for (int i = 0; i < ID; i++, bits /= 62) id[i] = letters[bits % 62];
  json_t *call = (json_is_object(read) || !given) && attn2c_tools_find(a->tools, name)
                     ? json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function", "name",
                                 name, "arguments", arguments)
                     : NULL;
  free(arguments);
  return call && json_array_append_new(calls, call) == 0;
}
