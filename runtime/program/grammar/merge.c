/* merge.c - joins schemas that hold at once, follows references, and tells whether two schemas exclude each
 * other. Schemas that are made are kept until the reading ends, as their addresses are known by then. */
#include <limits.h>
#include <math.h>

#include "program/grammar/schema.h"

/* Keeps a schema that was made. Returns it, or NULL without memory. */
static json_t *keep(schema_reader *r, json_t *made) {
  if (made && json_array_append_new(r->kept, made) == 0) return made;
  schema_no_memory(r);
  return NULL;
}

json_t *schema_without(schema_reader *r, const json_t *schema, const char *const *keys) {
  json_t *copy = keep(r, json_copy((json_t *)schema));
  for (; copy && *keys; keys++) json_object_del(copy, *keys);
  return copy;
}

/* Returns the member of a value that a part of a JSON pointer names. */
static const json_t *member_of(const json_t *value, const char *part) {
  char *end;
  if (json_is_object(value)) return json_object_get(value, part);
  const unsigned long index = *part >= '0' && *part <= '9' ? strtoul(part, &end, 10) : ULONG_MAX;
  return json_is_array(value) && index != ULONG_MAX && *end == '\0' ? json_array_get(value, index) : NULL;
}

/* Decodes ~0, ~1 and %HH of a part of a pointer in place. */
static void decode_part(char *part) {
  char *to = part;
  for (const char *from = part; *from; from++) {
    unsigned byte;
    if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1 && from[1] && from[2])
      *to++ = (char)byte, from += 2;
    else if (*from == '~' && (from[1] == '0' || from[1] == '1'))
      *to++ = *++from == '0' ? '~' : '/';
    else
      *to++ = *from;
  }
  *to = '\0';
}

const json_t *schema_target(schema_reader *r, const json_t *reference) {
  const char *pointer = json_string_value(reference);
  const json_t *found = r->root;
  if (!pointer || pointer[0] != '#' || (pointer[1] != '/' && pointer[1] != '\0')) {
    schema_fault(r, "$ref: only references into the schema itself are supported: \"#\" and \"#/...\"");
    return NULL;
  }
  char *copy = attn2c_copied(pointer, strlen(pointer)), *next = copy ? strchr(copy, '/') : NULL;
  if (!copy) schema_no_memory(r);
  while (next && found) {
    char *part = next + 1;
    next = strchr(part, '/');
    if (next) *next = '\0';
    decode_part(part);
    found = member_of(found, part);
  }
  free(copy);
  if (!found) schema_fault(r, "$ref: nothing is at '%s'", pointer);
  return r->status == ATTN2C_OK ? found : NULL;
}

const json_t *schema_expand(schema_reader *r, const json_t *schema) {
  static const char *const reference[] = {"$ref", NULL}, *const all[] = {"allOf", NULL};
  if (++r->depth > SCHEMA_DEPTH) schema_fault(r, "more than %d schemas in each other", SCHEMA_DEPTH);
  const json_t *target = json_object_get(schema, "$ref"), *parts = json_object_get(schema, "allOf"), *part;
  if (target && r->status == ATTN2C_OK) {
    const json_t *rest = schema_without(r, schema, reference);
    target = schema_target(r, target);
    schema = target && rest ? schema_merge(r, target, rest) : NULL;
  } else if (parts && r->status == ATTN2C_OK) {
    size_t i;
    if (!json_is_array(parts)) schema_fault(r, "allOf: a list is allowed");
    schema = schema_without(r, schema, all);
    json_array_foreach((json_t *)parts, i, part) {
      const size_t length = schema_enter(r, "allOf");
      schema_enter_index(r, i);
      if (schema) schema = schema_merge(r, schema, part);
      schema_leave(r, length);
    }
  }
  r->depth--;
  return r->status == ATTN2C_OK ? schema : NULL;
}

/* Returns both schemas of one value. */
static json_t *both(schema_reader *r, const json_t *a, const json_t *b) {
  return keep(r, json_pack("{s:[O,O]}", "allOf", a, b));
}

static json_t *merge_properties(schema_reader *r, const json_t *a, const json_t *b) {
  json_t *made = keep(r, json_copy((json_t *)a)), *value;
  const char *name;
  json_object_foreach((json_t *)b, name, value) {
    const json_t *own = json_object_get(a, name);
    json_t *each = own ? both(r, own, value) : value;
    if (!made || !each || json_object_set(made, name, each) != 0) schema_no_memory(r);
  }
  return made;
}

static int is_in(const json_t *list, const json_t *value) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *each = json_array_get(list, i);
    if (json_is_number(each) && json_is_number(value) ? json_number_value(each) == json_number_value(value)
                                                      : json_equal(each, value))
      return 1;
  }
  return 0;
}

