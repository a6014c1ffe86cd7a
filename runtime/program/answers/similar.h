/* similar.h - `run --similar`: the matrix of cosines of each pair of embeddings. */
#pragma once

#include "program/arguments.h"

#define ATTN2C_MAX_SIMILAR 2000

/* Writes the matrix of `count` embeddings of `width` numbers, as one line each or as an array. of: "texts" or
 * "pictures"; embeddings: NULL: there was no memory for them. */
int attn2c_similar_write(const char *of, const float *embeddings, int64_t count, int64_t width,
                         attn2c_answer_format format, FILE *out, attn2c_message *message);
