/* beam.c - the step of a beam search. A row's best tokens are found without sorting the row; the lists of
 * all rows are merged. */
#include "generate/beam.h"

#include "generate/bits.h"
#include "ops/softmax_rows.h"

#include <math.h>

/* The score of a beam or an answer that is not there. Log-probabilities added to it are rounded off. */
#define NO_SCORE (-1e9f)

enum { BLOCK = 64 }; /* tokens that are left out at once */

typedef struct {
  float score;
  attn2c_beam_next to;
} candidate;

struct attn2c_beam {
  const attn2c_beam_options *options;
  void (*log_softmax)(float *row, int32_t count);
  const attn2c_rule *rule;
  int32_t vocabulary, tokens;
  int32_t width, keep; /* beams; candidates of a step */
  int32_t prompt, most, rows;
  int32_t count; /* finished answers */
  int has_ended;
  float *scores;               /* [width] of the running beams */
  candidate *best;             /* [keep] */
  int32_t *index;              /* [width][keep] the best tokens of each row */
  int32_t *taken;              /* [width] of them, those that are candidates */
  float *values;               /* [tokens] */
  attn2c_beam_answer *answers; /* [width], the best one first */
  int32_t *ids;                /* [width][tokens] of answers */
};

static void log_softmax_of_any(float *row, int32_t count) {
  attn2c_log_softmax(row, row, 1, count, count, count);
}

int attn2c_beam_create(attn2c_beam **beam, const attn2c_beam_options *options, int32_t vocabulary,
                       int32_t tokens, void (*log_softmax)(float *row, int32_t count)) {
  attn2c_beam *b = *beam = attn2c_allocate(sizeof *b);
  if (!b) return ATTN2C_MEMORY;
  const size_t width = (size_t)options->beams, each = (size_t)tokens;
  const size_t per_beam = options->stop_count > 1 ? 1 + (size_t)options->stop_count : 2;
  b->options = options;
  b->log_softmax = log_softmax ? log_softmax : log_softmax_of_any;
  b->vocabulary = vocabulary;
  b->tokens = tokens;
  b->width = options->beams;
  b->keep = (int32_t)(per_beam * width);
  b->scores = attn2c_allocate(width * sizeof *b->scores);
  b->best = attn2c_allocate(per_beam * width * sizeof *b->best);
  b->index = attn2c_reserve(per_beam * width * width * sizeof *b->index);
  b->taken = attn2c_allocate(width * sizeof *b->taken);
  b->values = attn2c_reserve(each * sizeof *b->values);
  b->answers = attn2c_allocate(width * sizeof *b->answers);
  b->ids = attn2c_reserve(width * each * sizeof *b->ids);
  if (b->scores && b->best && b->index && b->taken && b->values && b->answers && b->ids) return ATTN2C_OK;
  attn2c_beam_free(b);
  *beam = NULL;
  return ATTN2C_MEMORY;
}

void attn2c_beam_free(attn2c_beam *b) {
  if (!b) return;
  ATTN2C_FREE_ALIGNED(b->scores, b->best, b->index, b->taken, b->values, b->answers, b->ids, b);
}

void attn2c_beam_rule(attn2c_beam *b, const attn2c_rule *rule) { b->rule = rule; }

void attn2c_beam_begin(attn2c_beam *b, int32_t prompt, int32_t most) {
  b->prompt = prompt;
  b->most = most;
  b->count = 0;
  b->has_ended = 0;
  b->rows = 1;
  for (int32_t i = 0; i < b->width; i++) {
    b->scores[i] = i == 0 ? 0 : NO_SCORE;
    b->answers[i].ids = b->ids + (size_t)i * (size_t)b->tokens;
  }
}

/* Writes the tokens of the k largest scores, descending; of equal ones the lower token comes first. Most
 * blocks have nothing larger than the last of the list, and cost a vectorised maximum. */
static void find_largest(const float *scores, int32_t vocabulary, int32_t k, int32_t *index) {
  int32_t count = 0;
  for (int32_t begin = 0; begin < vocabulary; begin += BLOCK) {
    const int32_t end = vocabulary - begin < BLOCK ? vocabulary : begin + BLOCK;
    if (count == k && attn2c_largest(scores + begin, end - begin) <= scores[index[k - 1]]) continue;
    for (int32_t token = begin; token < end; token++) {
      if (count == k && scores[token] <= scores[index[k - 1]]) continue;
      int32_t at = count < k ? count++ : k - 1;
      for (; at > 0 && scores[index[at - 1]] < scores[token]; at--) index[at] = index[at - 1];
      index[at] = token;
    }
  }
}

