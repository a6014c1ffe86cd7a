/* answer.h - answers from a model's scores for a text: the best labels or tokens, a span, a cosine.
 * Labels and tokens have probabilities. Each function reads one row of scores. */
#pragma once

#include "base/text_facts.h"

typedef struct {
  int64_t number;
  double score;
} attn2c_pick;

/* Writes the best `most` of `count` scores, as probabilities, best first; equal scores keep their order. NaN
 * is worse than any number. Returns how many were written. */
int attn2c_best(const float *scores, int64_t count, attn2c_label_function function, int most,
                attn2c_pick *picks);

typedef struct {
  int64_t first, last; /* rows; -1: no span */
  double score;
} attn2c_span;

/* Returns the span with the largest product of probabilities, of at most `longest` rows. Its rows must have 1
 * in `may`. Row `none`, whose scores say that there is no answer, counts in the probabilities, too; -1: there
 * is no such row. */
attn2c_span attn2c_best_span(const float *begins, const float *ends, int64_t rows, const unsigned char *may,
                             int64_t none, int64_t longest);

/* Returns the cosine of two vectors; 0 if one is zero. */
double attn2c_cosine(const float *a, const float *b, int64_t width);
