/* similar.h - `run --similar`: the matrix of cosines of each pair of embeddings. */
#pragma once

#include "program/arguments.h"

#define ATTN2C_MAX_SIMILAR 2000

/* Writes the matrix of score(context, i, j), how much j is like i, for `count` texts, as one line each or as
 * an array. context NULL: there was no memory for it. */
int attn2c_similar_scores(const char *of, double (*score)(const void *context, int64_t i, int64_t j),
                          const void *context, int64_t count, attn2c_answer_format format, FILE *out,
                          attn2c_message *message);

/* Does the same for the cosines of `count` embeddings of `width` numbers. of: "texts" or "pictures". */
int attn2c_similar_write(const char *of, const float *embeddings, int64_t count, int64_t width,
                         attn2c_answer_format format, FILE *out, attn2c_message *message);
