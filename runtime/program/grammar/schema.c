/* schema.c - writes a rule for each schema in a schema. A rule's name is r and the schema's number. */
#include <math.h>

#include "program/answers/answers.h"
#include "program/grammar/schema.h"

/* What JSON is. White space is bounded, so that no model writes it for ever. */
static const char json_rules[] =
    "ws ::= \"\" | \" \" | \"\\n\" [ \\t]{0,40}\n"
    "value ::= object | array | string | number | boolean | null\n"
    "object ::= \"{\" ws (string \":\" ws value (\",\" ws string \":\" ws value)* ws)? \"}\"\n"
    "array ::= \"[\" ws (value (\",\" ws value)* ws)? \"]\"\n"
    "string ::= \"\\\"\" char* \"\\\"\"\n"
    "char ::= [^\"\\\\\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" ([0-9a-cA-CefEF] hex | [dD] [0-7]) hex "
    "hex)\n"
    "plain ::= [^\"\\\\\\x00-\\x1F]\n"
    "hex ::= [0-9a-fA-F]\n"
    "number ::= integer (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?\n"
    "integer ::= \"-\"? (\"0\" | [1-9] [0-9]{0,15})\n"
    "boolean ::= \"true\" | \"false\"\n"
    "null ::= \"null\"\n";

/* Formats of strings, as GBNF. Dates are days that there are, of the years 1 to 9999. */
#define YEAR "([1-9] [0-9]{3} | \"0\" ([1-9] [0-9]{2} | \"0\" ([1-9] [0-9] | \"0\" [1-9])))"
#define LEAP                                                                                                 \
  "([0-9]{2} (\"0\" [48] | [2468] [048] | [13579] [26]) | (\"0\" [48] | [2468] [048] | [13579] [26]) "       \
  "\"00\")"
#define DATE                                                                                                 \
  "(" YEAR                                                                                                   \
  " \"-\" ((\"0\" [13578] | \"1\" [02]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01]) | (\"0\" [469] | "     \
  "\"11\") \"-\" (\"0\" [1-9] | [12] [0-9] | \"30\") | \"02-\" (\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8])) "  \
  "| " LEAP " \"-02-29\")"
#define TIME                                                                                                 \
  "(([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{1,6})? (\"Z\" | [-+] ([01] " \
  "[0-9] | "                                                                                                 \
  "\"2\" [0-3]) \":\" [0-5] [0-9]))"

static const struct {
  const char *name, *rule;
} formats[] = {{"date", DATE},
               {"time", TIME},
               {"date-time", DATE " \"T\" " TIME},
               {"uuid", "hex{8} \"-\" hex{4} \"-\" hex{4} \"-\" hex{4} \"-\" hex{12}"}};

/* The most characters of a string that has bounds, and items of a list. */
enum { MOST = 2000 };

static size_t rule_of(schema_reader *r, const json_t *schema);

/* Reads a bound that is a natural number. Returns `otherwise` if there is none. */
static int64_t natural(schema_reader *r, const json_t *schema, const char *key, int64_t otherwise) {
  const json_t *value = json_object_get(schema, key);
  if (!value) return otherwise;
  const double number = json_number_value(value);
  if (json_is_number(value) && number >= 0 && number == floor(number))
    return number > 1e9 ? 1000000000 : (int64_t)number;
  schema_fault(r, "%s: a number from 0 is allowed", key);
  return otherwise;
}

/* Reads the bounds of a string or list. *most: -1 if there is none. */
static void read_bounds(schema_reader *r, const json_t *schema, const char *low, const char *high,
                        int64_t *least, int64_t *most) {
  *least = natural(r, schema, low, 0);
  *most = natural(r, schema, high, -1);
  if (*most >= 0 && *least > *most) schema_fault(r, "%s: more than %s", low, high);
  if (*least > MOST) schema_fault(r, "%s: more than %d is not supported", low, MOST);
  if (*most > MOST) *most = MOST;
}

static void put_repeat(schema_text *to, int64_t least, int64_t most) {
  if (most < 0)
    schema_put(to, "{%lld,} ", (long long)least);
  else
    schema_put(to, "{%lld,%lld} ", (long long)least, (long long)most);
}

