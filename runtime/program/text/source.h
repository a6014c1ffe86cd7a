/* source.h - reads texts from words of the command line, files and the standard input, one a line, with
 * their pairs. */
#pragma once

#include "program/arguments.h"

typedef struct attn2c_text_source attn2c_text_source;

/* A line without its end, in the source's memory until attn2c_text_source_forget. */
typedef struct attn2c_line {
  const char *text;
  size_t length;
  const char *pair; /* NULL: the text has no pair */
  size_t pair_length;
  const char *boxes;  /* places of its words on a page, terminated; NULL: it has none */
  const char *file;   /* NULL: a word of the command line */
  const char *option; /* the option that gave the file or the word */
  int64_t number;     /* number of the line, or of the word, from 1 */
  int is_query;       /* 1: from --query; queries come before all texts */
  int64_t place;      /* with --rank (pairing.h): number of the text among all, from 1 */
} attn2c_line;

/* Opens the words and files of the arguments. Notes are written to `notes`: a word that looks like a file,
 * but no such file exists. If all texts and pairs are words and files, they are counted: ATTN2C_USAGE if
 * there is not one pair for each text. */
int attn2c_text_source_open(const attn2c_arguments *arguments, FILE *notes, attn2c_text_source **source,
                            attn2c_message *message);
void attn2c_text_source_close(attn2c_text_source *source);

/* Returns the number of queries and texts; 0 if it is not known before they are read. */
int64_t attn2c_text_source_count(const attn2c_text_source *source);

typedef enum {
  ATTN2C_LINE_END,  /* there are no more lines, or a signal came */
  ATTN2C_LINE_NONE, /* no line has come yet, and may_wait is 0 */
  ATTN2C_LINE_READ,
  ATTN2C_LINE_FAULT /* status and message say why */
} attn2c_line_state;

/* Reads the next line. Without may_wait, it reads only a line that has come already. */
attn2c_line_state attn2c_text_source_next(attn2c_text_source *source, int may_wait, attn2c_line *line,
                                          int *status, attn2c_message *message);
/* Frees the lines that were read before. */
void attn2c_text_source_forget(attn2c_text_source *source);

/* Writes "texts.txt: line 3" or "--text: text 3", for a message. */
#define ATTN2C_LINE_PLACE 400
void attn2c_line_place(const attn2c_line *line, char *text, size_t size);
