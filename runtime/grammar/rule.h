/* rule.h - a grammar as a rule of answers (generate/processors.h): tokens with which no text of the grammar
 * goes on get -inf. Tokens that end an answer are allowed where the text may end, and no others after them.
 *
 * The rule knows how far the last answers were, so that each step reads one token. Any number of answers may
 * share it, one after the other in time. */
#pragma once

#include "generate/processors.h"
#include "grammar/vocabulary.h"

typedef struct attn2c_grammar_rule attn2c_grammar_rule;

typedef struct attn2c_grammar_options {
  const attn2c_grammar *grammar;       /* stays the caller's, and must stay */
  const attn2c_vocabulary *vocabulary; /* the same */
  const int32_t *ends;                 /* [end_count] tokens that end an answer */
  int32_t end_count;
  int32_t answers; /* at a time, with beams */
  int32_t most;    /* tokens of an answer */
  size_t bytes;    /* of memory for states; 0: 16 MB */
} attn2c_grammar_options;

/* Returns ATTN2C_OK or _MEMORY; no other call allocates. */
int attn2c_grammar_rule_create(attn2c_grammar_rule **rule, const attn2c_grammar_options *options);
void attn2c_grammar_rule_free(attn2c_grammar_rule *rule);
const attn2c_rule *attn2c_grammar_rule_of(const attn2c_grammar_rule *rule);
