/* integers.c - the reference of an attention in int8: keys less their mean, values with a scale a
 * column, scores and context of integers, and weights from 0 to 255. Integers are floats on the grid of their
 * type. */
#include "reference/ops.h"
#include "reference/types.h"

#include <float.h>
#include <math.h>

enum { LARGEST_WEIGHT = 255 };

/* The sizes of rows [batch][rows][width], and the lengths of the sequences, an operand, or NULL. */
typedef struct {
  int64_t batch, rows, width;
  const int32_t *lengths;
} sequences;

static int read_sequences(const attn2c_reference_call *call, int position, sequences *of) {
  *of = (sequences){call->n['b'], call->n['r'], call->n['w'], call->in[position]};
  return attn2c_reference_lengths(call, position, of->batch, 0, of->rows) ? ATTN2C_OK : ATTN2C_FORMAT;
}

static int64_t length_of(const sequences *of, int64_t b) { return of->lengths ? of->lengths[b] : of->rows; }

/* y[b][i][c] = x[b][i][c] - mean, over the sequence's rows, of x[b][.][c]
 * magnitude = |x| + |mean| + the sum of the absolute values that the mean is made of */
int attn2c_reference_centre(const attn2c_reference_call *call) {
  sequences of;
  ATTN2C_TRY(read_sequences(call, 1, &of));
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t b = 0; b < of.batch; b++)
    for (int64_t c = 0; c < of.width; c++) {
      const int64_t first = b * of.rows * of.width + c, length = length_of(&of, b);
      double sum = 0, absolutes = 0;
      for (int64_t i = 0; i < length; i++) {
        sum += x[first + i * of.width];
        absolutes += fabs((double)x[first + i * of.width]);
      }
      const double mean = sum / (double)length;
      for (int64_t i = 0; i < of.rows; i++) {
        const int64_t at = first + i * of.width;
        y[at] = (float)(x[at] - mean);
        if (call->magnitude)
          call->magnitude[at] = (float)fmin(fabs((double)x[at]) + fabs(mean) + absolutes, FLT_MAX);
      }
    }
  return ATTN2C_OK;
}

/* y[b][0][c] = max over the sequence's rows of finite |x[b][.][c]| / 127, and at least 2^-125 */
int attn2c_reference_column_scale(const attn2c_reference_call *call) {
  sequences of;
  ATTN2C_TRY(read_sequences(call, 1, &of));
  if (attn2c_elements(attn2c_reference_result(call)) != of.batch * of.width)
    return attn2c_reference_fault(call, "the result must be one a sequence and column");
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t b = 0; b < of.batch; b++)
    for (int64_t c = 0; c < of.width; c++) {
      double largest = 0;
      for (int64_t i = 0; i < length_of(&of, b); i++) {
        const double number = x[(b * of.rows + i) * of.width + c];
        if (isfinite(number)) largest = fmax(largest, fabs(number));
      }
      y[b * of.width + c] = (float)fmax(largest / REFERENCE_LARGEST, REFERENCE_LEAST_SCALE);
    }
  return ATTN2C_OK;
}

/* y[b][i][c] = x[b][i][c] (1 / scale[b][c]) to the nearest integer; the quotient and the product are floats.
 * 0 if x is not finite, and in rows after the sequence. */
int attn2c_reference_quantise_columns(const attn2c_reference_call *call) {
  sequences of;
  ATTN2C_TRY(read_sequences(call, 2, &of));
  if (attn2c_elements(attn2c_reference_operand(call, 1)) != of.batch * of.width)
    return attn2c_reference_fault(call, "needs a scale a column");
  const float *x = call->in[0], *scale = call->in[1];
  float *y = call->out;
  for (int64_t b = 0; b < of.batch; b++)
    for (int64_t i = 0; i < of.rows; i++)
      for (int64_t c = 0; c < of.width; c++) {
        const int64_t at = (b * of.rows + i) * of.width + c;
        const float inverse = (float)(1 / (double)scale[b * of.width + c]);
        const float product = (float)((double)x[at] * (double)inverse);
        y[at] = i < length_of(&of, b) && isfinite(x[at]) ? (float)rint(product) + 0.0f : 0;
      }
  return ATTN2C_OK;
}

/* y[r][j] = 255 exp(scale (s[r][j] - max)), max over the row. A row of only -inf gives zeros, and a row with
 * a NaN or +inf NaN. */
int attn2c_reference_exponentials(const attn2c_reference_call *call) {
  const double scale = (float)attn2c_number(call->op, "scale", 1);
  if (!(scale > 0)) return attn2c_reference_fault(call, "scale must be positive");
  const int64_t rows = call->n['*'], width = call->n['w'];
  for (int64_t r = 0; r < rows; r++) {
    const float *s = (const float *)call->in[0] + r * width;
    float *y = (float *)call->out + r * width;
    double max = -INFINITY;
    for (int64_t j = 0; j < width; j++)
      if (isnan(s[j]) || s[j] > max) max = s[j];
    if (max == INFINITY) max = NAN;
    for (int64_t j = 0; j < width; j++)
      y[j] = max == -INFINITY ? 0 : (float)(LARGEST_WEIGHT * exp(scale * (s[j] - max)));
  }
  return ATTN2C_OK;
}

