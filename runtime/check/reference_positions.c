/* reference_positions.c - the reference of positions: rotated queries and keys, and numbers per distance in
 * scores. A masked score, -inf, stays -inf. */
#include "check/reference_ops.h"

#include <float.h>
#include <math.h>

/* Rotates the first R of each head's dimensions by the row's angles. They are R/2 pairs (x1, x2), which
 * become (x1 cos - x2 sin, x2 cos + x1 sin); the others stay. `row`: that of the angles of all rows. pairs 0:
 * d and d + R/2 are partners; 1: 2d and 2d + 1. magnitude: |x1 cos| + |x2 sin|, |x2 cos| + |x1 sin|; 0 for
 * the others */
int attn2c_reference_rotate(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  int64_t heads = attn2c_reference_count(call, "heads", 0);
  if (heads < 1) return attn2c_reference_fault(call, "heads must be at least 1");
  if (x_shape->rank != 3 || y_shape->rank != 3 || !attn2c_reference_same(x_shape, y_shape, 3) ||
      x_shape->shape[2] % heads != 0)
    return attn2c_reference_fault(call,
                                  "operand and result must both be [batch][sequence][heads * head width]");
  int64_t sequence = x_shape->shape[1], width = x_shape->shape[2] / heads, half = 0;
  const int64_t of_all = attn2c_reference_count(call, "row", -1);
  for (int position = 1; position <= 2; position++) {
    const attn2c_tensor *shape = attn2c_reference_operand(call, position);
    if (position == 1) half = attn2c_reference_width(shape);
    if (shape->rank != 2 || (of_all < 0 ? shape->shape[0] != sequence : shape->shape[0] <= of_all) ||
        shape->shape[1] != half || 2 * half > width)
      return attn2c_reference_fault(call,
                                    "cosines and sines must be [sequence][half of at most the head width]");
  }
  int pairs = attn2c_number(call->op, "pairs", 0) != 0;
  const float *cosines = attn2c_reference_values(call, 1), *sines = attn2c_reference_values(call, 2);
  int64_t blocks = x_shape->shape[0] * sequence * heads;
  for (int64_t block = 0; block < blocks; block++) {
    const float *x = (const float *)attn2c_reference_values(call, 0) + block * width;
    float *y = (float *)call->tensors[call->op->result] + block * width;
    float *magnitude = call->magnitude ? call->magnitude + block * width : NULL;
    int64_t row = of_all < 0 ? block / heads % sequence : of_all;
    for (int64_t d = 0; d < half; d++) {
      int64_t first = pairs ? 2 * d : d, second = pairs ? 2 * d + 1 : d + half;
      double x1 = x[first], x2 = x[second], c = cosines[row * half + d], s = sines[row * half + d];
      y[first] = (float)(x1 * c - x2 * s);
      y[second] = (float)(x2 * c + x1 * s);
      if (!magnitude) continue;
      magnitude[first] = (float)fmin(fabs(x1 * c) + fabs(x2 * s), FLT_MAX);
      magnitude[second] = (float)fmin(fabs(x2 * c) + fabs(x1 * s), FLT_MAX);
    }
    for (int64_t d = 2 * half; d < width; d++) {
      y[d] = x[d];
      if (magnitude) magnitude[d] = 0;
    }
  }
  return ATTN2C_OK;
}

/* True if operand 0 and the result are both [batch][heads][queries][keys], and `extra` is a number of
 * keys. */
static int are_scores(const attn2c_reference_call *call) {
  const attn2c_tensor *s_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  int64_t extra = attn2c_reference_count(call, "extra", 0);
  return s_shape->rank == 4 && y_shape->rank == 4 && attn2c_reference_same(s_shape, y_shape, 4) &&
         extra >= 0 && extra <= s_shape->shape[3];
}

/* Rows of a table by distance: that of D = query - key is row `zero` + sign D of the `rows` that each of
 * `heads` heads has. */
typedef struct {
  int64_t heads, rows, zero;
  int sign;
} by_distance;

