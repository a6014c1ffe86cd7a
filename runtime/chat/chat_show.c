/* chat_show.c - str, repr and json.dumps of values. */
#include "chat/chat_calls.h"
#include "text/unicode.h"

#include <math.h>
#include <utf8proc.h>

#define DEEPEST 100 /* values within each other that are written */

enum { REAL_BYTES = 32 };

/* Writes a real number as Python's repr; returns its bytes. */
static size_t real_text(double value, char text[REAL_BYTES]) {
  if (isnan(value)) return memcpy(text, "nan", 3), 3;
  size_t at = 0;
  if (signbit(value)) text[at++] = '-';
  if (isinf(value)) return memcpy(text + at, "inf", 3), at + 3;
  /* The fewest digits that give the same number again: Python's. The locale may have another point. */
  char digits[20], scratch[40];
  int exponent = 0, count = 0;
  for (int precision = 0; precision < 17; precision++) {
    snprintf(scratch, sizeof scratch, "%.*e", precision, fabs(value));
    if (precision < 16 && strtod(scratch, NULL) != fabs(value)) continue;
    count = 0;
    const char *from = scratch;
    for (; *from && *from != 'e'; from++)
      if (*from >= '0' && *from <= '9' && count < 18) digits[count++] = *from;
    exponent = *from ? atoi(from + 1) : 0;
    break;
  }
  while (count > 1 && digits[count - 1] == '0') count--;
  if (value == 0) exponent = 0;
  if (exponent < -4 || exponent >= 16) {
    text[at++] = digits[0];
    if (count > 1) text[at++] = '.';
    for (int i = 1; i < count; i++) text[at++] = digits[i];
    return at + (size_t)snprintf(text + at, (size_t)REAL_BYTES - at, "e%c%02d", exponent < 0 ? '-' : '+',
                                 abs(exponent));
  }
  if (exponent < 0) {
    text[at++] = '0', text[at++] = '.';
    for (int i = -1; i > exponent; i--) text[at++] = '0';
    for (int i = 0; i < count; i++) text[at++] = digits[i];
    return at;
  }
  for (int i = 0; i <= exponent; i++) text[at++] = i < count ? digits[i] : '0';
  text[at++] = '.';
  if (count <= exponent + 1) text[at++] = '0';
  for (int i = exponent + 1; i < count; i++) text[at++] = digits[i];
  return at;
}

static int write_word(attn2c_chat_work *work, const char *word) {
  return chat_write(work, word, strlen(word));
}

static int write_integer(attn2c_chat_work *work, int64_t value) {
  char text[24];
  return chat_write(work, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

static int is_printable(uint32_t point) {
  utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)point);
  if (point == ' ') return 1;
  return !(c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_CS ||
           c == UTF8PROC_CATEGORY_CO || c == UTF8PROC_CATEGORY_CN || c == UTF8PROC_CATEGORY_ZL ||
           c == UTF8PROC_CATEGORY_ZP || c == UTF8PROC_CATEGORY_ZS);
}

/* Writes a string as Python's repr. */
static int write_quoted(attn2c_chat_work *work, const chat_value *value) {
  const char *text = value->as.text;
  if (value->is_markup) return chat_refuse(work, "a text of the filter safe within a list cannot be written");
  int has_single = value->length && memchr(text, '\'', value->length);
  int has_double = value->length && memchr(text, '"', value->length);
  char quote = has_single && !has_double ? '"' : '\'', escape[12];
  int status = chat_write(work, &quote, 1);
  for (size_t at = 0; at < value->length && status == ATTN2C_OK;) {
    size_t width;
    uint32_t point = text_read((const uint8_t *)text + at, &width);
    if (point == (uint32_t)quote || point == '\\')
      snprintf(escape, sizeof escape, "\\%c", (char)point);
    else if (point == '\n' || point == '\r' || point == '\t')
      snprintf(escape, sizeof escape, "\\%c", point == '\n' ? 'n' : point == '\r' ? 'r' : 't');
    else if (is_printable(point))
      memcpy(escape, text + at, width), escape[width] = 0;
    else
      snprintf(escape, sizeof escape,
               point < 0x100     ? "\\x%02x"
               : point < 0x10000 ? "\\u%04x"
                                 : "\\U%08x",
               point);
    status = write_word(work, escape);
    at += width;
  }
  return status == ATTN2C_OK ? chat_write(work, &quote, 1) : status;
}

static int write_repr(attn2c_chat_work *work, const chat_value *value, int depth);

