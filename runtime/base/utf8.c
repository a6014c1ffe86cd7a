/* utf8.c - well-formed UTF-8 (Unicode 15, table 3-7), and characters that terminals do not show. */
#include "base/utf8.h"

#include <string.h>

size_t attn2c_utf8_width(const char *text, size_t available) {
  const unsigned char *byte = (const unsigned char *)text;
  if (available == 0) return 0;
  unsigned char first = byte[0];
  if (first < 0x80) return 1;
  size_t width = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (width == 0 || width > available) return 0;
  for (size_t i = 1; i < width; i++)
    if ((byte[i] & 0xc0) != 0x80) return 0;
  /* The second byte's range is narrower if the whole range would include overlong forms, surrogates or too
   * large points. */
  unsigned char second = byte[1];
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return width;
}

int attn2c_utf8_mark(const char *text, size_t length) {
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) return 3;
  return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0) ? -1 : 0;
}

/* Returns the length of a malformed part: its first byte and the continuations that could follow that. */
static size_t maximal_part(const uint8_t *text, size_t available) {
  uint8_t first = text[0];
  size_t most = first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3, width = 1;
  if (most < 2 || available < 2) return 1;
  uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (text[1] < low || text[1] > high) return 1;
  for (width = 2; width < most && width < available && (text[width] & 0xc0) == 0x80;) width++;
  return width;
}

size_t attn2c_utf8_part(const char *text, size_t available, int *valid) {
  const size_t width = attn2c_utf8_width(text, available);
  *valid = width != 0;
  return width ? width : maximal_part((const uint8_t *)text, available);
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
