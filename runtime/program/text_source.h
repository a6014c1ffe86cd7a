/* text_source.h - where texts come from: words of the command line, files and the standard input, a line
 * each, each with its pair where there is one. */
#ifndef ATTN2C_TEXT_SOURCE_H
#define ATTN2C_TEXT_SOURCE_H

#include "program/arguments.h"

typedef struct attn2c_text_source attn2c_text_source;

/* A line, without its end, in the source's memory until attn2c_source_forget. */
typedef struct attn2c_line {
  const char *text;
  size_t length;
  const char *pair; /* NULL: there is none */
  size_t pair_length;
  const char *file;   /* NULL: a word of the command line */
  const char *option; /* that gave the file or the word */
  int64_t number;     /* of the line, or of the word, from 1 */
  int is_query;       /* it comes from --query, before all texts */
} attn2c_line;

/* Opens what the arguments say. Notes go to `notes`: a word that looks like a file that is not there. Texts
 * and pairs that are all at hand, as words and in files, are counted: ATTN2C_USAGE where there is not a pair
 * for each text. */
int attn2c_text_source_open(const attn2c_arguments *arguments, FILE *notes, attn2c_text_source **source,
                            attn2c_message *message);
void attn2c_text_source_close(attn2c_text_source *source);

typedef enum {
  ATTN2C_LINE_END,  /* there are no more, or a signal came */
  ATTN2C_LINE_NONE, /* none is there yet, and none is waited for */
  ATTN2C_LINE_READ,
  ATTN2C_LINE_FAULT /* status and message say what is wrong */
} attn2c_line_state;

/* The next line. Without may_wait it is only one that is there already. */
attn2c_line_state attn2c_text_source_next(attn2c_text_source *source, int may_wait, attn2c_line *line,
                                          int *status, attn2c_message *message);
/* Lines read before are not needed any more. */
void attn2c_text_source_forget(attn2c_text_source *source);

/* "texts.txt: line 3" or "--text: text 3", for a message. */
#define ATTN2C_LINE_PLACE 400
void attn2c_line_place(const attn2c_line *line, char *text, size_t size);

#endif
