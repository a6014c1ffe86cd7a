/* utf8.c - well-formed UTF-8 (Unicode 15, table 3-7), and characters that terminals do not show. */
#include "base/utf8.h"

#include <string.h>

size_t attn2c_utf8_part(const char *text, size_t available, int *valid) {
  const unsigned char *byte = (const unsigned char *)text, first = byte[0];
  const size_t whole = first < 0x80   ? 1
                       : first < 0xc2 ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
  /* The second byte's range is narrower if the whole range would include overlong forms, surrogates or too
   * large points. */
  const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  size_t width = 1;
  if (whole > 1 && available > 1 && byte[1] >= low && byte[1] <= high)
    for (width = 2; width < whole && width < available && (byte[width] & 0xc0) == 0x80;) width++;
  *valid = width == whole;
  return width;
}

size_t attn2c_utf8_width(const char *text, size_t available) {
  int valid = 0;
  const size_t width = available ? attn2c_utf8_part(text, available, &valid) : 0;
  return valid ? width : 0;
}

int attn2c_utf8_mark(const char *text, size_t length) {
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) return 3;
  return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0) ? -1 : 0;
}

uint32_t attn2c_utf8_point(const char *text, size_t width) {
  const unsigned char *byte = (const unsigned char *)text;
  uint32_t point = width == 1 ? byte[0] : byte[0] & (0x7fu >> width);
  for (size_t i = 1; i < width; i++) point = point << 6 | (byte[i] & 0x3f);
  return point;
}

static const uint32_t unseen[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                     {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                                     {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

int attn2c_is_seen(uint32_t point) {
  for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
    if (point >= unseen[i][0] && point <= unseen[i][1]) return 0;
  return 1;
}
