/* buffer.c - growing arrays, and how a component's changes update the positions of characters. */
#include "text/buffer.h"
#include "text/stages.h"
#include "text/unicode.h"

int text_reserve(text_buffer *buffer, size_t more) {
  size_t need = buffer->length + more, capacity = buffer->capacity;
  if (need > buffer->most) return ATTN2C_FORMAT;
  if (need <= capacity && buffer->bytes) return ATTN2C_OK;
  ATTN2C_TRY(attn2c_grow((void **)&buffer->bytes, &capacity, need, 1));
  capacity = buffer->capacity;
  int status = attn2c_grow((void **)&buffer->origins, &capacity, need, sizeof *buffer->origins);
  if (status == ATTN2C_OK) buffer->capacity = capacity;
  return status;
}

void text_free(text_buffer *buffer) {
  ATTN2C_FREE(buffer->bytes, buffer->origins);
  *buffer = (text_buffer){0};
}

void text_clear(text_buffer *buffer, const text_buffer *like) {
  buffer->length = 0;
  buffer->shift = like->shift;
}

int text_put_point(text_buffer *buffer, uint32_t point, text_origin origin) {
  uint8_t bytes[4];
  int status = text_reserve(buffer, 4);
  if (status == ATTN2C_OK) text_put(buffer, bytes, text_write(bytes, point), origin);
  return status;
}

int text_copy(text_buffer *to, const text_buffer *from, size_t begin, size_t end) {
  int status = text_reserve(to, end - begin);
  if (status != ATTN2C_OK || begin == end) return status;
  memcpy(to->bytes + to->length, from->bytes + begin, end - begin);
  memcpy(to->origins + to->length, from->origins + begin, (end - begin) * sizeof *to->origins);
  to->length += end - begin;
  return ATTN2C_OK;
}

int text_piece_add(text_pieces *pieces, size_t begin, size_t end, uint32_t token) {
  if (begin == end) return ATTN2C_OK;
  if (pieces->count == pieces->capacity)
    ATTN2C_TRY(
        attn2c_grow((void **)&pieces->list, &pieces->capacity, pieces->count + 1, sizeof *pieces->list));
  pieces->list[pieces->count++] = (text_piece){(uint32_t)begin, (uint32_t)end, token};
  return ATTN2C_OK;
}

int text_change_add(text_changes *changes, uint32_t point, int32_t change) {
  if (changes->count == changes->capacity)
    ATTN2C_TRY(
        attn2c_grow((void **)&changes->list, &changes->capacity, changes->count + 1, sizeof *changes->list));
  changes->list[changes->count++] = (text_change){point, change};
  return ATTN2C_OK;
}

/* An inserted character gets the place of the character before it; at the start of the text, an empty place.
 * The library does this, too, even if marks are sorted and places no longer ascend. */
int text_apply(const text_buffer *from, const text_changes *changes, text_buffer *to) {
  size_t at = 0, width;
  text_origin nowhere = {from->shift, from->shift};
  for (size_t i = 0; i < changes->count; i++) {
    text_change change = changes->list[i];
    text_origin origin = nowhere;
    if (change.change > 0) {
      if (at) origin = from->origins[at - 1];
    } else {
      if (from->length) origin = from->origins[at < from->length ? at : from->length - 1];
      for (int32_t taken = 0; taken <= -change.change && at < from->length; taken++) {
        text_read(from->bytes + at, &width);
        at += width;
      }
    }
    ATTN2C_TRY(text_put_point(to, change.point, origin));
  }
  return ATTN2C_OK;
}

int text_token_add(attn2c_text_work *work, uint32_t id, size_t begin, size_t end) {
  text_token_list *tokens = &work->tokens;
  if (id >= work->text->tables.known) id = work->text->tables.settings[SETTING_UNKNOWN];
  if (tokens->count == tokens->capacity)
    ATTN2C_TRY(
        attn2c_grow((void **)&tokens->list, &tokens->capacity, tokens->count + 1, sizeof *tokens->list));
  tokens->list[tokens->count++] = (text_token){id, (uint32_t)begin, (uint32_t)end};
  return ATTN2C_OK;
}

int text_word_bytes(text_words *words, const uint8_t *bytes, size_t length) {
  size_t need = words->text.length + length;
  if (need > words->most) return ATTN2C_FORMAT;
  ATTN2C_TRY(attn2c_grow((void **)&words->text.bytes, &words->text.capacity, need, 1));
  if (length) memcpy(words->text.bytes + words->text.length, bytes, length);
  words->text.length += length;
  return ATTN2C_OK;
}

int text_word_end(text_words *words) {
  int status = attn2c_grow((void **)&words->ends, &words->capacity, words->count + 1, sizeof *words->ends);
  if (status == ATTN2C_OK) words->ends[words->count++] = (uint32_t)words->text.length;
  return status;
}
