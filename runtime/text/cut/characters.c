/* characters.c - BertPreTokenizer, WhitespaceSplit, Punctuation, Digits: characters of a class match. */
#include "text/stages.h"
#include "text/unicode.h"

static int (*const classes[CLASS_COUNT])(uint32_t point) = {[CLASS_WHITE] = text_is_white,
                                                            [CLASS_PUNCTUATION] = text_is_punctuation,
                                                            [CLASS_NUMBER] = text_is_number};

/* Cuts a piece. The usual behaviors, removed and isolated, need no list of spans. */
static int cut_piece(attn2c_text_work *work, int (*matches)(uint32_t), uint32_t behavior, text_piece piece) {
  const uint8_t *bytes = work->normalized.bytes;
  int plain = behavior == BEHAVIOR_REMOVED || behavior == BEHAVIOR_ISOLATED, status = ATTN2C_OK;
  text_pieces *to = plain ? &work->next_pieces : &work->spans;
  size_t last = piece.begin, width;
  work->spans.count = 0;
  for (size_t at = piece.begin; at < piece.end && status == ATTN2C_OK; at += width) {
    if (!matches(text_read(bytes + at, &width))) continue;
    status = text_piece_add(to, last, at, plain ? TEXT_NONE : 0);
    if (status == ATTN2C_OK && behavior != BEHAVIOR_REMOVED)
      status = text_piece_add(to, at, at + width, plain ? TEXT_NONE : 1);
    last = at + width;
  }
  if (status == ATTN2C_OK) status = text_piece_add(to, last, piece.end, plain ? TEXT_NONE : 0);
  return status == ATTN2C_OK && !plain ? text_cut_spans(work, behavior) : status;
}

int text_cut_characters(attn2c_text_work *work, const text_component *component) {
  for (size_t i = 0; i < work->pieces.count; i++) {
    text_piece piece = work->pieces.list[i];
    if (piece.token == TEXT_NONE)
      ATTN2C_TRY(cut_piece(work, classes[component->number], component->flags, piece));
    else
      ATTN2C_TRY(text_piece_add(&work->next_pieces, piece.begin, piece.end, piece.token));
  }
  return ATTN2C_OK;
}
