/* orientation.c - a picture's orientation in its metadata: tag 274 of Exif, or tiff:Orientation of XMP. */

#include "picture/picture.h"

enum { ORIENTATION = 274, BYTE = 1, SHORT = 3, LONG = 4, ENTRY_BYTES = 12 };

/* Exif data: a TIFF header, then tables. */
typedef struct {
  const uint8_t *bytes;
  size_t size;
  int is_big; /* 1: the first byte of a number is the largest */
} tiff;

/* Returns the number of `width` bytes at `at`, or 0 if it is not within the data. */
static uint32_t number_at(const tiff *of, size_t at, size_t width) {
  uint32_t value = 0;
  if (at > of->size || of->size - at < width) return 0;
  for (size_t i = 0; i < width; i++)
    value |= (uint32_t)of->bytes[at + i] << 8 * (of->is_big ? width - 1 - i : i);
  return value;
}

/* Returns the tag's value, or 0. */
static uint32_t orientation_of_exif(const uint8_t *exif, size_t size) {
  const tiff of = {exif, size, size > 0 && exif[0] == 'M'};
  if (size < 8 || (memcmp(exif, "II*\0", 4) != 0 && memcmp(exif, "MM\0*", 4) != 0)) return 0;
  const size_t table = number_at(&of, 4, 4);
  const uint32_t count = number_at(&of, table, 2);
  for (uint32_t i = 0; i < count; i++) {
    const size_t entry = table + 2 + (size_t)i * ENTRY_BYTES;
    if (entry >= size) return 0;
    if (number_at(&of, entry, 2) != ORIENTATION) continue;
    const uint32_t type = number_at(&of, entry + 2, 2);
    if (number_at(&of, entry + 4, 4) != 1) return 0;
    return number_at(&of, entry + 8, type == BYTE ? 1 : type == SHORT ? 2 : type == LONG ? 4 : 0);
  }
  return 0;
}

/* Returns the digit after the first tiff:Orientation=" or tiff:Orientation>, or 0. */
static uint32_t orientation_of_xmp(const uint8_t *xmp, size_t size) {
  static const char name[] = "tiff:Orientation";
  const size_t length = sizeof name - 1;
  for (size_t at = 0; at + length + 2 <= size; at++) {
    if (memcmp(xmp + at, name, length) != 0) continue;
    const uint8_t *after = xmp + at + length, *end = xmp + size;
    if (*after == '>')
      after++;
    else if (end - after > 2 && after[0] == '=' && after[1] == '"')
      after += 2;
    else
      continue;
    if (after < end && *after >= '0' && *after <= '9') return (uint32_t)(*after - '0');
  }
  return 0;
}

int attn2c_orientation(const uint8_t *exif, size_t exif_size, const uint8_t *xmp, size_t xmp_size) {
  uint32_t found = orientation_of_exif(exif, exif_size);
  if (found == 0) found = orientation_of_xmp(xmp, xmp_size);
  return found >= 1 && found <= 8 ? (int)found : 1;
}
