/* json.c - the strict JSON reader (RFC 8259). Strings are decoded in place: they never grow. */
#include "formats/json.h"
#include "base/utf8.h"

#include <string.h>

#define LARGEST_INTEGER ((int64_t)1 << 53)

attn2c_json attn2c_json_make(char *text, size_t size) { return (attn2c_json){text, size, 0, NULL}; }

static int refuse(attn2c_json *json, const char *fault) {
  if (!json->fault) json->fault = fault;
  return 0;
}

/* Returns the next character that is not white space, without taking it; -1 at the end or after a fault. */
static int peek(attn2c_json *json) {
  if (json->fault) return -1;
  while (json->at < json->size && memchr(" \t\n\r", json->text[json->at], 4)) json->at++;
  return json->at < json->size ? (unsigned char)json->text[json->at] : -1;
}

int attn2c_json_enter(attn2c_json *json, char bracket) {
  if (peek(json) != bracket) return refuse(json, bracket == '{' ? "'{' is expected" : "'[' is expected");
  json->at++;
  return 1;
}

int attn2c_json_member(attn2c_json *json, char bracket, int64_t *members) {
  int next = peek(json);
  if (next == bracket) {
    json->at++;
    return 0;
  }
  if (*members > 0) {
    if (next != ',')
      return refuse(json, bracket == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
    json->at++;
  }
  ++*members;
  return 1;
}

/* Returns the value of four hexadecimal digits, or -1. */
static int32_t take_hex(attn2c_json *json) {
  int32_t value = 0;
  if (json->size - json->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    char digit = json->text[json->at++];
    if (digit >= '0' && digit <= '9')
      value = value * 16 + (digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      value = value * 16 + (digit - 'a' + 10);
    else if (digit >= 'A' && digit <= 'F')
      value = value * 16 + (digit - 'A' + 10);
    else
      return -1;
  }
  return value;
}

/* Returns the code point after "\u", maybe a pair of surrogates; at a fault 0, which is refused, too. */
static int32_t take_code_point(attn2c_json *json) {
  int32_t high = take_hex(json);
  if (high < 0) return refuse(json, "\\u needs four hexadecimal digits");
  if (high == 0) return refuse(json, "a NUL character is not allowed in a string");
  if (high < 0xd800 || high > 0xdfff) return high;
  if (high > 0xdbff || json->size - json->at < 6 || memcmp(json->text + json->at, "\\u", 2) != 0)
    return refuse(json, "a surrogate without its other half");
  json->at += 2;
  int32_t low = take_hex(json);
  if (low < 0xdc00 || low > 0xdfff) return refuse(json, "a surrogate without its other half");
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static char *put_code_point(char *to, int32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xc0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *to++ = (char)(0xe0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  } else {
    *to++ = (char)(0xf0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3f));
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  }
  return to;
}

/* Writes the character of the escape after a backslash and returns its end; NULL at a fault. */
static char *take_escape(attn2c_json *json, char *to) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  if (json->at == json->size) return refuse(json, "a string does not end"), NULL;
  char letter = json->text[json->at++];
  if (letter == 'u') {
    int32_t code = take_code_point(json);
    return code ? put_code_point(to, code) : NULL;
  }
  const char *found = letter ? strchr(letters, letter) : NULL;
  if (!found) return refuse(json, "an unknown escape in a string"), NULL;
  *to++ = meanings[found - letters];
  return to;
}

int attn2c_json_string(attn2c_json *json, const char **value) {
  if (peek(json) != '"') return refuse(json, "a string is expected");
  json->at++;
  char *to = json->text + json->at;
  *value = to;
  while (json->at < json->size) {
    const char *from = json->text + json->at;
    unsigned char next = (unsigned char)*from;
    if (next == '"') {
      *to = '\0'; /* at the closing quote or before it */
      json->at++;
      return 1;
    }
    if (next < 0x20) return refuse(json, "a control character in a string");
    if (next == '\\') {
      json->at++;
      to = take_escape(json, to);
      if (!to) return 0;
      continue;
    }
    size_t width = attn2c_utf8_width(from, json->size - json->at);
    if (width == 0) return refuse(json, "broken UTF-8 in a string");
    memmove(to, from, width);
    to += width, json->at += width;
  }
  return refuse(json, "a string does not end");
}

int attn2c_json_key(attn2c_json *json, const char **value) {
  if (!attn2c_json_string(json, value)) return 0;
  if (peek(json) != ':') return refuse(json, "':' is expected");
  json->at++;
  return 1;
}

int attn2c_json_integer(attn2c_json *json, int64_t *value) {
  int next = peek(json);
  if (next == '-') return refuse(json, "a negative number, but an integer from 0 to 2^53 is expected");
  if (next < '0' || next > '9') return refuse(json, "an integer is expected");
  int64_t number = 0;
  size_t start = json->at;
  while (json->at < json->size && json->text[json->at] >= '0' && json->text[json->at] <= '9') {
    number = number * 10 + (json->text[json->at] - '0'); /* below 2^57, so it cannot overflow */
    if (number > LARGEST_INTEGER) return refuse(json, "a number beyond 2^53");
    json->at++;
  }
  if (json->at - start > 1 && json->text[start] == '0') return refuse(json, "a number with a leading zero");
  if (json->at < json->size && memchr(".eE", json->text[json->at], 3))
    return refuse(json, "a fraction or exponent, but an integer from 0 to 2^53 is expected");
  *value = number;
  return 1;
}

int attn2c_json_end(attn2c_json *json) {
  if (peek(json) >= 0) return refuse(json, "nothing more is expected");
  return json->fault == NULL;
}

/* Takes a string, a number, true, false or null. */
static int skip_plain(attn2c_json *json) {
  static const char *const words[] = {"true", "false", "null"};
  const char *value;
  const int next = peek(json);
  if (next == '"') return attn2c_json_string(json, &value);
  for (int i = 0; i < 3; i++) {
    const size_t length = strlen(words[i]);
    if (json->size - json->at >= length && memcmp(json->text + json->at, words[i], length) == 0) {
      json->at += length;
      return 1;
    }
  }
  if (next != '-' && (next < '0' || next > '9')) return refuse(json, "a value is expected");
  while (json->at < json->size && json->text[json->at] && strchr("+-.eE0123456789", json->text[json->at]))
    json->at++;
  return 1;
}

int attn2c_json_skip(attn2c_json *json) {
  enum { DEEPEST = 100 };
  char closing[DEEPEST];
  int64_t members[DEEPEST];
  int depth = 0;
  const char *key;
  do {
    if (depth && !attn2c_json_member(json, closing[depth - 1], &members[depth - 1])) {
      if (json->fault) return 0;
      depth--;
      continue;
    }
    if (depth && closing[depth - 1] == '}' && !attn2c_json_key(json, &key)) return 0;
    const int next = peek(json);
    if (next != '{' && next != '[') {
      if (!skip_plain(json)) return 0;
      continue;
    }
    if (depth == DEEPEST) return refuse(json, "nests deeper than 100 levels");
    json->at++;
    closing[depth] = next == '{' ? '}' : ']';
    members[depth++] = 0;
  } while (depth);
  return 1;
}
