/* test_json.c - the strict JSON reader against jansson, an independent one: every text
 * that one byte's change makes of a header is read as jansson reads it, or refused. */
#include "formats/json.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* An object of integers, strings, and lists of integers, as text; 0 where it is refused. The reading stops at
 * the end of the object. */
static int read_object(char *text, size_t size, char *out, size_t room, size_t *end) {
  attn2c_json json = attn2c_json_make(text, size);
  int64_t members = 0, number;
  const char *key, *value;
  size_t used = 0;
  out[0] = '\0';
  attn2c_json_enter(&json, '{');
  while (attn2c_json_member(&json, '}', &members)) {
    int64_t items = 0;
    if (!attn2c_json_key(&json, &key)) break;
    used += (size_t)snprintf(out + used, room - used, "%s:", key);
    if (strncmp(key, "s", 1) == 0) {
      if (!attn2c_json_string(&json, &value)) break;
      used += (size_t)snprintf(out + used, room - used, "'%s' ", value);
      continue;
    }
    attn2c_json_enter(&json, '[');
    while (attn2c_json_member(&json, ']', &items)) {
      if (!attn2c_json_integer(&json, &number)) break;
      used += (size_t)snprintf(out + used, room - used, "%lld ", (long long)number);
    }
  }
  *end = json.at;
  return !json.fault;
}

/* The same by jansson; 0 where it or the schema refuses. */
static int read_by_jansson(const char *text, size_t size, char *out, size_t room) {
  const char *key;
  json_t *root = json_loadb(text, size, 0, NULL), *value, *item;
  size_t index, used = 0;
  int fits = root && json_is_object(root);
  out[0] = '\0';
  if (fits) json_object_foreach(root, key, value) {
      used += (size_t)snprintf(out + used, room - used, "%s:", key);
      if (strncmp(key, "s", 1) == 0) {
        if (json_is_string(value))
          used += (size_t)snprintf(out + used, room - used, "'%s' ", json_string_value(value));
        else
          fits = 0;
        continue;
      }
      if (!json_is_array(value)) fits = 0;
      json_array_foreach(value, index, item) {
        if (!json_is_integer(item) || json_integer_value(item) < 0 ||
            json_integer_value(item) > (json_int_t)1 << 53)
          fits = 0;
        used += (size_t)snprintf(out + used, room - used, "%lld ", (long long)json_integer_value(item));
      }
    }
  json_decref(root);
  return fits;
}

/* A minus in front of a zero is an integer to jansson and refused here; both are right by the schema. */
static int is_negative_zero(const char *text, size_t size) {
  for (size_t i = 0; i + 1 < size; i++)
    if (text[i] == '-' && text[i + 1] == '0') return 1;
  return 0;
}

static int compare_readings(const char *text, size_t size) {
  char ours[512], theirs[512];
  char *copy = malloc(size);
  size_t end;
  memcpy(copy, text, size);
  int read = read_object(copy, size, ours, sizeof ours, &end);
  free(copy);
  for (; read && end < size; end++)
    if (!memchr(" \t\r\n", text[end], 4)) read = 0;
  int expected = read_by_jansson(text, size, theirs, sizeof theirs);
  if (expected && is_negative_zero(text, size)) expected = 0;
  cr_assert_eq(read, expected, "%.*s: %s, but jansson %s", (int)size, text, read ? "read" : "refused",
               expected ? "reads it" : "refuses it");
  if (read) cr_assert_str_eq(ours, theirs, "%.*s", (int)size, text);
  return read;
}

static const char sample[] = "{\"sA\":\"x\\n\\u00e9\\ud83d\\ude00y\", \"b\" : [0,12, "
                             "9007199254740992],\"string\":\"\xc3\xa9\xe2\x82\xac\"}";

Test(json, every_one_byte_change_is_read_as_jansson_reads_it) {
  static const char replacements[] =
      "\"\\{}[]:,0195-+.eEunsabAD x/\t\n\r\x01\x1f\x7f\x80\xc0\xc3\xe9\xed\xf5\xff";
  char text[sizeof sample];
  int read = 0, tried = 0;
  cr_assert(compare_readings(sample, sizeof sample - 1));
  for (size_t at = 0; at < sizeof sample - 1; at++)
    for (size_t r = 0; r < sizeof replacements - 1; r++) {
      memcpy(text, sample, sizeof sample);
      text[at] = replacements[r];
      read += compare_readings(text, sizeof sample - 1);
      tried++;
    }
  cr_assert(read > 100 && read < tried, "%d of %d were read", read, tried);
}

Test(json, every_deletion_and_doubling_is_read_as_jansson_reads_it) {
  char text[sizeof sample + 1];
  size_t size = sizeof sample - 1;
  for (size_t at = 0; at < size; at++) {
    memcpy(text, sample, at);
    memcpy(text + at, sample + at + 1, size - at - 1);
    compare_readings(text, size - 1);
    memcpy(text + at, sample + at, size - at);
    memmove(text + at + 1, text + at, size - at);
    compare_readings(text, size + 1);
  }
}

Test(json, every_truncation_is_refused) {
  for (size_t size = 0; size < sizeof sample - 1; size++)
    cr_assert_not(compare_readings(sample, size), "%zu", size);
}

/* jansson 2.14 skips a NUL that stands after a number, so that it cannot be asked. */
Test(json, a_nul_anywhere_is_refused) {
  char text[sizeof sample], out[512];
  size_t end;
  for (size_t at = 0; at < sizeof sample - 1; at++) {
    memcpy(text, sample, sizeof sample);
    text[at] = '\0';
    cr_assert_not(read_object(text, sizeof sample - 1, out, sizeof out, &end), "byte %zu", at);
  }
}

/* The order of faults matters to whoever reads the line: the first one stays. */
Test(json, the_first_fault_stays) {
  char text[] = "{\"a\" 1";
  const char *key;
  int64_t value, members = 0;
  attn2c_json json = attn2c_json_make(text, sizeof text - 1);
  cr_assert(attn2c_json_enter(&json, '{') && attn2c_json_member(&json, '}', &members));
  cr_assert_not(attn2c_json_key(&json, &key));
  size_t at = json.at;
  cr_assert_not(attn2c_json_integer(&json, &value));
  cr_assert_not(attn2c_json_member(&json, '}', &members));
  cr_assert_str_eq(json.fault, "':' is expected");
  cr_assert_eq(json.at, at);
}
