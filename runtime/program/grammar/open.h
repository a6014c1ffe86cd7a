/* open.h - a grammar or a JSON schema with all that answers need: its automata, and the vocabulary's bytes.
 */
#pragma once

#include <jansson.h>

#include "grammar/rule.h"
#include "program/arguments.h"

typedef struct attn2c_grammar_use attn2c_grammar_use;

/* Where a rule is used. */
typedef struct attn2c_grammar_place {
  const attn2c_vocabulary *vocabulary;
  const attn2c_generation *stated; /* its stop tokens end answers */
  int32_t answers;                 /* at a time, with beams */
  int64_t most;                    /* tokens of an answer */
} attn2c_grammar_place;

/* Makes a rule of GBNF, or of a schema if `text` is NULL. name: of the file or field, for messages. Returns
 * ATTN2C_OK, _FORMAT and a line, _USAGE if the model has no token that ends an answer, or _MEMORY. */
int attn2c_grammar_use_create(const char *text, const json_t *schema, const char *name,
                              const attn2c_grammar_place *place, attn2c_grammar_use **use,
                              attn2c_message *message);
/* Returns the same once more; each is freed. */
attn2c_grammar_use *attn2c_grammar_use_share(attn2c_grammar_use *use);
void attn2c_grammar_use_free(attn2c_grammar_use *use);
const attn2c_rule *attn2c_grammar_use_rule(const attn2c_grammar_use *use);

/* Does the same for --grammar or --json-schema. *use is NULL if neither is given. text: the tokenizer that
 * answers are written by; size: of the model's logits. place: its vocabulary is made here. */
int attn2c_grammar_use_open(const attn2c_arguments *arguments, const attn2c_tokenizer *text, int32_t size,
                            attn2c_grammar_place place, attn2c_grammar_use **use, attn2c_message *message);
