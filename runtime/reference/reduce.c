/* reduce.c - the reference of ops over a whole row or sequence: norms, softmax_rows, pool, argmax,
 * topk. The norms are layer_norm, rms_norm and normalise; row_length, sparsify and log_softmax are here too.
 */
#include "reference/ops.h"

#include <float.h>
#include <math.h>

double attn2c_reference_mean(const float *x, int64_t width, double *variance) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < width; i++) sum += x[i];
  const double mean = sum / (double)width;
  for (int64_t i = 0; i < width; i++) squares += (x[i] - mean) * (x[i] - mean);
  *variance = squares / (double)width;
  return mean;
}

/* mean = sum of x / n, variance = sum of (x - mean)^2 / n,
 * y = gain (x - mean) / sqrt(variance + eps) + bias, over the last dimension, or each of its `heads` parts,
 * which have a gain each with the attribute `each` */
int attn2c_reference_layer_norm(const attn2c_reference_call *call) {
  attn2c_reference_sizes n = {['h'] = attn2c_reference_count(call, "heads", 1)};
  const int each = attn2c_number(call->op, "each", 0) != 0;
  if (!attn2c_reference_fits(call, each ? "*(hw), hw -> *(hw)" : "*(hw), w, w -> *(hw)", n))
    return ATTN2C_USAGE;
  const int64_t rows = n['*'] * n['h'], width = n['w'];
  double eps = attn2c_number(call->op, "eps", -1);
  if (!(eps >= 0)) return attn2c_reference_fault(call, "eps must be given, and not be negative");
  const float *gain = call->in[1], *bias = call->in[2];
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)call->in[0] + r * width;
    float *y = (float *)call->out + r * width;
    const float *own = gain ? gain + (each ? r % n['h'] * width : 0) : NULL;
    double variance;
    const double mean = attn2c_reference_mean(x, width, &variance);
    for (int64_t i = 0; i < width; i++)
      y[i] = (float)((x[i] - mean) / sqrt(variance + eps) * (own ? own[i] : 1) + (bias ? bias[i] : 0));
  }
  return ATTN2C_OK;
}

/* y = gain x / sqrt(mean of x^2 + eps), over the last dimension, or over each of its `heads` parts, which
 * have a gain each with the attribute `each` */
int attn2c_reference_rms_norm(const attn2c_reference_call *call) {
  attn2c_reference_sizes n = {['h'] = attn2c_reference_count(call, "heads", 1)};
  const int each = attn2c_number(call->op, "each", 0) != 0;
  if (!attn2c_reference_fits(call, each ? "*(hw), hw -> *(hw)" : "*(hw), w -> *(hw)", n)) return ATTN2C_USAGE;
  const int64_t rows = n['*'] * n['h'], width = n['w'];
  double eps = attn2c_number(call->op, "eps", -1);
  if (!(eps >= 0)) return attn2c_reference_fault(call, "eps must be given, and not be negative");
  const float *gain = call->in[1];
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)call->in[0] + r * width;
    float *y = (float *)call->out + r * width;
    const float *own = gain ? gain + (each ? r % n['h'] * width : 0) : NULL;
    double squares = 0;
    for (int64_t i = 0; i < width; i++) squares += (double)x[i] * (double)x[i];
    double divisor = sqrt(squares / (double)width + eps);
    for (int64_t i = 0; i < width; i++) y[i] = (float)(x[i] / divisor * (own ? own[i] : 1));
  }
  return ATTN2C_OK;
}

/* y = x / max(sqrt(sum of x^2), eps), over the last dimension; a NaN makes the whole row NaN */
int attn2c_reference_normalise(const attn2c_reference_call *call) {
  const int64_t rows = call->n['*'], width = call->n['w'];
  double eps = attn2c_number(call->op, "eps", -1);
  if (!(eps > 0)) return attn2c_reference_fault(call, "eps must be given, and be positive");
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)call->in[0] + r * width;
    float *y = (float *)call->out + r * width;
    double squares = 0;
    for (int64_t i = 0; i < width; i++) squares += (double)x[i] * (double)x[i];
    double norm = sqrt(squares);
    for (int64_t i = 0; i < width; i++) y[i] = (float)(x[i] / (norm < eps ? eps : norm));
  }
  return ATTN2C_OK;
}

