/* pattern.c - turns a regular expression into GBNF, character by character. Each character becomes what it is
 * in JSON, where some are escaped. References back, and others without a counterpart, are refused by name. */
#include <limits.h>

#include "base/utf8.h"
#include "program/grammar/schema.h"

enum { RANGES = 256, LAST = 0x10ffff, MOST_REPEATS = 2000 };

typedef struct {
  uint32_t low[RANGES], high[RANGES];
  int count;
} point_set;

typedef struct {
  schema_reader *reader;
  schema_text *to;
  const char *at, *end;
  int depth; /* groups around */
} pattern;

static int peek(const pattern *p) { return p->at < p->end ? (unsigned char)*p->at : -1; }

static int is_fine(const pattern *p) { return p->reader->status == ATTN2C_OK; }

static void refuse(pattern *p, const char *what) {
  schema_fault(p->reader, "%s, before '%.*s'", what, (int)(p->end - p->at), p->at);
}

static void add(pattern *p, point_set *set, uint32_t low, uint32_t high) {
  if (set->count == RANGES) {
    refuse(p, "more than 256 ranges in a class");
    return;
  }
  set->low[set->count] = low;
  set->high[set->count++] = high;
}

/* Adds all characters that a set does not have. */
static void add_others(pattern *p, point_set *to, const point_set *set) {
  for (uint32_t from = 0; from <= LAST;) {
    uint32_t next = LAST + 1;
    int is_inside = 0;
    for (int i = 0; i < set->count; i++) {
      if (set->low[i] <= from && set->high[i] >= from) {
        from = set->high[i] + 1;
        is_inside = 1;
        break;
      }
      if (set->low[i] > from && set->low[i] < next) next = set->low[i];
    }
    if (is_inside) continue;
    add(p, to, from, next - 1);
    from = next;
  }
}

static int has(const point_set *set, uint32_t point) {
  for (int i = 0; i < set->count; i++)
    if (set->low[i] <= point && set->high[i] >= point) return 1;
  return 0;
}

