/* texts.h - the texts that pictures are scored for: reads them, and has their embeddings from the
 * model of texts that is linked into a program of pictures. */
#pragma once

#include "base/picture_facts.h"
#include "program/arguments.h"

/* Texts of the command line, of files and of the standard input. */
typedef struct attn2c_picture_texts {
  char **texts; /* each with its length in `lengths`; also ends with a NUL */
  size_t *lengths;
  size_t count;
  attn2c_text_vectors embedded;
} attn2c_picture_texts;

/* The functions are reached through attn2c_the_texts, so that other programs of pictures have none of them.
 */
struct attn2c_texts_reader {
  /* Reads all texts of the arguments and embeds them. Returns any attn2c_status, with one line a fault. The
   * caller closes them in every case. */
  int (*read)(const attn2c_arguments *arguments, FILE *notes, attn2c_picture_texts *texts,
              attn2c_message *message);
  void (*close)(attn2c_picture_texts *texts);
};
