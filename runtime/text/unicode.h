/* unicode.h - properties of characters for the tokenizer: utf8proc's, except where Hugging Face's tables are
 * older or newer. differences.h has these code points. The components' texts are well-formed UTF-8: a
 * caller's text is checked where it is read. */
#pragma once

#include "base/utf8.h"

#define TEXT_REPLACEMENT 0xfffdu

/* Returns the code point at `at`, in well-formed UTF-8, and sets *width to its bytes. */
static inline uint32_t text_read(const uint8_t *at, size_t *width) {
  if (at[0] < 0x80) return *width = 1, at[0];
  if (at[0] < 0xe0) return *width = 2, (uint32_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
  if (at[0] < 0xf0)
    return *width = 3, (uint32_t)(at[0] & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
  *width = 4;
  return (uint32_t)(at[0] & 0x07) << 18 | (uint32_t)(at[1] & 0x3f) << 12 | (uint32_t)(at[2] & 0x3f) << 6 |
         (at[3] & 0x3f);
}

static inline size_t text_width(uint32_t point) {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

/* Writes a code point; returns its bytes (1 to 4). */
static inline size_t text_write(uint8_t *at, uint32_t point) {
  if (point < 0x80) return at[0] = (uint8_t)point, 1;
  if (point < 0x800) return at[0] = (uint8_t)(0xc0 | point >> 6), at[1] = (uint8_t)(0x80 | (point & 0x3f)), 2;
  if (point < 0x10000) {
    at[0] = (uint8_t)(0xe0 | point >> 12), at[1] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    return at[2] = (uint8_t)(0x80 | (point & 0x3f)), 3;
  }
  at[0] = (uint8_t)(0xf0 | point >> 18), at[1] = (uint8_t)(0x80 | (point >> 12 & 0x3f));
  at[2] = (uint8_t)(0x80 | (point >> 6 & 0x3f)), at[3] = (uint8_t)(0x80 | (point & 0x3f));
  return 4;
}

/* Returns the beginning of the character that ends at `end` (after the beginning of the text). */
static inline size_t text_before(const uint8_t *bytes, size_t end) {
  do end--;
  while (end && (bytes[end] & 0xc0) == 0x80);
  return end;
}

/* As attn2c_utf8_part. */
static inline size_t text_part(const uint8_t *text, size_t available, int *valid) {
  return attn2c_utf8_part((const char *)text, available, valid);
}
int text_is_valid(const uint8_t *text, size_t length);

/* White_Space */
static inline int text_is_white(uint32_t point) {
  if (point < 0x80) return point == 0x20 || (point >= 9 && point <= 13);
  if (point < 0x1680) return point == 0x85 || point == 0xa0;
  return point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
         point == 0x202f || point == 0x205f || point == 0x3000;
}
/* str.isspace of Python */
static inline int text_is_space(uint32_t point) {
  return text_is_white(point) || (point >= 0x1c && point <= 0x1f);
}
/* Takes white space from both ends of a text, as str.strip of Python does. */
static inline void text_trim(const char **text, size_t *length) {
  for (int is_end = 0; is_end < 2; is_end++) {
    while (*length > 0) {
      const size_t at = is_end ? text_before((const uint8_t *)*text, *length) : 0;
      int is_valid;
      const size_t width = attn2c_utf8_part(*text + at, *length - at, &is_valid);
      if (!is_valid || !text_is_space(attn2c_utf8_point(*text + at, width))) break;
      if (is_end && at + width < *length) break; /* bytes after it are no character */
      if (!is_end) *text += width;
      *length -= width;
    }
  }
}
int text_is_control(uint32_t point);     /* characters that BertNormalizer removes */
int text_is_chinese(uint32_t point);     /* characters that BertNormalizer puts spaces around */
int text_is_nonspacing(uint32_t point);  /* Mn */
int text_is_mark(uint32_t point);        /* Mn, Mc, Me */
int text_is_punctuation(uint32_t point); /* P, and all symbols of ASCII */
int text_is_number(uint32_t point);      /* Nd, Nl, No */
int text_is_word(uint32_t point);        /* Python's \w: letters, numbers and _ */

/* Writes the lower case, one or two code points, and returns their number. */
size_t text_lower(uint32_t point, uint32_t lower[2]);

/* Most code points of one decomposition. */
#define TEXT_DECOMPOSED 18
size_t text_decompose(uint32_t point, int compatible, uint32_t out[TEXT_DECOMPOSED]);
uint8_t text_combining_class(uint32_t point);
/* Returns the primary composite of two code points, or 0. */
uint32_t text_compose(uint32_t first, uint32_t second);

/* True if a grapheme cluster ends between two neighbours. state: 0 at the text's start. */
int text_cluster_break(uint32_t before, uint32_t after, int32_t *state);

/* Returns GPT-2's letter for a byte: printable ones are their own letters, others have U+0100 and up. */
uint32_t text_byte_letter(uint8_t byte);
/* Returns the byte of a letter, or -1. */
int text_letter_byte(uint32_t point);