static void put_rule(schema_reader *r, schema_text *to, const json_t *schema) {
  schema_put(to, "r%zu ", rule_of(r, schema));
}

static void put_value(schema_reader *r, schema_text *to, const json_t *value) {
  ATTN2C_OWN char *text = attn2c_json_shortest(value);
  if (text)
    schema_put_literal(to, text, strlen(text));
  else
    schema_no_memory(r);
}

/* True if a name of a type is allowed by `type`, which may be a list or nothing. */
static int allows_type(const json_t *type, const json_t *value) {
  if (!type) return 1;
  for (size_t i = 0; i < (json_is_array(type) ? json_array_size(type) : 1); i++) {
    const char *name = json_string_value(json_is_array(type) ? json_array_get(type, i) : type);
    if (name && schema_has_type(value, name)) return 1;
  }
  return 0;
}

/* True if a value is no text, or has a number of characters from least to most; most -1: any number. */
static int allows_length(const json_t *value, int64_t least, int64_t most) {
  int64_t count = 0;
  if (!json_is_string(value)) return 1;
  for (size_t i = 0; i < json_string_length(value); i++)
    count += (json_string_value(value)[i] & 0xc0) != 0x80;
  return count >= least && (most < 0 || count <= most);
}

static void write_values(schema_reader *r, schema_text *to, const json_t *schema) {
  static const char *const own[] = {"type", "const", "enum", "minLength", "maxLength"};
  const json_t *one = json_object_get(schema, "const"), *list = json_object_get(schema, "enum");
  const json_t *type = json_object_get(schema, "type");
  const char *key;
  json_t *value;
  int count = 0;
  const int64_t least = natural(r, schema, "minLength", 0), most = natural(r, schema, "maxLength", -1);
  json_object_foreach((json_t *)schema, key, value) {
    size_t i = 0;
    while (i < sizeof own / sizeof *own && strcmp(key, own[i]) != 0) i++;
    if (i == sizeof own / sizeof *own && !schema_is_note(key))
      schema_fault(r, "%s: is not supported beside %s", key, one ? "const" : "enum");
  }
  if (list && (!json_is_array(list) || json_array_size(list) == 0))
    schema_fault(r, "enum: a list of values is allowed");
  schema_put(to, "(");
  for (size_t i = 0; i < (list ? json_array_size(list) : 1); i++) {
    const json_t *each = list ? json_array_get(list, i) : one;
    if ((list && one && !json_equal(each, one)) || !allows_type(type, each) ||
        !allows_length(each, least, most))
      continue;
    schema_put(to, count++ ? "| " : "");
    put_value(r, to, each);
  }
  schema_put(to, ") ");
  if (count == 0) schema_fault(r, "%s: no value is left", one ? "const" : "enum");
}

/* Puts a string with bounds. Strings with the same ones share a rule, as it has a node for each character. */
static void put_bounded_string(schema_reader *r, schema_text *to, int64_t least, int64_t most) {
  char begin[80];
  snprintf(begin, sizeof begin, "\nstring-%lld-%lld ::= ", (long long)least, (long long)most);
  if (r->grammar.bytes && !strstr(r->grammar.bytes, begin)) {
    schema_put(&r->grammar, "%s\"\\\"\" char", begin);
    put_repeat(&r->grammar, least, most);
    schema_put(&r->grammar, "\"\\\"\"\n");
  }
  schema_put(to, "string-%lld-%lld ", (long long)least, (long long)most);
}

