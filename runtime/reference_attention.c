/* reference_attention.c - the reference of attention: scores, softmax and context. A key that is masked has
 * the score -inf and the weight 0, and its value is never read, so that not even a NaN in it gets out. */
#include "reference_ops.h"

#include <float.h>
#include <math.h>

/* The sizes that scores and context share. */
typedef struct {
  int64_t batch, heads, queries, keys, head_width;
  attn2c_reference_mask mask;
} sizes;

static int64_t keys_seen(const int32_t *lengths, int64_t b, int64_t keys) {
  return lengths ? lengths[b] : keys;
}

/* Verifies the result or operand `square` [batch][heads][queries][keys] against rows [batch][..][heads *
 * width]. */
static int read_sizes(const attn2c_reference_call *call, const attn2c_tensor *square,
                      const attn2c_tensor *query_rows, const attn2c_tensor *key_rows, sizes *size) {
  double heads = attn2c_number(call->op, "heads", 0);
  if (!(heads >= 1) || heads > (double)INT32_MAX)
    return attn2c_reference_fault(call, "heads must be at least 1");
  if (square->rank != 4 || query_rows->rank != 3 || key_rows->rank != 3)
    return attn2c_reference_fault(
        call, "needs [batch][heads][queries][keys] and [batch][sequence][heads * head width]");
  *size = (sizes){square->shape[0],
                  (int64_t)heads,
                  square->shape[2],
                  square->shape[3],
                  key_rows->shape[2] / (int64_t)heads,
                  attn2c_reference_mask_of(call->op)};
  if (square->shape[1] != size->heads || key_rows->shape[2] != size->heads * size->head_width ||
      query_rows->shape[2] != key_rows->shape[2])
    return attn2c_reference_fault(call, "the last dimension must be heads times the head width");
  if (query_rows->shape[0] != size->batch || key_rows->shape[0] != size->batch ||
      query_rows->shape[1] != size->queries || key_rows->shape[1] != size->keys)
    return attn2c_reference_fault(call, "batch, number of queries and number of keys must agree");
  const attn2c_tensor *lengths = attn2c_reference_operand(call, 2);
  if (lengths && (lengths->rank != 1 || lengths->shape[0] != size->batch))
    return attn2c_reference_fault(call, "the lengths must be [batch]");
  return attn2c_reference_lengths(call, 2, size->batch, 0, size->keys) ? ATTN2C_OK : ATTN2C_FORMAT;
}

/* s[b][h][i][j] = sum over c of q[b][i][h][c] k[b][j][h][c], and -inf where key j is masked for query i:
 * causal: j > i;  left: j < i - left;  right: j > i + right;  lengths: j >= lengths[b] */
int attn2c_reference_scores(const attn2c_reference_call *call) {
  const attn2c_tensor *q_shape = attn2c_reference_operand(call, 0),
                      *k_shape = attn2c_reference_operand(call, 1);
  sizes size;
  int status = read_sizes(call, attn2c_reference_result(call), q_shape, k_shape, &size);
  if (status != ATTN2C_OK) return status;
  const float *q = attn2c_reference_values(call, 0), *k = attn2c_reference_values(call, 1);
  const int32_t *lengths = attn2c_reference_values(call, 2);
  float *s = call->tensors[call->op->result], *magnitude = call->magnitude;
  int64_t row = size.heads * size.head_width, element = 0;
  for (int64_t b = 0; b < size.batch; b++)
    for (int64_t h = 0; h < size.heads; h++)
      for (int64_t i = 0; i < size.queries; i++)
        for (int64_t j = 0; j < size.keys; j++, element++) {
          const float *query = q + (b * size.queries + i) * row + h * size.head_width;
          const float *key = k + (b * size.keys + j) * row + h * size.head_width;
          double sum = 0, absolutes = 0;
          int masked = attn2c_reference_masked(size.mask, i, j) || j >= keys_seen(lengths, b, size.keys);
          for (int64_t c = 0; c < size.head_width && !masked; c++) {
            double term = (double)query[c] * (double)key[c];
            sum += term;
            absolutes += fabs(term);
          }
          s[element] = masked ? -INFINITY : (float)sum;
          if (magnitude) magnitude[element] = (float)fmin(absolutes, FLT_MAX);
        }
  return ATTN2C_OK;
}

/* p[j] = exp(scale (s[j] - max)) / sum over j of the same, over the last dimension; a row of only -inf gives
 * zeros, and a row with a NaN gives NaN. scale is the emitted code's constant, a float. */
int attn2c_reference_softmax(const attn2c_reference_call *call) {
  const attn2c_tensor *s_shape = attn2c_reference_operand(call, 0), *p_shape = attn2c_reference_result(call);
  if (s_shape->rank != p_shape->rank || !attn2c_reference_same(s_shape, p_shape, s_shape->rank))
    return attn2c_reference_fault(call, "operand and result must have the same shape");
  double scale = (float)attn2c_number(call->op, "scale", 1);
  if (!(scale > 0)) return attn2c_reference_fault(call, "scale must be positive");
  int64_t rows = attn2c_reference_rows(s_shape), width = attn2c_reference_width(s_shape);
  for (int64_t r = 0; r < rows; r++) {
    const float *s = (const float *)attn2c_reference_values(call, 0) + r * width;
    float *p = (float *)call->tensors[call->op->result] + r * width;
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < width; j++)
      if (isnan(s[j]) || s[j] > max) max = s[j];
    for (int64_t j = 0; j < width; j++) sum += exp(scale * (s[j] - max));
    for (int64_t j = 0; j < width; j++)
      p[j] = max == -INFINITY ? 0 : (float)(exp(scale * (s[j] - max)) / sum);
  }
  return ATTN2C_OK;
}

/* c[b][i][h][d] = sum over the keys j that query i sees of p[b][h][i][j] v[b][j][h][d] */
int attn2c_reference_context(const attn2c_reference_call *call) {
  const attn2c_tensor *p_shape = attn2c_reference_operand(call, 0),
                      *v_shape = attn2c_reference_operand(call, 1);
  sizes size;
  int status = read_sizes(call, p_shape, attn2c_reference_result(call), v_shape, &size);
  if (status != ATTN2C_OK) return status;
  const float *p = attn2c_reference_values(call, 0), *v = attn2c_reference_values(call, 1);
  const int32_t *lengths = attn2c_reference_values(call, 2);
  float *c = call->tensors[call->op->result], *magnitude = call->magnitude;
  int64_t row = size.heads * size.head_width;
  for (int64_t b = 0; b < size.batch; b++)
    for (int64_t i = 0; i < size.queries; i++)
      for (int64_t d = 0; d < row; d++) {
        const float *weights = p + ((b * size.heads + d / size.head_width) * size.queries + i) * size.keys;
        double sum = 0, absolutes = 0;
        for (int64_t j = 0; j < keys_seen(lengths, b, size.keys); j++) {
          if (attn2c_reference_masked(size.mask, i, j)) continue;
          double term = (double)weights[j] * (double)v[(b * size.keys + j) * row + d];
          sum += term;
          absolutes += fabs(term);
        }
        c[(b * size.queries + i) * row + d] = (float)sum;
        if (magnitude) magnitude[(b * size.queries + i) * row + d] = (float)fmin(absolutes, FLT_MAX);
      }
  return ATTN2C_OK;
}
