/* unicode.c - utf8proc's tables, corrected by differences.h. The components' own loops handle ASCII, which
 * most texts are, before they call these functions. */
#include "text/unicode.h"
#include "text/differences.h"

#include <utf8proc.h>

#define LENGTH(list) (sizeof(list) / sizeof(list)[0])

/* True if utf8proc's answer about a character is negated. */
static int differs(int property, uint32_t point) {
  size_t low = 0, high = LENGTH(differences);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (point >= differences[middle].first + differences[middle].count)
      low = middle + 1;
    else
      high = middle;
  }
  return low < LENGTH(differences) && point >= differences[low].first &&
         (differences[low].properties & (uint32_t)property) != 0;
}

static utf8proc_category_t category(uint32_t point) { return utf8proc_category((utf8proc_int32_t)point); }

int text_is_valid(const uint8_t *text, size_t length) {
  for (size_t at = 0; at < length;) {
    size_t width = attn2c_utf8_width((const char *)text + at, length - at);
    if (width == 0) return 0;
    at += width;
  }
  return 1;
}

int text_is_control(uint32_t point) {
  utf8proc_category_t c = category(point);
  if (point == 9 || point == 10 || point == 13) return 0;
  int is = c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_CO ||
           point == TEXT_REPLACEMENT;
  return is ^ differs(DIFFERS_CONTROL, point);
}

int text_is_chinese(uint32_t point) {
  static const uint32_t blocks[][2] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                       {0x20000, 0x2a6df}, {0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf},
                                       {0x2f800, 0x2fa1f}};
  for (size_t i = 0; i < LENGTH(blocks) && point >= blocks[i][0]; i++)
    if (point <= blocks[i][1]) return 1;
  return 0;
}

int text_is_nonspacing(uint32_t point) {
  return point >= 0x300 && (category(point) == UTF8PROC_CATEGORY_MN) ^ differs(DIFFERS_NONSPACING, point);
}

int text_is_mark(uint32_t point) {
  utf8proc_category_t c = category(point);
  int is = c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ME;
  return is ^ differs(DIFFERS_MARK, point);
}

int text_is_punctuation(uint32_t point) {
  if (point < 0x80)
    return (point > 0x20 && point < 0x30) || (point > 0x39 && point < 0x41) ||
           (point > 0x5a && point < 0x61) || (point > 0x7a && point < 0x7f);
  utf8proc_category_t c = category(point);
  return (c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO) ^ differs(DIFFERS_PUNCTUATION, point);
}

int text_is_number(uint32_t point) {
  if (point < 0x80) return point >= '0' && point <= '9';
  utf8proc_category_t c = category(point);
  return (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO) ^ differs(DIFFERS_NUMBER, point);
}

int text_is_word(uint32_t point) {
  const utf8proc_category_t c = category(point);
  return point == '_' || (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) ||
         (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
}

size_t text_lower(uint32_t point, uint32_t lower[2]) {
  if (point == 0x130) return lower[0] = 'i', lower[1] = 0x307, 2;
  lower[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)point);
  if (point < 0x1c89 || lower[0] != point) return 1;
  for (size_t i = 0; i < LENGTH(differences_lower); i++)
    if (point - differences_lower[i].first < differences_lower[i].count)
      lower[0] = point + (uint32_t)differences_lower[i].distance;
  return 1;
}

size_t text_decompose(uint32_t point, int compatible, uint32_t out[TEXT_DECOMPOSED]) {
  out[0] = point;
  if (point < 0xa0 || differs(DIFFERS_INERT, point)) return 1;
  utf8proc_int32_t points[TEXT_DECOMPOSED];
  int boundary = 0;
  utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_ssize_t count =
      utf8proc_decompose_char((utf8proc_int32_t)point, points, TEXT_DECOMPOSED, options, &boundary);
  if (count < 1 || count > TEXT_DECOMPOSED) return 1;
  for (utf8proc_ssize_t i = 0; i < count; i++) out[i] = (uint32_t)points[i];
  return (size_t)count;
}

uint8_t text_combining_class(uint32_t point) {
  if (point < 0x300 || differs(DIFFERS_INERT, point)) return 0;
  return (uint8_t)utf8proc_get_property((utf8proc_int32_t)point)->combining_class;
}

uint32_t text_compose(uint32_t first, uint32_t second) {
  if (second < 0x300) return 0;
  utf8proc_int32_t pair[3] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second, 0};
  if (utf8proc_normalize_utf32(pair, 2, UTF8PROC_STABLE | UTF8PROC_COMPOSE) != 1) return 0;
  return differs(DIFFERS_INERT, (uint32_t)pair[0]) ? 0 : (uint32_t)pair[0];
}

int text_cluster_break(uint32_t before, uint32_t after, int32_t *state) {
  return utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)after, state);
}

uint32_t text_byte_letter(uint8_t byte) {
  if (byte <= 0x20) return 0x100u + byte;
  if (byte < 0x7f) return byte;
  if (byte <= 0xa0) return 0x100u + 33 + (byte - 0x7fu);
  return byte == 0xad ? 0x143u : byte;
}

int text_letter_byte(uint32_t point) {
  if (point < 0x100)
    return (point > 0x20 && point < 0x7f) || (point > 0xa0 && point != 0xad) ? (int)point : -1;
  if (point <= 0x120) return (int)(point - 0x100);
  if (point <= 0x142) return (int)(point - 0x121 + 0x7f);
  return point == 0x143 ? 0xad : -1;
}