/* Turns the logits of a row into processed log-probabilities, and finds the best. */
static int score_row(attn2c_beam *b, float *row, const attn2c_history *history, int32_t *index,
                     attn2c_message *message) {
  const attn2c_beam_options *o = b->options;
  const int32_t most = b->keep < b->vocabulary ? b->keep : b->vocabulary;
  b->log_softmax(row, b->vocabulary);
  if (attn2c_bits_are_nan(attn2c_float_bits(row[0]))) {
    attn2c_say(message, "logits: NaN, +inf, or -inf for all tokens, but numbers are needed for beams");
    return ATTN2C_FORMAT;
  }
  attn2c_penalise(o->repetition_penalty, history, row, b->vocabulary, b->values);
  attn2c_process(o, history, row, b->vocabulary);
  find_largest(row, b->vocabulary, most, index);
  if (o->renormalize && attn2c_float_bits(row[*index]) != ATTN2C_NEGATIVE_INFINITE_BITS)
    b->log_softmax(row, b->vocabulary);
  return ATTN2C_OK;
}

/* Finds the best candidates of all beams among the best tokens of each. */
static void merge(attn2c_beam *b, const float *logits) {
  memset(b->taken, 0, (size_t)b->width * sizeof *b->taken);
  for (int32_t i = 0; i < b->keep; i++) {
    candidate best = {0, {-1, 0}};
    for (int32_t beam = 0; beam < b->width; beam++) {
      if (b->taken[beam] == b->vocabulary) continue;
      const size_t row = b->rows == 1 ? 0 : (size_t)beam;
      const int32_t token = b->index[row * (size_t)b->keep + (size_t)b->taken[beam]];
      const float score = logits[row * (size_t)b->vocabulary + (size_t)token] + b->scores[beam];
      if (best.to.beam < 0 || score > best.score) best = (candidate){score, {beam, token}};
    }
    b->taken[best.to.beam]++;
    b->best[i] = best;
  }
}

/* Keeps a finished answer if it is better than the worst, or there is room for it. */
static void finish(attn2c_beam *b, const candidate *made, float by, const int32_t *ids, int32_t count) {
  const int is_full = b->count == b->width;
  const float score = made->score / by;
  if (!(score > (is_full ? b->answers[b->width - 1].score : NO_SCORE))) return;
  int32_t at = is_full ? b->width - 1 : b->count++;
  int32_t *own = b->ids + (b->answers[at].ids - b->ids);
  for (; at > 0 && b->answers[at - 1].score < score; at--) b->answers[at] = b->answers[at - 1];
  memcpy(own, ids + b->prompt, (size_t)(count - b->prompt) * sizeof *own);
  own[count - b->prompt] = made->to.token;
  b->answers[at] = (attn2c_beam_answer){own, count - b->prompt + 1, score};
}

/* Returns tokens ^ length_penalty. */
static float length_factor(const attn2c_beam *b, int32_t tokens) {
  return (float)pow(tokens, b->options->length_penalty);
}

/* True if a running beam may still become better than the worst answer. */
static int may_improve(const attn2c_beam *b, int32_t tokens) {
  const attn2c_beam_options *o = b->options;
  const int is_longest = o->early_stopping == ATTN2C_STOP_NEVER && o->length_penalty > 0;
  const float best = b->scores[0] / length_factor(b, is_longest ? b->most - b->prompt : tokens);
  return best > (b->count == b->width ? b->answers[b->width - 1].score : NO_SCORE);
}

/* Divides the candidates into answers and the next beams. */
static void divide(attn2c_beam *b, const int32_t *const *ids, int32_t count, attn2c_beam_next *next) {
  const int32_t tokens = count + 1 - b->prompt;
  const int is_last = count + 1 >= b->most;
  int32_t going = 0;
  for (int32_t i = 0; i < b->keep; i++) {
    const candidate *made = &b->best[i];
    if (!is_last && !attn2c_beam_stops(b->options, made->to.token)) {
      if (going == b->width) continue;
      b->scores[going] = made->score;
      next[going++] = made->to;
    } else if (i < b->width) {
      finish(b, made, length_factor(b, tokens), ids[b->rows == 1 ? 0 : made->to.beam], count);
    }
  }
  b->rows = b->width;
  const int is_full = b->count == b->width && b->options->early_stopping == ATTN2C_STOP_TRUE;
  b->has_ended = is_last || is_full || !may_improve(b, tokens);
}

int attn2c_beam_step(attn2c_beam *b, float *logits, const int32_t *const *ids, int32_t count,
                     attn2c_beam_next *next, attn2c_message *message) {
  for (int32_t i = 0; i < b->rows; i++) {
    const attn2c_history history = {ids[i], count, b->prompt, b->most, b->rule};
    ATTN2C_TRY(score_row(b, logits + (size_t)i * (size_t)b->vocabulary, &history,
                         b->index + (size_t)i * (size_t)b->keep, message));
  }
  merge(b, logits);
  divide(b, ids, count, next);
  if (!b->has_ended || b->count > 0) return ATTN2C_OK;
  attn2c_say(message, "no answer: no token is allowed after %d tokens", count);
  return ATTN2C_FORMAT;
}

int attn2c_beam_has_ended(const attn2c_beam *b) { return b->has_ended; }

int32_t attn2c_beam_count(const attn2c_beam *b) { return b->count; }

attn2c_beam_answer attn2c_beam_at(const attn2c_beam *b, int32_t i) { return b->answers[i]; }
