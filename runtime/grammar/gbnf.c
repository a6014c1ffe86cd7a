/* gbnf.c - reads the text of a grammar, character by character, into a tree. */
#include "grammar/tree.h"

#include <stdarg.h>

#include "base/utf8.h"

typedef struct {
  grammar_tree *tree;
  size_t at;
  int depth; /* groups around */
  int status;
} reader;

int grammar_fault(const grammar_tree *tree, size_t at, const char *format, ...) {
  char what[300];
  size_t line = 1, begin = 0;
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  for (size_t i = 0; i < at && i < tree->length; i++)
    if (tree->text[i] == '\n') line++, begin = i + 1;
  return attn2c_fail(tree->message, ATTN2C_FORMAT, "%s: line %zu, column %zu: %s", tree->name, line,
                     at - begin + 1, what);
}

/* Returns the character at a place, 0 at the text's end. */
static char peek(const reader *r, size_t ahead) {
  return r->at + ahead < r->tree->length ? r->tree->text[r->at + ahead] : '\0';
}

static int is_end(const reader *r) { return r->at >= r->tree->length; }

/* Says that something else is expected. */
static uint32_t expect(reader *r, const char *what) {
  char found[8] = "the end";
  if (r->status != ATTN2C_OK) return 0;
  if (!is_end(r)) {
    size_t width = attn2c_utf8_width(r->tree->text + r->at, r->tree->length - r->at);
    if (width == 0) width = 1;
    snprintf(found, sizeof found, "'%.*s'", (int)width, r->tree->text + r->at);
    if (peek(r, 0) == '\n' || peek(r, 0) == '\r') snprintf(found, sizeof found, "a line");
  }
  r->status = grammar_fault(r->tree, r->at, "%s%s, but %s is expected", found,
                            strcmp(found, "a line") == 0 ? " end" : "", what);
  return 0;
}

/* Adds a node to the tree; 0 after a fault. */
static uint32_t add(reader *r, tree_node node) {
  grammar_tree *t = r->tree;
  if (r->status != ATTN2C_OK) return 0;
  r->status = attn2c_grow((void **)&t->nodes, &t->node_capacity, t->node_count + 1, sizeof *t->nodes);
  if (r->status != ATTN2C_OK) return 0;
  t->nodes[t->node_count] = node;
  return (uint32_t)t->node_count++;
}

static void add_points(reader *r, uint32_t low, uint32_t high) {
  grammar_tree *t = r->tree;
  if (r->status != ATTN2C_OK) return;
  r->status = attn2c_grow((void **)&t->points, &t->point_capacity, t->point_count + 1, sizeof *t->points);
  if (r->status == ATTN2C_OK) t->points[t->point_count++] = (tree_points){low, high};
}

static int is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static void skip(reader *r, int over_lines) {
  for (; !is_end(r); r->at++) {
    const char c = peek(r, 0);
    if (c == '#')
      while (!is_end(r) && peek(r, 0) != '\n' && peek(r, 0) != '\r') r->at++;
    else if (c != ' ' && c != '\t' && !(over_lines && (c == '\n' || c == '\r')))
      return;
    if (c == '#') r->at--;
  }
}

/* FNV-1a. */
static size_t hash_of(const char *name, size_t length) {
  uint32_t hash = 0x811c9dc5u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)name[i]) * 0x01000193u;
  return hash;
}

/* Doubles the hash table of rules. */
static int grow_slots(grammar_tree *t) {
  const size_t count = t->slot_count ? 2 * t->slot_count : 64;
  uint32_t *slots = calloc(count, sizeof *slots);
  if (!slots) return ATTN2C_MEMORY;
  for (size_t i = 0; i < t->rule_count; i++) {
    size_t at = hash_of(t->rules[i].name, t->rules[i].length) & (count - 1);
    while (slots[at]) at = (at + 1) & (count - 1);
    slots[at] = (uint32_t)i + 1;
  }
  free(t->slots);
  t->slots = slots;
  t->slot_count = count;
  return ATTN2C_OK;
}

