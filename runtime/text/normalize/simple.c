/* simple.c - normalizers of a few lines each: Lowercase, Strip, StripAccents, Prepend, Nmt,
 * ByteLevel. */
#include "text/stages.h"
#include "text/unicode.h"

int text_normalize_lowercase(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                             text_buffer *out) {
  (void)work, (void)component;
  ATTN2C_TRY(text_reserve(out, in->length));
  size_t width;
  for (size_t at = 0; at < in->length; at += width) {
    uint32_t lower[2];
    uint32_t point = text_read(in->bytes + at, &width);
    size_t count = 1;
    if (point < 0x80)
      lower[0] = point >= 'A' && point <= 'Z' ? point + 32 : point;
    else
      count = text_lower(point, lower);
    for (size_t i = 0; i < count; i++) ATTN2C_TRY(text_put_point(out, lower[i], in->origins[at]));
  }
  return ATTN2C_OK;
}

/* Removes the marks of every kind. */
int text_normalize_accents(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                           text_buffer *out) {
  (void)work, (void)component;
  int status = text_reserve(out, in->length);
  size_t width;
  for (size_t at = 0; at < in->length && status == ATTN2C_OK; at += width) {
    uint32_t point = text_read(in->bytes + at, &width);
    if (point < 0x300 || !text_is_mark(point)) text_put(out, in->bytes + at, width, in->origins[at]);
  }
  return status;
}

int text_normalize_strip(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                         text_buffer *out) {
  (void)work;
  size_t begin = 0, end = in->length, width;
  if (component->flags & 1)
    while (begin < end && text_is_white(text_read(in->bytes + begin, &width))) begin += width;
  while ((component->flags & 2) && end > begin) {
    size_t before = text_before(in->bytes, end);
    if (!text_is_white(text_read(in->bytes + before, &width))) break;
    end = before;
  }
  return text_copy(out, in, begin, end);
}

/* Adds a text in front of a text that is not empty. The new text has the place of the first character. */
int text_normalize_prepend(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                           text_buffer *out) {
  (void)work;
  if (in->length == 0) return ATTN2C_OK;
  ATTN2C_TRY(text_reserve(out, component->a.length + in->length));
  text_put(out, component->a.bytes, component->a.length, in->origins[0]);
  return text_copy(out, in, 0, in->length);
}

/* True if sentencepiece's nmt rules remove the character; the next: if they make it a space. */
static int nmt_removes(uint32_t point) {
  return (point >= 1 && point <= 8) || point == 0xb || (point >= 0xe && point <= 0x1f) || point == 0x7f ||
         point == 0x8f || point == 0x9f;
}

static int nmt_blanks(uint32_t point) {
  return point == 9 || point == 10 || point == 12 || point == 13 || point == 0x1680 ||
         (point >= 0x200b && point <= 0x200f) || point == 0x2028 || point == 0x2029 || point == 0x2581 ||
         point == 0xfeff || point == TEXT_REPLACEMENT;
}

int text_normalize_nmt(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                       text_buffer *out) {
  (void)work, (void)component;
  int status = text_reserve(out, in->length);
  size_t width;
  for (size_t at = 0; at < in->length && status == ATTN2C_OK; at += width) {
    uint32_t point = text_read(in->bytes + at, &width);
    if (!nmt_removes(point)) status = text_put_point(out, nmt_blanks(point) ? ' ' : point, in->origins[at]);
  }
  return status;
}

/* Writes each byte as its letter; all bytes of a character have the character's place. */
int text_normalize_bytes(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                         text_buffer *out) {
  (void)work, (void)component;
  uint8_t letter[4];
  int status = text_reserve(out, 2 * in->length);
  for (size_t at = 0; at < in->length && status == ATTN2C_OK; at++)
    text_put(out, letter, text_write(letter, text_byte_letter(in->bytes[at])), in->origins[at]);
  return status;
}