/* y[r] = sqrt(sum of x[r]^2) */
int attn2c_reference_row_length(const attn2c_reference_call *call) {
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t r = 0; r < call->n['*']; r++) {
    double squares = 0;
    for (int64_t i = 0; i < call->n['w']; i++)
      squares += (double)x[r * call->n['w'] + i] * (double)x[r * call->n['w'] + i];
    y[r] = (float)sqrt(squares);
  }
  return ATTN2C_OK;
}

/* y = max(x - mean - factor deviation, 0) over the last dimension; deviation = sqrt(sum of (x - mean)^2 / n)
 */
int attn2c_reference_sparsify(const attn2c_reference_call *call) {
  const double factor = (float)attn2c_number(call->op, "factor", NAN);
  if (!isfinite(factor)) return attn2c_reference_fault(call, "factor must be given, and be a finite number");
  for (int64_t r = 0; r < call->n['*']; r++) {
    const float *x = (const float *)call->in[0] + r * call->n['w'];
    float *y = (float *)call->out + r * call->n['w'];
    double variance;
    const double mean = attn2c_reference_mean(x, call->n['w'], &variance);
    for (int64_t i = 0; i < call->n['w']; i++) {
      const double above = x[i] - mean - factor * sqrt(variance);
      y[i] = (float)(above < 0 ? 0 : above);
    }
  }
  return ATTN2C_OK;
}

/* Returns the sum of exp(x - largest) of a row, and its largest element. */
static double power_sum(const float *x, int64_t width, double *largest) {
  double sum = 0;
  *largest = x[0];
  for (int64_t i = 1; i < width; i++) *largest = x[i] > *largest ? x[i] : *largest;
  for (int64_t i = 0; i < width; i++) sum += exp(x[i] - *largest);
  return sum;
}

static int softmax_of_rows(const attn2c_reference_call *call, int logarithm) {
  const int64_t rows = call->n['*'], width = call->n['w'];
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)call->in[0] + r * width;
    float *y = (float *)call->out + r * width;
    double largest, sum = power_sum(x, width, &largest);
    for (int64_t i = 0; i < width; i++)
      y[i] = (float)(logarithm ? x[i] - largest - log(sum) : exp(x[i] - largest) / sum);
  }
  return ATTN2C_OK;
}

/* y = exp(x - max) / sum of these, over the last dimension; NaN or +inf, or nothing but -inf, gives NaN */
int attn2c_reference_softmax_rows(const attn2c_reference_call *call) { return softmax_of_rows(call, 0); }

/* y = x - max - log(sum of exp(x - max)), over the last dimension; NaN as in softmax_rows */
int attn2c_reference_log_softmax(const attn2c_reference_call *call) { return softmax_of_rows(call, 1); }

/* Returns the maximum of two numbers, and NaN if either is NaN. */
static float larger(float a, float b) { return isnan(a) || a > b ? a : b; }

enum {
  POOL_MEAN,
  POOL_MAX,
  POOL_FIRST,
  POOL_SECOND,
  POOL_LAST,
  POOL_ROOT,
  POOL_WEIGHTED,
  POOL_PATCHES,
  POOL_TOKENS,
  POOL_DEVIATION,
  POOLS
};
static const char *const pool_names[] = {"mean", "max",      "first",   "second", "last",
                                         "root", "weighted", "patches", "tokens", "deviation"};

/* Writes the pools of a text such as "mean max" to list. Returns their number, or 0: a word is no pool. */
static int pools_of(const char *text, int list[8]) {
  int count = 0;
  while (text && *text) {
    const size_t length = strcspn(text, " ");
    int pool = 0;
    while (pool < POOLS &&
           (strlen(pool_names[pool]) != length || memcmp(pool_names[pool], text, length) != 0))
      pool++;
    if (pool == POOLS || count == 8) return 0;
    list[count++] = pool;
    text += length + (text[length] == ' ');
  }
  return count;
}

/* True if a pool uses a row; without a mask it uses all. */
static int takes(const int32_t *mask, int keeps, int64_t row) { return !mask || (mask[row] != 0) == keeps; }

/* Computes one pool of one column of `length` rows, `width` apart, over the rows that the mask keeps. Without
 * rows the result is 0. magnitude, if not NULL, gets what a sum's rounding error is proportional to. */
