/* test_schema.c - JSON schemas: which texts each allows, and what is refused by name. fuzz/schemas.py draws
 * schemas at random and compares with a library. */
#include "program/grammar/schema.h"

#include "allows.h"

static char note[2000];

static int write_grammar(const char *schema, char **text) {
  attn2c_message message = attn2c_message_make(note, sizeof note);
  json_t *parsed = json_loads(schema, JSON_DECODE_ANY, NULL);
  note[0] = '\0';
  cr_assert_not_null(parsed, "%s", schema);
  const int status = attn2c_schema_grammar(parsed, "s", text, &message);
  json_decref(parsed);
  return status;
}

/* Returns 1 if a schema allows a text. */
static int allows(const char *schema, const char *text) {
  char *written;
  cr_assert_eq(write_grammar(schema, &written), ATTN2C_OK, "%s: %s", schema, note);
  return grammar_allows(written, text, schema);
}

#define AB "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"null\"}}"
#define NODE                                                                                                 \
  "{\"$ref\":\"#/$defs/x~1y\",\"$defs\":{\"x/"                                                               \
  "y\":{\"type\":\"object\",\"properties\":{\"n\":{\"anyOf\":[{\"$ref\":"                                    \
  "\"#/$defs/x~1y\"},{\"type\":\"null\"}]}},\"required\":[\"n\"]}}}"

