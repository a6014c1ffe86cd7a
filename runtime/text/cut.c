/* cut.c - the second stage: cuts a text into the pieces that the model reads one by one. A cutter goes
 * through the pieces, leaves those that are added tokens, and replaces the others by their parts. */
#include "text/stages.h"

static text_cutter *const cutters[CUT_KINDS] = {
    [CUT_CHARACTERS] = text_cut_characters,
    [CUT_PATTERN] = text_cut_pattern,
    [CUT_BYTES] = text_cut_bytes,
    [CUT_METASPACE] = text_cut_metaspace,
};

int text_cut(attn2c_text_work *work) {
  const text_list *list = &work->text->stages[STAGE_CUT];
  for (size_t i = 0; i < list->count; i++) {
    work->next_pieces.count = 0;
    int status = text_spend(&work->budget, work->normalized.length + work->pieces.count);
    if (status != ATTN2C_OK) return status;
    status = cutters[list->list[i].kind](work, &list->list[i]);
    if (status != ATTN2C_OK) return status;
    text_pieces made = work->next_pieces;
    work->next_pieces = work->pieces;
    work->pieces = made;
  }
  return ATTN2C_OK;
}

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
