/* decode.c - the last stage: ids into text. The tokens are a list of words; each decoder rewrites the list,
 * and at the end the words are joined. */
#include "text/stages.h"

static text_decoder *const decoders[DECODE_KINDS] = {
    [DECODE_WORDPIECE] = text_decode_wordpiece, [DECODE_BYTES] = text_decode_bytes,
    [DECODE_METASPACE] = text_decode_metaspace, [DECODE_BYTE_FALLBACK] = text_decode_byte_fallback,
    [DECODE_FUSE] = text_decode_fuse,           [DECODE_STRIP] = text_decode_strip,
    [DECODE_REPLACE] = text_decode_replace,     [DECODE_BPE] = text_decode_bpe,
    [DECODE_JOIN] = text_decode_join,
};

int text_has_word(const attn2c_tokenizer *text, int32_t id, int skip_special, text_span *span) {
  if (id < 0) return 0;
  const uint8_t flags = text_token_flags(&text->tables, (uint32_t)id);
  int special = (flags & TOKEN_SPECIAL) != 0;
  *span = text_token_text(&text->tables, (uint32_t)id);
  text_spelled(text, (uint32_t)id, span, &special);
  return (flags & TOKEN_PRESENT) && !(skip_special && special);
}

/* Adds the words of the ids that have a token. */
static int read_ids(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special) {
  text_words *words = &work->words;
  words->count = words->text.length = 0;
  for (size_t i = 0; i < count; i++) {
    text_span span;
    if (!text_has_word(work->text, ids[i], skip_special, &span)) continue;
    ATTN2C_TRY(text_word_bytes(words, span.bytes, span.length));
    ATTN2C_TRY(text_word_end(words));
  }
  return ATTN2C_OK;
}

/* Runs all decoders on the words, and appends one byte after the result. */
static int decode(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special) {
  const text_list *list = &work->text->stages[STAGE_DECODE];
  work->fault = "the text is longer than 4 GB";
  work->words.most = UINT32_MAX;
  work->is_fused = work->is_held = 0;
  int status = read_ids(work, ids, count, skip_special);
  if (status == ATTN2C_OK) text_begin(work, work->words.text.length);
  for (size_t i = 0; i < list->count && status == ATTN2C_OK; i++) {
    work->next_words.count = work->next_words.text.length = 0;
    status = text_spend(&work->budget, work->words.text.length + work->words.count);
    if (status == ATTN2C_OK) status = decoders[list->list[i].kind](work, &list->list[i]);
    text_words made = work->next_words;
    work->next_words = work->words;
    work->words = made;
  }
  return status == ATTN2C_OK ? text_word_bytes(&work->words, (const uint8_t *)"", 1) : status;
}

int text_decode_part(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special, int place,
                     const char **text, size_t *length) {
  *text = NULL;
  *length = 0;
  work->place = place;
  text_begin(work, 0);
  ATTN2C_TRY(text_end(work, decode(work, ids, count, skip_special)));
  work->fault = "";
  *text = (const char *)work->words.text.bytes;
  *length = work->words.text.length - 1;
  return ATTN2C_OK;
}

int attn2c_text_decode(attn2c_text_work *work, const int32_t *ids, size_t count, int skip_special,
                       const char **text, size_t *length) {
  return text_decode_part(work, ids, count, skip_special, 0, text, length);
}

attn2c_text_pieces attn2c_text_pieces_of(const attn2c_tokenizer *text) {
  const text_list *list = &text->stages[STAGE_DECODE];
  attn2c_text_pieces pieces = ATTN2C_TEXT_PIECES_SAME;
  for (size_t i = 0, is_fused = 0; i < list->count; i++) {
    const text_component *each = &list->list[i];
    const int is_strip = each->kind == DECODE_STRIP;
    if (each->kind == DECODE_BPE ||
        (is_fused && each->kind != DECODE_FUSE && !(is_strip && each->flags == 0)))
      return ATTN2C_TEXT_PIECES_NONE;
    is_fused |= each->kind == DECODE_FUSE || each->kind == DECODE_BYTES;
    if (is_strip || each->kind == DECODE_METASPACE || each->kind == DECODE_WORDPIECE ||
        each->kind == DECODE_JOIN)
      pieces = ATTN2C_TEXT_PIECES_FIRST;
  }
  return pieces;
}

int attn2c_text_piece(attn2c_text_work *work, int32_t id, int is_first, const char **bytes, size_t *length) {
  work->is_raw = 1;
  const int status =
      text_decode_part(work, &id, 1, 1, is_first ? TEXT_BEFORE : TEXT_BEFORE | TEXT_AFTER, bytes, length);
  work->is_raw = 0;
  return status;
}
