/* normalize.c - the first stage: runs the normalizers in order on each part between added tokens. */
#include "text/stages.h"

static text_normalizer *const normalizers[NORMALIZE_KINDS] = {
    [NORMALIZE_BERT] = text_normalize_bert,       [NORMALIZE_LOWERCASE] = text_normalize_lowercase,
    [NORMALIZE_STRIP] = text_normalize_strip,     [NORMALIZE_ACCENTS] = text_normalize_accents,
    [NORMALIZE_PREPEND] = text_normalize_prepend, [NORMALIZE_REPLACE] = text_normalize_replace,
    [NORMALIZE_NMT] = text_normalize_nmt,         [NORMALIZE_PRECOMPILED] = text_normalize_precompiled,
    [NORMALIZE_FORM] = text_normalize_form,       [NORMALIZE_BYTES] = text_normalize_bytes,
};

int text_normalize(attn2c_text_work *work, const text_buffer *from, size_t begin, size_t end,
                   text_buffer *to) {
  const text_list *list = &work->text->stages[STAGE_NORMALIZE];
  text_buffer *in = &work->scratch[0], *out = &work->scratch[1];
  if (list->count == 0 || begin == end) return text_copy(to, from, begin, end);
  in->length = 0;
  in->shift = from->origins[begin].from;
  int status = text_copy(in, from, begin, end);
  for (size_t i = 0; i < list->count && status == ATTN2C_OK; i++) {
    text_clear(out, in);
    status = text_spend(&work->budget, in->length + 1);
    if (status != ATTN2C_OK) break;
    status = normalizers[list->list[i].kind](work, &list->list[i], in, out);
    text_buffer *made = out;
    out = in, in = made;
  }
  return status == ATTN2C_OK ? text_copy(to, in, 0, in->length) : status;
}
