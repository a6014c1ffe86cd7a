/* spans.c - adds the parts of a piece: what becomes of the spans that a cutter has matched. */
#include "text/stages.h"

/* True if a span and the one after it become one part: a match joins the part before it, unless that ends
 * with a match, or the part after it, unless that begins with a match, or neighbours of one kind join. */
static int joins(uint32_t behavior, const text_piece *span) {
  if (behavior == BEHAVIOR_WITH_PREVIOUS) return span[1].token && !span->token;
  if (behavior == BEHAVIOR_WITH_NEXT) return span->token && !span[1].token;
  return behavior == BEHAVIOR_CONTIGUOUS && span->token == span[1].token;
}

int text_cut_spans(attn2c_text_work *work, uint32_t behavior) {
  const text_pieces *spans = &work->spans;
  for (size_t i = 0, next; i < spans->count; i = next) {
    const text_piece span = spans->list[i];
    next = i + 1;
    while (next < spans->count && joins(behavior, &spans->list[next - 1])) next++;
    if (behavior == BEHAVIOR_REMOVED && span.token) continue;
    ATTN2C_TRY(text_piece_add(&work->next_pieces, span.begin, spans->list[next - 1].end, TEXT_NONE));
  }
  return ATTN2C_OK;
}
