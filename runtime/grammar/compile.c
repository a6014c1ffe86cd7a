/* compile.c - makes automata of a tree, from the end of each rule to its beginning: a part is made once what
 * comes after it is known. Rules of few characters become part of the rules that call them, so that tokens of
 * many characters seldom end a rule (masks.c). */
#include "grammar/tree.h"

enum {
  SMALL = 16,    /* characters of a rule that becomes part of others */
  LARGE = 1000,  /* the weight of what is longer, or calls itself */
  UNKNOWN = 1001 /* a weight that is not known */
};

typedef struct {
  const grammar_tree *tree;
  attn2c_grammar *grammar;
  size_t node_capacity, range_capacity;
  uint16_t *weights; /* [rules] in characters */
  int status;
} maker;

static uint32_t add_node(maker *m, grammar_kind kind, uint32_t next, uint32_t other) {
  attn2c_grammar *g = m->grammar;
  if (m->status == ATTN2C_OK && g->node_count == ATTN2C_GRAMMAR_NODES)
    m->status = attn2c_fail(m->tree->message, ATTN2C_FORMAT,
                            "%s: more than %d states, but no more are allowed: repetitions are too large",
                            m->tree->name, ATTN2C_GRAMMAR_NODES);
  if (m->status == ATTN2C_OK)
    m->status = attn2c_grow((void **)&g->nodes, &m->node_capacity, g->node_count + 1, sizeof *g->nodes);
  if (m->status != ATTN2C_OK) return GRAMMAR_NODE_END;
  g->nodes[g->node_count] = (grammar_node){(uint8_t)kind, 0, 0, next, other, {g->node_count, g->node_count}};
  return g->node_count++;
}

/* The node that is made of a set of characters, byte by byte: its ranges, ascending. */
typedef struct {
  grammar_range list[256];
  uint32_t count;
} range_list;

static void add_range(range_list *ranges, uint32_t byte, uint32_t next) {
  grammar_range *last = ranges->count ? &ranges->list[ranges->count - 1] : NULL;
  if (last && last->high + 1u == byte && last->next == next)
    last->high++;
  else
    ranges->list[ranges->count++] = (grammar_range){(uint8_t)byte, (uint8_t)byte, next};
}

static uint32_t add_bytes(maker *m, const range_list *ranges) {
  attn2c_grammar *g = m->grammar;
  const uint32_t first = g->range_count;
  if (m->status == ATTN2C_OK)
    m->status =
        attn2c_grow((void **)&g->ranges, &m->range_capacity, first + ranges->count, sizeof *g->ranges);
  if (m->status != ATTN2C_OK) return GRAMMAR_NODE_END;
  memcpy(g->ranges + first, ranges->list, ranges->count * sizeof *ranges->list);
  g->range_count += ranges->count;
  return add_node(m, GRAMMAR_BYTES, first, ranges->count);
}

/* A set of characters whose nodes are made. */
typedef struct {
  const tree_points *points;
  uint32_t count, next;
  uint32_t low, high; /* the characters whose UTF-8 has the number of bytes that is made */
  uint32_t any[4];    /* nodes that read any 1 to 3 bytes of a character's end; 0: not made */
} point_set;

/* Returns whether no, all or some characters from low to high are in the set: 0, 1, 2. Surrogates are not. */
static int covers(const point_set *set, uint32_t low, uint32_t high) {
  const uint32_t from = low > set->low ? low : set->low, to = high < set->high ? high : set->high;
  uint32_t i = 0;
  while (i < set->count && set->points[i].high < from) i++;
  if (from > to || i == set->count || set->points[i].low > to || (from >= 0xd800 && to <= 0xdfff)) return 0;
  if (from > low || to < high || (from < 0xe000 && to >= 0xd800)) return 2;
  return set->points[i].low <= from && set->points[i].high >= to ? 1 : 2;
}

/* Returns the node that reads the last `left` bytes of the characters of the set from `low` on. */
static uint32_t make_tail(maker *m, point_set *set, uint32_t low, int left) {
  const uint32_t step = left > 2 ? 4096 : left > 1 ? 64 : 1;
  range_list ranges;
  if (left == 0) return set->next;
  const int is_any = covers(set, low, low + 64 * step - 1) == 1;
  if (is_any && set->any[left]) return set->any[left];
  ranges.count = 0;
  for (uint32_t i = 0; i < 64 && m->status == ATTN2C_OK; i++)
    if (covers(set, low + i * step, low + (i + 1) * step - 1))
      add_range(&ranges, 0x80 + i, make_tail(m, set, low + i * step, left - 1));
  const uint32_t node = add_bytes(m, &ranges);
  if (is_any) set->any[left] = node;
  return node;
}

/* Makes the node that reads a character of a set. */
static uint32_t make_set(maker *m, const tree_node *node, uint32_t next) {
  static const struct {
    uint32_t low, high, lead, step;
    int left;
  } lengths[] = {{0, 0x7f, 0, 1, 0},
                 {0x80, 0x7ff, 0xc0, 64, 1},
                 {0x800, 0xffff, 0xe0, 4096, 2},
                 {0x10000, 0x10ffff, 0xf0, 262144, 3}};
  point_set set = {.points = node->b ? m->tree->points + node->a : NULL, .count = node->b, .next = next};
  const uint32_t first = node->b ? set.points[0].low : 1, last = node->b ? set.points[node->b - 1].high : 0;
  range_list ranges;
  ranges.count = 0;
  for (int i = 0; i < 4; i++) { /* nothing is asked outside of first .. last, as repetitions have many sets */
    const uint32_t low = lengths[i].low, high = lengths[i].high;
    set.low = low > first ? low : first, set.high = high < last ? high : last;
    for (uint32_t at = set.low / lengths[i].step; at <= set.high / lengths[i].step; at++)
      if (m->status == ATTN2C_OK && covers(&set, at * lengths[i].step, (at + 1) * lengths[i].step - 1))
        add_range(&ranges, lengths[i].lead + at, make_tail(m, &set, at * lengths[i].step, lengths[i].left));
  }
  return add_bytes(m, &ranges);
}

