/* meaning.h - what a search compares of a text: an embedding, lexical weights, or vectors of tokens. */
#pragma once

#include "program/text/view.h"

typedef struct attn2c_meaning {
  attn2c_answer kind;   /* EMBEDDING, LEXICAL or VECTORS */
  int64_t count, width; /* EMBEDDING: one row; LEXICAL: tokens, of width 1; VECTORS: rows */
  float *values;        /* [count][width] */
  int32_t *ids;         /* LEXICAL: the tokens, ascending; else NULL */
} attn2c_meaning;

/* True for the kinds of answers above. */
static inline int attn2c_is_of_search(attn2c_answer answer) {
  return answer == ATTN2C_ANSWER_EMBEDDING || answer == ATTN2C_ANSWER_LEXICAL ||
         answer == ATTN2C_ANSWER_VECTORS;
}

/* Copies what a view's answer means. A text without tokens has no rows. Returns ATTN2C_OK or _MEMORY. */
int attn2c_meaning_make(const attn2c_view_of_text *view, attn2c_meaning *meaning);
void attn2c_meaning_free(attn2c_meaning *meaning);

/* Returns how much a text is like a query: the cosine of embeddings; the sum over tokens of the products of
 * weights; or the sum over a query's vectors of their largest product with a vector of the text, with is_mean
 * divided by their number. NaN if one has no tokens. */
double attn2c_likeness(const attn2c_meaning *query, const attn2c_meaning *text, int is_mean);

/* Sorts lexical weights, the largest first. */
void attn2c_meaning_sort(attn2c_meaning *lexical);