static void write_string(schema_reader *r, schema_text *to, const json_t *schema) {
  const json_t *pattern = json_object_get(schema, "pattern"), *format = json_object_get(schema, "format");
  const int has_length = json_object_get(schema, "minLength") || json_object_get(schema, "maxLength");
  int64_t least, most;
  if ((pattern != NULL) + (format != NULL) + has_length > 1)
    schema_fault(r, "pattern, format and bounds of the length are not supported beside each other");
  read_bounds(r, schema, "minLength", "maxLength", &least, &most);
  if (!pattern && !format && !has_length) {
    schema_put(to, "string ");
    return;
  }
  if (has_length) {
    put_bounded_string(r, to, least, most);
    return;
  }
  schema_put(to, "\"\\\"\" ");
  if (pattern && json_is_string(pattern)) {
    const size_t length = schema_enter(r, "pattern");
    schema_put_pattern(r, to, json_string_value(pattern), json_string_length(pattern));
    schema_leave(r, length);
  } else if (pattern) {
    schema_fault(r, "pattern: a text is allowed");
  } else {
    const char *name = json_string_value(format), *rule = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
      if (name && strcmp(name, formats[i].name) == 0) rule = formats[i].rule;
    if (!rule) schema_fault(r, "format: only date, time, date-time and uuid are supported");
    schema_put(to, "%s ", rule ? rule : "");
  }
  schema_put(to, "\"\\\"\" ");
}

/* Reads a bound of integers: the nearest integer that it allows, in direction `way`. */
static int64_t integer_bound(schema_reader *r, const json_t *schema, const char *key, int is_exclusive,
                             int way, int64_t otherwise) {
  const json_t *value = json_object_get(schema, key);
  int64_t bound = otherwise;
  if (!value) return otherwise;
  const double number = json_number_value(value);
  if (!json_is_number(value) || fabs(number) > 9e18 || (json_is_integer(value) && fabs(number) > 9e18))
    schema_fault(r, "%s: a number from -9e18 to 9e18 is allowed", key);
  else if (json_is_integer(value))
    bound = json_integer_value(value) + (is_exclusive ? way : 0);
  else
    bound = (int64_t)(way > 0 ? ceil(number) : floor(number)) +
            (is_exclusive && number == floor(number) ? way : 0);
  return bound;
}

static void write_number(schema_reader *r, schema_text *to, const json_t *schema, int is_integer) {
  static const char *const keys[] = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"};
  int is_bounded = 0;
  for (int i = 0; i < 4; i++) is_bounded |= json_object_get(schema, keys[i]) != NULL;
  if (!is_bounded) {
    schema_put(to, is_integer ? "integer " : "number ");
    return;
  }
  if (!is_integer) {
    schema_fault(r, "minimum, maximum: are supported only of type integer");
    return;
  }
  const int64_t digits = 9999999999999999;
  int64_t low = integer_bound(r, schema, keys[0], 0, 1, INT64_MIN),
          high = integer_bound(r, schema, keys[2], 0, -1, INT64_MAX);
  const int64_t above = integer_bound(r, schema, keys[1], 1, 1, INT64_MIN);
  const int64_t below = integer_bound(r, schema, keys[3], 1, -1, INT64_MAX);
  if (above > low) low = above;
  if (below < high) high = below;
  /* Without a bound, an integer has 16 digits, as others have; or more if the other bound has. */
  if (low == INT64_MIN) low = high < -digits ? INT64_MIN + 1 : -digits;
  if (high == INT64_MAX && low <= digits) high = digits;
  if (low > high)
    schema_fault(r, "minimum: no integer is left below maximum");
  else
    schema_put_integers(to, low, high);
}

