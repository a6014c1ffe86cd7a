/* attention.c - the reference of attention: scores, additive_scores, softmax and context. A masked
 * key has the score -inf and the weight 0, and its value is never read, so that a NaN in it has no effect. */
#include "reference/ops.h"

#include <float.h>
#include <math.h>

/* True if query i of sequence b does not see key j. */
static int is_masked(const attn2c_reference_attention *size, int64_t b, int64_t i, int64_t j) {
  return attn2c_reference_hides(size->by, size->keys, b, i, j);
}

/* Returns the op of the call's entry whose result is the call's first operand, or what that is made of by ops
 * that turn scores into scores; NULL if none makes scores. */
static const attn2c_op *maker_of_scores(const attn2c_reference_call *call) {
  const attn2c_descriptor *model = call->model;
  for (int e = 0; e < model->entry_count; e++) {
    const attn2c_op *first = model->entries[e].ops, *op = call->op;
    if (op < first || op >= first + model->entries[e].op_count) continue;
    for (const attn2c_op *before = op; before-- > first && op->role == ATTN2C_SCORES_TO_SCORES;)
      if (before->result == op->operands[0]) op = before;
    return op->role == ATTN2C_MAKES_SCORES ? op : NULL;
  }
  return NULL;
}

int attn2c_reference_hiding_of(const attn2c_reference_call *call, attn2c_reference_hiding *by) {
  const attn2c_op *scores = maker_of_scores(call);
  if (!scores) return 0;
  *by = (attn2c_reference_hiding){attn2c_reference_mask_of(scores), NULL};
  for (int position = 0; position < ATTN2C_MAX_OPERANDS; position++) {
    const int operand = scores->operands[position]; /* the lengths are the only integers */
    if (operand >= 0 && call->model->tensors[operand].type == ATTN2C_I32)
      by->lengths = call->tensors[operand];
  }
  return 1;
}

/* Returns the head of the keys and values for head h of the queries. */
static int64_t key_head(const attn2c_reference_attention *size, int64_t h) {
  return h / (size->heads / size->key_heads);
}

int attn2c_reference_attention_of(const attn2c_reference_call *call, const char *shapes, int64_t key_heads,
                                  int lengths, attn2c_reference_attention *of) {
  const attn2c_reference_mask mask = attn2c_reference_mask_of(call->op);
  attn2c_reference_sizes n = {['h'] = attn2c_reference_count(call, "heads", 0), ['g'] = key_heads};
  if (n['h'] < 1) return attn2c_reference_fault(call, "heads must be at least 1");
  if (!attn2c_reference_fits(call, shapes, n)) return ATTN2C_USAGE;
  if (n['g'] < 1 || n['h'] % n['g'] != 0)
    return attn2c_reference_fault(call, "the heads of keys must be a divisor of the heads");
  if (attn2c_reference_count(call, "prefix", 0) < 0 || attn2c_reference_count(call, "offset", 0) < 0 ||
      attn2c_reference_count(call, "extra", 0) < 0 || mask.extra > n['k'])
    return attn2c_reference_fault(call, "prefix and offset must be counts, and extra one of keys");
  *of = (attn2c_reference_attention){n['b'], n['h'], n['g'], n['q'], n['k'], n['d'], {mask, NULL}};
  if (lengths < 0) return ATTN2C_OK;
  of->by.lengths = call->in[lengths];
  return attn2c_reference_lengths(call, lengths, of->batch, 0, of->keys - mask.extra - mask.offset)
             ? ATTN2C_OK
             : ATTN2C_FORMAT;
}

/* Checks operand `position`, the scales of integers, one a head of each row of keys; NULL: floats. */
static int check_scales(const attn2c_reference_call *call, const attn2c_reference_attention *size,
                        int position) {
  const attn2c_tensor *scale = attn2c_reference_operand(call, position);
  if (scale && attn2c_elements(scale) != size->batch * size->keys * size->key_heads)
    return attn2c_reference_fault(call, "needs a scale a head of each row of keys");
  return ATTN2C_OK;
}

/* Returns x, or as an integer times its scale, which is a float. A scale that is not finite makes NaN. */
static float scaled(float x, const float *scale, int64_t at) {
  if (!scale) return x;
  return isfinite(scale[at]) ? x * scale[at] : NAN;
}

/* Returns the sum over c of q[c] k[c], or with v of v[c] tanh(q[c] + k[c]). scale: of k, or NULL. magnitude
 * gets the sum of the absolute values. */
static double score(const float *q, const float *k, const float *scale, const float *v, int64_t width,
                    double *magnitude) {
  double sum = 0, absolutes = 0;
  for (int64_t c = 0; c < width; c++) {
    double key = (double)scaled(k[c], scale, 0);
    double term = v ? (double)v[c] * tanh((double)q[c] + key) : (double)q[c] * key;
    sum += term;
    absolutes += fabs(term);
  }
  *magnitude = absolutes;
  return sum;
}

/* Computes each pair's score, and -inf if key j is masked for query i. The query is at offset + i. Masked
 * are: causal: j > offset + i; left: j < offset + i - left; right: j > offset + i + right; lengths: j >=
 * offset + lengths[b]. Keys j < prefix are masked by lengths only, and the last `extra` keys are never
 * masked. scale [batch][keys][key heads] of integers, v [heads][width] of additive scores, else NULL. */
