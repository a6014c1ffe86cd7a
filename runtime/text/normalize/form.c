/* form.c - NFC, NFD, NFKC, NFKD: Unicode's normalization forms. utf8proc decomposes and composes
 * single characters; this file sorts the marks of each character and keeps the places. A million marks in a
 * row are sorted in linear time, which utf8proc's own loop does not achieve. */
#include "text/stages.h"
#include "text/unicode.h"

/* Runs of marks up to this length are sorted by insertion. */
#define SHORT_RUN 16

/* Sorts changes [begin, end) of the list by combining class, stably. */
static int sort_marks(attn2c_text_work *work, size_t begin, size_t end) {
  text_change *list = work->changes.list + begin;
  size_t count = end - begin, starts[257] = {0};
  if (count <= SHORT_RUN) {
    for (size_t i = 1; i < count; i++) {
      text_change change = list[i];
      uint8_t class = text_combining_class(change.point);
      size_t j = i;
      for (; j && text_combining_class(list[j - 1].point) > class; j--) list[j] = list[j - 1];
      list[j] = change;
    }
    return ATTN2C_OK;
  }
  ATTN2C_TRY(attn2c_grow((void **)&work->ordered.list, &work->ordered.capacity, count, sizeof *list));
  for (size_t i = 0; i < count; i++) starts[text_combining_class(list[i].point) + 1]++;
  for (size_t c = 1; c < 257; c++) starts[c] += starts[c - 1];
  for (size_t i = 0; i < count; i++)
    work->ordered.list[starts[text_combining_class(list[i].point)]++] = list[i];
  memcpy(list, work->ordered.list, count * sizeof *list);
  return ATTN2C_OK;
}

static int decompose(attn2c_text_work *work, const text_buffer *in, int compatible) {
  size_t marks = 0, width; /* marks: beginning of the marks that are not sorted yet */
  text_changes *changes = &work->changes;
  changes->count = 0;
  for (size_t at = 0; at < in->length; at += width) {
    uint32_t points[TEXT_DECOMPOSED];
    size_t count = text_decompose(text_read(in->bytes + at, &width), compatible, points);
    for (size_t i = 0; i < count; i++) {
      int status = ATTN2C_OK;
      if (text_combining_class(points[i]) == 0) {
        if (changes->count - marks > 1) status = sort_marks(work, marks, changes->count);
        marks = changes->count + 1;
      }
      if (status == ATTN2C_OK) status = text_change_add(changes, points[i], i != 0);
      if (status != ATTN2C_OK) return status;
    }
  }
  return changes->count > marks + 1 ? sort_marks(work, marks, changes->count) : ATTN2C_OK;
}

/* Composes in place. A starter absorbs the next character, unless a mark of the same or a higher class is
 * between them. The absorbed character belongs to the starter's change. */
static void compose(text_changes *changes) {
  size_t made = 0, starter = 0;
  int has_starter = 0;
  uint8_t last = 0; /* class of the mark between the starter and the next character, 0: none */
  for (size_t i = 0; i < changes->count; i++) {
    text_change next = changes->list[i];
    uint8_t class = text_combining_class(next.point);
    if (has_starter && (last == 0 || last < class)) {
      uint32_t composite = text_compose(changes->list[starter].point, next.point);
      if (composite) {
        changes->list[starter].point = composite;
        changes->list[starter].change += next.change - 1;
        continue;
      }
    }
    if (class == 0) {
      starter = made;
      has_starter = 1;
    }
    last = class;
    changes->list[made++] = next;
  }
  changes->count = made;
}

/* True if the text is normal: nothing decomposes below U+00A0, and all is composed below U+0300. */
static int has_nothing_to_do(const text_buffer *in, uint32_t flags) {
  uint8_t least = flags == FORM_COMPOSED ? 0xcc : 0xc2;
  for (size_t at = 0; at < in->length; at++)
    if (in->bytes[at] >= least) return 0;
  return 1;
}

/* True if nothing before this character depends on it or on the text after it. Such a character is no mark
 * and composes with no character before it. The list has common letters and signs only. */
static int is_separate(uint32_t point) {
  return point < 0x300 || (point >= 0x370 && point < 0x483) || (point >= 0x1e00 && point < 0x2000) ||
         (point >= 0x3000 && point < 0x302a) || (point >= 0x3041 && point < 0x3097) ||
         (point >= 0x30a1 && point < 0x30fb) || (point >= 0x4e00 && point < 0xa000) ||
         (point >= 0xac00 && point < 0xd7a4);
}

/* Returns the bytes of an open text whose form does not depend on more text. */
static size_t settled(const text_buffer *in) {
  size_t end = in->length, width;
  while (end) {
    end = text_before(in->bytes, end);
    if (is_separate(text_read(in->bytes + end, &width))) break;
  }
  return end;
}

int text_normalize_form(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                        text_buffer *out) {
  text_buffer part = *in;
  if (work->is_open) part.length = settled(in), in = &part;
  if (has_nothing_to_do(in, component->flags)) return text_copy(out, in, 0, in->length);
  ATTN2C_TRY(decompose(work, in, component->flags & FORM_COMPATIBLE));
  if (component->flags & FORM_COMPOSED) compose(&work->changes);
  return text_apply(in, &work->changes, out);
}
