#include "grammar/tree.h"

/* Sets is_whole and is_empty of a node by the nodes that it leads to. Returns whether one changed.
 */
static int look(attn2c_grammar *g, grammar_node *node) {
  const grammar_node *nodes = g->nodes, before = *node;
  if (node->kind <= GRAMMAR_END) {
    node->is_whole = node->is_empty = 1;
  } else if (node->kind == GRAMMAR_BYTES) {
    for (uint32_t i = 0; i < node->other; i++)
      node->is_whole |= nodes[g->ranges[node->next + i].next].is_whole;
  } else if (node->kind == GRAMMAR_FORK) {
    node->is_whole = nodes[node->next].is_whole | nodes[node->other].is_whole;
    node->is_empty = nodes[node->next].is_empty | nodes[node->other].is_empty;
  } else if (node->kind == GRAMMAR_CALL) {
    node->is_whole = nodes[node->next].is_whole & nodes[g->starts[node->other]].is_whole;
    node->is_empty = nodes[node->next].is_empty & nodes[g->starts[node->other]].is_empty;
  }
  return node->is_whole != before.is_whole || node->is_empty != before.is_empty;
}

/* Visits the nodes that a rule reaches without a byte. Returns 1 if all rules that are called there are
 * `done`. seen: [nodes], has the number of the last visit; list: [nodes]. */
static int calls_done(const attn2c_grammar *g, uint32_t rule, const uint8_t *done, uint32_t *seen,
                      uint32_t visit, uint32_t *list) {
  uint32_t count = 0;
  list[count++] = g->starts[rule];
  seen[g->starts[rule]] = visit;
  while (count > 0) {
    const grammar_node *node = &g->nodes[list[--count]];
    uint32_t ways[2];
    int ways_count = 0;
    if (node->kind == GRAMMAR_CALL && !done[node->other]) return 0;
    if (node->kind == GRAMMAR_FORK) ways[ways_count++] = node->next, ways[ways_count++] = node->other;
    if (node->kind == GRAMMAR_CALL && g->nodes[g->starts[node->other]].is_empty)
      ways[ways_count++] = node->next;
    for (int i = 0; i < ways_count; i++)
      if (seen[ways[i]] != visit) seen[ways[i]] = visit, list[count++] = ways[i];
  }
  return 1;
}

/* Finds a rule that calls itself before it has read a byte: rules that call none but good ones there are
 * good, and of those that are left each calls another one that is left. */
static int find_recursive(const attn2c_grammar *g, uint32_t *recursive) {
  ATTN2C_OWN uint8_t *done = calloc(g->rules, 1);
  uint32_t *seen = calloc(g->node_count, sizeof *seen), *list = malloc(g->node_count * sizeof *list),
           visit = 0;
  const int status = done && seen && list ? ATTN2C_OK : ATTN2C_MEMORY;
  *recursive = UINT32_MAX;
  for (int changes = status == ATTN2C_OK; changes;) {
    changes = 0;
    *recursive = UINT32_MAX;
    for (uint32_t i = g->rules; i-- > 0;) {
      if (done[i]) continue;
      done[i] = (uint8_t)calls_done(g, i, done, seen, ++visit, list);
      changes |= done[i];
      if (!done[i]) *recursive = i;
    }
  }
  ATTN2C_FREE(seen, list);
  return status;
}

/* Gives bytes that no range tells apart one class. */
static void find_classes(attn2c_grammar *g) {
  uint8_t begins[257] = {[0] = 1};
  for (uint32_t i = 0; i < g->range_count; i++) begins[g->ranges[i].low] = begins[g->ranges[i].high + 1] = 1;
  for (int byte = 0; byte < 256; byte++) {
    if (begins[byte]) g->byte_of_class[g->classes++] = (uint8_t)byte;
    g->class_of[byte] = (uint8_t)(g->classes - 1);
  }
}

int grammar_finish(attn2c_grammar *g, uint32_t *recursive) {
  for (int changes = 1; changes;) {
    changes = 0;
    for (uint32_t i = 0; i < g->node_count; i++) changes |= look(g, &g->nodes[i]);
  }
  find_classes(g);
  return find_recursive(g, recursive);
}

int attn2c_grammar_read(const char *text, size_t length, const char *name, attn2c_grammar **grammar,
                        attn2c_message *message) {
  grammar_tree tree = {.text = text, .length = length, .name = name, .message = message};
  attn2c_grammar *g = *grammar = calloc(1, sizeof *g);
  uint32_t recursive = UINT32_MAX;
  int status = g ? grammar_parse(&tree) : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = grammar_compile(&tree, g);
  if (status == ATTN2C_OK) status = grammar_finish(g, &recursive);
  if (status == ATTN2C_OK && recursive != UINT32_MAX) {
    const tree_rule *rule = &tree.rules[recursive];
    status = grammar_fault(&tree, rule->at,
                           "rule '%.*s' calls itself, or a rule that does, before a character is read "
                           "(left recursion), but a character must come first",
                           (int)rule->length, rule->name);
  }
  if (status == ATTN2C_OK && !g->nodes[g->starts[0]].is_whole)
    status = grammar_fault(&tree, tree.rules[0].at, "no text that is whole is allowed by rule 'root'");
  if (status == ATTN2C_MEMORY) attn2c_say(message, "%s: no memory for the grammar", name);
  ATTN2C_FREE(tree.nodes, tree.points, tree.rules, tree.slots);
  if (status == ATTN2C_OK) return status;
  attn2c_grammar_free(g);
  *grammar = NULL;
  return status;
}

void attn2c_grammar_free(attn2c_grammar *g) {
  if (!g) return;
  ATTN2C_FREE(g->nodes, g->ranges, g->starts, g);
}
