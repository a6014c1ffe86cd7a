/* times.c - the work is two arrays [tokens][rows], of one head and of all, then the costs of the ways
 * to each pair, with a row and a column before the first, and the step that leads there. */
#include "speech/segments.h"

#include "generate/bits.h"

#include <math.h>

enum { MOST_MEDIAN = 31 };
typedef enum { BOTH, TOKEN, ROW } step;

static size_t pairs(int32_t tokens, int32_t rows) { return (size_t)(tokens + 1) * (size_t)(rows + 1); }

size_t attn2c_speech_times_room(int32_t tokens, int32_t rows) { return 4 * pairs(tokens, rows); }

/* Writes a head's weights of one token. */
static void weigh(const attn2c_attended *a, const float *query, const float *keys, int32_t width,
                  double scale, float *weights) {
  float best = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  double sum = 0;
  for (int32_t row = 0; row < a->rows; row++) {
    const float *key = keys + (size_t)row * (size_t)a->width;
    float score = 0;
#pragma omp simd reduction(+ : score)
    for (int32_t i = 0; i < width; i++) score += query[i] * key[i];
    weights[row] = (float)(score * scale);
    best = weights[row] > best ? weights[row] : best;
  }
  for (int32_t row = 0; row < a->rows; row++) {
    weights[row] = expf(weights[row] - best);
    sum += (double)weights[row];
  }
  for (int32_t row = 0; row < a->heard; row++) weights[row] = (float)((double)weights[row] / sum);
}

/* Takes the mean over tokens from each row, and divides by their deviation, or is 0. */
static void standardise(const attn2c_attended *a, float *weights) {
  for (int32_t row = 0; row < a->heard; row++) {
    double sum = 0, squares = 0;
    for (int32_t t = 0; t < a->tokens; t++) sum += (double)weights[t * a->rows + row];
    const double mean = sum / a->tokens;
    for (int32_t t = 0; t < a->tokens; t++)
      squares += ((double)weights[t * a->rows + row] - mean) * ((double)weights[t * a->rows + row] - mean);
    const double by = squares > 0 ? sqrt(a->tokens / squares) : 0;
    for (int32_t t = 0; t < a->tokens; t++)
      weights[t * a->rows + row] = (float)(((double)weights[t * a->rows + row] - mean) * by);
  }
}

/* Adds the median of `width` numbers around each of `count` to sums. The ends are reflected. */
static void add_medians(const float *values, int32_t count, int32_t width, float *sums) {
  const int32_t beside = width / 2;
  float sorted[MOST_MEDIAN];
  for (int32_t at = 0; at < count; at++) {
    int32_t n = 0;
    for (int32_t i = at - beside; i <= at + beside && count > beside; i++) {
      const float value = values[i < 0 ? -i : i < count ? i : 2 * (count - 1) - i];
      int32_t place = n++;
      for (; place > 0 && sorted[place - 1] > value; place--) sorted[place] = sorted[place - 1];
      sorted[place] = value;
    }
    sums[at] += n > 0 ? sorted[beside] : values[at];
  }
}

/* Writes the step to each pair on the cheapest way there. */
static void find_ways(const attn2c_attended *a, const float *worth, int32_t heads, float *costs,
                      float *steps) {
  const int32_t columns = a->heard + 1;
  const float infinite = -attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  for (int32_t j = 0; j < columns; j++) costs[j] = j == 0 ? 0 : infinite, steps[j] = ROW;
  for (int32_t i = 1; i <= a->tokens; i++) {
    costs[i * columns] = infinite, steps[i * columns] = TOKEN;
    for (int32_t j = 1; j < columns; j++) {
      const int32_t at = i * columns + j;
      const float both = costs[at - columns - 1], token = costs[at - columns], row = costs[at - 1];
      const step taken = both < token && both < row ? BOTH : token < both && token < row ? TOKEN : ROW;
      const float before = taken == BOTH ? both : taken == TOKEN ? token : row;
      costs[at] = before - worth[(i - 1) * a->rows + j - 1] / (float)heads;
      steps[at] = (float)taken;
    }
  }
}

void attn2c_speech_times(const attn2c_speech *speech, const attn2c_attended *a, float *work, int32_t *times) {
  const size_t size = pairs(a->tokens, a->rows);
  float *weights = work, *worth = work + size, *costs = worth + size, *steps = costs + size;
  for (int32_t i = 0; i < a->tokens * a->rows; i++) worth[i] = 0;
  for (int32_t h = 0; h < speech->head_count; h++) {
    const attn2c_speech_head *head = &speech->heads[h];
    const size_t column = (size_t)(head->head * speech->head_width);
    for (int32_t t = 0; t < a->tokens; t++)
      weigh(a, a->queries[head->layer] + (size_t)t * (size_t)a->width + column, a->keys[head->layer] + column,
            speech->head_width, speech->head_scale, weights + (size_t)t * (size_t)a->rows);
    standardise(a, weights);
    for (int32_t t = 0; t < a->tokens; t++)
      add_medians(weights + t * a->rows, a->heard, speech->median, worth + t * a->rows);
  }
  find_ways(a, worth, speech->head_count, costs, steps);
  for (int32_t i = a->tokens, j = a->heard; i > 0;) {
    const step taken = (step)steps[i * (a->heard + 1) + j];
    if (taken != ROW) times[i - 1] = j - 1;
    i -= taken != ROW, j -= taken != TOKEN;
  }
}
