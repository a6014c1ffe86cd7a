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
    ATTN2C_TRY(text_spend(&work->budget, work->normalized.length + work->pieces.count));
    ATTN2C_TRY(cutters[list->list[i].kind](work, &list->list[i]));
    text_pieces made = work->next_pieces;
    work->next_pieces = work->pieces;
    work->pieces = made;
  }
  return ATTN2C_OK;
}
