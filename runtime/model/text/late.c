#include "model/text/late.h"

static int32_t marker_of(const attn2c_late *late, int is_query) {
  return is_query ? late->query_marker : late->document_marker;
}

static size_t length_of(const attn2c_late *late, int is_query, size_t longest) {
  const size_t length = (size_t)(is_query ? late->query_length : late->document_length);
  return length > 0 && length < longest ? length : longest;
}

size_t attn2c_late_limit(const attn2c_late *late, int is_query, size_t longest) {
  return length_of(late, is_query, longest) - (marker_of(late, is_query) >= 0);
}

int attn2c_late_complete(const attn2c_late *late, int is_query, attn2c_padded *padded, size_t longest,
                         attn2c_text_tokens *tokens, size_t *keys) {
  const int32_t marker = marker_of(late, is_query);
  if (marker >= 0 && tokens->length > 0) ATTN2C_TRY(attn2c_padded_insert(padded, marker, longest, tokens));
  *keys = tokens->length;
  if (is_query && late->expansion >= 0)
    ATTN2C_TRY(attn2c_padded_fill(padded, late->expansion, length_of(late, 1, longest), longest, tokens));
  if (late->attends) *keys = tokens->length;
  return ATTN2C_OK;
}

int attn2c_late_keeps(const attn2c_late *late, int is_query, int32_t id, int64_t row) {
  if (!late) return 1;
  for (int i = 0; !is_query && i < late->skip_count; i++)
    if (late->skip[i] == id) return 0;
  return row >= late->first;
}
