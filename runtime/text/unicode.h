/* unicode.h - characters as the tokenizer's components see them: utf8proc's answers, but for the code points
 * where the tables of Hugging Face's library are older or newer (differences.h).
 * Texts that go through the components are well-formed UTF-8: what comes in is checked where it enters. */
#ifndef ATTN2C_TEXT_UNICODE_H
#define ATTN2C_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_REPLACEMENT 0xfffdu

/* The code point at well-formed UTF-8 and how many bytes it has. */
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

/* The begin of the character that ends at `end` (> begin of the text). */
static inline size_t text_before(const uint8_t *bytes, size_t end) {
  do end--;
  while (end && (bytes[end] & 0xc0) == 0x80);
  return end;
}

/* How many bytes at `text` are one character, or, where it is none, one maximal part of one: `valid` tells
 * which. Of at least one available byte. */
size_t text_part(const uint8_t *text, size_t available, int *valid);
int text_is_valid(const uint8_t *text, size_t length);

int text_is_white(uint32_t point);       /* White_Space */
int text_is_control(uint32_t point);     /* what BertNormalizer cleans away */
int text_is_chinese(uint32_t point);     /* what BertNormalizer puts spaces around */
int text_is_nonspacing(uint32_t point);  /* Mn */
int text_is_mark(uint32_t point);        /* Mn, Mc, Me */
int text_is_punctuation(uint32_t point); /* P, and all symbols of ASCII */
int text_is_number(uint32_t point);      /* Nd, Nl, No */

/* One or two code points. */
size_t text_lower(uint32_t point, uint32_t lower[2]);

/* Most code points that one decomposes into. */
#define TEXT_DECOMPOSED 18
size_t text_decompose(uint32_t point, int compatible, uint32_t out[TEXT_DECOMPOSED]);
uint8_t text_combining_class(uint32_t point);
/* The primary composite of two, or 0. */
uint32_t text_compose(uint32_t first, uint32_t second);

/* Whether a grapheme cluster ends between two neighbours; state: 0 at the text's start. */
int text_cluster_break(uint32_t before, uint32_t after, int32_t *state);

/* GPT-2's letters for bytes: printable ones stand for themselves, others for U+0100 and up. */
uint32_t text_byte_letter(uint8_t byte);
/* The byte of a letter, or -1. */
int text_letter_byte(uint32_t point);

#endif
