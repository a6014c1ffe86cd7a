/* json_line.c - writes JSON, one object a line. */
#include "program/answers/answers.h"

#include <math.h>

#include "text/unicode.h"

json_t *attn2c_json_text(const char *text, size_t length) {
  ATTN2C_OWN char *mended = malloc(3 * length + 1);
  if (!mended) return NULL;
  return json_stringn(mended, attn2c_utf8_mend(text, length, mended));
}

json_t *attn2c_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *attn2c_json_numbers(const float *values, int64_t count) {
  json_t *list = json_array();
  for (int64_t i = 0; i < count; i++) {
    if (json_array_append_new(list, attn2c_json_number((double)values[i])) == 0) continue;
    json_decref(list);
    return NULL;
  }
  return list;
}

char *attn2c_json_shortest(const json_t *value) {
  char *text = NULL;
  for (size_t digits = 15; digits <= 17; digits++) {
    free(text);
    text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(digits));
    json_t *again = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    const int is_same = again && json_equal(again, value);
    json_decref(again);
    if (is_same) break;
  }
  return text;
}

/* Writes JSON text. Characters of strings that a terminal interprets or hides are escaped. */
static void print(const char *text, FILE *out) {
  const uint8_t *bytes = (const uint8_t *)text;
  for (size_t width; *bytes; bytes += width) {
    const uint32_t point = text_read(bytes, &width);
    if (attn2c_is_seen(point))
      fwrite(bytes, 1, width, out);
    else if (point < 0x10000)
      fprintf(out, "\\u%04" PRIx32, point);
    else
      fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
  }
  fputc('\n', out);
}

int attn2c_json_line(json_t *object, int failed, FILE *out) {
  ATTN2C_OWN char *text =
      object && !failed ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(object);
  if (!text) return ATTN2C_MEMORY;
  print(text, out);
  return ATTN2C_OK;
}
