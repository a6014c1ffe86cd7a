/* text_rank.h - `run --query`: ranks texts by the cosine of their embedding with a query's. Queries come
 * first. Only the best texts of each query are kept, unless all cosines are asked for as an array. */
#ifndef ATTN2C_TEXT_RANK_H
#define ATTN2C_TEXT_RANK_H

#include <stdio.h>

#include "program/arguments.h"

typedef struct attn2c_rank attn2c_rank;

/* Opens a ranking of embeddings of `width` numbers that keeps `top` texts for a query. With
 * ATTN2C_ANSWERS_NPY it keeps all cosines. NULL: no memory. */
attn2c_rank *attn2c_rank_open(int64_t width, int top, attn2c_answer_format format);
void attn2c_rank_close(attn2c_rank *rank);

/* Adds a query or a text and its embedding. values NULL: it has no tokens, and every cosine with it is 0.
 * Returns ATTN2C_OK or _MEMORY. */
int attn2c_rank_query(attn2c_rank *rank, const char *text, size_t length, const float *values);
int attn2c_rank_text(attn2c_rank *rank, const char *text, size_t length, const float *values);

/* Writes the best texts of each query as lines of cosine, number from 1, and text. Other formats are objects,
 * and the array of cosines, [queries][texts]. */
int attn2c_rank_write(const attn2c_rank *rank, FILE *out, attn2c_message *message);

#endif
