/* cut_pattern.c - Split and Whitespace: pieces by the matches of a pattern. An empty match cuts where it is.
 */
#include "text/stages.h"

/* A span may be empty: so is an empty match, which matters where matches are joined to their neighbours. */
static int add_span(text_pieces *spans, size_t begin, size_t end, uint32_t match) {
  if (spans->count == spans->room) {
    int status = text_grow((void **)&spans->list, &spans->room, spans->count + 1, sizeof *spans->list);
    if (status != ATTN2C_OK) return status;
  }
  spans->list[spans->count++] = (text_piece){(uint32_t)begin, (uint32_t)end, match};
  return ATTN2C_OK;
}

int text_pattern_spans(attn2c_text_work *work, const text_regex *regex, size_t begin, size_t end,
                       int invert) {
  const uint8_t *bytes = work->normalized.bytes + begin;
  text_search search = text_search_start(regex, work->matcher, bytes, end - begin);
  size_t last = 0, from = 0, to = 0;
  int found = 1;
  work->spans.count = 0;
  for (;;) {
    int status = text_search_next(&search, &found, &from, &to);
    if (status != ATTN2C_OK) return status == ATTN2C_FORMAT ? text_fail(work, "a pattern gives up") : status;
    if (!found) break;
    if (from != last) status = add_span(&work->spans, begin + last, begin + from, invert);
    if (status == ATTN2C_OK) status = add_span(&work->spans, begin + from, begin + to, !invert);
    if (status != ATTN2C_OK) return status;
    last = to;
  }
  return last == end - begin ? ATTN2C_OK : add_span(&work->spans, begin + last, end, invert);
}

int text_cut_pattern(attn2c_text_work *work, const text_component *component) {
  int status = ATTN2C_OK;
  for (size_t i = 0; i < work->pieces.count && status == ATTN2C_OK; i++) {
    text_piece piece = work->pieces.list[i];
    if (piece.token != TEXT_NONE) {
      status = text_piece_add(&work->next_pieces, piece.begin, piece.end, piece.token);
      continue;
    }
    status = text_pattern_spans(work, component->regex, piece.begin, piece.end,
                                (component->flags & CUT_INVERT) != 0);
    if (status == ATTN2C_OK) status = text_cut_spans(work, component->flags & 7);
  }
  return status;
}