/* True if the rows of x are heads, or a divisor of them, times the table's width. */
static int are_rows_of_heads(const attn2c_tensor *x, int64_t heads, int64_t width, int of_keys) {
  const int64_t x_heads = width > 0 ? x->shape[2] / width : 0;
  return x_heads >= 1 && x_heads * width == x->shape[2] && heads % x_heads == 0 &&
         (of_keys || x_heads == heads);
}

/* Adds to the score of query i and key j the product of row i of the queries, or, with the attribute `keys`,
 * row j of the keys, of the head that it looks at, with the table's row for i + offset - j. The last `extra`
 * columns stay. magnitude: |s| + sum of |x table| */
static int add_by_distance(const attn2c_reference_call *call, by_distance table_of) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 1),
                      *table_shape = attn2c_reference_operand(call, 2);
  const attn2c_tensor *s_shape = attn2c_reference_operand(call, 0);
  const int64_t batch = s_shape->shape[0], heads = s_shape->shape[1], queries = s_shape->shape[2],
                keys = s_shape->shape[3], width = table_shape->shape[1];
  const int64_t extra = attn2c_reference_count(call, "extra", 0),
                offset = attn2c_reference_count(call, "offset", 0);
  const int of_keys = attn2c_number(call->op, "keys", 0) != 0;
  if (x_shape->rank != 3 || x_shape->shape[0] != batch || x_shape->shape[1] != (of_keys ? keys : queries))
    return attn2c_reference_fault(call, "the second operand must be [batch][queries or keys][heads * width]");
  if (!are_rows_of_heads(x_shape, heads, width, of_keys))
    return attn2c_reference_fault(call,
                                  "the rows must be heads, or a divisor of them, times the table's width");
  const int64_t own = keys - extra; /* columns to which something is added */
  const int64_t after = queries - 1 + offset, before = own - 1 - offset;
  const int64_t up = table_of.sign > 0 ? after : before, down = table_of.sign > 0 ? before : after;
  if (offset < 0 ||
      (own > 0 && queries > 0 && (table_of.zero + up >= table_of.rows || table_of.zero - down < 0)))
    return attn2c_reference_fault(call, "the table does not reach every distance");
  const float *s = attn2c_reference_values(call, 0), *x = attn2c_reference_values(call, 1);
  const float *table = attn2c_reference_values(call, 2);
  float *y = call->tensors[call->op->result];
  const int64_t x_heads = x_shape->shape[2] / width;
  int64_t element = 0;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t h = 0; h < heads; h++)
      for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++, element++) {
          double sum = s[element], absolutes = fabs(sum);
          const int adds = j < own && s[element] != -INFINITY;
          const int64_t row = (of_keys ? b * keys + j : b * queries + i) * x_heads + h / (heads / x_heads);
          const int64_t entry =
              h / (heads / table_of.heads) * table_of.rows + table_of.zero + table_of.sign * (i + offset - j);
          for (int64_t d = 0; d < width && adds; d++) {
            const double term = (double)x[row * width + d] * (double)table[entry * width + d];
            sum += term;
            absolutes += fabs(term);
          }
          y[element] = (float)sum;
          if (call->magnitude) call->magnitude[element] = adds ? (float)fmin(absolutes, FLT_MAX) : 0;
        }
  return ATTN2C_OK;
}

/* y[b][h][i][j] = s[b][h][i][j] + sum over d of x[..][d] table[i + offset - j + M - 1][d], table [2M - 1][d]
 * (Shaw et al. 2018; Huang et al. 2020, methods 3 and 4) */
int attn2c_reference_add_relative(const attn2c_reference_call *call) {
  const attn2c_tensor *table = attn2c_reference_operand(call, 2);
  if (!are_scores(call))
    return attn2c_reference_fault(call, "operand and result must be the same [batch][heads][queries][keys]");
  if (table->rank != 2 || table->shape[0] % 2 != 1)
    return attn2c_reference_fault(call, "the table must be [2 M - 1][head width]");
  return add_by_distance(call, (by_distance){1, table->shape[0], (table->shape[0] - 1) / 2, 1});
}

/* y[b][h][i][j] = s[b][h][i][j] + sum over d of x[..][d] table[t][reach + D][d], with D = i + offset - j if x
 * is the keys, and j - i - offset if it is the queries. t is the head of the table that h looks at; table
 * [table_heads rows][d] (He et al. 2021, section 3) */
