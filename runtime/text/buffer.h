/* buffer.h - the data between the tokenizer's components: a text, the place of each of its bytes, and its
 * pieces. The place is that in the caller's text. */
#pragma once

#include "text/tables.h"

/* The place of a byte: [from, to) of the caller's text. */
typedef struct text_origin {
  uint32_t from, to;
} text_origin;

/* A text of well-formed UTF-8. `shift`: beginning of the part of the caller's text that this text was made
 * from. `most`: limit of its bytes. */
typedef struct text_buffer {
  uint8_t *bytes;
  text_origin *origins;
  size_t length, capacity, most;
  uint32_t shift;
} text_buffer;

/* Bytes [begin, end) of a buffer; `token` is an added token's id, or TEXT_NONE. */
typedef struct text_piece {
  uint32_t begin, end, token;
} text_piece;

typedef struct text_pieces {
  text_piece *list;
  size_t count, capacity;
} text_pieces;

/* A character that a component writes. change 0: it replaces the next one; 1: it is inserted after the one
 * before; -n: it replaces the next one, and n more are removed. */
typedef struct text_change {
  uint32_t point;
  int32_t change;
} text_change;

typedef struct text_changes {
  text_change *list;
  size_t count, capacity;
} text_changes;

/* Reserves a capacity of `more` bytes after a buffer's. */
int text_reserve(text_buffer *buffer, size_t more);
void text_free(text_buffer *buffer);

/* Appends bytes that all come from one place; text_reserve comes before it. */
static inline void text_put(text_buffer *buffer, const uint8_t *bytes, size_t width, text_origin origin) {
  for (size_t i = 0; i < width; i++) {
    buffer->bytes[buffer->length] = bytes[i];
    buffer->origins[buffer->length++] = origin;
  }
}

int text_put_point(text_buffer *buffer, uint32_t point, text_origin origin);
/* Appends bytes [begin, end) of another buffer. */
int text_copy(text_buffer *to, const text_buffer *from, size_t begin, size_t end);
/* Empties a buffer. Later bytes belong to the same part of the caller's text as `like`. */
void text_clear(text_buffer *buffer, const text_buffer *like);

int text_piece_add(text_pieces *pieces, size_t begin, size_t end, uint32_t token);
int text_change_add(text_changes *changes, uint32_t point, int32_t change);

/* Writes the changed characters of `from` to `to`. The first `skipped` characters of `from` are removed. */
int text_apply(const text_buffer *from, const text_changes *changes, text_buffer *to);
