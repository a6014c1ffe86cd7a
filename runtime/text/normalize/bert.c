/* bert.c - BertNormalizer: removes control characters, and turns white ones into spaces. It also
 * puts spaces around Chinese characters, strips accents and lowers. One loop does all this for ASCII. Other
 * texts go through the four steps in turn, because each step reads the characters of the step before. */
#include "text/stages.h"
#include "text/unicode.h"

static int is_kept(uint32_t point) { return point != 0 && !text_is_control(point); }

/* Removes control characters and puts spaces around Chinese ones. */
static int clean(const text_buffer *in, uint32_t flags, text_buffer *out) {
  static const uint8_t space = ' ';
  int status = text_reserve(out, in->length);
  size_t width;
  for (size_t at = 0; at < in->length && status == ATTN2C_OK; at += width) {
    uint32_t point = text_read(in->bytes + at, &width);
    text_origin origin = in->origins[at];
    if (flags & BERT_CLEAN) {
      if (!is_kept(point)) continue;
      if (text_is_white(point)) point = ' ';
    }
    if (!(flags & BERT_CHINESE) || !text_is_chinese(point)) {
      status = text_put_point(out, point, origin);
      continue;
    }
    status = text_reserve(out, 2 + width);
    if (status != ATTN2C_OK) break;
    text_put(out, &space, 1, origin);
    text_put(out, in->bytes + at, width, origin);
    text_put(out, &space, 1, origin);
  }
  return status;
}

static int strip(const text_buffer *in, text_buffer *out) {
  int status = text_reserve(out, in->length);
  size_t width;
  for (size_t at = 0; at < in->length && status == ATTN2C_OK; at += width)
    if (!text_is_nonspacing(text_read(in->bytes + at, &width)))
      text_put(out, in->bytes + at, width, in->origins[at]);
  return status;
}

/* Returns the number of ASCII bytes at the start. */
static size_t leading_ascii(const text_buffer *in) {
  size_t length = 0;
  while (length < in->length && in->bytes[length] < 0x80) length++;
  return length;
}

static int is_ascii_kept(uint8_t byte) {
  return byte >= 0x20 ? byte != 0x7f : byte == 9 || byte == 10 || byte == 13;
}

static int ascii(const text_buffer *in, uint32_t flags, text_buffer *out) {
  ATTN2C_TRY(text_reserve(out, in->length));
  size_t made = out->length;
  for (size_t at = 0; at < in->length; at++) {
    uint8_t byte = in->bytes[at];
    if (flags & BERT_CLEAN) {
      if (!is_ascii_kept(byte)) continue;
      if (byte < 0x20) byte = ' ';
    }
    if ((flags & BERT_LOWER) && byte >= 'A' && byte <= 'Z') byte += 'a' - 'A';
    out->bytes[made] = byte;
    out->origins[made++] = in->origins[at];
  }
  out->length = made;
  return ATTN2C_OK;
}

/* The two buffers are swapped between the steps: the result of one step is the input of the next. */
int text_normalize_bert(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                        text_buffer *out) {
  uint32_t flags = component->flags;
  if (leading_ascii(in) == in->length) return ascii(in, flags, out);
  text_buffer *first = &work->spare[0], *second = &work->spare[1];
  text_component decompose = {.kind = NORMALIZE_FORM, .flags = 0};
  text_clear(first, in);
  text_clear(second, in);
  ATTN2C_TRY(clean(in, flags, flags & (BERT_STRIP | BERT_LOWER) ? first : out));
  if (flags & BERT_STRIP) {
    ATTN2C_TRY(text_normalize_form(work, &decompose, first, second));
    text_clear(first, in);
    ATTN2C_TRY(strip(second, flags & BERT_LOWER ? first : out));
  }
  if (flags & BERT_LOWER) ATTN2C_TRY(text_normalize_lowercase(work, component, first, out));
  return ATTN2C_OK;
}
