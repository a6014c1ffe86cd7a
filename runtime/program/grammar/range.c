/* range.c - integers between two bounds, digit by digit. Numbers of one length are between two others if the
 * first digit is between theirs, or is one of theirs and the rest fits. */
#include "program/grammar/schema.h"

static void put_digits(schema_text *to, size_t count) {
  if (count > 0) schema_put(to, "[0-9]{%zu} ", count);
}

static void put_digit(schema_text *to, char low, char high) { schema_put(to, "[%c-%c] ", low, high); }

static int is_all(const char *digits, char digit) {
  return digits[strspn(digits, (char[]){digit, 0})] == '\0';
}

/* Puts the numbers with N digits that are at least (at most) these N digits. */
static void put_bounded(schema_text *to, const char *digits, int is_least) {
  if (*digits == '\0') return;
  if (is_all(digits, is_least ? '0' : '9')) {
    put_digits(to, strlen(digits));
    return;
  }
  schema_put(to, "(");
  if (is_least ? *digits < '9' : *digits > '0') {
    put_digit(to, is_least ? (char)(*digits + 1) : '0', is_least ? '9' : (char)(*digits - 1));
    put_digits(to, strlen(digits + 1));
    schema_put(to, "| ");
  }
  schema_put(to, "\"%c\" ", *digits);
  put_bounded(to, digits + 1, is_least);
  schema_put(to, ") ");
}

/* Puts the texts from low to high, which have the same number of digits. */
static void put_between(schema_text *to, const char *low, const char *high) {
  schema_put(to, "(");
  for (; *low && *low == *high; low++, high++) schema_put(to, "\"%c\" ", *low);
  if (*low) {
    schema_put(to, "(\"%c\" ", *low);
    put_bounded(to, low + 1, 1);
    if (*high - *low > 1) {
      schema_put(to, "| ");
      put_digit(to, (char)(*low + 1), (char)(*high - 1));
      put_digits(to, strlen(low + 1));
    }
    schema_put(to, "| \"%c\" ", *high);
    put_bounded(to, high + 1, 0);
    schema_put(to, ") ");
  }
  schema_put(to, ") ");
}

static void put_natural(schema_text *to, uint64_t low, uint64_t high) {
  char from[24], until[24], nines[24];
  snprintf(until, sizeof until, "%" PRIu64, high);
  schema_put(to, "(");
  for (;;) {
    snprintf(from, sizeof from, "%" PRIu64, low);
    if (strlen(from) == strlen(until)) break;
    memset(nines, '9', strlen(from));
    nines[strlen(from)] = '\0';
    put_between(to, from, nines);
    schema_put(to, "| ");
    low = strtoull(nines, NULL, 10) + 1;
  }
  put_between(to, from, until);
  schema_put(to, ") ");
}

void schema_put_integers(schema_text *to, int64_t low, int64_t high) {
  schema_put(to, "(");
  if (low < 0) {
    schema_put(to, "\"-\" ");
    put_natural(to, high < 0 ? 0 - (uint64_t)high : 1, 0 - (uint64_t)low);
    if (high >= 0) schema_put(to, "| ");
  }
  if (high >= 0) put_natural(to, low > 0 ? (uint64_t)low : 0, (uint64_t)high);
  schema_put(to, ") ");
}
