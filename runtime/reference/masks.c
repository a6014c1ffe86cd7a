/* masks.c - the reference of ops that apply the caller's arrays to scores, or turn scores into
 * weights. It also has the ops that turn weights into outputs. A masked score, -inf, stays -inf, and its
 * weight is 0. */
#include "reference/ops.h"

#include <float.h>
#include <math.h>

/* The dimensions of scores, and of an array that covers their first columns. */
typedef struct {
  int64_t batch, heads, queries, keys;
  int shape; /* of the array: 0 [batch][columns], 1 [queries][columns], 2 [batch][heads][queries][columns] */
  int64_t columns;
} spread;

static int read_spread(const attn2c_reference_call *call, spread *over) {
  static const char *const shapes[] = {"bhqk, bc -> bhqk", "bhqk, qc -> bhqk", "bhqk, bhqc -> bhqk"};
  const int64_t shape = attn2c_reference_count(call, "shape", -1);
  attn2c_reference_sizes n = {0};
  if (shape < 0 || shape > 2) return attn2c_reference_fault(call, "shape must be 0, 1 or 2");
  if (!attn2c_reference_fits(call, shapes[shape], n)) return ATTN2C_USAGE;
  *over = (spread){n['b'], n['h'], n['q'], n['k'], (int)shape, n['c']};
  if (over->columns <= over->keys) return ATTN2C_OK;
  return attn2c_reference_fault(call, "the array must have at most the columns of all keys");
}

/* Returns the index of the array's element for row r of the scores and column j < columns. */
static int64_t element_of(const spread *over, int64_t r, int64_t j) {
  int64_t row = over->shape == 0   ? r / (over->heads * over->queries)
                : over->shape == 1 ? r % over->queries
                                   : r;
  return row * over->columns + j;
}

/* y = s + array, over the array's columns */
int attn2c_reference_add_array(const attn2c_reference_call *call) {
  spread over;
  ATTN2C_TRY(read_spread(call, &over));
  const float *s = call->in[0], *array = call->in[1];
  float *y = call->out;
  for (int64_t r = 0; r < over.batch * over.heads * over.queries; r++)
    for (int64_t j = 0; j < over.keys; j++) {
      float from = s[r * over.keys + j];
      int adds = j < over.columns && from != -INFINITY;
      y[r * over.keys + j] = adds ? (float)((double)from + (double)array[element_of(&over, r, j)]) : from;
    }
  return ATTN2C_OK;
}

/* y = -inf, or s + value if the op has a value, where the array is not 0. With `keeps`, where it is 0. value
 * is the emitted code's constant, a float. */
int attn2c_reference_block_array(const attn2c_reference_call *call) {
  spread over;
  ATTN2C_TRY(read_spread(call, &over));
  double value = (float)attn2c_number(call->op, "value", -INFINITY);
  const int keeps = attn2c_number(call->op, "keeps", 0) != 0;
  const float *s = call->in[0];
  const int32_t *array = call->in[1];
  float *y = call->out;
  for (int64_t r = 0; r < over.batch * over.heads * over.queries; r++)
    for (int64_t j = 0; j < over.keys; j++) {
      float from = s[r * over.keys + j];
      int blocks = j < over.columns && from != -INFINITY && (array[element_of(&over, r, j)] != 0) != keeps;
      if (!blocks)
        y[r * over.keys + j] = from;
      else
        /* A blocked score is not a sum, so that a NaN also becomes -inf. */
        y[r * over.keys + j] = value == -INFINITY ? -INFINITY : (float)((double)from + value);
    }
  return ATTN2C_OK;
}

/* y = s + value where offset + lengths[b] <= j < keys - extra. value is the emitted code's constant, a float.
 */
