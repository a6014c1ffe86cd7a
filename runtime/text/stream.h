/* stream.h - turns ids into text as they come. The pieces, one after the other, are the text that
 * attn2c_text_decode makes of all ids, and none ends within a character.
 *
 * These words are held back until later ids, or the end, decide their text:
 * - bytes that may become a character;
 * - a run of byte tokens such as <0xC3>, which is text only if all of it is UTF-8;
 * - the last word, if the decoder gives the last word of a text another end (BPEDecoder);
 * - everything, if a decoder changes the whole text after it was joined (a Replace after Fuse). */
#pragma once

#include "text/text.h"

typedef struct attn2c_text_stream attn2c_text_stream;

/* Creates a stream; ATTN2C_OK or _MEMORY. skip_special: special tokens add nothing. The tokenizer must stay
 * open. */
int attn2c_text_stream_create(const attn2c_tokenizer *text, int skip_special, attn2c_text_stream **stream);
void attn2c_text_stream_destroy(attn2c_text_stream *stream);

/* Begins a new text. */
void attn2c_text_stream_reset(attn2c_text_stream *stream);

/* Takes ids before the first piece whose text is not wanted, such as a prompt's. The pieces that
 * follow are the text of all ids without the characters that these ids have by themselves. Any `work` of
 * the tokenizer serves, also in the calls below. Returns the status of decoding. */
int attn2c_text_stream_skip(attn2c_text_stream *stream, attn2c_text_work *work, const int32_t *ids,
                            size_t count);

/* Takes the next ids, and returns the piece that they decide, which may be empty. It is in the work's memory
 * until its next call, and is not terminated. After a failure the ids are kept, and their text comes with a
 * later piece. */
int attn2c_text_stream_add(attn2c_text_stream *stream, attn2c_text_work *work, const int32_t *ids,
                           size_t count, const char **text, size_t *length);

/* Ends the text, and returns the rest of it. */
int attn2c_text_stream_end(attn2c_text_stream *stream, attn2c_text_work *work, const char **text,
                           size_t *length);
