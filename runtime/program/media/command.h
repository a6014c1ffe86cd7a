/* command.h - `run` of pictures and sounds: the files that an option such as --image names become inputs,
 * which are computed and answered in order. */
#pragma once

#include "model/model.h"
#include "program/answers/answers.h"
#include "program/picture/texts.h"

/* The kind of files that an option names. */
typedef struct {
  const char *option;         /* "--image" */
  const char *one, *many;     /* "picture", "pictures" */
  const char *const *endings; /* of a folder's files, ended by NULL */
  const char *endings_text;   /* ".png, .jpg or .jpeg" */
} attn2c_path_kind;

typedef struct attn2c_paths {
  const attn2c_path_kind *kind;
  char **paths; /* "-": the standard input */
  int count;
  int has_folder; /* 1: some of the words is a folder */
} attn2c_paths;

/* Lists the files: all files of a folder that have an ending, in the order of their names' bytes. Returns
 * ATTN2C_OK, _USAGE, _FORMAT for a folder without any, _IO or _MEMORY; the caller closes it in every case. */
int attn2c_paths_open(const attn2c_path_kind *kind, const char *const *words, int count, attn2c_paths *paths,
                      attn2c_message *message);
void attn2c_paths_close(attn2c_paths *paths);

/* True if a file is read for one of the words, or would be if it existed. */
int attn2c_paths_read(const attn2c_path_kind *kind, const char *const *words, int count,
                      const attn2c_place *place);

/* True if answers have the names of their files. */
int attn2c_paths_are_several(const attn2c_paths *paths);

/* Returns the name of a file for messages and answers. */
const char *attn2c_path_name(const attn2c_paths *paths, int number);

/* An input that a file, or a part of one, has become. */
typedef struct {
  const char *name;  /* of the file */
  int number;        /* of the file, from 0 */
  int64_t rows;      /* of a model of any length; 0: the model's own */
  double begin, end; /* of a sound, in seconds */
  int32_t shape[2];  /* of a picture whose patches are the input: their rows and columns */
} attn2c_item;

struct attn2c_media_answer;

typedef struct attn2c_media {
  const attn2c_path_kind *kind;
  const char *const *words; /* of the option */
  int word_count;
  attn2c_paths paths; /* while the command runs */
  const char *member; /* of an answer in JSON, which has the file's name: "image" */
  const attn2c_media_facts *facts;
  void *from;
  /* Writes the next input. item->name is NULL after the last. Returns any attn2c_status, with a line. */
  int (*next)(struct attn2c_media *media, attn2c_context *context, float *input, attn2c_item *item,
              attn2c_message *message);
  /* Writes an answer that is neither labels nor numbers, as attn2c_media_write_text does; NULL: there is none
   */
  int (*write)(const struct attn2c_media_answer *answer, const attn2c_item *item, FILE *out);
} attn2c_media;

/* Runs the command. Returns any attn2c_status, with one line a fault. */
int attn2c_media_run(const attn2c_descriptor *model, attn2c_media *media, const attn2c_arguments *arguments,
                     FILE *out, FILE *notes, attn2c_message *message);

typedef struct attn2c_media_answer {
  const attn2c_media *media;
  const char *name;    /* of the file; NULL: the text has no name */
  const float *values; /* the output: int32_t for ATTN2C_ANSWER_NUMBER */
  int64_t rows, width; /* of the output for one input; rows is 1 if it has none */
  int top;             /* the number of labels that are wanted; 0: the best, or all of at least 0.5 */
} attn2c_media_answer;

/* Writes the file's name before a line, if answers have one. */
void attn2c_media_write_name(const attn2c_media_answer *answer, FILE *out);

/* Return ATTN2C_OK or _MEMORY; errors of writing are in `out`. `picks` has a capacity of
 * ATTN2C_MAX_TOP. */
int attn2c_media_write_text(const attn2c_media_answer *answer, attn2c_pick *picks, FILE *out);
int attn2c_media_write_json(const attn2c_media_answer *answer, attn2c_pick *picks, FILE *out);

/* Write the embeddings that are most similar to an input's. `picks` has their numbers from 0, and cosines.
 */
int attn2c_media_write_similar(const attn2c_media_answer *answer, const attn2c_pick *picks, int count,
                               FILE *out);
int attn2c_media_write_json_similar(const attn2c_media_answer *answer, const attn2c_pick *picks, int count,
                                    FILE *out);

/* Write an input's best texts. `picks`: their numbers from 0, and probabilities; logits: of all texts. */
int attn2c_media_write_texts(const attn2c_media_answer *answer, const attn2c_picture_texts *texts,
                             const attn2c_pick *picks, int count, FILE *out);
int attn2c_media_write_json_texts(const attn2c_media_answer *answer, const attn2c_picture_texts *texts,
                                  const attn2c_pick *picks, int count, const float *logits, FILE *out);