int schema_has_type(const json_t *value, const char *type) {
  static const char *const names[] = {
      [JSON_OBJECT] = "object", [JSON_ARRAY] = "array",  [JSON_STRING] = "string", [JSON_INTEGER] = "integer",
      [JSON_REAL] = "number",   [JSON_TRUE] = "boolean", [JSON_FALSE] = "boolean", [JSON_NULL] = "null"};
  if (json_is_real(value) && strcmp(type, "integer") == 0)
    return json_real_value(value) == floor(json_real_value(value));
  return strcmp(names[json_typeof(value)], type) == 0 ||
         (json_is_integer(value) && strcmp(type, "number") == 0);
}

/* Returns the types that both lists, or names, allow. */
static json_t *merge_types(schema_reader *r, const json_t *a, const json_t *b) {
  json_t *made = keep(r, json_array());
  const json_t *lists[] = {json_is_array(a) ? a : keep(r, json_pack("[O]", a)),
                           json_is_array(b) ? b : keep(r, json_pack("[O]", b))};
  for (int side = 0; side < 2 && made && lists[0] && lists[1]; side++)
    for (size_t i = 0; i < json_array_size(lists[side]); i++) {
      json_t *type = json_array_get(lists[side], i);
      const char *name = json_string_value(type);
      json_t *number = keep(r, json_string("number"));
      const int fits = is_in(lists[!side], type) ||
                       (name && strcmp(name, "integer") == 0 && number && is_in(lists[!side], number));
      if (fits && !is_in(made, type) && json_array_append(made, type) != 0) schema_no_memory(r);
    }
  if (r->status == ATTN2C_OK && json_array_size(made) == 0) schema_fault(r, "type: no type is left");
  return made;
}

/* Returns the values of both lists, or of either. */
static json_t *merge_lists(schema_reader *r, const json_t *a, const json_t *b, int either) {
  json_t *made = keep(r, either ? json_copy((json_t *)a) : json_array());
  for (size_t i = 0; i < json_array_size(b) && made; i++) {
    json_t *value = json_array_get(b, i);
    if (is_in(a, value) != either && json_array_append(made, value) != 0) schema_no_memory(r);
  }
  return made;
}

/* Refuses properties of a schema that is joined with another one that forbids them. */
static void check_closed(schema_reader *r, const json_t *closed, const json_t *other) {
  const json_t *more = json_object_get(closed, "additionalProperties");
  json_t *value;
  const char *name;
  if (!more || json_is_true(more)) return;
  json_object_foreach(json_object_get(other, "properties"), name,
                      value) if (!json_object_get(json_object_get(closed, "properties"), name))
      schema_fault(r, "additionalProperties: is not supported beside the property '%s' of another schema",
                   name);
}

/* Returns a value of a key for which schemas have a and b; NULL after a fault. */
static json_t *merge_key(schema_reader *r, const char *key, json_t *a, json_t *b) {
  static const char *const largest[] = {"minimum", "exclusiveMinimum", "minLength", "minItems", NULL};
  static const char *const smallest[] = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", NULL};
  if (json_equal(a, b)) return a;
  for (int i = 0; largest[i]; i++) {
    if (strcmp(key, largest[i]) == 0) return json_number_value(a) > json_number_value(b) ? a : b;
    if (strcmp(key, smallest[i]) == 0) return json_number_value(a) < json_number_value(b) ? a : b;
  }
  if (strcmp(key, "type") == 0) return merge_types(r, a, b);
  if (strcmp(key, "properties") == 0 && json_is_object(a) && json_is_object(b))
    return merge_properties(r, a, b);
  if (strcmp(key, "required") == 0) return merge_lists(r, a, b, 1);
  if (strcmp(key, "enum") == 0) return merge_lists(r, a, b, 0);
  if (strcmp(key, "items") == 0) return both(r, a, b);
  if (strcmp(key, "additionalProperties") == 0 && json_is_false(a)) return a;
  if (strcmp(key, "additionalProperties") == 0 && json_is_false(b)) return b;
  if (strcmp(key, "additionalProperties") == 0) return both(r, a, b);
  schema_fault(r, "%s: two different ones for one value are not supported", key);
  return NULL;
}

