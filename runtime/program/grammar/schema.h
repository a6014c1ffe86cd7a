/* schema.h - turns a JSON schema into a grammar (grammar/grammar.h), whose texts are JSON that the schema
 * allows. runtime/grammar/README.md lists what is supported. Anything else is refused by its name. */
#pragma once

#include <jansson.h>
#include <stdarg.h>

#include "base/attn2c.h"

/* Returns the text of the grammar, which the caller frees. name: of the file or field, for messages.
 * ATTN2C_FORMAT, and a line that says where in the schema what is not supported; ATTN2C_MEMORY. */
int attn2c_schema_grammar(const json_t *schema, const char *name, char **text, attn2c_message *message);

/* A schema; its references are into `root`, or itself if that is NULL. */
typedef struct attn2c_named_schema {
  const json_t *schema;
  const char *name;
  const json_t *root;
} attn2c_named_schema;

/* The same for several. root: the body of the rule `root`, which calls the rules schema0, schema1, ... */
int attn2c_schema_rules(const attn2c_named_schema *schemas, size_t count, const char *root, char **text,
                        attn2c_message *message);

/* A growing text, and places for messages, for the files that read a JSON schema. */

/* A text that grows. */
typedef struct {
  char *bytes; /* terminated; NULL: empty */
  size_t length, capacity;
  int failed; /* 1: there was no memory */
} schema_text;

void schema_put(schema_text *text, const char *format, ...) __attribute__((format(ATTN2C_PRINTF, 2, 3)));
/* Puts a literal of GBNF with these bytes. */
void schema_put_literal(schema_text *text, const char *bytes, size_t length);
/* Puts characters of a class of GBNF. */
void schema_put_range(schema_text *text, uint32_t low, uint32_t high);

/* A schema that is read. */
typedef struct {
  const json_t *root;
  const char *name;
  attn2c_message *message;
  json_t *kept;           /* schemas that were made, an array */
  const json_t **schemas; /* [rules], each with the rule of its number */
  size_t rules, rule_capacity;
  schema_text grammar, path; /* path: a JSON pointer to what is read */
  int depth, status;
} schema_reader;

/* Schemas in schemas, and merges of merges. */
enum { SCHEMA_DEPTH = 100 };

/* Notes a fault at the path: "NAME: at PATH: ...". Only the first is said. Returns 0. */
int schema_fault(schema_reader *r, const char *format, ...) __attribute__((format(ATTN2C_PRINTF, 2, 3)));
/* Does the same for what there is no memory for. */
int schema_no_memory(schema_reader *r);
/* Appends a part to the path, and returns the length that it had. */
size_t schema_enter(schema_reader *r, const char *part);
size_t schema_enter_index(schema_reader *r, size_t index);
void schema_leave(schema_reader *r, size_t length);

/* True for a key that says nothing about what is allowed. */
int schema_is_note(const char *key);

/* merge.c: */
/* Returns the schema without $ref and allOf: what they say is merged into it. NULL after a fault. */
const json_t *schema_expand(schema_reader *r, const json_t *schema);
/* Returns what both schemas allow; NULL after a fault. */
const json_t *schema_merge(schema_reader *r, const json_t *a, const json_t *b);
/* Returns the schema that a $ref names, or NULL after a fault. */
const json_t *schema_target(schema_reader *r, const json_t *reference);
/* True if no value is allowed by both schemas. */
int schema_are_disjoint(schema_reader *r, const json_t *a, const json_t *b, int depth);
/* Returns a copy without some keys, the last of which is NULL. */
json_t *schema_without(schema_reader *r, const json_t *schema, const char *const *keys);
/* True if a value has a type of that name; an integer is also a number. */
int schema_has_type(const json_t *value, const char *type);

/* pattern.c: puts a group of GBNF for the JSON text of strings that a regular expression matches. */
int schema_put_pattern(schema_reader *r, schema_text *to, const char *pattern, size_t length);

/* range.c: puts a group of GBNF for the integers from low to high. */
void schema_put_integers(schema_text *to, int64_t low, int64_t high);