/* Writes a list: the items after number i are a rule of their own where they may end. */
static void write_array(schema_reader *r, schema_text *to, const json_t *schema, size_t number) {
  const json_t *items = json_object_get(schema, "items"), *prefix = json_object_get(schema, "prefixItems");
  const int64_t count = (int64_t)json_array_size(prefix);
  int64_t least, most;
  schema_text rule = {0};
  read_bounds(r, schema, "minItems", "maxItems", &least, &most);
  if (prefix && !json_is_array(prefix)) schema_fault(r, "prefixItems: a list is allowed");
  if (json_is_array(items)) schema_fault(r, "items: a list is not supported; prefixItems takes it");
  if (json_is_false(items) && (most < 0 || most > count)) most = count;
  if (most >= 0 && least > most) schema_fault(r, "minItems: more than there are");
  size_t length = schema_enter(r, "items");
  schema_put(&rule, "r%zu-%lld ::= \"\" ", number, (long long)count);
  if (most < 0 || most > count) {
    const int64_t more = least > count ? least - count : 0, limit = most < 0 ? -1 : most - count;
    if (more == 0 && count == 0) schema_put(&rule, "(");
    if (count == 0) {
      if (items)
        put_rule(r, &rule, items);
      else
        schema_put(&rule, "value ");
    }
    schema_put(&rule, "(\",\" ws ");
    if (items)
      put_rule(r, &rule, items);
    else
      schema_put(&rule, "value ");
    schema_put(&rule, ")");
    put_repeat(&rule, count == 0 && more > 0 ? more - 1 : more,
               limit < 0    ? -1
               : count == 0 ? limit - 1
                            : limit);
    if (more == 0 && count == 0) schema_put(&rule, ")?");
  }
  schema_put(&rule, "\n");
  schema_leave(r, length);
  for (int64_t i = count - 1; i >= 0; i--) {
    length = schema_enter(r, "prefixItems");
    schema_enter_index(r, (size_t)i);
    schema_put(&rule, "r%zu-%lld ::= \"\" ", number, (long long)i);
    if (most < 0 || most > i) {
      schema_put(&rule, i ? "%s\",\" ws " : "%s", least <= i ? "(" : "");
      put_rule(r, &rule, json_array_get(prefix, (size_t)i));
      schema_put(&rule, "r%zu-%lld %s", number, (long long)i + 1, least <= i ? ")?" : "");
    }
    schema_put(&rule, "\n");
    schema_leave(r, length);
  }
  schema_put(to, "\"[\" ws r%zu-0 ws \"]\" ", number);
  schema_put(&r->grammar, "%s", rule.bytes ? rule.bytes : "");
  if (rule.failed) schema_no_memory(r);
  free(rule.bytes);
}

/* Returns the character at a place, and its bytes in *width. */
static uint32_t point_at(const char *text, size_t *width) {
  const unsigned char *u = (const unsigned char *)text;
  *width = u[0] < 0x80 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
  uint32_t point = *width == 1 ? u[0] : u[0] & (0x7fu >> *width);
  for (size_t i = 1; i < *width; i++) point = point << 6 | (u[i] & 0x3f);
  return point;
}

/* Puts the texts that are none of the names that go on with `at` bytes of the first of them. */
static void put_others(schema_text *to, const char *const *names, size_t count, size_t at) {
  int is_name = 0;
  schema_text others = {0};
  schema_put(to, "(");
  for (size_t i = 0, end; i < count; i = end) {
    size_t width;
    end = i + 1;
    if (names[i][at] == '\0') {
      is_name = 1;
      continue;
    }
    const uint32_t point = point_at(names[i] + at, &width);
    while (end < count && strncmp(names[end] + at, names[i] + at, width) == 0) end++;
    schema_put_range(&others, point, point);
    schema_put(to, "[");
    schema_put_range(to, point, point);
    schema_put(to, "] ");
    put_others(to, names + i, end - i, at + width);
    schema_put(to, "| ");
  }
  schema_put(to, "[^\"\\\\\\x00-\\x1F%s] plain* %s) ", others.bytes ? others.bytes : "", is_name ? "" : "| ");
  to->failed |= others.failed;
  free(others.bytes);
}

