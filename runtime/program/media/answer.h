/* answer.h - writes the answer to one picture or sound, as text or as JSON. */
#pragma once

#include "program/answers/answer.h"
#include "program/media/command.h"
#include "program/picture/texts.h"

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