static float pooled(int pool, const float *column, int64_t length, int64_t width, const int32_t *mask,
                    int keeps, float *magnitude) {
  double sum = 0, size = 0, weights = 0, kept = 0;
  float largest = 0, last = 0;
  for (int64_t s = 0; s < length; s++)
    if (takes(mask, keeps, s)) weights += (double)(s + 1);
  for (int64_t s = 0; s < length; s++) {
    if (!takes(mask, keeps, s)) continue;
    const double value =
        pool == POOL_WEIGHTED ? (double)(s + 1) * column[s * width] / weights : column[s * width];
    sum += value;
    size += fabs(value);
    last = column[s * width];
    largest = kept > 0 ? larger(largest, last) : last;
    kept++;
  }
  if (pool == POOL_WEIGHTED) size *= kept;
  const double root = pool == POOL_ROOT ? sqrt(kept) : 1;
  double squares = 0;
  for (int64_t s = 0; s < length && pool == POOL_DEVIATION; s++)
    squares += ((double)column[s * width] - sum / kept) * ((double)column[s * width] - sum / kept);
  const double deviation = kept > 1 ? sqrt(squares / (kept - 1)) : squares;
  size += kept * deviation;
  if (magnitude) *magnitude = (float)fmin(size * root, FLT_MAX);
  switch (pool) {
  case POOL_MEAN:
  case POOL_PATCHES:
  case POOL_TOKENS:
    return kept > 0 ? (float)(sum / kept) : 0;
  case POOL_DEVIATION:
    return (float)deviation;
  case POOL_ROOT:
    return kept > 0 ? (float)(sum / root) : 0;
  case POOL_WEIGHTED:
    return (float)sum;
  case POOL_MAX:
    return largest;
  case POOL_SECOND:
    return column[width];
  case POOL_LAST:
    return last;
  default:
    return column[0];
  }
}

/* Returns the first kept row whose id is `ending`, or the largest one if `ending` is negative; 0: none. */
static int64_t row_of_ending(const int32_t *ids, int64_t length, double ending, const int32_t *mask,
                             int keeps) {
  int64_t row = -1;
  for (int64_t i = 0; i < length; i++) {
    if (!takes(mask, keeps, i)) continue;
    if (row < 0 ? ending < 0 || ids[i] == (int32_t)ending : ending < 0 && ids[i] > ids[row]) row = i;
  }
  return row < 0 ? 0 : row;
}

/* Pools the kept rows of x[b], n of them: the first lengths[b], or those s with (mask[b][first + s] != 0) ==
 * keeps, or all:
 *   mean: y[c] = sum of x[s][c] / n     max: y[c] = largest x[s][c], NaN if any is
 *   last: y[c] = the last x[s][c]       root: y[c] = sum of x[s][c] / sqrt(n)
 *   weighted: y[c] = sum of (s + 1) x[s][c] / sum of (s + 1)
 *   deviation: y[c] = sqrt(sum of (x[s][c] - mean)^2 / (n - 1)), 0 for n < 2
 * with the attribute cut the mean and the deviation leave out this many rows at each end;
 * and of all rows first: y[c] = x[0][c], second: y[c] = x[1][c], patches: the mean from row `tokens` on,
 * tokens: of those before.
 * Without rows the result is 0. The results of several pools follow each other. With the attribute `row` the
 * result is a sequence of one row. With ids, last is of the last kept row whose id is not `pad`, or x[0];
 * with the attribute `ending` of the first kept row with this id (-1: with the largest id), or x[0]. */
