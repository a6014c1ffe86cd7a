/* buffer.h - what flows between the tokenizer's components: a text whose every byte knows which bytes of the
 * caller's text it comes from, and the pieces that it is cut into. */
#ifndef ATTN2C_TEXT_BUFFER_H
#define ATTN2C_TEXT_BUFFER_H

#include "text/tables.h"

/* Where a byte comes from: [from, to) of the caller's text. */
typedef struct text_origin {
  uint32_t from, to;
} text_origin;

/* Well-formed UTF-8. `shift`: where the part of the caller's text begins that this one was made from.
 * `most`: bytes that it may hold. */
typedef struct text_buffer {
  uint8_t *bytes;
  text_origin *origins;
  size_t length, room, most;
  uint32_t shift;
} text_buffer;

/* Bytes [begin, end) of a buffer; an added token's id, or TEXT_NONE. */
typedef struct text_piece {
  uint32_t begin, end, token;
} text_piece;

typedef struct text_pieces {
  text_piece *list;
  size_t count, room;
} text_pieces;

/* A character that a component writes: 0: in place of the next one; 1: beside the one before; -n: in place
 * of the next one, and n more are taken away. */
typedef struct text_change {
  uint32_t point;
  int32_t change;
} text_change;

typedef struct text_changes {
  text_change *list;
  size_t count, room;
} text_changes;

/* Makes room for `need` elements of `size` bytes, at least doubling; what is there stays. */
int text_grow(void **memory, size_t *room, size_t need, size_t size);

/* Room for `more` bytes behind those of a buffer. */
int text_reserve(text_buffer *buffer, size_t more);
void text_free(text_buffer *buffer);

/* Behind a reserve: adds bytes that all come from one place. */
static inline void text_put(text_buffer *buffer, const uint8_t *bytes, size_t width, text_origin origin) {
  for (size_t i = 0; i < width; i++) {
    buffer->bytes[buffer->length] = bytes[i];
    buffer->origins[buffer->length++] = origin;
  }
}

int text_put_point(text_buffer *buffer, uint32_t point, text_origin origin);
/* Adds bytes [begin, end) of another buffer. */
int text_copy(text_buffer *to, const text_buffer *from, size_t begin, size_t end);
/* Empties it; what comes then belongs to the same part of the caller's text as `like`. */
void text_clear(text_buffer *buffer, const text_buffer *like);

int text_piece_add(text_pieces *pieces, size_t begin, size_t end, uint32_t token);
int text_change_add(text_changes *changes, uint32_t point, int32_t change);

/* Writes the changes of `from`, of whose characters the first `skipped` are taken away, to `to`. */
int text_apply(const text_buffer *from, const text_changes *changes, text_buffer *to);

#endif
