/* tool_values.c - arguments of calls that are no JSON: values as Python writes them, and texts that have the
 * types which the tool's schema says. */
#define _GNU_SOURCE
#include <ctype.h>

#include "program/grammar/schema.h"
#include "program/serve/generate/tool_parts.h"
#include "program/system.h"

enum { DEPTH = 32 };

static json_t *take_value(tool_literals *l, int depth);

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Returns the next character that is no white space; at the end '\0', and the text is cut. */
static char next_of(tool_literals *l) {
  while (l->at < l->length && is_space(l->text[l->at])) l->at++;
  l->is_cut |= l->at == l->length;
  return l->at < l->length ? l->text[l->at] : '\0';
}

/* Takes a character after white space, if it is the next. */
static int take_character(tool_literals *l, char c) {
  const int is_there = next_of(l) == c && c;
  l->at += (size_t)is_there;
  return is_there;
}

/* Writes a character as UTF-8, and returns its bytes. */
static size_t put_point(char *to, uint32_t point) {
  static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  const size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (size_t i = length; i-- > 0; point >>= 6)
    to[i] = (char)(length == 1 ? point : i == 0 ? first[length] | point : 0x80 | (point & 0x3f));
  return length;
}

/* Reads digits after \x, \u or \U. Returns how many there are, or 0 if some are missing. */
static size_t take_hex(const char *text, size_t length, uint32_t *point) {
  const size_t count = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : 8;
  *point = 0;
  for (size_t i = 1; i <= count; i++) {
    if (i >= length || !isxdigit((unsigned char)text[i])) return 0;
    const char c = (char)tolower((unsigned char)text[i]);
    *point = *point * 16 + (uint32_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
  }
  return count;
}

/* Writes what an escape after a backslash stands for to *to. Returns the bytes that it takes. */
static size_t unescape(const char *text, size_t length, char **to) {
  static const char letters[] = "ntrbfa0", meanings[] = "\n\t\r\b\f\a";
  const char *letter = memchr(letters, text[0], sizeof letters - 1);
  uint32_t point, second;
  const size_t digits = text[0] && strchr("xuU", text[0]) ? take_hex(text, length, &point) : 0;
  if (text[0] == '\n') return 1;
  if (letter) {
    *(*to)++ = meanings[letter - letters];
    return 1;
  }
  if (!digits || point > 0x10ffff) {
    if (!strchr("\"'\\/", text[0])) *(*to)++ = '\\';
    *(*to)++ = text[0];
    return 1;
  }
  size_t taken = 1 + digits;
  if (point >> 10 == 0xd800 >> 10 && taken + 1 < length && text[taken] == '\\' && text[taken + 1] == 'u' &&
      take_hex(text + taken + 1, length - taken - 1, &second) && second >> 10 == 0xdc00 >> 10) {
    point = 0x10000 + ((point & 0x3ff) << 10) + (second & 0x3ff);
    taken += 6;
  }
  *to += put_point(*to, point);
  return taken;
}

/* Takes a text in quotes. */
static json_t *take_text(tool_literals *l) {
  const char quote = l->text[l->at];
  size_t end = l->at + 1;
  while (end < l->length && l->text[end] != quote) end += l->text[end] == '\\' && end + 1 < l->length ? 2 : 1;
  l->is_cut |= end >= l->length;
  char *made = end >= l->length ? NULL : malloc(end - l->at), *to = made;
  for (size_t i = l->at + 1; i < end && made;)
    if (l->text[i] == '\\')
      i += 1 + unescape(l->text + i + 1, end - i - 1, &to);
    else
      *to++ = l->text[i++];
  json_t *text = made ? json_stringn(made, (size_t)(to - made)) : NULL;
  free(made);
  l->at = end + 1;
  return text;
}

/* Takes a text between two quotes of the form's own. */
static json_t *take_quoted(tool_literals *l) {
  const size_t width = strlen(l->quote), left = l->length - l->at;
  const char *from = l->text + l->at, *end = NULL;
  const int is_there = memcmp(from, l->quote, left < width ? left : width) == 0;
  if (is_there && left > width) end = memmem(from + width, left - width, l->quote, width);
  l->is_cut |= is_there && !end;
  if (!end) return NULL;
  l->at = (size_t)(end - l->text) + width;
  return json_stringn(from + width, (size_t)(end - from) - width);
}

/* Takes a number or a name. */
static json_t *take_word(tool_literals *l) {
  static const char *const words[] = {"true", "false", "null", "True", "False", "None"};
  char word[100];
  size_t length = 0;
  const char *from = l->text + l->at;
  while (l->at < l->length && (isalnum((unsigned char)l->text[l->at]) || strchr("+-._", l->text[l->at])))
    l->at++, length++;
  l->is_cut |= l->at == l->length;
  if (length >= sizeof word) return NULL;
  memcpy(word, from, length);
  word[length] = '\0';
  for (int i = 0; i < 6; i++)
    if (strcmp(word, words[i]) == 0) return i % 3 == 2 ? json_null() : json_boolean(i % 3 == 0);
  return json_loads(word, JSON_DECODE_ANY, NULL);
}

/* Takes a key and the value after it. Returns 0 if there is none. */
static int take_pair(tool_literals *l, json_t *dict, int depth) {
  const char c = next_of(l), *from = l->text + l->at;
  json_auto_t *key = NULL, *value = NULL;
  size_t length = 0;
  if (l->quote && c != l->quote[0]) {
    while (l->at < l->length && (isalnum((unsigned char)l->text[l->at]) || strchr("_-.$", l->text[l->at])))
      l->at++, length++;
    key = length > 0 ? json_stringn(from, length) : NULL;
  } else {
    key = take_value(l, depth);
  }
  if (json_is_string(key) && take_character(l, ':')) value = take_value(l, depth);
  const int is_new = value && !json_object_get(dict, json_string_value(key));
  return is_new && json_object_set(dict, json_string_value(key), value) == 0;
}

/* Takes the items of a list or of a dictionary up to its end. */
static json_t *take_items(tool_literals *l, int depth) {
  const int is_dict = l->text[l->at++] == '{';
  json_t *items = is_dict ? json_object() : json_array();
  int is_right = items != NULL, more = 1;
  while (is_right && !take_character(l, is_dict ? '}' : ']')) {
    is_right = more && (is_dict ? take_pair(l, items, depth)
                                : json_array_append_new(items, take_value(l, depth)) == 0);
    if (is_right) more = take_character(l, ',');
  }
  if (is_right) return items;
  json_decref(items);
  return NULL;
}

static json_t *take_value(tool_literals *l, int depth) {
  const char c = next_of(l);
  if (!c || depth > DEPTH) return NULL;
  if (l->quote && c == l->quote[0]) return take_quoted(l);
  if (c == '"' || c == '\'') return take_text(l);
  return c == '[' || c == '{' ? take_items(l, depth + 1) : take_word(l);
}

json_t *tool_take_literal(tool_literals *from) { return take_value(from, 0); }

/* Types are bits, by json_type. */
enum {
  TEXT = 1 << JSON_STRING,
  NUMBER = 1 << JSON_INTEGER | 1 << JSON_REAL,
  ALL = (1 << (JSON_NULL + 1)) - 1,
};

static unsigned type_of_name(const char *name) {
  static const struct {
    const char *name;
    unsigned types;
  } known[] = {{"string", TEXT},
               {"number", NUMBER},
               {"integer", NUMBER},
               {"boolean", 1 << JSON_TRUE | 1 << JSON_FALSE},
               {"null", 1 << JSON_NULL},
               {"array", 1 << JSON_ARRAY},
               {"object", 1 << JSON_OBJECT}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (name && strcmp(known[i].name, name) == 0) return known[i].types;
  return ALL;
}

/* Returns the types that a schema may allow. */
static unsigned types_of(schema_reader *r, const json_t *schema, int depth) {
  static const char *const lists[] = {"anyOf", "oneOf"};
  schema = json_is_object(schema) && depth < 8 ? schema_expand(r, schema) : NULL;
  const json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum"),
               *one = json_object_get(schema, "const"), *each;
  size_t i;
  unsigned types = 0, all = schema && !json_is_array(type) ? type_of_name(json_string_value(type)) : ALL;
  json_array_foreach((json_t *)type, i, each) types |= type_of_name(json_string_value(each));
  all = types ? types : all, types = 0;
  json_array_foreach((json_t *)values, i, each) types |= 1u << json_typeof(each);
  if (one) types = 1u << json_typeof(one);
  all &= types ? types : ALL;
  for (int list = 0; list < 2; list++) {
    types = 0;
    json_array_foreach(json_object_get(schema, lists[list]), i, each) types |= types_of(r, each, depth + 1);
    all &= types ? types : ALL;
  }
  return all;
}

/* Finds what a text must be whose schema is expanded. */
static void read_text(const json_t *schema, tool_argument *about) {
  json_t *one = json_object_get(schema, "const"), *value;
  const char *key;
  about->values = one ? json_pack("[O]", one) : json_incref(json_object_get(schema, "enum"));
  json_object_foreach((json_t *)schema, key, value) {
    const int is_read = strcmp(key, "type") == 0 || strcmp(key, "const") == 0 || strcmp(key, "enum") == 0;
    if (!is_read && !schema_is_note(key)) about->other = key;
  }
}

/* Returns the types of a key's values. about: may be NULL. */
static unsigned types_of_key(const json_t *parameters, const char *key, tool_argument *about) {
  char note[200];
  attn2c_message message = attn2c_message_make(note, sizeof note);
  schema_reader r = {.root = parameters, .name = "", .message = &message, .kept = json_array()};
  const json_t *whole = r.kept && json_is_object(parameters) ? schema_expand(&r, parameters) : NULL;
  const json_t *schema = json_object_get(json_object_get(whole, "properties"), key);
  if (!schema) schema = json_object_get(whole, "additionalProperties");
  const unsigned types = types_of(&r, schema, 0);
  if (about && types == TEXT) read_text(schema_expand(&r, schema), about);
  free(r.path.bytes);
  json_decref(r.kept);
  return types;
}

tool_argument tool_argument_of(const json_t *parameters, const char *key) {
  tool_argument about = {0};
  const unsigned types = types_of_key(parameters, key, &about);
  about.is_text = types == TEXT, about.takes_text = (types & TEXT) != 0;
  return about;
}

json_t *tool_typed(const json_t *parameters, const char *key, const char *text, size_t length) {
  const unsigned types = types_of_key(parameters, key, NULL);
  tool_literals all = {text, length, 0, NULL, 0};
  const int is_quoted = next_of(&all) == '"';
  json_t *value = types == TEXT ? NULL : take_value(&all, 0);
  const int fits =
      value && !next_of(&all) && (types >> json_typeof(value) & 1) && (!json_is_string(value) || is_quoted);
  if (fits) return value;
  json_decref(value);
  return json_stringn(text, length);
}
