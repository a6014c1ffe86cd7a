/* similar.h - `run --similar`: the matrix of cosines of each pair of embeddings. */
#ifndef ATTN2C_PROGRAM_ANSWERS_SIMILAR_H
#define ATTN2C_PROGRAM_ANSWERS_SIMILAR_H

#include <stdio.h>

#include "program/arguments.h"

#define ATTN2C_MAX_SIMILAR 2000

/* Writes the matrix of `texts` embeddings of `width` numbers, as one line a text or as an array. */
int attn2c_similar_write(const float *embeddings, int64_t texts, int64_t width, attn2c_answer_format format,
                         FILE *out, attn2c_message *message);

#endif
