/* recurrent.c - the references of operations that have the errors of their results: an LSTM over the rows of
 * a sequence, and scores of words for labels. */
#include "reference/ops.h"

#include <float.h>
#include <math.h>

/* The largest relative error of a rounding to a float. */
#define ROUNDOFF ((double)FLT_EPSILON / 2)

/* The state of an LSTM after a row: h and cell, and the errors that they may have. [width] each. */
typedef struct {
  double *h, *cell, *h_error, *cell_error, *next, *next_error;
} state;

/* A gate's value, and the error that it may have. */
typedef struct {
  double value, error;
} gate;

/* Returns gate number `at` of the sums x + h W, before its function. Errors of the state's elements come from
 * different sums, so they add up by their squares, as the roundings of a product do. */
static gate sum_of(const state *s, const float *x, const float *weight, int64_t width, int64_t at) {
  double sum = x[at], absolutes = fabs(sum), squares = 0;
  for (int64_t k = 0; k < width; k++) {
    const double w = weight[k * 4 * width + at], term = s->h[k] * w;
    sum += term, absolutes += fabs(term), squares += w * w * s->h_error[k] * s->h_error[k];
  }
  const double rounding = 4 * sqrt((double)width + 1) * ROUNDOFF * absolutes;
  return (gate){sum, sqrt(squares + rounding * rounding)};
}

static gate sigmoid(gate z) {
  const double value = 1 / (1 + exp(-z.value));
  return (gate){value, ATTN2C_ERROR_SIGMOID * value + value * (1 - value) * z.error};
}

static gate tangent(gate z) {
  const double value = tanh(z.value);
  return (gate){value, ATTN2C_ERROR_TANH * fabs(value) + (1 - value * value) * z.error};
}

/* Returns a product, with the errors of its factors and its own rounding. */
static gate times(gate a, gate b) {
  const double value = a.value * b.value;
  return (gate){value, fabs(a.value) * b.error + fabs(b.value) * a.error + ROUNDOFF * fabs(value)};
}

/* Computes a row. Errors of one element are added: its cell has the same sign in many rows. */
static void step(state *s, const float *x, const float *weight, int64_t width) {
  for (int64_t j = 0; j < width; j++) {
    gate z[4];
    for (int g = 0; g < 4; g++) z[g] = sum_of(s, x, weight, width, g * width + j);
    const gate added = times(sigmoid(z[0]), tangent(z[2]));
    const gate kept = times(sigmoid(z[1]), (gate){s->cell[j], s->cell_error[j]});
    const double value = added.value + kept.value;
    const gate cell = {value, added.error + kept.error + ROUNDOFF * fabs(value)};
    const gate h = times(sigmoid(z[3]), tangent(cell));
    s->cell[j] = cell.value, s->cell_error[j] = cell.error;
    s->next[j] = h.value, s->next_error[j] = h.error;
  }
  double *const h = s->h, *const h_error = s->h_error;
  s->h = s->next, s->h_error = s->next_error, s->next = h, s->next_error = h_error;
}

/* h = s(o) tanh(c), c = s(f) c' + s(i) tanh(g), (i, f, g, o) = x + h' W for each direction
 * magnitude: the error that h may have */
int attn2c_reference_recurrent(const attn2c_reference_call *call) {
  const int64_t directions = attn2c_reference_count(call, "directions", 1);
  attn2c_reference_sizes n = {['d'] = directions, ['g'] = 4};
  if (directions < 1 || directions > 2)
    return attn2c_reference_fault(call, "there must be one direction or two");
  if (!attn2c_reference_fits(call, "br(dgw), (dw)(gw), b, br -> br(dw)", n)) return ATTN2C_USAGE;
  const int64_t rows = n['r'], width = n['w'];
  if (!attn2c_reference_lengths(call, 2, n['b'], 0, rows)) return ATTN2C_FORMAT;
  const float *x = call->in[0], *weight = call->in[1];
  const int32_t *lengths = call->in[2], *marks = call->in[3];
  float *y = call->out;
  ATTN2C_OWN double *memory = calloc((size_t)(6 * width), sizeof *memory);
  if (!memory) return ATTN2C_MEMORY;
  for (int64_t at = 0; at < n['b'] * directions; at++) {
    const int64_t b = at / directions, d = at % directions, valid = lengths ? lengths[b] : rows;
    state s = {memory,
               memory + width,
               memory + 2 * width,
               memory + 3 * width,
               memory + 4 * width,
               memory + 5 * width};
    memset(memory, 0, (size_t)(6 * width) * sizeof *memory);
    for (int64_t t = 0; t < rows; t++) {
      const int64_t row = b * rows + (d ? rows - 1 - t : t);
      const int is_read = row - b * rows < valid && (!marks || marks[row] == 1);
      if (is_read) step(&s, x + (row * directions + d) * 4 * width, weight + d * width * 4 * width, width);
      for (int64_t j = 0; j < width; j++) {
        const int64_t element = (row * directions + d) * width + j;
        y[element] = is_read ? (float)s.h[j] : 0;
        if (call->magnitude) call->magnitude[element] = is_read ? (float)fmin(s.h_error[j], FLT_MAX) : 0;
      }
    }
  }
  return ATTN2C_OK;
}

