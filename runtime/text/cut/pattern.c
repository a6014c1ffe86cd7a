/* pattern.c - Split and Whitespace: cuts pieces by the matches of a pattern. An empty match cuts, too. */
#include "text/stages.h"

/* Adds a span, which may be empty, as an empty match is; that matters if matches are joined to neighbours. */
static int add_span(text_pieces *spans, size_t begin, size_t end, uint32_t match) {
  if (spans->count == spans->capacity)
    ATTN2C_TRY(attn2c_grow((void **)&spans->list, &spans->capacity, spans->count + 1, sizeof *spans->list));
  spans->list[spans->count++] = (text_piece){(uint32_t)begin, (uint32_t)end, match};
  return ATTN2C_OK;
}

/* Finds the spans of a piece. An open piece gives only spans that later text cannot change. */
static int find_spans(attn2c_text_work *work, const text_component *component, text_piece piece,
                      int is_open) {
  const int invert = (component->flags & CUT_INVERT) != 0;
  const size_t begin = piece.begin, length = piece.end - piece.begin;
  text_search search =
      text_search_start(component->regex, work->matcher, work->normalized.bytes + begin, length);
  size_t last = 0, from = 0, to = 0;
  int found = 1;
  search.open = is_open;
  work->spans.count = 0;
  for (;;) {
    int status = text_search_next(&search, &found, &from, &to);
    if (status != ATTN2C_OK)
      return status == ATTN2C_FORMAT ? text_fail(work, "a pattern fails or takes too many steps") : status;
    if (!found) break;
    if (from != last) status = add_span(&work->spans, begin + last, begin + from, invert);
    if (status == ATTN2C_OK) status = add_span(&work->spans, begin + from, begin + to, !invert);
    if (status != ATTN2C_OK) return status;
    last = to;
    if (work->spans.count / 2 > work->enough) return ATTN2C_OK;
  }
  return last == length || is_open ? ATTN2C_OK : add_span(&work->spans, begin + last, piece.end, invert);
}

int text_cut_pattern(attn2c_text_work *work, const text_component *component) {
  const uint32_t behavior = component->flags & 7;
  for (size_t i = 0; i < work->pieces.count; i++) {
    text_piece piece = work->pieces.list[i];
    if (piece.token != TEXT_NONE) {
      ATTN2C_TRY(text_piece_add(&work->next_pieces, piece.begin, piece.end, piece.token));
      continue;
    }
    const int is_open = text_is_open_piece(work, i);
    const size_t before = work->next_pieces.count;
    ATTN2C_TRY(find_spans(work, component, piece, is_open));
    ATTN2C_TRY(text_cut_spans(work, behavior));
    const int is_cut = is_open || work->spans.count / 2 > work->enough;
    /* The last match may be joined to the text that follows it. */
    if (is_cut && behavior > BEHAVIOR_ISOLATED && work->next_pieces.count > before) work->next_pieces.count--;
    if (is_open) work->is_open = 0;
    if (is_cut && !is_open) work->is_part = 1, work->is_open = 0;
    if (is_cut || (i + 1 < work->pieces.count && text_has_enough(work, work->next_pieces.count))) break;
  }
  return ATTN2C_OK;
}
