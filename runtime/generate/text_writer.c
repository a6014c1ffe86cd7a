/* text_writer.c - joins the pieces of a stream, and asks for each which bytes may be shown. */
#include "generate/text_writer.h"

int attn2c_writer_create(const attn2c_tokenizer *text, int skips_special, const char *const *stops, int count,
                         attn2c_writer **writer, attn2c_message *message) {
  attn2c_writer *w = *writer = attn2c_allocate(sizeof *w);
  int status = w ? attn2c_stop_create(&w->stop, stops, count, message) : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = attn2c_text_stream_create(text, skips_special, &w->stream);
  if (status == ATTN2C_OK) return status;
  if (status == ATTN2C_MEMORY && message->used == 0) attn2c_say(message, "no memory for a text");
  attn2c_writer_free(w);
  *writer = NULL;
  return status;
}

void attn2c_writer_free(attn2c_writer *w) {
  if (!w) return;
  attn2c_text_stream_destroy(w->stream);
  attn2c_stop_free(w->stop);
  free(w->text);
  attn2c_free(w);
}

int attn2c_writer_begin(attn2c_writer *w, attn2c_text_work *work, const int32_t *prompt, size_t count) {
  w->length = w->shown = 0;
  w->stopped_by = -1;
  attn2c_stop_reset(w->stop);
  attn2c_text_stream_reset(w->stream);
  return attn2c_text_stream_skip(w->stream, work, prompt, count);
}

static int append(attn2c_writer *w, const char *piece, size_t length) {
  ATTN2C_TRY(attn2c_grow((void **)&w->text, &w->capacity, w->length + length, 1));
  if (length) memcpy(w->text + w->length, piece, length);
  w->length += length;
  w->stopped_by = attn2c_stop_feed(w->stop, piece, length);
  return ATTN2C_OK;
}

static void show(attn2c_writer *w) {
  w->shown = (size_t)attn2c_stop_shown(w->stop);
  if (w->stopped_by >= 0) w->length = w->shown;
}

int attn2c_writer_pass(attn2c_writer *w, attn2c_text_work *work, int32_t id) {
  const char *text;
  size_t length;
  if (w->stopped_by >= 0 || !attn2c_stop_has_any(w->stop)) return ATTN2C_OK;
  ATTN2C_TRY(attn2c_text_decode(work, &id, 1, 1, &text, &length));
  if (length > 0) return ATTN2C_OK;
  ATTN2C_TRY(attn2c_text_decode(work, &id, 1, 0, &text, &length));
  const int number = attn2c_stop_equal(w->stop, text, length);
  if (number < 0) {
    w->stopped_by = attn2c_stop_feed_hidden(w->stop, text, length);
    show(w);
    return ATTN2C_OK;
  }
  ATTN2C_TRY(attn2c_writer_end(w, work));
  if (w->stopped_by < 0) w->stopped_by = number;
  return ATTN2C_OK;
}

int attn2c_writer_add(attn2c_writer *w, attn2c_text_work *work, int32_t id) {
  const char *piece;
  size_t length;
  if (w->stopped_by >= 0) return ATTN2C_OK;
  int status = attn2c_text_stream_add(w->stream, work, &id, 1, &piece, &length);
  if (status == ATTN2C_OK) status = append(w, piece, length);
  show(w);
  return status == ATTN2C_OK && length == 0 ? attn2c_writer_pass(w, work, id) : status;
}

int attn2c_writer_end(attn2c_writer *w, attn2c_text_work *work) {
  const char *piece;
  size_t length;
  if (w->stopped_by >= 0) return ATTN2C_OK;
  int status = attn2c_text_stream_end(w->stream, work, &piece, &length);
  if (status == ATTN2C_OK) status = append(w, piece, length);
  attn2c_stop_end(w->stop);
  show(w);
  return status;
}
