/* command.h - `run` of pictures and sounds: files become inputs, computed and answered in order. */
#pragma once

#include "base/picture_facts.h"
#include "model/model.h"
#include "program/media/paths.h"

/* An input that a file, or a part of one, has become. */
typedef struct {
  const char *name;  /* of the file */
  int number;        /* of the file, from 0 */
  int64_t rows;      /* of a model of any length; 0: the model's own */
  double begin, end; /* of a sound, in seconds */
  int32_t shape[2];  /* of a picture whose patches are the input: their rows and columns */
} attn2c_item;

struct attn2c_media_answer; /* answer.h */

typedef struct attn2c_media {
  const attn2c_path_kind *kind;
  const char *const *words; /* of the option */
  int word_count;
  attn2c_paths paths; /* while the command runs */
  const char *member; /* of an answer in JSON, which has the file's name: "image" */
  int input;          /* index of the entry's input */
  int has_shapes;     /* 1: two more inputs have the items' shapes and lengths */
  int shape_input, length_input;
  attn2c_answer answer;
  int output;                /* index of the output that answers */
  int has_similarity;        /* as in attn2c_picture_facts */
  int similarity;            /* as in attn2c_picture_facts */
  const char *const *labels; /* NULL: labels are numbers */
  int label_count;
  attn2c_label_function function;
  const attn2c_lengths *calls; /* how a number of inputs becomes calls; a model of any length has its own */
  void *from;
  /* Writes the next input. item->name is NULL after the last. Returns any attn2c_status, with a line. */
  int (*next)(struct attn2c_media *media, attn2c_context *context, float *input, attn2c_item *item,
              attn2c_message *message);
  /* Writes an answer that is neither labels nor numbers, as write_text of answer.h does; NULL: there is none
   */
  int (*write)(const struct attn2c_media_answer *answer, const attn2c_item *item, FILE *out);
} attn2c_media;

/* Runs the command. Returns any attn2c_status, with one line a fault. */
int attn2c_media_run(const attn2c_descriptor *model, attn2c_media *media, const attn2c_arguments *arguments,
                     FILE *out, FILE *notes, attn2c_message *message);
