/* parts.c - texts that grow, and the place in a schema of what is said about it. */
#include "program/grammar/schema.h"

static void put_list(schema_text *text, const char *format, va_list list) {
  va_list again;
  va_copy(again, list);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0 || attn2c_grow((void **)&text->bytes, &text->capacity, text->length + (size_t)length + 1,
                                1) != ATTN2C_OK) {
    text->failed = 1;
    return;
  }
  vsnprintf(text->bytes + text->length, (size_t)length + 1, format, list);
  text->length += (size_t)length;
}

void schema_put(schema_text *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  put_list(text, format, list);
  va_end(list);
}

void schema_put_literal(schema_text *text, const char *bytes, size_t length) {
  schema_put(text, "\"");
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    schema_put(text, c < 0x20 || c == 0x7f ? "\\x%02X" : c == '"' || c == '\\' ? "\\%c" : "%c", c);
  }
  schema_put(text, "\" ");
}

void schema_put_range(schema_text *text, uint32_t low, uint32_t high) {
  schema_put(text, low == high ? "\\U%08X" : "\\U%08X-\\U%08X", (unsigned)low, (unsigned)high);
}

int schema_fault(schema_reader *r, const char *format, ...) {
  schema_text said = {0};
  va_list list;
  if (r->status != ATTN2C_OK) return 0;
  r->status = ATTN2C_FORMAT;
  va_start(list, format);
  put_list(&said, format, list);
  va_end(list);
  attn2c_say(r->message, "%s: at %s: %s", r->name, r->path.length ? r->path.bytes : "the top",
             said.bytes ? said.bytes : "");
  free(said.bytes);
  return 0;
}

int schema_no_memory(schema_reader *r) {
  if (r->status == ATTN2C_OK)
    r->status = attn2c_fail(r->message, ATTN2C_MEMORY, "%s: no memory for the schema", r->name);
  return 0;
}

size_t schema_enter(schema_reader *r, const char *part) {
  const size_t length = r->path.length;
  schema_put(&r->path, "/");
  for (; *part; part++) schema_put(&r->path, *part == '~' ? "~0" : *part == '/' ? "~1" : "%c", *part);
  return length;
}

size_t schema_enter_index(schema_reader *r, size_t index) {
  const size_t length = r->path.length;
  schema_put(&r->path, "/%zu", index);
  return length;
}

void schema_leave(schema_reader *r, size_t length) {
  if (!r->path.bytes) return;
  r->path.length = length;
  r->path.bytes[length] = '\0';
}

int schema_is_note(const char *key) {
  static const char *const notes[] = {
      "title",        "description",     "default",         "examples",      "$schema",       "$id",
      "id",           "$comment",        "$defs",           "definitions",   "deprecated",    "readOnly",
      "writeOnly",    "strict",          "$anchor",         "discriminator", "contentSchema", "example",
      "externalDocs", "contentEncoding", "contentMediaType"};
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
    if (strcmp(key, notes[i]) == 0) return 1;
  return strncmp(key, "x-", 2) == 0;
}
