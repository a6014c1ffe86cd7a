/* boxes.c - reads four sides for each word of a text. */
#include "program/text/boxes.h"

#include "model/text/page.h"

/* Numbers may be a list of JSON, too. */
#define BETWEEN " \t\r,[]"

int attn2c_boxes_read(attn2c_reader *reader, const attn2c_line *line) {
  const char *at = line->boxes ? line->boxes : "";
  ATTN2C_OWN int32_t *sides = malloc((strlen(at) / 2 + 1) * sizeof *sides);
  size_t count = 0;
  if (!sides) {
    snprintf(reader->fault, sizeof reader->fault, "no memory for its boxes");
    return ATTN2C_MEMORY;
  }
  for (at += strspn(at, BETWEEN); *at; at += strspn(at, BETWEEN)) {
    const size_t width = strcspn(at, BETWEEN);
    if (width >= 9 || strspn(at, "0123456789") < width) {
      snprintf(reader->fault, sizeof reader->fault,
               "number %zu of its boxes is %.*s, but whole numbers from 0 to %d are allowed", count + 1,
               width < 40 ? (int)width : 40, at, (int)attn2c_reader_most_side(reader));
      return ATTN2C_FORMAT;
    }
    sides[count++] = (int32_t)strtol(at, NULL, 10);
    at += width;
  }
  return attn2c_reader_page(reader, line->text, line->length, line->pair, line->pair_length,
                            line->boxes ? sides : NULL, count);
}