static int fill_scores(const attn2c_reference_call *call, const attn2c_reference_attention *size,
                       const float *scale, const float *v) {
  const float *q = call->in[0], *k = call->in[1];
  float *s = call->out, *magnitude = call->magnitude;
  int64_t width = size->width, element = 0;
  for (int64_t b = 0; b < size->batch; b++)
    for (int64_t h = 0; h < size->heads; h++)
      for (int64_t i = 0; i < size->queries; i++)
        for (int64_t j = 0; j < size->keys; j++, element++) {
          const float *query = q + ((b * size->queries + i) * size->heads + h) * width;
          const int64_t row = (b * size->keys + j) * size->key_heads + key_head(size, h);
          const float *key = k + row * width, *of_key = scale ? scale + row : NULL;
          int masked = is_masked(size, b, i, j);
          double absolutes = 0;
          s[element] = masked ? -INFINITY
                              : (float)score(query, key, of_key, v ? v + h * width : NULL, width, &absolutes);
          if (magnitude) magnitude[element] = (float)fmin(absolutes, FLT_MAX);
        }
  return ATTN2C_OK;
}

/* s[b][h][i][j] = sum over c of q[b][i][h][c] k[b][j][key head of h][c], k times the scale of its row's head
 * if there is one */
int attn2c_reference_scores(const attn2c_reference_call *call) {
  attn2c_reference_attention size;
  int status = attn2c_reference_attention_of(call, "bq(hd), bk(gd), b -> bhqk", 0, 2, &size);
  if (status == ATTN2C_OK) status = check_scales(call, &size, 3);
  return status != ATTN2C_OK ? status : fill_scores(call, &size, call->in[3], NULL);
}

/* s[b][h][i][j] = sum over c of v[h][c] tanh(q[b][i][h][c] + k[b][j][key head of h][c]) (Bahdanau et al.
 * 2015, appendix A.1.2) */
int attn2c_reference_additive_scores(const attn2c_reference_call *call) {
  attn2c_reference_attention size;
  ATTN2C_TRY(attn2c_reference_attention_of(call, "bq(hd), bk(gd), hd, b -> bhqk", 0, 3, &size));
  return fill_scores(call, &size, NULL, call->in[2]);
}

/* p[j] = exp(scale (s[j] - max)) / sum over j of the same. A row of only -inf gives zeros, or NaN with
 * fully_masked_nan, and a row with a NaN gives NaN. scale is the emitted code's constant, a float. */
int attn2c_reference_softmax(const attn2c_reference_call *call) {
  const attn2c_tensor *s_shape = attn2c_reference_operand(call, 0);
  double scale = (float)attn2c_number(call->op, "scale", 1);
  if (!(scale > 0)) return attn2c_reference_fault(call, "scale must be positive");
  float none = attn2c_number(call->op, "fully_masked_nan", 0) != 0 ? NAN : 0;
  int64_t rows = call->n['*'], width = call->n['w'];
  const float *sinks = call->in[1];
  const int64_t heads = s_shape->shape[1], queries = s_shape->shape[2];
  if (sinks && attn2c_elements(attn2c_reference_operand(call, 1)) != heads)
    return attn2c_reference_fault(call, "there must be a sink for each head");
  for (int64_t r = 0; r < rows; r++) {
    const float *s = (const float *)call->in[0] + r * width;
    float *p = (float *)call->out + r * width;
    const double sink = sinks ? sinks[r / queries % heads] : -INFINITY;
    double max = sink / scale, sum = 0;
    for (int64_t j = 0; j < width; j++)
      if (isnan(s[j]) || s[j] > max) max = s[j];
    if (sinks) sum = exp(sink - scale * max);
    for (int64_t j = 0; j < width; j++) sum += exp(scale * (s[j] - max));
    for (int64_t j = 0; j < width; j++)
      p[j] = max == -INFINITY ? none : (float)(exp(scale * (s[j] - max)) / sum);
  }
  return ATTN2C_OK;
}

/* c[b][i][h][d] = sum over the keys j that query i sees of p[b][h][i][j] v[b][j][key head of h][d], v times
 * the scale of its row's head if there is one. With
 * `nonzero` it skips keys whose weight is 0, so that a NaN in their values has no effect. A query that sees
 * no key gets 0, or NaN with fully_masked_nan. */
int attn2c_reference_context(const attn2c_reference_call *call) {
  attn2c_reference_attention size;
  ATTN2C_TRY(attn2c_reference_attention_of(call, "bhqk, bk(gd), b -> bq(hd)",
                                           attn2c_reference_key_heads(call), 2, &size));
  ATTN2C_TRY(check_scales(call, &size, 3));
  int nonzero = attn2c_number(call->op, "nonzero", 0) != 0;
  double none = attn2c_number(call->op, "fully_masked_nan", 0) != 0 ? NAN : 0;
  const float *p = call->in[0], *v = call->in[1], *scale = call->in[3];
  float *c = call->out, *magnitude = call->magnitude;
  int64_t row = size.heads * size.width, value_row = size.key_heads * size.width;
  for (int64_t b = 0; b < size.batch; b++)
    for (int64_t i = 0; i < size.queries; i++)
      for (int64_t e = 0; e < row; e++) {
        int64_t h = e / size.width, d = e % size.width;
        const float *weights = p + ((b * size.heads + h) * size.queries + i) * size.keys;
        const float *values = v + b * size.keys * value_row + key_head(&size, h) * size.width + d;
        double sum = 0, absolutes = 0;
        int seen = 0;
        for (int64_t j = 0; j < size.keys; j++) {
          if (is_masked(&size, b, i, j)) continue;
          seen = 1;
          if (nonzero && weights[j] == 0) continue;
          const int64_t of_key = (b * size.keys + j) * size.key_heads + key_head(&size, h);
          double term = (double)weights[j] * (double)scaled(values[j * value_row], scale, of_key);
          sum += term;
          absolutes += fabs(term);
        }
        c[(b * size.queries + i) * row + e] = (float)(seen ? sum : none);
        if (magnitude) magnitude[(b * size.queries + i) * row + e] = (float)fmin(absolutes, FLT_MAX);
      }
  return ATTN2C_OK;
}
