/* text_safe.c - a stranger's text for a line of output. */
#include "program/text_safe.h"

#include <inttypes.h>
#include <string.h>

#include "text/unicode.h"

/* Characters that a line has no use for: controls, marks of direction, what has no width, tags. */
static const uint32_t unseen[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                     {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                                     {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

int attn2c_is_seen(uint32_t point) {
  for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
    if (point >= unseen[i][0] && point <= unseen[i][1]) return 0;
  return 1;
}

void attn2c_safe_write(const char *text, size_t length, FILE *out) {
  static const char plain[] = "\n\r\t\\", letters[] = "nrt\\";
  const uint8_t *bytes = (const uint8_t *)text;
  for (size_t at = 0; at < length;) {
    int valid;
    const size_t width = text_part(bytes + at, length - at, &valid);
    size_t read;
    const uint32_t point = valid ? text_read(bytes + at, &read) : TEXT_REPLACEMENT;
    const char *known = point && point < 0x80 ? strchr(plain, (int)point) : NULL;
    if (!valid)
      fputs("\xef\xbf\xbd", out);
    else if (known)
      fprintf(out, "\\%c", letters[known - plain]);
    else if (!attn2c_is_seen(point))
      fprintf(out, "\\u{%" PRIX32 "}", point);
    else
      fwrite(text + at, 1, width, out);
    at += width;
  }
}

size_t attn2c_utf8_mend(const char *text, size_t length, char *to) {
  size_t used = 0;
  for (size_t at = 0; at < length;) {
    int valid;
    const size_t width = text_part((const uint8_t *)text + at, length - at, &valid);
    memcpy(to + used, valid ? text + at : "\xef\xbf\xbd", valid ? width : 3);
    used += valid ? width : 3;
    at += width;
  }
  return used;
}
