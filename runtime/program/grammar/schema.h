/* schema.h - turns a JSON schema into a grammar (grammar/grammar.h), whose texts are JSON that the schema
 * allows. runtime/grammar/README.md lists what is supported. Anything else is refused by its name. */
#pragma once

#include <jansson.h>

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
