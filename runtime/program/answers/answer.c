/* answer.c - answers from a model's scores for a text. */
#include "program/answers/answers.h"

#include <math.h>

static int is_better(double a, double b) { return a > b || (isnan(b) && !isnan(a)); }

/* Returns the largest score, and sets *sum to the sum of exp(score - largest). */
static double largest_of(const float *scores, int64_t count, double *sum) {
  double largest = -INFINITY;
  for (int64_t i = 0; i < count; i++)
    if (is_better((double)scores[i], largest)) largest = (double)scores[i];
  *sum = 0.0;
  for (int64_t i = 0; i < count; i++) *sum += exp((double)scores[i] - largest);
  return largest;
}

int attn2c_best(const float *scores, int64_t count, attn2c_label_function function, int most,
                attn2c_pick *picks) {
  int found = 0;
  for (int64_t i = 0; i < count; i++) {
    const double score = (double)scores[i];
    int at = found;
    while (at > 0 && is_better(score, picks[at - 1].score)) at--;
    if (at >= most) continue;
    if (found < most) found++;
    for (int j = found - 1; j > at; j--) picks[j] = picks[j - 1];
    picks[at] = (attn2c_pick){i, score};
  }
  double sum = 1.0, largest = 0.0;
  if (function == ATTN2C_SOFTMAX) largest = largest_of(scores, count, &sum);
  for (int i = 0; i < found; i++) {
    if (function == ATTN2C_SOFTMAX) picks[i].score = exp(picks[i].score - largest) / sum;
    if (function == ATTN2C_SIGMOID) picks[i].score = 1.0 / (1.0 + exp(-picks[i].score));
  }
  return found;
}

attn2c_span attn2c_best_span(const float *begins, const float *ends, int64_t rows, const unsigned char *may,
                             int64_t none, int64_t longest) {
  attn2c_span best = {-1, -1, 0.0};
  double begin_largest = -INFINITY, end_largest = -INFINITY, begin_sum = 0.0, end_sum = 0.0,
         best_score = -INFINITY;
  for (int64_t i = 0; i < rows; i++) {
    if (may[i] != 1 && i != none) continue;
    if (is_better((double)begins[i], begin_largest)) begin_largest = (double)begins[i];
    if (is_better((double)ends[i], end_largest)) end_largest = (double)ends[i];
  }
  for (int64_t i = 0; i < rows; i++) {
    if (may[i] != 1 && i != none) continue;
    begin_sum += exp((double)begins[i] - begin_largest);
    end_sum += exp((double)ends[i] - end_largest);
    for (int64_t j = i; i != none && j < rows && j < i + longest; j++) {
      const double score = (double)begins[i] + (double)ends[j];
      if (may[j] != 1 || !is_better(score, best_score)) continue;
      best_score = score;
      best.first = i, best.last = j;
    }
  }
  if (best.first >= 0) best.score = exp(best_score - begin_largest - end_largest) / (begin_sum * end_sum);
  return best;
}

double attn2c_cosine(const float *a, const float *b, int64_t width) {
  double product = 0.0, of_a = 0.0, of_b = 0.0;
  for (int64_t i = 0; i < width; i++) {
    product += (double)a[i] * (double)b[i];
    of_a += (double)a[i] * (double)a[i];
    of_b += (double)b[i] * (double)b[i];
  }
  return of_a == 0.0 || of_b == 0.0 ? 0.0 : product / sqrt(of_a * of_b);
}

double attn2c_similarity_of(attn2c_similarity similarity, const float *a, const float *b, int64_t width) {
  double product = 0.0, squares = 0.0, distance = 0.0;
  if (similarity == ATTN2C_COSINE) return attn2c_cosine(a, b, width);
  for (int64_t i = 0; i < width; i++) {
    const double apart = (double)a[i] - (double)b[i];
    product += (double)a[i] * (double)b[i], squares += apart * apart, distance += fabs(apart);
  }
  return similarity == ATTN2C_DOT ? product : similarity == ATTN2C_EUCLIDEAN ? -sqrt(squares) : -distance;
}
