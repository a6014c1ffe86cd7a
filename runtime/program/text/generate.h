/* generate.h - parts for text of the commands that generate. */
#pragma once

#include "base/text_facts.h"
#include "program/generate/options.h"
#include "text/text.h"

/* Encodes a whole text. An empty one becomes a BOS token, so that the model has a token to go on from, as in
 * transformers. plain: no special tokens are added. language: as in attn2c_text_input. On failure *fault is
 * the reason. */
int attn2c_encode_all(attn2c_text_work *work, const attn2c_text_facts *facts, const char *text, size_t length,
                      int plain, int32_t language, attn2c_text_tokens *tokens, const char **fault);

/* The languages of a source and its answer, as they are asked for. NULL: not given. */
typedef struct {
  const char *source, *target;
  const char *source_name, *target_name; /* of the options, for messages */
  const char *needs;                     /* what would give a text; NULL: the source is one */
} attn2c_asked_languages;

/* Tokens: language of attn2c_text_input, the first token of the answer, the token that it starts after. */
typedef struct {
  int32_t language;     /* 0: the usual one */
  int32_t first, start; /* -1: none */
} attn2c_language_tokens;

/* Finds the tokens of languages. Returns ATTN2C_OK, or ATTN2C_USAGE and a line. */
int attn2c_find_languages(const attn2c_tokenizer *text, const attn2c_asked_languages *asked,
                          attn2c_language_tokens *tokens, attn2c_message *message);

/* Lists the breakers of DRY, if the options have it. Returns ATTN2C_OK, or another status and a line. */
int attn2c_generate_breakers(attn2c_text_work *work, const attn2c_generate_arguments *given,
                             int64_t vocabulary, attn2c_generate_options *options, attn2c_message *message);

/* The command `chat` (generate_chat.c). */
attn2c_model_command attn2c_chat_command;

/* Reads the lines of a chat: on a terminal with a line editor and its history, by libedit if it is there. */

typedef struct attn2c_line_reader attn2c_line_reader;

/* Reads standard input. Returns NULL without memory. */
attn2c_line_reader *attn2c_line_reader_open(void);
void attn2c_line_reader_close(attn2c_line_reader *reader);

typedef enum {
  ATTN2C_CHAT_LINE,        /* a line, without its end, until the next call */
  ATTN2C_CHAT_END,         /* the input has ended */
  ATTN2C_CHAT_INTERRUPTED, /* a signal came */
  ATTN2C_CHAT_FAULT        /* errno says why */
} attn2c_chat_state;

/* Reads a line. On a terminal it shows `prompt` first. */
attn2c_chat_state attn2c_line_reader_next(attn2c_line_reader *reader, const char *prompt, char **line,
                                          size_t *length);

/* True if lines come from a terminal. */
int attn2c_line_reader_is_terminal(const attn2c_line_reader *reader);

/* Finds where the sentences of a text end. */

/* Returns the bytes of the first sentence of a text, with the blanks after it. A sentence ends with a line,
 * and with a mark such as . ! ? and quotes or brackets after it, before a blank and no small letter of ASCII.
 * The marks of Chinese and Japanese need no blank. A full stop after one letter or a usual abbreviation ends
 * none.
 */
size_t attn2c_sentence(const char *text, size_t length);
