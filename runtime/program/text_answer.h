/* text_answer.h - what the numbers of a model say about a text: the best labels or tokens with their
 * probabilities, a span. Each function reads one row of scores. */
#ifndef ATTN2C_TEXT_ANSWER_H
#define ATTN2C_TEXT_ANSWER_H

#include "base/text_facts.h"

typedef struct {
  int64_t number;
  double score;
} attn2c_pick;

/* The best `most` of `count` scores, as probabilities, best first; equal ones in their order. NaN is worse
 * than any number. Returns how many there are. */
int attn2c_best(const float *scores, int64_t count, attn2c_label_function function, int most,
                attn2c_pick *picks);

typedef struct {
  int64_t first, last; /* rows; -1: there is none */
  double score;
} attn2c_span;

/* The span with the largest product of probabilities, among the rows that may be part of an answer (may
 * is 1), of at most `longest` rows. Row `none`, whose scores are those of there being no answer, counts in
 * the probabilities, too; -1: there is none. */
attn2c_span attn2c_best_span(const float *begins, const float *ends, int64_t rows, const unsigned char *may,
                             int64_t none, int64_t longest);

/* The cosine of two vectors; 0 where one is zero. */
double attn2c_cosine(const float *a, const float *b, int64_t width);

#endif