static int compare_names(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Puts a member whose name is none of the properties'. */
static void put_other_member(schema_reader *r, schema_text *to, const json_t *properties,
                             const json_t *schema) {
  const size_t size = json_object_size(properties);
  const char **names = malloc((size + 1) * sizeof *names), *name;
  json_t *value;
  size_t count = 0;
  if (!names) {
    schema_no_memory(r);
    return;
  }
  json_object_foreach((json_t *)properties, name, value) names[count++] = name;
  qsort(names, count, sizeof *names, compare_names);
  schema_put(to, "\"\\\"\" ");
  put_others(to, names, count, 0);
  schema_put(to, "\"\\\":\" ws ");
  const size_t length = schema_enter(r, "additionalProperties");
  if (json_is_true(schema))
    schema_put(to, "value ");
  else
    put_rule(r, to, schema);
  schema_leave(r, length);
  free(names);
}

static int is_required(const json_t *required, const char *name) {
  for (size_t i = 0; i < json_array_size(required); i++) {
    const char *each = json_string_value(json_array_get(required, i));
    if (each && strcmp(each, name) == 0) return 1;
  }
  return 0;
}

/* Returns the properties with those that are demanded and not described. */
static json_t *all_properties(schema_reader *r, const json_t *schema) {
  const json_t *given = json_object_get(schema, "properties"),
               *required = json_object_get(schema, "required");
  json_t *more = json_object_get(schema, "additionalProperties");
  json_t *all = given ? json_copy((json_t *)given) : json_object();
  if (given && !json_is_object(given)) schema_fault(r, "properties: an object is allowed");
  if (required && !json_is_array(required)) schema_fault(r, "required: a list of names is allowed");
  for (size_t i = 0; i < json_array_size(required) && r->status == ATTN2C_OK; i++) {
    const char *name = json_string_value(json_array_get(required, i));
    if (!name)
      schema_fault(r, "required: a list of names is allowed");
    else if (!json_object_get(all, name) && json_is_false(more))
      schema_fault(r, "required: additionalProperties forbids '%s'", name);
    else if (!json_object_get(all, name) &&
             (more ? json_object_set(all, name, more) : json_object_set_new(all, name, json_true())) != 0)
      schema_no_memory(r);
  }
  if (!all || json_array_append_new(r->kept, all) != 0) schema_no_memory(r);
  return r->status == ATTN2C_OK ? all : NULL;
}

/* Writes an object. Rule A-i has the members from number i on, none before; B-i after others. */
static void write_object(schema_reader *r, schema_text *to, const json_t *schema, size_t number) {
  const json_t *more = json_object_get(schema, "additionalProperties");
  const json_t *required = json_object_get(schema, "required");
  const int is_open = more && !json_is_false(more);
  json_t *properties = all_properties(r, schema), *value;
  schema_text rules = {0}, other = {0};
  const char *name;
  size_t i = 0;
  if (!properties) return;
  if (json_object_size(properties) == 0 && !json_object_get(schema, "properties") &&
      (!more || json_is_true(more))) {
    schema_put(to, "object ");
    return;
  }
  json_object_foreach(properties, name, value) {
    json_t *quoted = json_string(name);
    const int must = is_required(required, name);
    const size_t length = schema_enter(r, "properties");
    schema_enter(r, name);
    schema_text member = {0};
    if (quoted)
      put_value(r, &member, quoted);
    else
      schema_no_memory(r);
    json_decref(quoted);
    schema_put(&member, "\":\" ws ");
    put_rule(r, &member, value);
    schema_leave(r, length);
    schema_put(&rules, "r%zu-A-%zu ::= %sr%zu-B-%zu ", number, i, member.bytes ? member.bytes : "", number,
               i + 1);
    if (!must) schema_put(&rules, "| r%zu-A-%zu ", number, i + 1);
    schema_put(&rules, "\nr%zu-B-%zu ::= (\",\" ws %s)%s r%zu-B-%zu\n", number, i,
               member.bytes ? member.bytes : "", must ? "" : "?", number, i + 1);
    rules.failed |= member.failed;
    free(member.bytes);
    i++;
  }
  if (is_open) put_other_member(r, &other, properties, more);
  schema_put(&rules, "r%zu-B-%zu ::= \"\" ", number, i);
  if (is_open) schema_put(&rules, "(\",\" ws r%zu-C)* ", number);
  schema_put(&rules, "\nr%zu-A-%zu ::= \"\" ", number, i);
  if (is_open)
    schema_put(&rules, "(r%zu-C r%zu-B-%zu)?\nr%zu-C ::= %s", number, number, i, number,
               other.bytes ? other.bytes : "");
  schema_put(&rules, "\n");
  schema_put(to, "\"{\" ws r%zu-A-0 ws \"}\" ", number);
  schema_put(&r->grammar, "%s", rules.bytes ? rules.bytes : "");
  if (rules.failed || other.failed) schema_no_memory(r);
  ATTN2C_FREE(rules.bytes, other.bytes);
}

static void write_type(schema_reader *r, schema_text *to, const json_t *schema, const char *type,
                       size_t number) {
  const char *own = type ? type : "";
  if (strcmp(own, "object") == 0)
    write_object(r, to, schema, number);
  else if (strcmp(own, "array") == 0)
    write_array(r, to, schema, number);
  else if (strcmp(own, "string") == 0)
    write_string(r, to, schema);
  else if (strcmp(own, "integer") == 0 || strcmp(own, "number") == 0)
    write_number(r, to, schema, *own == 'i');
  else if (strcmp(own, "boolean") == 0 || strcmp(own, "null") == 0)
    schema_put(to, "%s ", own);
  else
    schema_fault(r,
                 "type: object, array, string, number, integer, boolean, null, or a list of them is allowed");
}

/* Keys that are read, and the type that one of them by itself stands for; NULL: none. */
static const struct {
  const char *key, *type;
} keys[] = {{"type", NULL},
            {"const", NULL},
            {"enum", NULL},
            {"anyOf", NULL},
            {"oneOf", NULL},
            {"allOf", NULL},
            {"$ref", NULL},
            {"properties", "object"},
            {"required", "object"},
            {"additionalProperties", "object"},
            {"items", "array"},
            {"prefixItems", "array"},
            {"minItems", "array"},
            {"maxItems", "array"},
            {"pattern", "string"},
            {"format", "string"},
            {"minLength", "string"},
            {"maxLength", "string"},
            {"minimum", "number"},
            {"maximum", "number"},
            {"exclusiveMinimum", "number"},
            {"exclusiveMaximum", "number"}};

/* Refuses unknown keys. Returns the type that the keys stand for, or NULL; *says: 1 if a key says anything.
 */
static const char *look_at_keys(schema_reader *r, const json_t *schema, int *says) {
  const char *key, *type = NULL;
  json_t *value;
  *says = 0;
  json_object_foreach((json_t *)schema, key, value) {
    size_t i = 0;
    if (schema_is_note(key)) continue;
    while (i < sizeof keys / sizeof *keys && strcmp(key, keys[i].key) != 0) i++;
    if (i == sizeof keys / sizeof *keys) {
      schema_fault(r, "%s: is not supported", key);
      return NULL;
    }
    *says = 1;
    if (!type) type = keys[i].type;
  }
  return type;
}

static void check_disjoint(schema_reader *r, const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    for (size_t k = 0; k < i; k++)
      if (!schema_are_disjoint(r, json_array_get(list, k), json_array_get(list, i), 0) &&
          r->status == ATTN2C_OK)
        schema_fault(
            r, "oneOf: one value may fit the schemas %zu and %zu, which is not supported; anyOf allows it", k,
            i);
}

/* Writes the alternatives of anyOf or oneOf, each with what the other keys say. */
static void write_choice(schema_reader *r, schema_text *to, const json_t *schema, const char *key) {
  const char *const without[] = {key, NULL};
  const json_t *list = json_object_get(schema, key);
  const json_t *rest = schema_without(r, schema, without);
  int says = 0;
  if (!json_is_array(list) || json_array_size(list) == 0)
    schema_fault(r, "%s: a list of schemas is allowed", key);
  if (strcmp(key, "oneOf") == 0) check_disjoint(r, list);
  if (!rest || r->status != ATTN2C_OK) return;
  look_at_keys(r, rest, &says);
  schema_put(to, "(");
  for (size_t i = 0; i < json_array_size(list) && r->status == ATTN2C_OK; i++) {
    const size_t length = schema_enter(r, key);
    schema_enter_index(r, i);
    const json_t *each = says ? schema_merge(r, rest, json_array_get(list, i)) : json_array_get(list, i);
    schema_put(to, i ? "| " : "");
    if (each) put_rule(r, to, each);
    schema_leave(r, length);
  }
  schema_put(to, ") ");
}

static void write_schema(schema_reader *r, schema_text *to, const json_t *schema, size_t number) {
  static const char *const reference[] = {"$ref", NULL};
  int says = 0;
  if (!json_is_object(schema) && !json_is_true(schema)) {
    schema_fault(r, json_is_false(schema) ? "a schema that allows nothing is not supported here"
                                          : "a schema is an object, true or false");
    return;
  }
  const char *type = look_at_keys(r, schema, &says);
  if (r->status != ATTN2C_OK) return;
  if (!says) {
    schema_put(to, "value ");
    return;
  }
  if (json_object_get(schema, "$ref")) {
    const json_t *rest = schema_without(r, schema, reference);
    if (rest) look_at_keys(r, rest, &says);
    const json_t *target = says ? NULL : schema_target(r, json_object_get(schema, "$ref"));
    if (target) put_rule(r, to, target);
    if (!says) return;
  }
  if (json_object_get(schema, "$ref") || json_object_get(schema, "allOf")) {
    schema = schema_expand(r, schema);
    if (schema) write_schema(r, to, schema, number);
    return;
  }
  if (json_object_get(schema, "anyOf") || json_object_get(schema, "oneOf")) {
    write_choice(r, to, schema, json_object_get(schema, "anyOf") ? "anyOf" : "oneOf");
    return;
  }
  const json_t *given = json_object_get(schema, "type");
  if (json_object_get(schema, "const") || json_object_get(schema, "enum")) {
    write_values(r, to, schema);
  } else if (json_is_array(given)) {
    schema_put(to, "(");
    for (size_t i = 0; i < json_array_size(given) && r->status == ATTN2C_OK; i++) {
      schema_put(to, i ? "| " : "");
      write_type(r, to, schema, json_string_value(json_array_get(given, i)), number);
    }
    if (json_array_size(given) == 0) schema_fault(r, "type: a list of names is allowed");
    schema_put(to, ") ");
  } else {
    write_type(r, to, schema, given ? json_string_value(given) : type, number);
  }
}

/* Returns the number of a schema's rule, which is written if it is new. */
static size_t rule_of(schema_reader *r, const json_t *schema) {
  schema_text body = {0};
  if (r->status != ATTN2C_OK) return 0;
  for (size_t i = 0; i < r->rules; i++)
    if (r->schemas[i] == schema && !json_is_true(schema)) return i;
  if (r->depth >= SCHEMA_DEPTH)
    return (size_t)schema_fault(r, "more than %d schemas in each other", SCHEMA_DEPTH);
  if (attn2c_grow((void **)&r->schemas, &r->rule_capacity, r->rules + 1, sizeof *r->schemas) != ATTN2C_OK)
    return (size_t)schema_no_memory(r);
  const size_t number = r->rules++;
  r->schemas[number] = schema;
  r->depth++;
  write_schema(r, &body, schema, number);
  r->depth--;
  schema_put(&r->grammar, "r%zu ::= %s\n", number, body.bytes ? body.bytes : "");
  if (body.failed) schema_no_memory(r);
  free(body.bytes);
  return number;
}

int attn2c_schema_rules(const attn2c_named_schema *schemas, size_t count, const char *root, char **text,
                        attn2c_message *message) {
  schema_reader r = {.message = message, .kept = json_array(), .name = schemas->name};
  *text = NULL;
  if (!r.kept) schema_no_memory(&r);
  schema_put(&r.grammar, "%s", json_rules);
  for (size_t i = 0; i < count; i++) {
    r.root = schemas[i].root ? schemas[i].root : schemas[i].schema, r.name = schemas[i].name;
    const size_t number = rule_of(&r, schemas[i].schema);
    schema_put(&r.grammar, "schema%zu ::= r%zu\n", i, number);
  }
  schema_put(&r.grammar, "root ::= %s\n", root);
  if (r.grammar.failed || r.path.failed) schema_no_memory(&r);
  if (r.status == ATTN2C_OK)
    *text = r.grammar.bytes;
  else
    free(r.grammar.bytes);
  json_decref(r.kept);
  ATTN2C_FREE(r.path.bytes, (void *)r.schemas);
  return r.status;
}

int attn2c_schema_grammar(const json_t *schema, const char *name, char **text, attn2c_message *message) {
  return attn2c_schema_rules(&(attn2c_named_schema){schema, name, NULL}, 1, "schema0", text, message);
}