/* Returns the most characters of a part of the tree, at most LARGE. */
static uint32_t weigh(maker *m, uint32_t at) {
  uint32_t weight = 0;
  for (;;) {
    const tree_node *node = &m->tree->nodes[at];
    const int is_pair = node->kind == TREE_SEQUENCE || node->kind == TREE_CHOICE;
    if (node->kind == TREE_SET) weight++;
    if (node->kind == TREE_RULE) {
      const uint32_t rule = node->a;
      if (m->weights[rule] == UNKNOWN) {
        m->weights[rule] = LARGE; /* it may call itself */
        m->weights[rule] = (uint16_t)weigh(m, m->tree->rules[rule].tree);
      }
      weight += m->weights[rule];
    }
    if (node->kind == TREE_REPEAT) weight += node->high > SMALL ? LARGE : node->high * weigh(m, node->a);
    if (is_pair) weight += weigh(m, node->b);
    if (weight >= LARGE) return LARGE;
    if (!is_pair) return weight;
    at = node->a;
  }
}

static uint32_t make(maker *m, uint32_t at, uint32_t next);

/* Notes that the nodes from `first` on are alike, but for the last copies, which were made first. A copy is
 * empty, or reads a byte: a token of the others ends before the last copies. */
static void note_alike(maker *m, uint32_t first, uint32_t copies) {
  attn2c_grammar *g = m->grammar;
  for (int span = 0; m->status == ATTN2C_OK && span < GRAMMAR_SPANS; span++) {
    if (copies <= grammar_spans[span]) return;
    const uint32_t stride = (g->node_count - first) / copies, alike = first + grammar_spans[span] * stride;
    for (uint32_t i = alike + stride; i < g->node_count; i++)
      if (g->nodes[i].like[span] == i) g->nodes[i].like[span] = alike + (i - first) % stride;
  }
}

static uint32_t make_repeat(maker *m, const tree_node *node, uint32_t next) {
  const uint32_t more = node->high == TREE_ANY ? 0 : node->high - node->low;
  uint32_t from = next;
  if (node->high == TREE_ANY) {
    const uint32_t loop = add_node(m, GRAMMAR_FORK, next, next);
    const uint32_t body = make(m, node->a, loop);
    if (m->status == ATTN2C_OK) m->grammar->nodes[loop].next = body;
    from = loop;
  }
  uint32_t first = m->grammar->node_count;
  for (uint32_t i = 0; i < more && m->status == ATTN2C_OK; i++)
    from = add_node(m, GRAMMAR_FORK, make(m, node->a, from), next);
  note_alike(m, first, more);
  first = m->grammar->node_count;
  for (uint32_t i = 0; i < node->low && m->status == ATTN2C_OK; i++) from = make(m, node->a, from);
  note_alike(m, first, node->low);
  return from;
}

/* Makes the nodes of a part of the tree, after which `next` comes. Returns the first of them. */
static uint32_t make(maker *m, uint32_t at, uint32_t next) {
  const tree_node *node = &m->tree->nodes[at];
  if (m->status != ATTN2C_OK) return next;
  switch (node->kind) {
  case TREE_EMPTY:
    return next;
  case TREE_SET:
    return make_set(m, node, next);
  case TREE_REPEAT:
    return make_repeat(m, node, next);
  case TREE_RULE:
    return m->weights[node->a] <= SMALL ? make(m, m->tree->rules[node->a].tree, next)
                                        : add_node(m, GRAMMAR_CALL, next, node->a);
  case TREE_SEQUENCE:
    for (; node->kind == TREE_SEQUENCE; node = &m->tree->nodes[at]) {
      next = make(m, node->b, next);
      at = node->a;
    }
    return make(m, at, next);
  case TREE_CHOICE:
    break;
  }
  uint32_t first = make(m, node->b, next);
  for (at = node->a; m->status == ATTN2C_OK; at = node->a) {
    node = &m->tree->nodes[at];
    first = add_node(m, GRAMMAR_FORK, make(m, node->kind == TREE_CHOICE ? node->b : at, next), first);
    if (node->kind != TREE_CHOICE) break;
  }
  return first;
}

int grammar_compile(const grammar_tree *tree, attn2c_grammar *g) {
  maker m = {.tree = tree, .grammar = g, .status = ATTN2C_OK};
  g->rules = (uint32_t)tree->rule_count;
  m.weights = malloc(tree->rule_count * sizeof *m.weights);
  g->starts = calloc(tree->rule_count, sizeof *g->starts);
  if (!m.weights || !g->starts) m.status = ATTN2C_MEMORY;
  add_node(&m, GRAMMAR_ACCEPT, 0, 0);
  add_node(&m, GRAMMAR_UNKNOWN, 0, 0);
  add_node(&m, GRAMMAR_END, 0, 0);
  for (size_t i = 0; m.weights && i < tree->rule_count; i++) m.weights[i] = UNKNOWN;
  for (uint32_t i = 0; i < g->rules && m.status == ATTN2C_OK; i++)
    if (m.weights[i] == UNKNOWN) m.weights[i] = (uint16_t)weigh(&m, tree->rules[i].tree);
  for (uint32_t i = 0; i < g->rules && m.status == ATTN2C_OK; i++)
    g->starts[i] = make(&m, tree->rules[i].tree, GRAMMAR_NODE_END);
  free(m.weights);
  return m.status;
}
