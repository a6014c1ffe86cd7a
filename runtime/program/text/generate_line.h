/* generate_line.h - reads the lines of a chat: on a terminal with a line editor and its history, by
 * libedit if this machine has it. */
#pragma once

#include <stdio.h>

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
