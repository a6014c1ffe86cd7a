/* text_calls.h - texts as calls of a model: encoded, put together with others for which the same entry is the
 * cheapest, computed, and the rows of each brought to its place. The library's interface for text and the
 * program share it. */
#ifndef ATTN2C_TEXT_CALLS_H
#define ATTN2C_TEXT_CALLS_H

#include "base/text_facts.h"
#include "model/dispatch.h"
#include "model/text_prompt.h"
#include "text/text.h"

/* A caller's: its tokenizer, and room that grows with its texts. */
typedef struct attn2c_reader {
  const attn2c_descriptor *model;
  const attn2c_text_facts *facts;
  attn2c_tokenizer *text;
  attn2c_text_work *work;
  size_t longest; /* tokens that a call takes */
  attn2c_prompt prompt;
  struct attn2c_reader_text *texts;
  size_t count, room;
  int32_t *tokens; /* ids and types of all texts */
  size_t used, tokens_room;
  attn2c_text_input windowed; /* whose windows are asked for, and what two neighbours share */
  size_t stride;
  int (*stops)(void); /* asked between calls of the model; not 0: no more are made. NULL: all are made */
  char fault[256];    /* what the last call that failed ran into */
} attn2c_reader;

/* One text of a call, encoded. */
typedef struct attn2c_reader_text {
  size_t first; /* of reader->tokens: ids, then as many types */
  size_t length;
  int entry;
  int64_t number; /* the caller's own */
} attn2c_reader_text;

/* ATTN2C_OK, _MEMORY, or _FORMAT where the tables are damaged or have a pattern that PCRE2 refuses, as the
 * message says; then *reader is NULL. */
int attn2c_reader_create(const attn2c_descriptor *model, const attn2c_text_facts *facts,
                         attn2c_reader **reader, attn2c_message *message);
void attn2c_reader_destroy(attn2c_reader *reader);

/* A text, or a pair, cut to `most` tokens (0: as many as a call takes): from the longer one, at the end that
 * tokenizer.json states. ATTN2C_OK, _FORMAT or _MEMORY. */
int attn2c_reader_encode(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                         size_t pair_length, size_t most, attn2c_text_tokens *tokens);

/* A pair of a question and what may hold its answer: the question whole, and a window of the second text, the
 * first one (the last one where tokenizer.json cuts from the left). `stride`: tokens that neighbouring
 * windows share; ATTN2C_STRIDE_USUAL: 128, or half of the room that the question leaves where that is less.
 * Then the other windows, one after the other, until tokens->removed is 0: no token is left for a later one.
 * ATTN2C_OK; ATTN2C_USAGE: more is to be shared than there is room; ATTN2C_FORMAT: the question leaves no
 * room; ATTN2C_MEMORY. */
#define ATTN2C_STRIDE_USUAL (-1)
int attn2c_reader_window(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                         size_t pair_length, int64_t stride, attn2c_text_tokens *tokens);
int attn2c_reader_next_window(attn2c_reader *reader, attn2c_text_tokens *tokens);

/* Ids into text (text.h): in the tokenizer's memory until its next call. */
int attn2c_reader_decode(attn2c_reader *reader, const int32_t *ids, size_t count, int skip_special,
                         const char **text, size_t *length);

/* Begins a call anew, and adds a text to it. */
void attn2c_reader_begin(attn2c_reader *reader);
int attn2c_reader_add(attn2c_reader *reader, const attn2c_text_tokens *tokens);

/* Computes the texts that were added. outputs: in the order of the entries', NULL where not wanted; each is
 * [texts]..., where an entry has its batch, and `rows` where it has its rows or keys; behind a text's own
 * rows are zeros. A text without tokens has zeros only. ATTN2C_OK, _USAGE where the model takes more than
 * text gives, _FORMAT or _MEMORY. */
int attn2c_reader_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs);

/* Copies the rows of one text of output number `output` from an array of `from_rows` rows to one of
 * `to_rows`. */
void attn2c_reader_place(const attn2c_reader *reader, int output, const void *from, int64_t from_rows,
                         int64_t length, void *to, int64_t to_rows);

/* Elements of output number `output` for one text of `rows` rows. */
int64_t attn2c_reader_elements(const attn2c_reader *reader, int output, int64_t rows);

#endif
