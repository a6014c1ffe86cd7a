/* utf8.c - the well-formed byte sequences of UTF-8, as the Unicode standard tabulates
 * them (version 15, table 3-7). */
#include "base/utf8.h"

size_t attn2c_utf8_width(const char *text, size_t available) {
  const unsigned char *byte = (const unsigned char *)text;
  if (available == 0) return 0;
  unsigned char first = byte[0];
  if (first < 0x80) return 1;
  size_t width = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (width == 0 || width > available) return 0;
  for (size_t i = 1; i < width; i++)
    if ((byte[i] & 0xc0) != 0x80) return 0;
  /* The second byte's range is narrower where the whole range would be overlong, a surrogate or too large. */
  unsigned char second = byte[1];
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return width;
}
