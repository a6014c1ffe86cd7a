/* fields.h - reads and writes the fields of a header of fixed places, little-endian. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "numbers have the same bytes in the file and in memory");

static inline uint64_t attn2c_number_at(const unsigned char *header, int at) {
  uint64_t number;
  memcpy(&number, header + at, sizeof number);
  return number;
}

static inline uint32_t attn2c_word_at(const unsigned char *header, int at) {
  uint32_t word;
  memcpy(&word, header + at, sizeof word);
  return word;
}

static inline void attn2c_put_number(unsigned char *header, int at, uint64_t number) {
  memcpy(header + at, &number, sizeof number);
}

static inline void attn2c_put_word(unsigned char *header, int at, uint32_t word) {
  memcpy(header + at, &word, sizeof word);
}

/* Writes the text, cut to fit, with a terminating zero. */
static inline void attn2c_put_text(unsigned char *header, int at, int end, const char *text) {
  snprintf((char *)header + at, (size_t)(end - at), "%s", text);
}