int attn2c_reference_pool(const attn2c_reference_call *call) {
  int list[8];
  const int count = pools_of(attn2c_text(call->op, "function"), list);
  if (count == 0)
    return attn2c_reference_fault(
        call,
        "function must be mean, max, first, second, last, root, weighted, patches, tokens or deviation");
  const int is_sequence = attn2c_reference_count(call, "row", 0) == 1;
  const int64_t first = attn2c_reference_count(call, "first", 0);
  const int keeps = attn2c_reference_count(call, "keeps", 0) == 1;
  attn2c_reference_sizes n = {['p'] = count};
  if (!attn2c_reference_fits(call, is_sequence ? "brw, b, bm, br -> b1(pw)" : "brw, b, bm, br -> b(pw)", n))
    return ATTN2C_USAGE;
  const int64_t batch = n['b'], sequence = n['r'], width = n['w'];
  if (attn2c_reference_operand(call, 2) && (first < 0 || n['m'] - first != sequence))
    return attn2c_reference_fault(call, "the mask must be [batch][first + sequence]");
  for (int i = 0; i < count; i++)
    if (list[i] == POOL_SECOND && sequence < 2) return attn2c_reference_fault(call, "there is no second row");
  const int64_t tokens = attn2c_reference_count(call, "tokens", 0);
  if (tokens < 0 || tokens >= sequence) return attn2c_reference_fault(call, "there are no patches");
  if (!attn2c_reference_lengths(call, 1, batch, 1, sequence)) return ATTN2C_FORMAT;
  const float *x = call->in[0];
  const int32_t *lengths = call->in[1], *mask = call->in[2], *ids = call->in[3];
  const double ending = attn2c_number(call->op, "ending", -2);
  const int64_t pad = attn2c_reference_count(call, "pad", -1), cut = attn2c_reference_count(call, "cut", 0);
  float *y = call->out;
  for (int64_t b = 0; b < batch; b++) {
    int64_t length = lengths ? lengths[b] : sequence;
    const int32_t *own = mask ? mask + b * (first + sequence) + first : NULL;
    if (ids && ending >= -1)
      length = 1 + row_of_ending(ids + b * sequence, length, ending, own, keeps);
    else
      while (ids && length > 1 && (ids[b * sequence + length - 1] == pad || !takes(own, keeps, length - 1)))
        length--;
    if (ids) own = NULL;
    for (int64_t i = 0; i < count * width; i++) {
      const int64_t at = b * count * width + i;
      const int pool = list[i / width];
      const int is_all = pool == POOL_PATCHES || pool == POOL_TOKENS; /* whatever the lengths or the mask */
      const int64_t skipped = pool == POOL_PATCHES ? tokens : cut;
      const int64_t rows = pool == POOL_TOKENS ? tokens : is_all ? sequence - skipped : length - 2 * cut;
      const float *column = x + (b * sequence + skipped) * width + i % width;
      y[at] = pooled(pool, column, rows, width, is_all ? NULL : own, keeps,
                     call->magnitude ? call->magnitude + at : NULL);
    }
  }
  return ATTN2C_OK;
}

/* y = the smallest i with x[i] >= x[j] for all j; a NaN counts as larger than every number */
int attn2c_reference_argmax(const attn2c_reference_call *call) {
  const int64_t rows = call->n['*'], width = call->n['w'];
  int32_t *y = call->out;
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)call->in[0] + r * width;
    int64_t best = 0;
    for (int64_t i = 1; i < width; i++)
      if (!isnan(x[best]) && (isnan(x[i]) || x[i] > x[best])) best = i;
    y[r] = (int32_t)best;
  }
  return ATTN2C_OK;
}

/* True if number i of a row comes before number j in descending order: NaN first, and equals by number. */
static int stands_before(const float *x, int64_t i, int64_t j) {
  if (isnan(x[i]) || isnan(x[j])) return isnan(x[i]) && (!isnan(x[j]) || i < j);
  return x[i] > x[j] || (x[i] == x[j] && i < j);
}

/* Writes the k first of each row, descending, as values or indices. Each is the first after the last. */
int attn2c_reference_topk(const attn2c_reference_call *call) {
  const int64_t rows = call->n['*'], width = call->n['w'], k = call->n['k'];
  if (k > width) return attn2c_reference_fault(call, "k must be from 1 to the width of a row");
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)call->in[0] + r * width;
    int64_t last = -1;
    for (int64_t j = 0; j < k; j++) {
      int64_t next = -1;
      for (int64_t i = 0; i < width; i++)
        if ((last < 0 || stands_before(x, last, i)) && (next < 0 || stands_before(x, i, next))) next = i;
      if (attn2c_reference_result(call)->type == ATTN2C_I32)
        ((int32_t *)call->out)[r * k + j] = (int32_t)next;
      else
        ((float *)call->out)[r * k + j] = x[next];
      last = next;
    }
  }
  return ATTN2C_OK;
}