int attn2c_reference_add_disentangled(const attn2c_reference_call *call) {
  const attn2c_tensor *table = attn2c_reference_operand(call, 2);
  if (!are_scores(call))
    return attn2c_reference_fault(call, "operand and result must be the same [batch][heads][queries][keys]");
  const int64_t heads = attn2c_reference_operand(call, 0)->shape[1],
                table_heads = attn2c_reference_count(call, "table_heads", 0);
  if (table->rank != 2 || table_heads < 1 || table->shape[0] % table_heads != 0 || heads % table_heads != 0)
    return attn2c_reference_fault(call, "the table must be [heads of the table * rows][head width]");
  const int sign = attn2c_number(call->op, "keys", 0) != 0 ? 1 : -1;
  return add_by_distance(call, (by_distance){table_heads, table->shape[0] / table_heads,
                                             attn2c_reference_count(call, "reach", 0), sign});
}

/* y[b][h][i][j] = s[b][h][i][j] + table[h][j - i + queries - 1]; the last `extra` columns stay */
int attn2c_reference_add_distance(const attn2c_reference_call *call) {
  const attn2c_tensor *table_shape = attn2c_reference_operand(call, 1);
  if (!are_scores(call))
    return attn2c_reference_fault(call, "operand and result must be the same [batch][heads][queries][keys]");
  const attn2c_tensor *s_shape = attn2c_reference_operand(call, 0);
  int64_t heads = s_shape->shape[1], queries = s_shape->shape[2], keys = s_shape->shape[3];
  int64_t own = keys - attn2c_reference_count(call, "extra", 0);
  if (table_shape->rank != 2 || table_shape->shape[0] != heads ||
      (own > 0 && table_shape->shape[1] < queries + own - 1))
    return attn2c_reference_fault(call, "the table must be [heads][every distance of query and key]");
  const float *s = attn2c_reference_values(call, 0), *table = attn2c_reference_values(call, 1);
  float *y = call->tensors[call->op->result];
  int64_t rows = attn2c_reference_rows(s_shape);
  for (int64_t r = 0; r < rows; r++) {
    int64_t i = r % queries, h = r / queries % heads;
    for (int64_t j = 0; j < keys; j++) {
      float from = s[r * keys + j];
      double added = j < own ? table[h * table_shape->shape[1] + j - i + queries - 1] : 0;
      y[r * keys + j] = j >= own || from == -INFINITY ? from : (float)(from + added);
    }
  }
  return ATTN2C_OK;
}

/* y[h][d] = table[index[d]][h] */
int attn2c_reference_bucket_table(const attn2c_reference_call *call) {
  const attn2c_tensor *table_shape = attn2c_reference_operand(call, 0),
                      *index_shape = attn2c_reference_operand(call, 1);
  const attn2c_tensor *y_shape = attn2c_reference_result(call);
  if (table_shape->rank != 2 || index_shape->rank != 1 || y_shape->rank != 2 ||
      y_shape->shape[0] != table_shape->shape[1] || y_shape->shape[1] != index_shape->shape[0])
    return attn2c_reference_fault(
        call, "the table must be [buckets][heads], the index [distances], the result [heads][distances]");
  int64_t buckets = table_shape->shape[0], heads = table_shape->shape[1], distances = index_shape->shape[0];
  const float *table = attn2c_reference_values(call, 0), *index = attn2c_reference_values(call, 1);
  float *y = call->tensors[call->op->result];
  for (int64_t d = 0; d < distances; d++) {
    if (!(index[d] >= 0) || !(index[d] < (float)buckets) || index[d] != floorf(index[d]))
      return attn2c_fail(call->message, ATTN2C_FORMAT,
                         "%s: element %lld is %g, but must be a bucket from 0 to %lld", index_shape->name,
                         (long long)d, (double)index[d], (long long)buckets - 1);
    for (int64_t h = 0; h < heads; h++) y[h * distances + d] = table[(int64_t)index[d] * heads + h];
  }
  return ATTN2C_OK;
}
