/* fields.c - reads the fields of a request's JSON. */
#include "program/serve/fields.h"

const json_t *attn2c_field(const attn2c_fields *fields, const char *name) {
  const json_t *value = json_object_get(fields->given, name);
  return json_is_null(value) ? NULL : value;
}

/* Writes what a value is, without a client's own words. */
static void describe(const json_t *value, char *text, size_t size) {
  static const char *const kinds[] = {"an object", "a list", "a text", "a number",
                                      "a number",  "true",   "false",  "null"};
  if (!value)
    snprintf(text, size, "nothing");
  else if (json_is_integer(value))
    snprintf(text, size, "%" PRId64, (int64_t)json_integer_value(value));
  else if (json_is_array(value))
    snprintf(text, size, "a list of %zu", json_array_size(value));
  else
    snprintf(text, size, "%s", kinds[json_typeof(value)]);
}

void attn2c_field_refuse(attn2c_fields *fields, const char *name, const json_t *value, const char *expected) {
  char text[40];
  if (fields->is_refused) return;
  describe(value, text, sizeof text);
  attn2c_serve_refuse(fields->exchange, 400, name, NULL, "%s: %s, but %s is expected", name, text, expected);
  fields->is_refused = 1;
}

int attn2c_field_flag(attn2c_fields *fields, const char *name, int usual) {
  const json_t *value = attn2c_field(fields, name);
  if (!value) return usual;
  if (json_is_boolean(value)) return json_is_true(value);
  attn2c_field_refuse(fields, name, value, "true or false");
  return usual;
}

int64_t attn2c_field_count(attn2c_fields *fields, const char *name, int64_t least, int64_t most,
                           int64_t usual) {
  const json_t *value = attn2c_field(fields, name);
  char expected[60];
  if (!value) return usual;
  if (json_is_integer(value) && json_integer_value(value) >= least && json_integer_value(value) <= most)
    return json_integer_value(value);
  snprintf(expected, sizeof expected, "%" PRId64 " to %" PRId64, least, most);
  attn2c_field_refuse(fields, name, value, expected);
  return usual;
}

const char *attn2c_field_text(attn2c_fields *fields, const char *name, const char *usual) {
  const json_t *value = attn2c_field(fields, name);
  if (!value) return usual;
  if (json_is_string(value)) return json_string_value(value);
  attn2c_field_refuse(fields, name, value, "a text");
  return usual;
}

int attn2c_field_word(attn2c_fields *fields, const char *name, const char *const *words, int usual) {
  const char *given = attn2c_field_text(fields, name, NULL);
  char expected[200];
  size_t length = 0;
  if (!given) return usual;
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], given) == 0) return i;
    if (length < sizeof expected)
      length +=
          (size_t)snprintf(expected + length, sizeof expected - length, "%s%s", i ? " or " : "", words[i]);
  }
  attn2c_field_refuse(fields, name, attn2c_field(fields, name), expected);
  return usual;
}
