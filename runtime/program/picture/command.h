/* command.h - `run --image`: pictures are decoded, prepared, computed and answered in their order; and the
 * pictures of `generate --image`. */
#pragma once

#include <jansson.h>

#include "base/picture_facts.h"
#include "program/arguments.h"

/* The pictures of a command line, one after the other. */
typedef struct attn2c_pictures attn2c_pictures;

struct attn2c_picture_commands {
  int (*run)(const attn2c_descriptor *model, const attn2c_picture_facts *facts,
             const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message);
  /* Lists the pictures. The caller closes them in every case. */
  int (*open)(const attn2c_picture_facts *facts, const attn2c_arguments *arguments, attn2c_pictures **made,
              attn2c_message *message);
  void (*close)(attn2c_pictures *pictures);
  /* True if answers have the names of their pictures. */
  int (*are_several)(const attn2c_pictures *pictures);
  /* Reads the next picture. Sets *image to the input that it has become, until the next one is read, or to
   * NULL after the last, and *name to its name. */
  int (*next)(attn2c_pictures *pictures, const float **image, const char **name, attn2c_message *message);
  void (*write_name)(const char *name, FILE *out);
  json_t *(*json_name)(const char *text, size_t length);
};
