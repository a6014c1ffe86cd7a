/* text_rank.h - `run --query`: ranks texts by the cosine of their embedding with a query's. Queries come
 * first; of the texts only the best of each query are kept, unless all cosines are wanted as an array. */
#ifndef ATTN2C_TEXT_RANK_H
#define ATTN2C_TEXT_RANK_H

#include <stdio.h>

#include "program/arguments.h"

typedef struct attn2c_rank attn2c_rank;

/* Embeddings have `width` numbers, and `top` texts are kept for a query; with ATTN2C_ANSWERS_NPY, all
 * cosines. NULL: no memory. */
attn2c_rank *attn2c_rank_open(int64_t width, int top, attn2c_answer_format format);
void attn2c_rank_close(attn2c_rank *rank);

/* Adds a query or a text and its embedding; values NULL: it has no tokens, and is like nothing. ATTN2C_MEMORY
 * where there is no memory. */
int attn2c_rank_query(attn2c_rank *rank, const char *text, size_t length, const float *values);
int attn2c_rank_text(attn2c_rank *rank, const char *text, size_t length, const float *values);

/* Writes the best texts of each query: lines of cosine, number from 1, and text; objects; or the array of
 * cosines, [queries][texts]. */
int attn2c_rank_write(const attn2c_rank *rank, FILE *out, attn2c_message *message);

#endif
