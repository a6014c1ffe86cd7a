/* rank.h - ranks texts for queries: `run --query` by how much they are like them, where all queries come
 * first; `run --rank` by scores of pairs, query by query. Only the best texts of each query are kept, unless
 * all scores are asked for as an array. */
#pragma once

#include "program/text/view.h"

typedef struct attn2c_rank attn2c_rank;

/* Opens a ranking that keeps `top` texts for a query; with ATTN2C_ANSWERS_NPY all scores. is_paired: 1:
 * texts come with their scores; facts: of attn2c_likeness. NULL: no memory. */
attn2c_rank *attn2c_rank_open(int is_paired, const attn2c_text_facts *facts, int top,
                              attn2c_answer_format format);
void attn2c_rank_close(attn2c_rank *rank);

/* Adds a query or a text and its meaning; the ranking takes that of a query. NULL: there is none, and every
 * score with it is NaN. Returns ATTN2C_OK or _MEMORY. */
int attn2c_rank_query(attn2c_rank *rank, const char *text, size_t length, attn2c_meaning *meaning);
int attn2c_rank_text(attn2c_rank *rank, const char *text, size_t length, const attn2c_meaning *meaning);

/* Adds text number `number`, from 1, and its score to the last query. Returns ATTN2C_OK or _MEMORY. */
int attn2c_rank_pair(attn2c_rank *rank, int64_t number, const char *text, size_t length, double score);

/* Writes the best texts of each query as lines of score, number from 1, and text. Other formats are objects,
 * and the array of scores, [queries][texts]. Returns ATTN2C_OK, _FORMAT if there is no query or no text,
 * whose file in the arguments `of` is then named, _IO or _MEMORY. */
int attn2c_rank_write(const attn2c_rank *rank, const attn2c_arguments *of, FILE *out,
                      attn2c_message *message);
