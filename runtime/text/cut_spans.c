/* cut_spans.c - adds the parts of a piece: what becomes of the spans that a cutter has matched. */
#include "text/stages.h"

/* Joins a match to the part before it, unless that ends with a match. */
static int with_previous(attn2c_text_work *work) {
  const text_pieces *spans = &work->spans;
  for (size_t i = 0; i < spans->count;) {
    size_t next = i + 1;
    if (next < spans->count && spans->list[next].token && !spans->list[i].token) next++;
    int status =
        text_piece_add(&work->next_pieces, spans->list[i].begin, spans->list[next - 1].end, TEXT_NONE);
    if (status != ATTN2C_OK) return status;
    i = next;
  }
  return ATTN2C_OK;
}

/* Joins a match to the part after it, unless that begins with a match. */
static int with_next(attn2c_text_work *work) {
  const text_pieces *spans = &work->spans;
  for (size_t i = 0; i < spans->count;) {
    size_t next = i + 1;
    if (next < spans->count && spans->list[i].token && !spans->list[next].token) next++;
    int status =
        text_piece_add(&work->next_pieces, spans->list[i].begin, spans->list[next - 1].end, TEXT_NONE);
    if (status != ATTN2C_OK) return status;
    i = next;
  }
  return ATTN2C_OK;
}

/* Joins neighbours of one kind. */
static int contiguous(attn2c_text_work *work) {
  const text_pieces *spans = &work->spans;
  for (size_t i = 0; i < spans->count;) {
    size_t next = i + 1;
    while (next < spans->count && spans->list[next].token == spans->list[i].token) next++;
    int status =
        text_piece_add(&work->next_pieces, spans->list[i].begin, spans->list[next - 1].end, TEXT_NONE);
    if (status != ATTN2C_OK) return status;
    i = next;
  }
  return ATTN2C_OK;
}

int text_cut_spans(attn2c_text_work *work, uint32_t behavior) {
  if (behavior == BEHAVIOR_WITH_PREVIOUS) return with_previous(work);
  if (behavior == BEHAVIOR_WITH_NEXT) return with_next(work);
  if (behavior == BEHAVIOR_CONTIGUOUS) return contiguous(work);
  for (size_t i = 0; i < work->spans.count; i++) {
    text_piece span = work->spans.list[i];
    if (behavior == BEHAVIOR_REMOVED && span.token) continue;
    int status = text_piece_add(&work->next_pieces, span.begin, span.end, TEXT_NONE);
    if (status != ATTN2C_OK) return status;
  }
  return ATTN2C_OK;
}
