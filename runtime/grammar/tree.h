/* tree.h - a grammar as it is written. gbnf.c makes the tree, compile.c makes automata of it. */
#pragma once

#include "grammar/automaton.h"

typedef enum { TREE_EMPTY, TREE_SET, TREE_RULE, TREE_SEQUENCE, TREE_CHOICE, TREE_REPEAT } tree_kind;

/* No upper bound of a repetition. */
#define TREE_ANY UINT32_MAX

typedef struct {
  tree_kind kind;
  uint32_t a, b;      /* SET: points [a, a + b). RULE: its number. SEQUENCE, CHOICE: two nodes. REPEAT: one */
  uint32_t low, high; /* of a REPEAT */
} tree_node;

/* Characters from low to high. */
typedef struct {
  uint32_t low, high;
} tree_points;

typedef struct {
  const char *name;
  size_t length;
  size_t at;     /* place in the text of its definition, or of its first use */
  uint32_t tree; /* UINT32_MAX: not defined */
} tree_rule;

typedef struct {
  const char *text, *name; /* name: of the file */
  size_t length;
  attn2c_message *message;
  tree_node *nodes;
  tree_points *points;
  tree_rule *rules;
  uint32_t *slots; /* hash table of rules: their number + 1 */
  size_t node_count, node_capacity, point_count, point_capacity, rule_count, rule_capacity, slot_count;
} grammar_tree;

/* Says what is wrong at a place of the text. Returns ATTN2C_FORMAT. */
int grammar_fault(const grammar_tree *tree, size_t at, const char *format, ...)
    __attribute__((format(ATTN2C_PRINTF, 3, 4)));

/* Reads all rules. `root` is rule 0, and all rules are defined. */
int grammar_parse(grammar_tree *tree);
/* Makes the automata. */
int grammar_compile(const grammar_tree *tree, attn2c_grammar *grammar);
/* Finds properties of nodes and classes of bytes. Returns the number of a rule that calls itself before it
 * has read a byte, or UINT32_MAX in *recursive. Returns ATTN2C_OK or _MEMORY. */
int grammar_finish(attn2c_grammar *grammar, uint32_t *recursive);
