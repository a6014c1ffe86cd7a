/* text_writer.h - the text of an answer while its tokens come: decoded piece by piece, and ended by stop
 * strings, which may begin in one token and end in another. */
#pragma once

#include "generate/stop.h"
#include "text/stream.h"

typedef struct attn2c_writer {
  attn2c_text_stream *stream;
  attn2c_stop *stop;
  char *text; /* [length], not terminated; NULL: empty */
  size_t length, capacity;
  size_t shown;   /* bytes of it that may be shown already: no later token takes them back */
  int stopped_by; /* number of the stop string that ended the text, or -1 */
} attn2c_writer;

/* Makes a writer. skips_special: special tokens add nothing to the text. ATTN2C_USAGE: a stop string is wrong
 * (stop.h); ATTN2C_MEMORY. *writer is then NULL. */
int attn2c_writer_create(const attn2c_tokenizer *text, int skips_special, const char *const *stops, int count,
                         attn2c_writer **writer, attn2c_message *message);
void attn2c_writer_free(attn2c_writer *writer);

/* Begins the text that follows a prompt. `work`: see text/stream.h. */
int attn2c_writer_begin(attn2c_writer *writer, attn2c_text_work *work, const int32_t *prompt, size_t count);

/* Adds a token. If a stop string is complete, the text ends before it. */
int attn2c_writer_add(attn2c_writer *writer, attn2c_text_work *work, int32_t id);

/* Passes a token whose text is not shown. If it is special, a stop string may be in it, begin or end in it.
 */
int attn2c_writer_pass(attn2c_writer *writer, attn2c_text_work *work, int32_t id);

/* Ends the text: all of it may be shown. */
int attn2c_writer_end(attn2c_writer *writer, attn2c_text_work *work);
