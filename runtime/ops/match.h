/* match.h - scores of words for labels, each pair of which goes through two linear layers (GLiNER's
 * token_level). The order of additions is written out, so that a pair has the same bits in any call on any
 * target. */
#pragma once

#include "ops/adapt.h"

enum { ATTN2C_MATCH_ROWS = 8, ATTN2C_MATCH_COLS = 256, ATTN2C_MATCH_SUMS = 16 };

/* Words that are scored together, and the columns of the hidden layer that are at hand. */
typedef struct {
  const float *from[ATTN2C_MATCH_ROWS];
  float *to[ATTN2C_MATCH_ROWS];
  float sums[ATTN2C_MATCH_ROWS][ATTN2C_MATCH_COLS];
  int count;
} attn2c_match_words;

/* sums[w][cols] += x[w][skip + k] times row k of weight, for k < width; with `by`: x times by. The distance
 * of rows is `hidden`. Each row is read for all words. */
ATTN2C_INLINE void attn2c_match_add(float (*sums)[ATTN2C_MATCH_COLS], const float *const *x, int count,
                                    int skip, const float *by, const float *weight, int width, int hidden,
                                    int cols) {
  for (int k = 0; k < width; k += ATTN2C_ADAPTER_TERMS)
    for (int w = 0; w < count; w++) {
      const float *from = x[w] + skip;
      float terms[ATTN2C_ADAPTER_TERMS];
      for (int i = 0; i < ATTN2C_ADAPTER_TERMS; i++)
        terms[i] = k + i < width ? by ? from[k + i] * by[k + i] : from[k + i] : 0;
      attn2c_adapter_add(sums[w], terms, weight + (ptrdiff_t)k * hidden, cols, hidden, width - k);
    }
}

/* Returns the sum over j of out[j scores] max(sums[j], 0). */
ATTN2C_INLINE float attn2c_match_sum(const float *sums, const float *out, int scores, int cols) {
  float parts[ATTN2C_MATCH_SUMS] = {0};
  for (int j = 0; j < cols; j += ATTN2C_MATCH_SUMS)
    for (int l = 0; l < ATTN2C_MATCH_SUMS && j + l < cols; l++)
      parts[l] = ATTN2C_FMA(out[(j + l) * scores], sums[j + l] > 0 ? sums[j + l] : 0, parts[l]);
  for (int half = ATTN2C_MATCH_SUMS / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) parts[l] += parts[l + half];
  return parts[0];
}

/* Adds what some columns of the hidden layer give to the scores of words for a label. */
ATTN2C_INLINE void attn2c_match_label(const attn2c_match_words *words, const float *label,
                                      const float *weight, const float *out, int at, int cols, int width,
                                      int hidden, int scores) {
  float of_label[1][ATTN2C_MATCH_COLS] = {{0}}, sums[ATTN2C_MATCH_ROWS][ATTN2C_MATCH_COLS];
  const float *of_product = weight + 2 * (ptrdiff_t)width * hidden;
  attn2c_match_add(of_label, &label, 1, 0, NULL, weight + (ptrdiff_t)width * hidden, width, hidden, cols);
  for (int w = 0; w < words->count; w++)
    for (int j = 0; j < cols; j++) sums[w][j] = words->sums[w][j] + of_label[0][j];
  attn2c_match_add(sums, words->from, words->count, width, label + width, of_product, width, hidden, cols);
  for (int w = 0; w < words->count; w++)
    for (int s = 0; s < scores; s++) words->to[w][at + s] += attn2c_match_sum(sums[w], out + s, scores, cols);
}

/* y[i][c][s]: the scores of row i, with marks[i] = 1, for label c, the c-th row with marks = 2; only `valid`
 * rows count, and of labels the first cols / scores. Other scores are 0. They are out applied to max(h, 0)
 * and 1, where h is weight applied to the first halves of x[i] and labels[c], the product of the second
 * halves, and 1. Halves are `width` numbers. weight[3 width + 1][hidden], out[hidden + 1][scores]. */
ATTN2C_INLINE void attn2c_match_labels(float *y, const float *x, const float *labels, const float *weight,
                                       const float *out, const int32_t *marks, int rows, int cols, int width,
                                       int hidden, int scores, int ldx, int ldl, int ldy, int valid) {
  const int most = valid < rows ? valid : rows;
  const float *bias = weight + 3 * (ptrdiff_t)width * hidden, *out_bias = out + (ptrdiff_t)hidden * scores;
  for (int i = 0; i < rows; i++) memset(y + (ptrdiff_t)i * ldy, 0, (size_t)cols * sizeof *y);
  for (int j = 0; j < hidden; j += ATTN2C_MATCH_COLS) /* whose weights stay in the cache for all pairs */
    for (int i = 0; i < most;) {
      const int some = hidden - j < ATTN2C_MATCH_COLS ? hidden - j : ATTN2C_MATCH_COLS;
      attn2c_match_words words;
      for (words.count = 0; i < most && words.count < ATTN2C_MATCH_ROWS; i++)
        if (marks[i] == 1) {
          words.from[words.count] = x + (ptrdiff_t)i * ldx;
          words.to[words.count++] = y + (ptrdiff_t)i * ldy;
        }
      for (int w = 0; w < words.count; w++) memcpy(words.sums[w], bias + j, (size_t)some * sizeof *bias);
      attn2c_match_add(words.sums, words.from, words.count, 0, NULL, weight + j, width, hidden, some);
      for (int c = 0, at = 0; c < most && at < cols; c++) {
        if (marks[c] != 2) continue;
        for (int w = 0; w < words.count && j == 0; w++)
          for (int s = 0; s < scores; s++) words.to[w][at + s] = out_bias[s];
        attn2c_match_label(&words, labels + (ptrdiff_t)c * ldl, weight + j, out + (ptrdiff_t)j * scores, at,
                           some, width, hidden, scores);
        at += scores;
      }
    }
}
