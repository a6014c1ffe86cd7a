/* arrays.h - `--output NAME=F.npy` of a run of texts: collects the arrays of all texts and writes them.
 * An array has one row a text; rows of tokens are padded with zeros to the longest text. In addition to the
 * model's outputs there are `lengths` and the ids. Windows of a text have one row each; `texts` has the
 * number of its text. */
#pragma once

#include "model/text/calls.h"
#include "program/arguments.h"

typedef struct attn2c_arrays attn2c_arrays;

/* Reads the arguments of --output; with `answer` the array of answers is kept as well. prints: answers go to
 * the standard output one by one. Reports all faults of usage at once. */
int attn2c_arrays_open(const attn2c_reader *reader, const attn2c_arguments *arguments, int prints, int answer,
                       attn2c_arrays **arrays, attn2c_message *message);
void attn2c_arrays_close(attn2c_arrays *arrays);

/* True if the output of that number is kept. */
int attn2c_arrays_wants(const attn2c_arrays *arrays, int output);

/* Keeps the outputs of a call, as arrays of `rows` rows. Kept ones are moved out of `outputs`. */
int attn2c_arrays_keep(attn2c_arrays *arrays, const attn2c_reader *reader, int64_t rows, void **outputs,
                       attn2c_message *message);

/* Writes the files that were asked for and, with `answer`, the array of answers to the standard output. */
int attn2c_arrays_write(attn2c_arrays *arrays, const attn2c_reader *reader, attn2c_message *message);

/* Returns the array of answers, [texts][width], of an answer that has no rows, and sets *texts to their
 * number. NULL: no memory. */
const float *attn2c_arrays_answer(attn2c_arrays *arrays, const attn2c_reader *reader, int64_t *texts);