Test(schema, texts) {
  static const struct {
    const char *schema, *text;
    int result;
  } rows[] = {
      {"true", "{\"a\": [1, -2.5e+3, \"x\\n\\u00e4\", null, true, {}]}", 1},
      {"{}", "01", 0},
      {"{}", "\"\\ud800\"", 0},
      {"{\"type\":\"boolean\"}", "true", 1},
      {"{\"type\":\"boolean\"}", "null", 0},
      {"{\"type\":\"integer\"}", "-12", 1},
      {"{\"type\":\"integer\"}", "1.5", 0},
      {"{\"type\":\"number\"}", "1.5", 1},
      {"{\"type\":[\"null\",\"string\"]}", "\"\"", 1},
      {"{\"type\":[\"null\",\"string\"]}", "1", 0},
      {"{\"type\":\"object\"}", "{ \"x\" : 1}", 0},
      {"{\"type\":\"object\"}", "{\"x\": 1, \"y\":{}}", 1},
      {"{\"type\":\"array\"}", "[\n  1,\n  []\n]", 1},
      {AB "}", "{}", 1},
      {AB "}", "{\"a\":1,\"b\":null}", 1},
      {AB "}", "{\"b\":null}", 1},
      {AB "}", "{\"b\":null,\"a\":1}", 0},
      {AB "}", "{\"a\":1,}", 0},
      {AB "}", "{\"c\":1}", 0},
      {AB ",\"required\":[\"b\"]}", "{\"a\":1}", 0},
      {AB ",\"required\":[\"b\"]}", "{\"b\":null}", 1},
      {AB ",\"required\":[\"c\"]}", "{\"a\":1,\"c\":[]}", 1},
      {AB ",\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\":1,\"ab\":\"\",\"\":\"x\"}", 1},
      {AB ",\"additionalProperties\":{\"type\":\"string\"}}", "{\"ab\":1}", 0},
      {AB ",\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\":\"x\"}", 0},
      {AB ",\"additionalProperties\":true}", "{\"\\u0061\":\"x\"}", 0},
      {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"x\":null,\"y\":null}", 1},
      {"{\"items\":{\"type\":\"null\"}}", "[null, null]", 1},
      {"{\"items\":{\"type\":\"null\"},\"minItems\":2,\"maxItems\":3}", "[null]", 0},
      {"{\"items\":{\"type\":\"null\"},\"minItems\":2,\"maxItems\":3}", "[null,null,null]", 1},
      {"{\"items\":{\"type\":\"null\"},\"minItems\":2,\"maxItems\":3}", "[null,null,null,null]", 0},
      {"{\"items\":{},\"maxItems\":0}", "[]", 1},
      {"{\"items\":{},\"maxItems\":0}", "[1]", 0},
      {"{\"prefixItems\":[{\"type\":\"null\"},{\"type\":\"integer\"}],\"items\":false}", "[null]", 1},
      {"{\"prefixItems\":[{\"type\":\"null\"},{\"type\":\"integer\"}],\"items\":false}", "[null,1,2]", 0},
      {"{\"prefixItems\":[{\"type\":\"null\"}],\"minItems\":2}", "[null,\"x\",5]", 1},
      {"{\"prefixItems\":[{\"type\":\"null\"}],\"minItems\":2}", "[null]", 0},
      {"{\"minLength\":2,\"maxLength\":3}", "\"\\u00e4x\"", 1},
      {"{\"minLength\":2,\"maxLength\":3}", "\"x\"", 0},
      {"{\"minLength\":2,\"maxLength\":3}", "\"abcd\"", 0},
      {"{\"minLength\":1}", "\"\"", 0},
      {"{\"enum\":[1,\"a\",null,0.1,[1,{\"b\":2}]]}", "0.1", 1},
      {"{\"enum\":[1,\"a\",null,0.1,[1,{\"b\":2}]]}", "[1,{\"b\":2}]", 1},
      {"{\"enum\":[1,\"a\",null]}", "\"b\"", 0},
      {"{\"enum\":[1,\"é日\",\"abc\"],\"maxLength\":2,\"minLength\":2}", "\"é日\"", 1},
      {"{\"enum\":[1,\"é日\",\"abc\"],\"maxLength\":2,\"minLength\":2}", "\"abc\"", 0},
      {"{\"enum\":[1,\"é日\",\"abc\"],\"maxLength\":2,\"minLength\":2}", "1", 1},
      {"{\"type\":\"integer\",\"discriminator\":{},\"example\":1,\"contentEncoding\":\"x\"}", "1", 1},
      {"{\"enum\":[1,\"a\",null],\"type\":[\"number\",\"null\"]}", "1", 1},
      {"{\"enum\":[1,\"a\",null],\"type\":[\"number\",\"null\"]}", "\"a\"", 0},
      {"{\"const\":\"a\\\"b\\\\\"}", "\"a\\\"b\\\\\"", 1},
      {"{\"pattern\":\"^a.[^x]\\\\d{2}$\",\"type\":\"string\"}", "\"a\\\"\\n12\"", 1},
      {"{\"pattern\":\"^a.[^x]\\\\d{2}$\",\"type\":\"string\"}", "\"a\\nx12\"", 0},
      {"{\"pattern\":\"b|^c\"}", "\"abd\"", 1},
      {"{\"pattern\":\"b|^c\"}", "\"xc\"", 0},
      {"{\"pattern\":\"^(?:[\\\\w.-]+?)@x$\"}", "\"a.b-c@x\"", 1},
      {"{\"pattern\":\"^\\\\x41\\\\u00e4\\\\.\\\\/\\\\t[\\\\]\\\\S]$\"}", "\"A\xc3\xa4./\\t]\"", 1},
      {"{\"format\":\"date\"}", "\"2023-02-29\"", 0},
      {"{\"format\":\"date\"}", "\"2000-02-29\"", 1},
      {"{\"format\":\"date\"}", "\"1900-02-29\"", 0},
      {"{\"format\":\"date\"}", "\"0000-01-01\"", 0},
      {"{\"format\":\"date\"}", "\"2024-11-30\"", 1},
      {"{\"format\":\"date\"}", "\"2024-11-31\"", 0},
      {"{\"format\":\"date-time\"}", "\"2000-12-31T23:59:59.5+02:00\"", 1},
      {"{\"format\":\"uuid\"}", "\"123e4567-e89b-12d3-a456-426614174000\"", 1},
      {"{\"type\":\"integer\",\"minimum\":-105,\"maximum\":1020}", "-105", 1},
      {"{\"type\":\"integer\",\"minimum\":-105,\"maximum\":1020}", "-106", 0},
      {"{\"type\":\"integer\",\"minimum\":-105,\"maximum\":1020}", "1021", 0},
      {"{\"type\":\"integer\",\"minimum\":-105,\"maximum\":1020}", "007", 0},
      {"{\"type\":\"integer\",\"exclusiveMinimum\":5}", "5", 0},
      {"{\"type\":\"integer\",\"exclusiveMinimum\":4.5,\"exclusiveMaximum\":6}", "5", 1},
      {"{\"type\":\"integer\",\"maximum\":-1}", "-1", 1},
      {"{\"type\":\"integer\",\"maximum\":-1}", "0", 0},
      {"{\"type\":\"integer\",\"minimum\":0,\"maximum\":0}", "0", 1},
      {"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}", "5", 1},
      {"{\"oneOf\":[{\"const\":1},{\"const\":2}]}", "2", 1},
      {"{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}],\"type\":\"object\",\"properties\":{\"a\":"
       "{\"const\":1},"
       "\"b\":{\"const\":2}}}",
       "{\"b\":2}", 1},
      {"{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}],\"type\":\"object\",\"properties\":{\"a\":"
       "{\"const\":1},"
       "\"b\":{\"const\":2}}}",
       "{}", 0},
      {"{\"allOf\":[{\"type\":[\"integer\",\"null\"],\"minimum\":3},{\"maximum\":5,\"type\":\"number\"}]}",
       "4", 1},
      {"{\"allOf\":[{\"type\":[\"integer\",\"null\"],\"minimum\":3},{\"maximum\":5,\"type\":\"number\"}]}",
       "6", 0},
      {"{\"allOf\":[{\"minimum\":3},{\"minimum\":5,\"type\":\"integer\"}]}", "4", 0},
      {"{\"pattern\":\"^a.b$\"}", "\"a\"b\"", 0},
      {"{\"allOf\":[{\"enum\":[1,2,3]},{\"enum\":[3,4]}]}", "3", 1},
      {"{\"allOf\":[{\"enum\":[1,2,3]},{\"enum\":[3,4]}]}", "2", 0},
      {NODE, "{\"n\": {\"n\": {\"n\": null}}}", 1},
      {NODE, "{\"n\": {\"n\": {}}}", 0},
      {"{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"title\":\"t\",\"x-note\":1}", "{\"a\":{\"a\":{}}}", 1},
      {"{\"$ref\":\"#/$defs/a\",\"minimum\":5,\"$defs\":{\"a\":{\"type\":\"integer\"}}}", "4", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    cr_assert_eq(allows(rows[i].schema, rows[i].text), rows[i].result, "%s: %s", rows[i].schema,
                 rows[i].text);
}

Test(schema, integers) {
  static const int bounds[] = {-1000, -999, -101, -100, -99, -10, -9,  -1,  0,   1,
                               5,     9,    10,   19,   99,  100, 101, 110, 999, 1000};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    for (size_t k = i; k < sizeof bounds / sizeof *bounds; k += 3) {
      char schema[100], text[20], *written;
      attn2c_message message = attn2c_message_make(note, sizeof note);
      attn2c_grammar *grammar;
      grammar_states states;
      snprintf(schema, sizeof schema, "{\"type\":\"integer\",\"minimum\":%d,\"maximum\":%d}", bounds[i],
               bounds[k]);
      cr_assert_eq(write_grammar(schema, &written), ATTN2C_OK, "%s", note);
      cr_assert_eq(attn2c_grammar_read(written, strlen(written), "g", &grammar, &message), ATTN2C_OK, "%s",
                   note);
      cr_assert_eq(grammar_states_create(&states, grammar, 1 << 20), ATTN2C_OK);
      for (int n = -1101; n <= 1101; n++) {
        snprintf(text, sizeof text, "%d", n);
        uint32_t state = grammar_states_first(&states);
        for (const char *c = text; *c && state != STATE_DEAD; c++)
          state = state_step(&states, state, (uint8_t)*c);
        cr_assert_eq(state != STATE_DEAD && state_accepts(&states, state), n >= bounds[i] && n <= bounds[k],
                     "%s: %d", schema, n);
      }
      grammar_states_free(&states);
      attn2c_grammar_free(grammar);
      free(written);
    }
}

Test(schema, refused) {
  static const struct {
    const char *schema, *message;
  } rows[] = {
      {"5", "s: at the top: a schema is an object, true or false"},
      {"false", "s: at the top: a schema that allows nothing is not supported here"},
      {"{\"properties\":{\"a\":{\"not\":{}}}}", "s: at /properties/a: not: is not supported"},
      {"{\"uniqueItems\":true}", "s: at the top: uniqueItems: is not supported"},
      {"{\"type\":\"strin\"}", "s: at the top: type: object, array, string, number, integer, boolean, null, "
                               "or a list of them is allowed"},
      {"{\"type\":[]}", "s: at the top: type: a list of names is allowed"},
      {"{\"type\":\"number\",\"minimum\":0}",
       "s: at the top: minimum, maximum: are supported only of type integer"},
      {"{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}",
       "s: at the top: minimum: no integer is left below maximum"},
      {"{\"type\":\"integer\",\"minimum\":\"5\"}",
       "s: at the top: minimum: a number from -9e18 to 9e18 is allowed"},
      {"{\"minLength\":3,\"maxLength\":2}", "s: at the top: minLength: more than maxLength"},
      {"{\"minLength\":3000}", "s: at the top: minLength: more than 2000 is not supported"},
      {"{\"minLength\":-1}", "s: at the top: minLength: a number from 0 is allowed"},
      {"{\"format\":\"email\"}", "s: at the top: format: only date, time, date-time and uuid are supported"},
      {"{\"pattern\":\"a\",\"minLength\":2}",
       "s: at the top: pattern, format and bounds of the length are not supported beside each other"},
      {"{\"pattern\":\"(a)\\\\1\"}", "s: at /pattern: this escape is not supported, before '1'"},
      {"{\"pattern\":\"(?=a)\"}", "s: at /pattern: groups that look ahead or behind, or have names or flags, "
                                  "are not supported, before '?=a)'"},
      {"{\"pattern\":\"a^b\"}", "s: at /pattern: ^ and $ are supported only at the two ends, before '^b'"},
      {"{\"pattern\":\"a**\"}", "s: at /pattern: a repetition of a repetition is not supported, before '*'"},
      {"{\"pattern\":\"a{3,2}\"}",
       "s: at /pattern: a repetition is {m}, {m,} or {m,n} of at most 2000, before '3,2}'"},
      {"{\"pattern\":\"[a\"}", "s: at /pattern: ']' is missing, before ''"},
      {"{\"pattern\":\"(a\"}", "s: at /pattern: ')' is missing, before ''"},
      {"{\"pattern\":\"+\"}", "s: at /pattern: an item is missing, before '+'"},
      {"{\"enum\":[]}", "s: at the top: enum: a list of values is allowed"},
      {"{\"enum\":[1],\"minimum\":0}", "s: at the top: minimum: is not supported beside enum"},
      {"{\"enum\":[1],\"type\":\"string\"}", "s: at the top: enum: no value is left"},
      {"{\"enum\":[\"ab\"],\"minLength\":3}", "s: at the top: enum: no value is left"},
      {"{\"items\":[{}]}", "s: at the top: items: a list is not supported; prefixItems takes it"},
      {"{\"prefixItems\":[{}],\"items\":false,\"minItems\":2}",
       "s: at the top: minItems: more than there are"},
      {"{\"required\":[\"x\"],\"additionalProperties\":false}",
       "s: at the top: required: additionalProperties forbids 'x'"},
      {"{\"oneOf\":[{\"type\":\"number\"},{\"type\":\"integer\"}]}",
       "s: at the top: oneOf: one value may fit the schemas 0 and 1, which is not supported; anyOf allows "
       "it"},
      {"{\"anyOf\":{}}", "s: at the top: anyOf: a list of schemas is allowed"},
      {"{\"$ref\":\"other.json\"}",
       "s: at the top: $ref: only references into the schema itself are supported: \"#\" and \"#/...\""},
      {"{\"$ref\":\"#/$defs/a\"}", "s: at the top: $ref: nothing is at '#/$defs/a'"},
      {"{\"allOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "s: at /allOf/1: type: no type is left"},
      {"{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}",
       "s: at /allOf/1: pattern: two different ones for one value are not supported"},
      {"{\"allOf\":[{\"additionalProperties\":false},{\"properties\":{\"a\":{}}}]}",
       "s: at /allOf/1: additionalProperties: is not supported beside the property 'a' of another schema"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *text;
    cr_assert_eq(write_grammar(rows[i].schema, &text), ATTN2C_FORMAT, "%s", rows[i].schema);
    cr_assert_str_eq(note, rows[i].message);
    cr_assert_null(text);
  }
  char *text;
  cr_assert_eq(write_grammar("{\"allOf\":[{\"$ref\":\"#\"}]}", &text), ATTN2C_FORMAT);
  cr_assert_not_null(strstr(note, "/allOf/0: more than 100 schemas in each other"));
}