static int write_list(attn2c_chat_work *work, const chat_list *list, int depth) {
  static const char *const opening[] = {"[", "(", "dict_items([", "dict_keys([", "dict_values(["};
  static const char *const closing[] = {"]", ")", "])", "])", "])"};
  if (list->form == CHAT_OF_RANGE) return chat_refuse(work, "a range cannot be written as text");
  int status = write_word(work, opening[list->form]);
  for (uint32_t i = 0; i < list->count && status == ATTN2C_OK; i++) {
    if (i) status = write_word(work, ", ");
    if (status == ATTN2C_OK) status = write_repr(work, &list->items[i], depth + 1);
  }
  if (status == ATTN2C_OK && list->form == CHAT_OF_TUPLE && list->count == 1) status = write_word(work, ",");
  return status == ATTN2C_OK ? write_word(work, closing[list->form]) : status;
}

static int write_dict(attn2c_chat_work *work, const chat_dict *dict, int depth) {
  int status = write_word(work, "{");
  for (uint32_t i = 0; i < dict->count && status == ATTN2C_OK; i++) {
    if (i) status = write_word(work, ", ");
    if (status == ATTN2C_OK) status = write_repr(work, &dict->entries[i].key, depth + 1);
    if (status == ATTN2C_OK) status = write_word(work, ": ");
    if (status == ATTN2C_OK) status = write_repr(work, &dict->entries[i].value, depth + 1);
  }
  return status == ATTN2C_OK ? write_word(work, "}") : status;
}

static int write_repr(attn2c_chat_work *work, const chat_value *value, int depth) {
  char text[REAL_BYTES];
  if (depth > DEEPEST) return chat_refuse(work, "more than %d values within each other", DEEPEST);
  switch (value->kind) {
  case CHAT_NONE:
    return write_word(work, "None");
  case CHAT_BOOLEAN:
    return write_word(work, value->as.integer ? "True" : "False");
  case CHAT_INTEGER:
    return write_integer(work, value->as.integer);
  case CHAT_REAL:
    return chat_write(work, text, real_text(value->as.real, text));
  case CHAT_STRING:
    return write_quoted(work, value);
  case CHAT_LIST:
    return write_list(work, value->as.list, depth);
  case CHAT_DICT:
    return write_dict(work, value->as.dict, depth);
  case CHAT_UNDEFINED:
    return write_word(work, "Undefined");
  default:
    return chat_refuse(work, "%s cannot be written as text", chat_type(value));
  }
}

int chat_print(attn2c_chat_work *work, const chat_value *value) {
  if (value->kind == CHAT_STRING) return chat_write(work, value->as.text, value->length);
  if (value->kind == CHAT_UNDEFINED || value->kind == CHAT_MISSING) return ATTN2C_OK;
  return write_repr(work, value, 0);
}

int chat_text_of(attn2c_chat_work *work, const chat_value *value, chat_value *text) {
  if (value->kind == CHAT_STRING) return *text = *value, ATTN2C_OK;
  size_t from = work->output.length;
  int status = chat_print(work, value);
  return status == ATTN2C_OK ? chat_take(work, from, text) : status;
}

static int write_json_string(attn2c_chat_work *work, const chat_value *value, int is_ascii) {
  static const char letters[] = "btnvfr"; /* of 8 to 13; \v has no letter in JSON */
  const uint8_t *text = (const uint8_t *)value->as.text;
  char escape[16];
  int status = write_word(work, "\"");
  for (size_t at = 0, width; at < value->length && status == ATTN2C_OK; at += width) {
    uint32_t point = text_read(text + at, &width);
    if (point == '"' || point == '\\')
      snprintf(escape, sizeof escape, "\\%c", (char)point);
    else if (point >= 8 && point <= 13 && point != 11)
      snprintf(escape, sizeof escape, "\\%c", letters[point - 8]);
    else if (point < 0x20 || (is_ascii && point >= 0x7f && point < 0x10000 && point != 0x7f))
      snprintf(escape, sizeof escape, "\\u%04x", point);
    else if (is_ascii && point >= 0x10000)
      snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
               0xdc00 + ((point - 0x10000) & 0x3ff));
    else
      memcpy(escape, text + at, width), escape[width] = 0;
    status = escape[0] ? write_word(work, escape) : chat_write(work, "", 1);
  }
  return status == ATTN2C_OK ? write_word(work, "\"") : status;
}

static int write_json(attn2c_chat_work *work, const chat_value *value, const chat_json *how, int depth);

