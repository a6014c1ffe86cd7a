/* text_arrays.h - `--output NAME=F.npy` of a run of texts: the arrays of all texts, a row a text, rows of
 * tokens padded with zeros to those of the longest text. Beside the model's outputs there are `lengths` and
 * the ids. Windows of a text have a row each; `texts` has the number of its text. */
#ifndef ATTN2C_TEXT_ARRAYS_H
#define ATTN2C_TEXT_ARRAYS_H

#include "model/text_calls.h"
#include "program/arguments.h"

typedef struct attn2c_arrays attn2c_arrays;

/* Finds out what --output asks for; with `answer` the array that answers are made of is kept as well. prints:
 * answers go to the standard output one by one. All faults of usage at once. */
int attn2c_arrays_open(const attn2c_reader *reader, const attn2c_arguments *arguments, int prints, int answer,
                       attn2c_arrays **arrays, attn2c_message *message);
void attn2c_arrays_close(attn2c_arrays *arrays);

/* Whether the model's output of that number is to be kept. */
int attn2c_arrays_wants(const attn2c_arrays *arrays, int output);

/* Keeps what the texts of one call of the reader gave, in arrays of `rows` rows; what is kept is taken out of
 * `outputs`. */
int attn2c_arrays_keep(attn2c_arrays *arrays, const attn2c_reader *reader, int64_t rows, void **outputs,
                       attn2c_message *message);

/* Writes the files that were asked for; with `answer`, the array of answers to standard output. */
int attn2c_arrays_write(attn2c_arrays *arrays, const attn2c_reader *reader, attn2c_message *message);

/* The array of answers, [texts][width], of an answer that has no rows; how many texts. */
const float *attn2c_arrays_answer(attn2c_arrays *arrays, const attn2c_reader *reader, int64_t *texts);

#endif
