/* numbers.c - floats in answers. For hundreds of floats printf would take longer than all else. */
#include "program/serve/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of a float: of 9, always the same float is read again. */
enum { DIGITS = 9 };

/* Bytes beside the numbers of an embedding, and of a reply. */
enum { EACH = 64, ALL = 256 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Powers of ten that a double holds exactly. */
enum { MOST_POWER = 22 };
static const double powers[MOST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double scaled(double value, int power) {
  return power >= 0 ? value * powers[power] : value / powers[-power];
}

/* Writes digits with a point after the first `whole`, 0 or less too. Trailing zeros are left out. */
static size_t write_plain(const char *digits, int count, int whole, char *to) {
  char *at = to;
  if (whole <= 0) {
    *at++ = '0', *at++ = '.';
    for (int i = whole; i < 0; i++) *at++ = '0';
  }
  for (int i = 0; i < count || i < whole; i++) {
    if (i == whole && whole > 0) *at++ = '.';
    *at++ = (char)(i < count ? digits[i] : '0');
  }
  if (whole > 0 && count <= whole) *at++ = '.', *at++ = '0';
  return (size_t)(at - to);
}

size_t attn2c_float_text(float value, char *to) {
  const double size = fabs((double)value);
  if (!isfinite(value)) return (size_t)sprintf(to, "null");
  if (size == 0) return (size_t)sprintf(to, signbit(value) ? "-0.0" : "0.0");
  /* About the number of digits before the point: log10(2) times the binary exponent. */
  int exponent;
  (void)frexp(size, &exponent);
  int whole = (int)floor((double)exponent * 0.30103);
  if (whole < -3 || whole > DIGITS - 1) return (size_t)sprintf(to, "%.8e", (double)value);
  /* The product has an error of 2^-53 of it, far below what floats differ by. */
  double all = rint(scaled(size, DIGITS - whole));
  if (all >= powers[DIGITS]) all = rint(scaled(size, DIGITS - ++whole));
  if (all < powers[DIGITS - 1]) all = rint(scaled(size, DIGITS - --whole));
  char digits[DIGITS];
  uint32_t left = (uint32_t)all;
  int count = DIGITS;
  for (int i = DIGITS - 1; i >= 0; i--, left /= 10) digits[i] = (char)('0' + left % 10);
  while (count > 1 && digits[count - 1] == '0') count--;
  size_t sign = 0;
  if (value < 0) to[sign++] = '-';
  return sign + write_plain(digits, count, whole, to + sign);
}

size_t attn2c_floats_room(size_t count, int is_base64) {
  return is_base64 ? (count * sizeof(float) + 2) / 3 * 4 + 2 : count * (ATTN2C_FLOAT_BYTES + 1) + 2;
}

static size_t write_base64(const float *values, size_t count, char *to) {
  const uint8_t *bytes = (const uint8_t *)values; /* every target is little-endian */
  const size_t size = count * sizeof *values;
  char *at = to;
  *at++ = '"';
  for (size_t i = 0; i < size; i += 3) {
    const size_t left = size - i;
    const uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                           (left > 2 ? (uint32_t)bytes[i + 2] : 0);
    *at++ = letters[group >> 18];
    *at++ = letters[group >> 12 & 63];
    *at++ = left > 1 ? letters[group >> 6 & 63] : '=';
    *at++ = left > 2 ? letters[group & 63] : '=';
  }
  *at++ = '"';
  return (size_t)(at - to);
}

size_t attn2c_floats_text(const float *values, size_t count, int is_base64, char *to) {
  char *at = to;
  if (is_base64) return write_base64(values, count, to);
  *at++ = '[';
  for (size_t i = 0; i < count; i++) {
    if (i) *at++ = ',';
    at += attn2c_float_text(values[i], at);
  }
  *at++ = ']';
  return (size_t)(at - to);
}

char *attn2c_embeddings_text(const char *model, const float *values, size_t count, size_t width,
                             int is_base64, int64_t tokens, size_t *length) {
  char *text = malloc(count * (attn2c_floats_room(width, is_base64) + EACH) + strlen(model) + ALL),
       *at = text;
  if (!text) return NULL;
  at += sprintf(at, "{\"object\":\"list\",\"data\":[");
  for (size_t i = 0; i < count; i++) {
    at += sprintf(at, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i ? "," : "", i);
    at += attn2c_floats_text(values + i * width, width, is_base64, at);
    *at++ = '}';
  }
  at += sprintf(at,
                "],\"model\":\"%s\",\"usage\":{\"prompt_tokens\":%" PRId64 ",\"total_tokens\":%" PRId64 "}}",
                model, tokens, tokens);
  *length = (size_t)(at - text);
  return text;
}

ptrdiff_t attn2c_base64_read(const char *text, size_t length, uint8_t *to) {
  uint8_t *at = to;
  uint32_t group = 0;
  size_t count = 0;
  while (length > 0 && text[length - 1] == '=' && count++ < 2) length--;
  if (length % 4 == 1) return -1;
  for (size_t i = 0; i < length; i++) {
    const char *letter = text[i] ? memchr(letters, text[i], 64) : NULL;
    if (!letter) return -1;
    group = group << 6 | (uint32_t)(letter - letters);
    if (i % 4 == 3) *at++ = (uint8_t)(group >> 16), *at++ = (uint8_t)(group >> 8), *at++ = (uint8_t)group;
  }
  if (length % 4 == 2) *at++ = (uint8_t)(group >> 4);
  if (length % 4 == 3) *at++ = (uint8_t)(group >> 10), *at++ = (uint8_t)(group >> 2);
  return at - to;
}