int attn2c_reference_add_length(const attn2c_reference_call *call) {
  const int64_t batch = call->n['b'], keys = call->n['k'], rows = batch * call->n['h'] * call->n['q'];
  const int64_t extra = attn2c_reference_count(call, "extra", 0);
  const int64_t offset = attn2c_reference_count(call, "offset", 0);
  if (extra < 0 || extra > keys || offset < 0)
    return attn2c_reference_fault(call, "offset must be a count, and extra a number of keys");
  double value = (float)attn2c_number(call->op, "value", NAN);
  if (isnan(value)) return attn2c_reference_fault(call, "value must be given");
  if (!attn2c_reference_lengths(call, 1, batch, 0, keys - extra - offset)) return ATTN2C_FORMAT;
  const float *s = call->in[0];
  const int32_t *lengths = call->in[1];
  float *y = call->out;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < keys; j++) {
      float from = s[r * keys + j];
      int adds = j >= offset + lengths[r / (rows / batch)] && j < keys - extra && from != -INFINITY;
      y[r * keys + j] = adds ? (float)((double)from + value) : from;
    }
  return ATTN2C_OK;
}

/* True if element e of the call's scores is that of a key that its query does not see. */
static int is_hidden(const attn2c_reference_hiding *by, const attn2c_reference_call *call, int64_t e) {
  const int64_t *shape = attn2c_reference_result(call)->shape, queries = shape[2], keys = shape[3];
  const int64_t row = e / keys;
  return attn2c_reference_hides(*by, keys, row / (shape[1] * queries), row % queries, e % keys);
}

/* y = cap tanh(s / cap). The score of a key that the query does not see stays -inf; another score of -inf
 * becomes -cap. cap is the emitted code's constant, a float. */
int attn2c_reference_softcap(const attn2c_reference_call *call) {
  double cap = (float)attn2c_number(call->op, "cap", NAN);
  if (!(cap > 0)) return attn2c_reference_fault(call, "cap must be positive");
  const float *s = call->in[0];
  float *y = call->out;
  attn2c_reference_hiding by;
  const int has_mask = attn2c_reference_hiding_of(call, &by);
  int64_t count = call->n['*'];
  for (int64_t e = 0; e < count; e++)
    y[e] = has_mask && is_hidden(&by, call, e) ? s[e] : (float)(cap * tanh((double)s[e] / cap));
  return ATTN2C_OK;
}

/* y = scale s, with relu max(scale s, 0), and 0 where s is -inf. scale: the emitted float. */
int attn2c_reference_weigh(const attn2c_reference_call *call) {
  double scale = (float)attn2c_number(call->op, "scale", 1);
  int relu = attn2c_number(call->op, "relu", 0) != 0;
  const float *s = call->in[0];
  float *y = call->out;
  int64_t count = attn2c_elements(attn2c_reference_result(call));
  for (int64_t e = 0; e < count; e++) {
    float weight = s[e] == -INFINITY ? 0 : (float)(scale * (double)s[e]);
    y[e] = relu && weight < 0 ? 0 : weight; /* NaN stays NaN */
  }
  return ATTN2C_OK;
}

/* y[b][h] = w[b][h] mask[layer][h] */
int attn2c_reference_head_scale(const attn2c_reference_call *call) {
  const int64_t heads = call->n['h'], block = call->n['q'] * call->n['k'];
  const int64_t layer = attn2c_reference_count(call, "layer", 0);
  if (layer < 0 || layer >= call->n['l']) return attn2c_reference_fault(call, "the mask must have the layer");
  const float *w = call->in[0];
  const float *mask = (const float *)call->in[1] + layer * heads;
  float *y = call->out;
  for (int64_t e = 0; e < call->n['b'] * heads * block; e++)
    y[e] = (float)((double)w[e] * (double)mask[e / block % heads]);
  return ATTN2C_OK;
}

/* y[b][i][j] = sum over h of w[b][h][i][j] / heads; magnitude: sum over h of |w| */
int attn2c_reference_mean_heads(const attn2c_reference_call *call) {
  const int64_t heads = call->n['h'], block = call->n['q'] * call->n['k'];
  const float *w = call->in[0];
  float *y = call->out;
  for (int64_t e = 0; e < call->n['b'] * block; e++) {
    double sum = 0, absolutes = 0;
    for (int64_t h = 0; h < heads; h++) {
      double weight = w[(e / block * heads + h) * block + e % block];
      sum += weight;
      absolutes += fabs(weight);
    }
    y[e] = (float)(sum / (double)heads);
    if (call->magnitude) call->magnitude[e] = (float)fmin(absolutes, FLT_MAX);
  }
  return ATTN2C_OK;
}
