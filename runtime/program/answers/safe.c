/* safe.c - escapes a text for a line of output. */
#include "program/answers/answers.h"

#include "text/unicode.h"

/* Writes a text. plain: characters whose escapes are a backslash and the letter at the same place of
 * `letters`; kept: controls that are not escaped. */
static void write_text(const char *text, size_t length, const char *plain, const char *letters,
                       const char *kept, FILE *out) {
  const uint8_t *bytes = (const uint8_t *)text;
  for (size_t at = 0; at < length;) {
    int valid;
    const size_t width = attn2c_utf8_part(text + at, length - at, &valid);
    size_t read;
    const uint32_t point = valid ? text_read(bytes + at, &read) : TEXT_REPLACEMENT;
    const char *known = point && point < 0x80 ? strchr(plain, (int)point) : NULL;
    if (!valid)
      fputs("\xef\xbf\xbd", out);
    else if (known)
      fprintf(out, "\\%c", letters[known - plain]);
    else if (!attn2c_is_seen(point) && !(point && point < 0x80 && strchr(kept, (int)point)))
      fprintf(out, "\\u{%" PRIX32 "}", point);
    else
      fwrite(text + at, 1, width, out);
    at += width;
  }
}

void attn2c_safe_write(const char *text, size_t length, FILE *out) {
  write_text(text, length, "\n\r\t\\", "nrt\\", "", out);
}

void attn2c_safe_write_lines(const char *text, size_t length, FILE *out) {
  write_text(text, length, "\r", "r", "\n\t", out);
}

size_t attn2c_utf8_mend(const char *text, size_t length, char *to) {
  size_t used = 0;
  for (size_t at = 0; at < length;) {
    int valid;
    const size_t width = attn2c_utf8_part(text + at, length - at, &valid);
    memcpy(to + used, valid ? text + at : "\xef\xbf\xbd", valid ? width : 3);
    used += valid ? width : 3;
    at += width;
  }
  return used;
}
