/* source.h - the pictures that --image names: files, all pictures of a folder, the standard input. */
#pragma once

#include "picture/picture.h"
#include "program/arguments.h"

typedef struct attn2c_picture_source {
  char **paths; /* "-": the standard input */
  int count;
  int has_folder; /* 1: some of the words is a folder */
} attn2c_picture_source;

/* Lists the files: all files of a folder that end in .png, .jpg or .jpeg, in the order of their names' bytes.
 * Returns ATTN2C_OK, _FORMAT for a folder without any, _IO or _MEMORY; the caller closes it in every case. */
int attn2c_picture_source_open(const attn2c_arguments *arguments, attn2c_picture_source *source,
                               attn2c_message *message);
void attn2c_picture_source_close(attn2c_picture_source *source);

/* Reads and decodes picture number `number` for a model. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY. */
int attn2c_picture_source_read(const attn2c_picture_source *source, int number,
                               const attn2c_picture_facts *facts, attn2c_picture *picture,
                               attn2c_message *message);

/* Reads a picture, and writes the input that it becomes. */
int attn2c_picture_source_image(const attn2c_picture_source *source, int number,
                                const attn2c_picture_facts *facts, float *image, attn2c_message *message);

/* Returns the name of a picture for messages and answers. */
const char *attn2c_picture_name(const attn2c_picture_source *source, int number);