/* y[r] = 1 / the sum over j of w[r][j], 1 if that is 0; NaN if some x[r][j], unrounded, is NaN */
int attn2c_reference_weight_scale(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0);
  const int64_t rows = attn2c_reference_rows(x_shape), width = attn2c_reference_width(x_shape);
  if (attn2c_elements(attn2c_reference_result(call)) != rows ||
      attn2c_elements(attn2c_reference_operand(call, 1)) != rows * width)
    return attn2c_reference_fault(call, "the result must be one a row, and the operands of one shape");
  const float *w = call->in[0], *x = call->in[1];
  float *y = call->out;
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (int64_t j = 0; j < width; j++) sum += isnan(x[r * width + j]) ? NAN : w[r * width + j];
    y[r] = (float)(1 / (sum < 1 ? 1 : sum));
  }
  return ATTN2C_OK;
}

/* y = x, rounded to the nearest integer; 0 for NaN */
int attn2c_reference_round_to_bytes(const attn2c_reference_call *call) {
  const float *x = call->in[0];
  float *y = call->out;
  const int64_t elements = call->n['*'];
  for (int64_t i = 0; i < elements; i++) y[i] = isnan(x[i]) ? 0 : (float)rint(x[i]);
  return ATTN2C_OK;
}

/* s[b][h][i][j] = (sum over c of q[b][i][h][c] k[b][j][key head of h][c]) q_scale[b][i][h]
 * k_scale[b][j][key head of h]; -inf if query i does not see key j, as in the scores of floats
 * magnitude = |s| */
int attn2c_reference_scores_of_integers(const attn2c_reference_call *call) {
  attn2c_reference_attention n;
  ATTN2C_TRY(attn2c_reference_attention_of(call, "bq(hd), bk(gd), ?, ?, b -> bhqk", 0, 4, &n));
  if (attn2c_elements(attn2c_reference_operand(call, 2)) != n.batch * n.queries * n.heads ||
      attn2c_elements(attn2c_reference_operand(call, 3)) != n.batch * n.keys * n.key_heads)
    return attn2c_reference_fault(call, "needs a scale a head of each row");
  const float *q = call->in[0], *k = call->in[1], *q_scale = call->in[2], *k_scale = call->in[3];
  float *s = call->out;
  int64_t element = 0;
  for (int64_t b = 0; b < n.batch; b++)
    for (int64_t h = 0; h < n.heads; h++)
      for (int64_t i = 0; i < n.queries; i++)
        for (int64_t j = 0; j < n.keys; j++, element++) {
          const int64_t query = (b * n.queries + i) * n.heads + h;
          const int64_t key = (b * n.keys + j) * n.key_heads + h / (n.heads / n.key_heads);
          const int is_masked = attn2c_reference_hides(n.by, n.keys, b, i, j);
          double sum = 0; /* exact: below 2^53 */
          for (int64_t c = 0; c < n.width && !is_masked; c++)
            sum += (double)q[query * n.width + c] * (double)k[key * n.width + c];
          const double score = sum * (double)q_scale[query] * (double)k_scale[key];
          s[element] = is_masked ? -INFINITY : (float)score;
          if (call->magnitude) call->magnitude[element] = is_masked ? 0 : (float)fmin(fabs(score), FLT_MAX);
        }
  return ATTN2C_OK;
}

/* c[b][i][h][d] = (sum over j of w[b][h][i][j] v[b][j][key head of h][d]) weight_scale[b][h][i]
 * v_scale[b][key head of h][d]; weights of keys that a query does not see are 0
 * magnitude = |c| */
int attn2c_reference_context_of_integers(const attn2c_reference_call *call) {
  attn2c_reference_attention n;
  ATTN2C_TRY(attn2c_reference_attention_of(call, "bhqk, bk(gd) -> bq(hd)", attn2c_reference_key_heads(call),
                                           -1, &n));
  const int64_t row = n.heads * n.width, value_row = n.key_heads * n.width;
  if (attn2c_elements(attn2c_reference_operand(call, 2)) != n.batch * n.heads * n.queries ||
      attn2c_elements(attn2c_reference_operand(call, 3)) != n.batch * value_row)
    return attn2c_reference_fault(call, "needs a scale a row of weights, and one a column of values");
  const float *w = call->in[0], *v = call->in[1], *w_scale = call->in[2], *v_scale = call->in[3];
  float *c = call->out;
  for (int64_t b = 0; b < n.batch; b++)
    for (int64_t i = 0; i < n.queries; i++)
      for (int64_t e = 0; e < row; e++) {
        const int64_t h = e / n.width, of_row = (b * n.heads + h) * n.queries + i;
        const int64_t column = h / (n.heads / n.key_heads) * n.width + e % n.width;
        double sum = 0; /* exact: below 2^53 */
        for (int64_t j = 0; j < n.keys; j++)
          sum += (double)w[of_row * n.keys + j] * (double)v[(b * n.keys + j) * value_row + column];
        const double result = sum * (double)w_scale[of_row] * (double)v_scale[b * value_row + column];
        const int64_t at = (b * n.queries + i) * row + e;
        c[at] = (float)result;
        if (call->magnitude) call->magnitude[at] = (float)fmin(fabs(result), FLT_MAX);
      }
  return ATTN2C_OK;
}
