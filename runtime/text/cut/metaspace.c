/* metaspace.c - Metaspace of sentencepiece: writes spaces as visible marks, and begins a piece at each
 * mark. A mark is also added before the piece. */
#include "text/stages.h"

static int begins_with(const text_buffer *in, size_t begin, size_t end, text_span mark) {
  return end - begin >= mark.length && memcmp(in->bytes + begin, mark.bytes, mark.length) == 0;
}

static int wants_prefix(const text_component *component, const text_buffer *in, text_piece piece) {
  if (component->number == SCHEME_NEVER || in->bytes[piece.begin] == ' ' ||
      begins_with(in, piece.begin, piece.end, component->a))
    return 0;
  return component->number == SCHEME_ALWAYS || in->origins[piece.begin].from == 0;
}

/* Writes a piece with marks for its spaces. */
static int write_piece(const text_component *component, const text_buffer *in, text_piece piece,
                       text_buffer *out) {
  text_span mark = component->a;
  int status = text_reserve(out, mark.length);
  if (status != ATTN2C_OK) return status;
  if (wants_prefix(component, in, piece)) text_put(out, mark.bytes, mark.length, in->origins[piece.begin]);
  for (size_t at = piece.begin; at < piece.end;) {
    size_t end = at;
    while (end < piece.end && in->bytes[end] != ' ') end++;
    status = text_copy(out, in, at, end);
    if (status == ATTN2C_OK && end < piece.end) {
      status = text_reserve(out, mark.length);
      if (status == ATTN2C_OK) text_put(out, mark.bytes, mark.length, in->origins[end]);
      end++;
    }
    if (status != ATTN2C_OK) return status;
    at = end;
  }
  return ATTN2C_OK;
}

/* Cuts a piece at its marks. A mark begins a part, unless the next mark follows directly. */
static int cut_at_marks(attn2c_text_work *work, const text_buffer *out, size_t begin, text_span mark) {
  size_t last = begin, at = begin;
  while (at < out->length) {
    if (!begins_with(out, at, out->length, mark)) {
      at++;
      continue;
    }
    ATTN2C_TRY(text_piece_add(&work->next_pieces, last, at, TEXT_NONE));
    last = at;
    at += mark.length;
  }
  return text_piece_add(&work->next_pieces, last, out->length, TEXT_NONE);
}

int text_cut_metaspace(attn2c_text_work *work, const text_component *component) {
  const text_buffer *in = &work->normalized;
  text_buffer *out = &work->scratch[0];
  int status = ATTN2C_OK;
  out->length = 0;
  for (size_t i = 0; i < work->pieces.count && status == ATTN2C_OK; i++) {
    text_piece piece = work->pieces.list[i];
    size_t begin = out->length;
    if (piece.token != TEXT_NONE)
      status = text_copy(out, in, piece.begin, piece.end);
    else
      status = write_piece(component, in, piece, out);
    if (status != ATTN2C_OK) break;
    if (piece.token == TEXT_NONE && (component->flags & 1))
      status = cut_at_marks(work, out, begin, component->a);
    else
      status = text_piece_add(&work->next_pieces, begin, out->length, piece.token);
  }
  text_buffer made = *out;
  *out = work->normalized;
  work->normalized = made;
  return status;
}
