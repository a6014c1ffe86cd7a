/* stream.c - decodes the ids whose words are not decided yet, again with each new id, and drops them when the
 * end of their text is. Most ids are decided when they come. */
#include "text/stream.h"

#include "text/stages.h"

struct attn2c_text_stream {
  const attn2c_tokenizer *text;
  int skip_special;
  int keeps_last;  /* 1: the end of the last word differs */
  int keeps_all;   /* 1: no text is known before the end */
  int is_begun;    /* 1: a piece was decided */
  size_t unwanted; /* characters that are not returned */
  int32_t *ids;    /* [count] not decided */
  size_t count, capacity;
};

/* Finds what the decoders hold back. */
static void look_at_decoders(attn2c_text_stream *stream) {
  const text_list *list = &stream->text->stages[STAGE_DECODE];
  int is_fused = 0;
  for (size_t i = 0; i < list->count; i++) {
    const text_component *each = &list->list[i];
    const int is_local = each->kind == DECODE_FUSE || each->kind == DECODE_STRIP;
    if (is_fused && !is_local) stream->keeps_all = 1;
    if (each->kind == DECODE_BPE) stream->keeps_last = 1;
    if (each->kind == DECODE_FUSE || each->kind == DECODE_BYTES) is_fused = 1;
  }
}

int attn2c_text_stream_create(const attn2c_tokenizer *text, int skip_special, attn2c_text_stream **stream) {
  *stream = calloc(1, sizeof **stream);
  if (!*stream) return ATTN2C_MEMORY;
  (*stream)->text = text;
  (*stream)->skip_special = skip_special;
  look_at_decoders(*stream);
  return ATTN2C_OK;
}

void attn2c_text_stream_destroy(attn2c_text_stream *stream) {
  if (!stream) return;
  ATTN2C_FREE(stream->ids, stream);
}

void attn2c_text_stream_reset(attn2c_text_stream *stream) {
  stream->is_begun = 0;
  stream->unwanted = stream->count = 0;
}

static int keep(attn2c_text_stream *stream, const int32_t *ids, size_t count) {
  text_span span;
  ATTN2C_TRY(attn2c_grow((void **)&stream->ids, &stream->capacity, stream->count + count, sizeof *ids));
  for (size_t i = 0; i < count; i++)
    if (text_has_word(stream->text, ids[i], stream->skip_special, &span))
      stream->ids[stream->count++] = ids[i];
  return ATTN2C_OK;
}

/* Returns the bytes of at most *characters characters, and subtracts those that there are. */
static size_t bytes_of(const char *text, size_t length, size_t *characters) {
  size_t at = 0;
  while (at<length && * characters> 0) {
    do at++;
    while (at < length && ((unsigned char)text[at] & 0xc0) == 0x80);
    --*characters;
  }
  return at;
}

static void leave_out(attn2c_text_stream *stream, const char **text, size_t *length) {
  const size_t bytes = bytes_of(*text, *length, &stream->unwanted);
  *text += bytes;
  *length -= bytes;
}

/* Decodes the ids that are not decided, and drops them if their text is. */
static int decide(attn2c_text_stream *stream, attn2c_text_work *work, const char **text, size_t *length) {
  const size_t count = stream->count - (stream->keeps_last && stream->count > 0);
  *text = "";
  *length = 0;
  if (stream->keeps_all || count == 0) return ATTN2C_OK;
  const int place = TEXT_BEFORE | (stream->is_begun ? TEXT_AFTER : 0);
  ATTN2C_TRY(text_decode_part(work, stream->ids, count, stream->skip_special, place, text, length));
  /* An empty beginning is decoded again: a decoder may still remove blanks after it. */
  if (work->is_held || *length == 0) {
    *text = "";
    *length = 0;
    return ATTN2C_OK;
  }
  stream->is_begun = 1;
  stream->count -= count;
  memmove(stream->ids, stream->ids + count, stream->count * sizeof *stream->ids);
  return ATTN2C_OK;
}

/* Decodes the ids that are not decided as if they were the last. */
static int decode_rest(const attn2c_text_stream *stream, attn2c_text_work *work, const char **text,
                       size_t *length) {
  return text_decode_part(work, stream->ids, stream->count, stream->skip_special,
                          stream->is_begun ? TEXT_AFTER : 0, text, length);
}

int attn2c_text_stream_skip(attn2c_text_stream *stream, attn2c_text_work *work, const int32_t *ids,
                            size_t count) {
  const char *text;
  size_t length, characters = SIZE_MAX;
  ATTN2C_TRY(keep(stream, ids, count));
  ATTN2C_TRY(decide(stream, work, &text, &length));
  ATTN2C_TRY(decode_rest(stream, work, &text, &length));
  bytes_of(text, length, &characters);
  stream->unwanted = SIZE_MAX - characters;
  return ATTN2C_OK;
}

int attn2c_text_stream_add(attn2c_text_stream *stream, attn2c_text_work *work, const int32_t *ids,
                           size_t count, const char **text, size_t *length) {
  *text = "";
  *length = 0;
  int status = keep(stream, ids, count);
  if (status == ATTN2C_OK) status = decide(stream, work, text, length);
  if (status == ATTN2C_OK) leave_out(stream, text, length);
  return status;
}

int attn2c_text_stream_end(attn2c_text_stream *stream, attn2c_text_work *work, const char **text,
                           size_t *length) {
  ATTN2C_TRY(decode_rest(stream, work, text, length));
  leave_out(stream, text, length);
  stream->count = 0;
  return ATTN2C_OK;
}