/* Returns the number of the rule with a name, which is added if it is new. */
static uint32_t rule_of(reader *r, const char *name, size_t length, size_t at) {
  grammar_tree *t = r->tree;
  if (r->status == ATTN2C_OK && 2 * t->rule_count >= t->slot_count) r->status = grow_slots(t);
  if (r->status != ATTN2C_OK) return 0;
  size_t slot = hash_of(name, length) & (t->slot_count - 1);
  for (; t->slots[slot]; slot = (slot + 1) & (t->slot_count - 1)) {
    const tree_rule *rule = &t->rules[t->slots[slot] - 1];
    if (rule->length == length && memcmp(rule->name, name, length) == 0) return t->slots[slot] - 1;
  }
  r->status = attn2c_grow((void **)&t->rules, &t->rule_capacity, t->rule_count + 1, sizeof *t->rules);
  if (r->status != ATTN2C_OK) return 0;
  t->rules[t->rule_count] = (tree_rule){name, length, at, UINT32_MAX};
  t->slots[slot] = (uint32_t)++t->rule_count;
  return (uint32_t)t->rule_count - 1;
}

static uint32_t read_name(reader *r, const char *what) {
  const size_t begin = r->at;
  while (is_word(peek(r, 0))) r->at++;
  if (r->at == begin) return expect(r, what);
  return rule_of(r, r->tree->text + begin, r->at - begin, begin);
}

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Reads an escape after its backslash. */
static uint32_t read_escape(reader *r) {
  static const char letters[] = "nrt\\\"[]-", values[] = "\n\r\t\\\"[]-";
  const char c = peek(r, 0), *letter = c ? strchr(letters, c) : NULL;
  const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  uint32_t value = 0;
  if (letter) {
    r->at++;
    return (uint8_t)values[letter - letters];
  }
  if (digits == 0) return expect(r, "one of n r t \\ \" [ ] - x u U after a backslash");
  r->at++;
  const size_t begin = r->at;
  for (int i = 0; i < digits; i++, r->at++) {
    if (digit_of(peek(r, 0)) < 0) return expect(r, "a hexadecimal digit: \\xHH, \\uHHHH or \\UHHHHHHHH");
    value = value << 4 | (uint32_t)digit_of(peek(r, 0));
  }
  if (value <= 0x10ffff && (value < 0xd800 || value > 0xdfff)) return value;
  r->status = grammar_fault(r->tree, begin, "U+%04X is no character", (unsigned)value);
  return 0;
}

/* Reads a character of a literal or a class. */
static uint32_t read_character(reader *r, char end) {
  const char *text = r->tree->text + r->at;
  if (is_end(r)) return expect(r, end == '"' ? "'\"', the literal's end," : "']', the class's end,");
  if (*text == '\\') {
    r->at++;
    return read_escape(r);
  }
  const size_t width = attn2c_utf8_width(text, r->tree->length - r->at);
  if (width == 0) return expect(r, "UTF-8");
  r->at += width;
  return attn2c_utf8_point(text, width);
}

static int compare_points(const void *left, const void *right) {
  const tree_points *a = left, *b = right;
  return a->low < b->low ? -1 : a->low > b->low;
}

/* Sorts and joins the points from `first` on; then the others of Unicode take their place if is_negated. */
static void order_points(reader *r, size_t first, int is_negated) {
  grammar_tree *t = r->tree;
  size_t kept = first;
  uint32_t from = 0;
  if (t->point_count > first)
    qsort(t->points + first, t->point_count - first, sizeof *t->points, compare_points);
  for (size_t i = first; i < t->point_count; i++) {
    if (kept > first && t->points[i].low <= t->points[kept - 1].high + 1) {
      if (t->points[i].high > t->points[kept - 1].high) t->points[kept - 1].high = t->points[i].high;
    } else {
      t->points[kept++] = t->points[i];
    }
  }
  t->point_count = kept;
  if (!is_negated) return;
  add_points(r, 0, 0); /* one more than there were */
  if (r->status != ATTN2C_OK) return;
  t->point_count = first;
  for (size_t i = first; i <= kept; i++) {
    const tree_points taken = i < kept ? t->points[i] : (tree_points){0x110000, 0x110000};
    if (from < taken.low) t->points[t->point_count++] = (tree_points){from, taken.low - 1};
    from = taken.high + 1;
  }
}