const json_t *schema_merge(schema_reader *r, const json_t *a, const json_t *b) {
  const json_t *sides[] = {json_is_true(a) ? keep(r, json_object()) : schema_expand(r, a), NULL};
  if (!sides[0]) return NULL;
  sides[1] = json_is_true(b) ? keep(r, json_object()) : schema_expand(r, b);
  if (!sides[1]) return NULL;
  if (!json_is_object(sides[0]) || !json_is_object(sides[1])) {
    schema_fault(r, "a schema that allows nothing is not supported beside another one");
    return NULL;
  }
  json_t *made = keep(r, json_copy((json_t *)sides[0])), *value;
  const char *key;
  check_closed(r, sides[0], sides[1]);
  check_closed(r, sides[1], sides[0]);
  if (json_object_get(sides[0], "prefixItems") || json_object_get(sides[1], "prefixItems"))
    if (json_object_get(sides[0], "items") || json_object_get(sides[1], "items"))
      if (!json_equal(json_object_get(sides[0], "prefixItems"), json_object_get(sides[1], "prefixItems")) &&
          json_object_get(sides[0], "items") != json_object_get(sides[1], "items") &&
          (json_object_get(sides[0], "items") || json_object_get(sides[0], "prefixItems")) &&
          (json_object_get(sides[1], "items") || json_object_get(sides[1], "prefixItems")))
        schema_fault(r, "prefixItems: is not supported beside items of another schema");
  json_object_foreach((json_t *)sides[1], key, value) {
    json_t *own = json_object_get(sides[0], key);
    json_t *each = own && !schema_is_note(key) ? merge_key(r, key, own, value) : value;
    if (r->status == ATTN2C_OK && (!made || json_object_set(made, key, each) != 0)) schema_no_memory(r);
  }
  return r->status == ATTN2C_OK ? made : NULL;
}

/* True if a schema may allow values of a type. */
static int may_have_type(const json_t *schema, const char *type) {
  const json_t *types = json_object_get(schema, "type");
  if (!types) return 1;
  for (size_t i = 0; i < (json_is_array(types) ? json_array_size(types) : 1); i++) {
    const char *name = json_string_value(json_is_array(types) ? json_array_get(types, i) : types);
    if (name && (strcmp(name, type) == 0 || (strcmp(name, "number") == 0 && strcmp(type, "integer") == 0)))
      return 1;
  }
  return 0;
}

/* Returns the values of a schema's const or enum; *count: their number, -1: it has neither. */
static const json_t *value_at(const json_t *schema, int64_t i, int64_t *count) {
  const json_t *one = json_object_get(schema, "const"), *list = json_object_get(schema, "enum");
  *count = one ? 1 : json_is_array(list) ? (int64_t)json_array_size(list) : -1;
  return i >= *count ? NULL : one ? one : json_array_get(list, (size_t)i);
}

/* True if a value is none that a schema allows, by its types and values. */
static int is_outside(const json_t *value, const json_t *schema) {
  static const char *const types[] = {"object", "array", "string", "integer", "number", "boolean", "null"};
  int64_t count, fits = 0;
  int may = 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    may |= schema_has_type(value, types[i]) && may_have_type(schema, types[i]);
  const json_t *each = value_at(schema, 0, &count);
  for (int64_t i = 0; i < count; each = value_at(schema, ++i, &count))
    fits += json_is_number(each) && json_is_number(value)
                ? json_number_value(each) == json_number_value(value)
                : json_equal(each, value);
  return !may || (count >= 0 && fits == 0);
}

/* True if objects of both schemas differ: in a property that both demand, or one demands and one forbids. */
static int differ_in_property(schema_reader *r, const json_t *a, const json_t *b, int depth) {
  const json_t *required = json_object_get(a, "required"), *others = json_object_get(b, "required");
  for (size_t i = 0; i < json_array_size(required); i++) {
    const json_t *name = json_array_get(required, i);
    const char *key = json_is_string(name) ? json_string_value(name) : "";
    const json_t *of_a = json_object_get(json_object_get(a, "properties"), key);
    const json_t *of_b = json_object_get(json_object_get(b, "properties"), key);
    if (!of_b && json_is_false(json_object_get(b, "additionalProperties"))) return 1;
    if (of_a && of_b && is_in(others, name) && schema_are_disjoint(r, of_a, of_b, depth + 1)) return 1;
  }
  return 0;
}

int schema_are_disjoint(schema_reader *r, const json_t *a, const json_t *b, int depth) {
  static const char *const types[] = {"array", "string", "integer", "number", "boolean", "null"};
  int64_t count;
  int shared = 0;
  if (depth > 8 || !json_is_object(a) || !json_is_object(b)) return 0;
  a = schema_expand(r, a);
  b = a ? schema_expand(r, b) : NULL;
  if (!b) return 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    shared |= may_have_type(a, types[i]) && may_have_type(b, types[i]);
  if (!shared && !(may_have_type(a, "object") && may_have_type(b, "object"))) return 1;
  for (int side = 0; side < 2; side++) {
    const json_t *from = side ? b : a, *to = side ? a : b, *value = value_at(from, 0, &count);
    int64_t outside = 0;
    for (int64_t i = 0; i < count; value = value_at(from, ++i, &count)) outside += is_outside(value, to);
    if (count >= 0 && outside == count) return 1;
  }
  return !shared && (differ_in_property(r, a, b, depth) || differ_in_property(r, b, a, depth));
}