/* The layers that pairs go through. */
typedef struct {
  const float *weight, *out;
  int64_t width, hidden, scores;
} layers;

/* Returns number j of the first layer's result for a word and a label, after its relu. */
static gate hidden_of(const layers *of, const float *word, const float *label, int64_t j) {
  double sum = of->weight[3 * of->width * of->hidden + j], absolutes = fabs(sum);
  for (int64_t k = 0; k < 3 * of->width; k++) {
    const int64_t at = k % of->width;
    const double x = k < of->width       ? (double)word[at]
                     : k < 2 * of->width ? (double)label[at]
                                         : (double)word[of->width + at] * (double)label[of->width + at];
    const double term = x * (double)of->weight[k * of->hidden + j];
    sum += term, absolutes += fabs(term);
  }
  const double error = 4 * sqrt(3.0 * (double)of->width + 2) * ROUNDOFF * absolutes;
  return sum > 0 ? (gate){sum, error} : (gate){0, fmax(0, sum + error)};
}

static gate score_of(const layers *of, const gate *hidden, int64_t s) {
  double sum = of->out[of->hidden * of->scores + s], absolutes = fabs(sum), squares = 0;
  for (int64_t j = 0; j < of->hidden; j++) {
    const double w = of->out[j * of->scores + s], term = w * hidden[j].value;
    sum += term, absolutes += fabs(term), squares += w * w * hidden[j].error * hidden[j].error;
  }
  const double rounding = 4 * sqrt((double)of->hidden + 1) * ROUNDOFF * absolutes;
  return (gate){sum, sqrt(squares + rounding * rounding)};
}

/* y[i][c] = (relu((x', l', x" l", 1) W), 1) out, for the halves of row i of x, with marks[i] = 1, and of the
 * c-th row of labels with marks = 2 magnitude: the error that y may have */
int attn2c_reference_match_labels(const attn2c_reference_call *call) {
  const int64_t most = attn2c_reference_count(call, "most", 1);
  attn2c_reference_sizes n = {['m'] = most, ['t'] = 2};
  if (!attn2c_reference_fits(call, "br(tw), br(tw), ih, os, br, b -> br(ms)", n) ||
      n['i'] != 3 * n['w'] + 1 || n['o'] != n['h'] + 1)
    return ATTN2C_USAGE;
  const int64_t rows = n['r'], cols = most * n['s'];
  if (!attn2c_reference_lengths(call, 5, n['b'], 0, rows)) return ATTN2C_FORMAT;
  const float *x = call->in[0], *labels = call->in[1];
  const layers of = {call->in[2], call->in[3], n['w'], n['h'], n['s']};
  const int32_t *marks = call->in[4], *lengths = call->in[5];
  float *y = call->out;
  gate *hidden = calloc((size_t)of.hidden + 1, sizeof *hidden);
  if (!hidden) return ATTN2C_MEMORY;
  memset(y, 0, (size_t)(n['b'] * rows * cols) * sizeof *y);
  if (call->magnitude) memset(call->magnitude, 0, (size_t)(n['b'] * rows * cols) * sizeof *y);
  for (int64_t word = 0; word < n['b'] * rows; word++) {
    const int64_t first = word / rows * rows, end = first + (lengths ? lengths[word / rows] : rows);
    if (word >= end || marks[word] != 1) continue;
    int64_t to = word * cols;
    for (int64_t label = first; label < end && to < (word + 1) * cols; label++) {
      if (marks[label] != 2) continue;
      for (int64_t j = 0; j < of.hidden; j++)
        hidden[j] = hidden_of(&of, x + word * 2 * of.width, labels + label * 2 * of.width, j);
      for (int64_t s = 0; s < of.scores; s++, to++) {
        const gate score = score_of(&of, hidden, s);
        y[to] = (float)score.value;
        if (call->magnitude) call->magnitude[to] = (float)fmin(score.error, FLT_MAX);
      }
    }
  }
  free(hidden);
  return ATTN2C_OK;
}