/* Puts a set as JSON has its characters: as they are, and as escapes. */
static void put_set(pattern *p, const point_set *set) {
  static const char letters[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";
  schema_put(p->to, "([");
  for (int i = 0; i < set->count; i++) {
    const uint32_t holes[] = {0x1f, '"', '\\', LAST + 1}; /* the ends of what stays out */
    uint32_t from = set->low[i] > 0x20 ? set->low[i] : 0x20;
    for (int k = 1; k < 4 && from <= set->high[i]; k++) {
      const uint32_t until = set->high[i] < holes[k] - 1 ? set->high[i] : holes[k] - 1;
      if (from <= until) schema_put_range(p->to, from, until);
      if (from <= holes[k]) from = holes[k] + 1;
    }
  }
  schema_put(p->to, "] ");
  for (int i = 0; letters[i]; i++)
    if (has(set, (unsigned char)values[i])) {
      schema_put(p->to, "| ");
      schema_put_literal(p->to, (char[]){'\\', letters[i]}, 2);
    }
  schema_put(p->to, ") ");
}

/* Reads hexadecimal digits of an escape. */
static uint32_t read_hex(pattern *p, int digits) {
  uint32_t value = 0;
  for (int i = 0; i < digits; i++, p->at++) {
    const int c = peek(p), digit = c >= '0' && c <= '9'   ? c - '0'
                                   : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                   : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                          : -1;
    if (digit < 0) {
      refuse(p, "a hexadecimal digit is missing");
      return 0;
    }
    value = value << 4 | (uint32_t)digit;
  }
  return value;
}

/* Adds the characters of \d, \w or \s; of \D, \W or \S the other characters of ASCII. Returns 0 for others.
 */
static int add_class(pattern *p, point_set *set, int letter) {
  point_set own = {.count = 0};
  if (letter == 'd' || letter == 'D') {
    add(p, &own, '0', '9');
  } else if (letter == 'w' || letter == 'W') {
    add(p, &own, '0', '9');
    add(p, &own, 'A', 'Z');
    add(p, &own, '_', '_');
    add(p, &own, 'a', 'z');
  } else if (letter == 's' || letter == 'S') {
    add(p, &own, '\t', '\r');
    add(p, &own, ' ', ' ');
  } else {
    return 0;
  }
  if (letter >= 'a') {
    for (int i = 0; i < own.count; i++) add(p, set, own.low[i], own.high[i]);
  } else {
    add(p, &own, 0x80, LAST);
    add_others(p, set, &own);
  }
  return 1;
}

/* Reads an escape after its backslash. Returns 1 with its character, 0 if it is a class, which was added. */
static int read_escape(pattern *p, point_set *set, uint32_t *point) {
  static const char letters[] = "nrtfv0", values[] = "\n\r\t\f\v";
  const int c = peek(p);
  const char *letter = c > 0 ? strchr(letters, c) : NULL;
  if (c > 0 && add_class(p, set, c)) {
    p->at++;
    return 0;
  }
  *point = (uint32_t)c;
  if (c == 'x' || c == 'u') {
    p->at++;
    *point = read_hex(p, c == 'x' ? 2 : 4);
    return 1;
  }
  if (letter)
    *point = (unsigned char)values[letter - letters];
  else if (c < 0 || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
    refuse(p, "this escape is not supported");
  p->at++;
  return 1;
}

/* Reads a character, or what an escape stands for: see read_escape. */
static int read_point(pattern *p, point_set *set, uint32_t *point) {
  const size_t width = attn2c_utf8_width(p->at, (size_t)(p->end - p->at));
  if (*p->at == '\\') {
    p->at++;
    return read_escape(p, set, point);
  }
  *point = attn2c_utf8_point(p->at, width);
  p->at += width;
  return 1;
}

static void read_class(pattern *p) {
  point_set set = {.count = 0}, others = {.count = 0};
  p->at++;
  const int is_negated = peek(p) == '^';
  p->at += is_negated;
  while (is_fine(p) && peek(p) != ']') {
    uint32_t low = 0, high;
    if (peek(p) < 0) {
      refuse(p, "']' is missing");
      return;
    }
    if (!read_point(p, &set, &low)) continue;
    high = low;
    if (peek(p) == '-' && p->at + 1 < p->end && p->at[1] != ']') {
      p->at++;
      if (!read_point(p, &set, &high) || high < low)
        refuse(p, "a range goes up from one character to another");
    }
    add(p, &set, low, high);
  }
  p->at++;
  if (is_negated) add_others(p, &others, &set);
  put_set(p, is_negated ? &others : &set);
}

static void read_choice(pattern *p);

static void read_group(pattern *p) {
  p->at++;
  if (peek(p) == '?' && p->at + 1 < p->end && p->at[1] == ':')
    p->at += 2;
  else if (peek(p) == '?')
    refuse(p, "groups that look ahead or behind, or have names or flags, are not supported");
  if (++p->depth > SCHEMA_DEPTH) refuse(p, "too many groups in each other");
  if (is_fine(p)) read_choice(p);
  if (is_fine(p) && peek(p) != ')') refuse(p, "')' is missing");
  p->at++;
  p->depth--;
}

/* Reads a repetition after an item. */
static void read_repeat(pattern *p) {
  const int c = peek(p);
  unsigned long low = 0, high = 0;
  char *end;
  if (c != '*' && c != '+' && c != '?' && c != '{') return;
  if (c != '{') {
    schema_put(p->to, "%c ", c);
    p->at++;
  } else {
    const char *begin = ++p->at;
    low = high = peek(p) >= '0' && peek(p) <= '9' ? strtoul(p->at, &end, 10) : ULONG_MAX;
    if (low != ULONG_MAX) p->at = end;
    const int has_comma = low != ULONG_MAX && peek(p) == ',';
    p->at += has_comma;
    const int is_open = has_comma && peek(p) == '}';
    if (has_comma && !is_open) high = peek(p) >= '0' && peek(p) <= '9' ? strtoul(p->at, &end, 10) : ULONG_MAX;
    if (has_comma && !is_open && high != ULONG_MAX) p->at = end;
    if (peek(p) != '}' || low > MOST_REPEATS || high > MOST_REPEATS || high < low) {
      p->at = begin;
      refuse(p, "a repetition is {m}, {m,} or {m,n} of at most 2000");
      return;
    }
    p->at++;
    schema_put(p->to, is_open ? "{%lu,} " : "{%lu,%lu} ", low, high);
  }
  if (peek(p) == '?') p->at++; /* which match is taken makes no difference */
  if (peek(p) >= 0 && strchr("*+{", peek(p))) refuse(p, "a repetition of a repetition is not supported");
}

static void read_item(pattern *p) {
  static const point_set lines = {{'\n', '\r', 0x2028}, {'\n', '\r', 0x2029}, 3};
  point_set set = {.count = 0};
  uint32_t point;
  const int c = peek(p);
  schema_put(p->to, "(");
  if (c == '[') {
    read_class(p);
  } else if (c == '(') {
    read_group(p);
  } else if (c == '.') {
    add_others(p, &set, &lines);
    put_set(p, &set);
    p->at++;
  } else if (strchr("*+?{^$", c)) {
    refuse(p, c == '^' || c == '$' ? "^ and $ are supported only at the two ends" : "an item is missing");
  } else {
    if (read_point(p, &set, &point)) add(p, &set, point, point);
    put_set(p, &set);
  }
  schema_put(p->to, ") ");
  if (is_fine(p)) read_repeat(p);
}

/* Reads alternatives. An end without ^ or $ may have any text before or after it. */
static void read_choice(pattern *p) {
  const int is_outer = p->depth == 0;
  schema_put(p->to, "(");
  for (;;) {
    const int is_begin = is_outer && peek(p) == '^';
    p->at += is_begin;
    if (is_outer && !is_begin) schema_put(p->to, "char* ");
    while (is_fine(p) && peek(p) >= 0 && peek(p) != '|' && !(peek(p) == ')' && !is_outer) &&
           !(peek(p) == '$' && is_outer && (p->at + 1 == p->end || p->at[1] == '|')))
      read_item(p);
    const int is_end = is_outer && peek(p) == '$';
    p->at += is_end;
    if (is_outer && !is_end) schema_put(p->to, "char* ");
    if (!is_fine(p) || peek(p) != '|') break;
    schema_put(p->to, "| ");
    p->at++;
  }
  schema_put(p->to, ") ");
}

int schema_put_pattern(schema_reader *r, schema_text *to, const char *text, size_t length) {
  pattern p = {.reader = r, .to = to, .at = text, .end = text + length};
  read_choice(&p);
  return is_fine(&p);
}