/* Begins a line of an indented value. */
static int new_line(attn2c_chat_work *work, const chat_json *how, int depth) {
  if (how->indent.kind == CHAT_NONE) return ATTN2C_OK;
  ATTN2C_TRY(write_word(work, "\n"));
  for (int i = 0; i < depth; i++) ATTN2C_TRY(chat_write(work, how->indent.as.text, how->indent.length));
  return ATTN2C_OK;
}

static int begin_item(attn2c_chat_work *work, const chat_json *how, uint32_t index, int depth) {
  int status = index ? chat_write(work, how->item.as.text, how->item.length) : ATTN2C_OK;
  return status == ATTN2C_OK ? new_line(work, how, depth + 1) : status;
}

static int write_json_list(attn2c_chat_work *work, const chat_list *list, const chat_json *how, int depth) {
  if (list->form > CHAT_OF_TUPLE) return chat_refuse(work, "tojson: a list is expected");
  if (list->count == 0) return write_word(work, "[]");
  int status = write_word(work, "[");
  for (uint32_t i = 0; i < list->count && status == ATTN2C_OK; i++) {
    status = begin_item(work, how, i, depth);
    if (status == ATTN2C_OK) status = write_json(work, &list->items[i], how, depth + 1);
  }
  if (status == ATTN2C_OK) status = new_line(work, how, depth);
  return status == ATTN2C_OK ? write_word(work, "]") : status;
}

/* Writes the key of an object, which JSON has as text. */
static int write_json_key(attn2c_chat_work *work, const chat_value *key, const chat_json *how) {
  if (key->kind == CHAT_STRING) return write_json_string(work, key, how->is_ascii);
  ATTN2C_TRY(write_word(work, "\""));
  ATTN2C_TRY(write_json(work, key, how, 0));
  return write_word(work, "\"");
}

static int write_json_dict(attn2c_chat_work *work, const chat_dict *dict, const chat_json *how, int depth) {
  if (dict->count == 0) return write_word(work, "{}");
  const chat_entry *entries = dict->entries;
  int status = ATTN2C_OK;
  if (how->sorts) {
    chat_entry *sorted;
    status = chat_allocate(work, dict->count * sizeof *sorted, &sorted);
    for (uint32_t i = 0; i < dict->count && status == ATTN2C_OK; i++) {
      uint32_t at = i;
      for (int order = 0; at > 0; at--) {
        status = chat_order(work, &sorted[at - 1].key, &entries[i].key, &order);
        if (status != ATTN2C_OK || order <= 0) break;
        sorted[at] = sorted[at - 1];
      }
      sorted[at] = entries[i];
    }
    if (status != ATTN2C_OK) return status;
    entries = sorted;
  }
  status = write_word(work, "{");
  for (uint32_t i = 0; i < dict->count && status == ATTN2C_OK; i++) {
    status = begin_item(work, how, i, depth);
    if (status == ATTN2C_OK) status = write_json_key(work, &entries[i].key, how);
    if (status == ATTN2C_OK) status = chat_write(work, how->key.as.text, how->key.length);
    if (status == ATTN2C_OK) status = write_json(work, &entries[i].value, how, depth + 1);
  }
  if (status == ATTN2C_OK) status = new_line(work, how, depth);
  return status == ATTN2C_OK ? write_word(work, "}") : status;
}

static int write_json(attn2c_chat_work *work, const chat_value *value, const chat_json *how, int depth) {
  if (depth > DEEPEST) return chat_refuse(work, "more than %d values within each other", DEEPEST);
  switch (value->kind) {
  case CHAT_NONE:
    return write_word(work, "null");
  case CHAT_BOOLEAN:
    return write_word(work, value->as.integer ? "true" : "false");
  case CHAT_INTEGER:
    return write_integer(work, value->as.integer);
  case CHAT_REAL:
    if (isnan(value->as.real)) return write_word(work, "NaN");
    if (isinf(value->as.real)) return write_word(work, value->as.real < 0 ? "-Infinity" : "Infinity");
    return write_repr(work, value, 0);
  case CHAT_STRING:
    return write_json_string(work, value, how->is_ascii);
  case CHAT_LIST:
    return write_json_list(work, value->as.list, how, depth);
  case CHAT_DICT:
    return write_json_dict(work, value->as.dict, how, depth);
  default:
    return chat_refuse(work, "tojson: %s has no JSON", chat_type(value));
  }
}

int chat_to_json(attn2c_chat_work *work, const chat_value *value, const chat_json *how, chat_value *text) {
  size_t from = work->output.length;
  int status = write_json(work, value, how, 0);
  return status == ATTN2C_OK ? chat_take(work, from, text) : status;
}
