/* recurrent.c - the reference of an LSTM over the rows of a sequence, and the error that its rows may have.
 */
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
  const float *x = attn2c_reference_values(call, 0), *weight = attn2c_reference_values(call, 1);
  const int32_t *lengths = attn2c_reference_values(call, 2), *marks = attn2c_reference_values(call, 3);
  float *y = call->tensors[call->op->result];
  double *memory = calloc((size_t)(6 * width), sizeof *memory);
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
  free(memory);
  return ATTN2C_OK;
}