static uint32_t set_node(reader *r, size_t first) {
  return add(r, (tree_node){TREE_SET, (uint32_t)first, (uint32_t)(r->tree->point_count - first), 0, 0});
}

static uint32_t read_class(reader *r) {
  const size_t first = r->tree->point_count;
  const int is_negated = peek(r, 1) == '^';
  r->at += 1 + (size_t)is_negated;
  while (r->status == ATTN2C_OK && peek(r, 0) != ']') {
    const size_t begin = r->at;
    const uint32_t low = read_character(r, ']');
    uint32_t high = low;
    if (r->status == ATTN2C_OK && peek(r, 0) == '-' && peek(r, 1) != ']') {
      r->at++;
      high = read_character(r, ']');
    }
    if (r->status == ATTN2C_OK && high < low)
      r->status = grammar_fault(r->tree, begin, "the range goes down, but it must go up");
    add_points(r, low, high);
  }
  r->at++;
  if (r->status == ATTN2C_OK) order_points(r, first, is_negated);
  return set_node(r, first);
}

static uint32_t sequence(reader *r, uint32_t left, uint32_t right) {
  if (r->status != ATTN2C_OK || r->tree->nodes[left].kind == TREE_EMPTY) return right;
  return add(r, (tree_node){TREE_SEQUENCE, left, right, 0, 0});
}

static uint32_t read_literal(reader *r) {
  uint32_t node = add(r, (tree_node){TREE_EMPTY, 0, 0, 0, 0});
  r->at++;
  while (r->status == ATTN2C_OK && peek(r, 0) != '"') {
    const size_t first = r->tree->point_count;
    const uint32_t point = read_character(r, '"');
    add_points(r, point, point);
    node = sequence(r, node, set_node(r, first));
  }
  r->at++;
  return node;
}

static uint32_t read_choice(reader *r);

static uint32_t read_group(reader *r) {
  if (++r->depth > ATTN2C_GRAMMAR_DEPTH) {
    r->status = grammar_fault(r->tree, r->at, "more than %d groups in groups, but no more are allowed",
                              ATTN2C_GRAMMAR_DEPTH);
    return 0;
  }
  r->at++;
  skip(r, 1);
  const uint32_t node = read_choice(r);
  if (r->status == ATTN2C_OK && peek(r, 0) != ')') return expect(r, "')', an item or '|'");
  r->at++;
  r->depth--;
  return node;
}

static uint32_t read_number(reader *r) {
  const size_t begin = r->at;
  uint32_t value = 0;
  if (digit_of(peek(r, 0)) < 0 || digit_of(peek(r, 0)) > 9) return expect(r, "a number");
  for (; peek(r, 0) >= '0' && peek(r, 0) <= '9'; r->at++)
    if (value <= ATTN2C_GRAMMAR_REPEATS) value = value * 10 + (uint32_t)(peek(r, 0) - '0');
  if (value > ATTN2C_GRAMMAR_REPEATS)
    r->status = grammar_fault(r->tree, begin, "a repetition of more than %d, but no more are allowed",
                              ATTN2C_GRAMMAR_REPEATS);
  return value;
}

/* Reads {m}, {m,} or {m,n}. */
static void read_bounds(reader *r, uint32_t *low, uint32_t *high) {
  const size_t begin = r->at++;
  skip(r, r->depth > 0);
  *low = *high = read_number(r);
  skip(r, r->depth > 0);
  if (r->status == ATTN2C_OK && peek(r, 0) == ',') {
    r->at++;
    skip(r, r->depth > 0);
    *high = peek(r, 0) == '}' ? TREE_ANY : read_number(r);
    skip(r, r->depth > 0);
  }
  if (r->status == ATTN2C_OK && peek(r, 0) != '}') expect(r, "'}' or ','");
  r->at++;
  if (r->status == ATTN2C_OK && *high < *low)
    r->status =
        grammar_fault(r->tree, begin, "{%u,%u}: the second number must be the larger one", *low, *high);
}

