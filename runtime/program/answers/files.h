/* files.h - the files of --output, next to answers on the standard output. */
#pragma once

#include "formats/place.h"
#include "program/arguments.h"

/* The arrays that a command may write to files, and what it reads. */
typedef struct {
  const char *const *names;
  int count, plain; /* plain: 1 if a word without a name means the first array */
  int prints;       /* 1: answers are printed on the standard output */
  const char *of;   /* "texts" or "pictures" */
  const char *read; /* what is said of a file that `reads` finds */
  int (*reads)(const void *from, const attn2c_place *place);
  const void *from;
} attn2c_answer_files;

/* Sets paths[i] to the file of each array; NULL: none. Returns ATTN2C_OK, _MEMORY or _USAGE, with a line for
 * each file that is read, holds the weights or is given twice. */
int attn2c_answer_files_bind(const attn2c_answer_files *files, const attn2c_arguments *arguments,
                             const char **paths, attn2c_message *message);