/* Reads repetitions after an item. */
static uint32_t read_repeats(reader *r, uint32_t node) {
  skip(r, r->depth > 0);
  while (r->status == ATTN2C_OK && peek(r, 0) && strchr("?*+{", peek(r, 0))) {
    const char c = peek(r, 0);
    uint32_t low = c == '+', high = c == '?' ? 1 : TREE_ANY;
    if (c == '{')
      read_bounds(r, &low, &high);
    else
      r->at++;
    node = add(r, (tree_node){TREE_REPEAT, node, 0, low, high});
    skip(r, r->depth > 0);
  }
  return node;
}

/* Reads an item; *is_there: 0 if none begins here. */
static uint32_t read_item(reader *r, int *is_there) {
  const char c = peek(r, 0);
  *is_there = 1;
  if (c == '"') return read_literal(r);
  if (c == '[') return read_class(r);
  if (c == '(') return read_group(r);
  if (is_word(c)) {
    const uint32_t rule = read_name(r, "");
    return add(r, (tree_node){TREE_RULE, rule, 0, 0, 0});
  }
  if (c == '.') {
    const size_t first = r->tree->point_count;
    r->at++;
    order_points(r, first, 1);
    return set_node(r, first);
  }
  if (c == '<' || c == '!')
    r->status = grammar_fault(r->tree, r->at, "tokens such as <[10]>, <name> and !<[10]> are not supported");
  else if (c && strchr("?*+{", c))
    expect(r, "an item before it");
  *is_there = 0;
  return 0;
}

static uint32_t read_sequence(reader *r) {
  uint32_t node = add(r, (tree_node){TREE_EMPTY, 0, 0, 0, 0});
  for (int is_there = 1; r->status == ATTN2C_OK && is_there;) {
    const uint32_t item = read_item(r, &is_there);
    if (is_there && r->status == ATTN2C_OK) node = sequence(r, node, read_repeats(r, item));
  }
  return node;
}

static uint32_t read_choice(reader *r) {
  uint32_t node = read_sequence(r);
  while (r->status == ATTN2C_OK && peek(r, 0) == '|') {
    r->at++;
    skip(r, 1);
    const uint32_t other = read_sequence(r);
    node = add(r, (tree_node){TREE_CHOICE, node, other, 0, 0});
  }
  return node;
}

static void read_rule(reader *r) {
  const size_t begin = r->at;
  const uint32_t number = read_name(r, "the name of a rule, of letters, digits and '-',");
  if (r->status != ATTN2C_OK) return;
  if (r->tree->rules[number].tree != UINT32_MAX) {
    r->status = grammar_fault(r->tree, begin, "rule '%.*s' is defined twice",
                              (int)r->tree->rules[number].length, r->tree->rules[number].name);
    return;
  }
  skip(r, 0);
  if (peek(r, 0) != ':' || peek(r, 1) != ':' || peek(r, 2) != '=') {
    expect(r, "::=");
    return;
  }
  r->at += 3;
  skip(r, 1);
  const uint32_t node = read_choice(r);
  if (r->status != ATTN2C_OK) return;
  r->tree->rules[number].tree = node;
  r->tree->rules[number].at = begin;
  if (!is_end(r) && peek(r, 0) != '\n' && peek(r, 0) != '\r') expect(r, "an item, '|' or the line's end");
  skip(r, 1);
}

int grammar_parse(grammar_tree *tree) {
  reader r = {tree, 0, 0, ATTN2C_OK};
  rule_of(&r, "root", 4, tree->length);
  skip(&r, 1);
  while (r.status == ATTN2C_OK && !is_end(&r)) read_rule(&r);
  for (size_t i = 0; i < tree->rule_count && r.status == ATTN2C_OK; i++) {
    const tree_rule *rule = &tree->rules[i];
    if (rule->tree == UINT32_MAX)
      r.status = grammar_fault(tree, rule->at, "rule '%.*s' is not defined", (int)rule->length, rule->name);
  }
  return r.status;
}
