/* positions.c - the reference of positions: rotated queries and keys, and numbers per distance in
 * scores. A masked score, -inf, stays -inf. */
#include "reference/ops.h"

#include <float.h>
#include <math.h>

/* Rotates the first R of each head's dimensions by the row's angles. They are R/2 pairs (x1, x2), which
 * become (x1 cos - x2 sin, x2 cos + x1 sin); the others stay. `row`: that of the angles of all rows. pairs 0:
 * d and d + R/2 are partners; 1: 2d and 2d + 1. magnitude: |x1 cos| + |x2 sin|, |x2 cos| + |x1 sin|; 0 for
 * the others */
int attn2c_reference_rotate(const attn2c_reference_call *call) {
  const int64_t heads = call->n['h'], sequence = call->n['r'], width = call->n['d'], half = call->n['c'];
  const int64_t of_all = attn2c_reference_count(call, "row", -1);
  if ((of_all < 0 ? call->n['s'] != sequence : call->n['s'] <= of_all) || 2 * half > width)
    return attn2c_reference_fault(call,
                                  "cosines and sines must be [sequence][half of at most the head width]");
  int pairs = attn2c_number(call->op, "pairs", 0) != 0;
  const float *cosines = call->in[1], *sines = call->in[2];
  int64_t blocks = call->n['b'] * sequence * heads;
  for (int64_t block = 0; block < blocks; block++) {
    const float *x = (const float *)call->in[0] + block * width;
    float *y = (float *)call->out + block * width;
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

/* Finds the columns of scores that an op adds to: all without the last `extra`. */
static int read_own(const attn2c_reference_call *call, int64_t *own) {
  const int64_t extra = attn2c_reference_count(call, "extra", 0);
  *own = call->n['k'] - extra;
  if (extra >= 0 && *own >= 0) return ATTN2C_OK;
  return attn2c_reference_fault(call, "extra must be a number of keys");
}

/* Rows of a table by distance: that of D = query - key is row `zero` + sign D of the `rows` that each of
 * `heads` heads has. */
typedef struct {
  int64_t heads, rows, zero;
  int sign;
} by_distance;

/* Adds to the score of query i and key j the product of row i of the queries, or, with the attribute `keys`,
 * row j of the keys, of the head that it looks at, with the table's row for i + offset - j. The last `extra`
 * columns stay. magnitude: |s| + sum of |x table| */
static int add_by_distance(const attn2c_reference_call *call, by_distance table_of) {
  const int64_t *n = call->n, batch = n['b'], heads = n['h'], queries = n['q'], keys = n['k'], width = n['d'];
  const int64_t x_heads = n['g'];
  int64_t own;
  ATTN2C_TRY(read_own(call, &own));
  const int64_t offset = attn2c_reference_count(call, "offset", 0);
  const int of_keys = attn2c_number(call->op, "keys", 0) != 0;
  if (n['r'] != (of_keys ? keys : queries) || x_heads < 1 || heads % x_heads != 0 ||
      (!of_keys && x_heads != heads))
    return attn2c_reference_fault(call,
                                  "the rows must be heads, or a divisor of them, times the table's width");
  const int64_t after = queries - 1 + offset, before = own - 1 - offset;
  const int64_t up = table_of.sign > 0 ? after : before, down = table_of.sign > 0 ? before : after;
  if (offset < 0 ||
      (own > 0 && queries > 0 && (table_of.zero + up >= table_of.rows || table_of.zero - down < 0)))
    return attn2c_reference_fault(call, "the table does not reach every distance");
  const float *s = call->in[0], *x = call->in[1], *table = call->in[2];
  float *y = call->out;
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
  const int64_t rows = call->n['t'];
  if (rows % 2 != 1) return attn2c_reference_fault(call, "the table must be [2 M - 1][head width]");
  return add_by_distance(call, (by_distance){1, rows, (rows - 1) / 2, 1});
}

/* y[b][h][i][j] = s[b][h][i][j] + sum over d of x[..][d] table[t][reach + D][d], with D = i + offset - j if x
 * is the keys, and j - i - offset if it is the queries. t is the head of the table that h looks at; table
 * [table_heads rows][d] (He et al. 2021, section 3) */
int attn2c_reference_add_disentangled(const attn2c_reference_call *call) {
  const int64_t *n = call->n, table_heads = n['a'];
  if (n['t'] % table_heads != 0 || n['h'] % table_heads != 0)
    return attn2c_reference_fault(call, "the table must be [heads of the table * rows][head width]");
  const int sign = attn2c_number(call->op, "keys", 0) != 0 ? 1 : -1;
  const int64_t reach = attn2c_reference_count(call, "reach", 0);
  return add_by_distance(call, (by_distance){table_heads, n['t'] / table_heads, reach, sign});
}

/* y[b][h][i][j] = s[b][h][i][j] + gates[b][i][h] table[h][j - i + queries - 1], without gates as if they were
 * 1; the last `extra` columns stay. magnitude: the same of absolute values */
int attn2c_reference_add_distance(const attn2c_reference_call *call) {
  int64_t own;
  ATTN2C_TRY(read_own(call, &own));
  const int64_t *n = call->n, heads = n['h'], queries = n['q'], keys = n['k'],
                rows = n['b'] * heads * queries;
  if (own > 0 && n['t'] < queries + own - 1)
    return attn2c_reference_fault(call, "the table must be [heads][every distance of query and key]");
  const float *s = call->in[0], *table = call->in[1], *gates = call->in[2];
  float *y = call->out;
  for (int64_t r = 0; r < rows; r++) {
    int64_t i = r % queries, h = r / queries % heads, b = r / queries / heads;
    const double gate = gates ? gates[(b * queries + i) * heads + h] : 1;
    for (int64_t j = 0; j < keys; j++) {
      float from = s[r * keys + j];
      const int stays = j >= own || from == -INFINITY;
      const double added = stays ? 0 : gate * table[h * n['t'] + j - i + queries - 1];
      y[r * keys + j] = stays ? from : (float)(from + added);
      if (call->magnitude)
        call->magnitude[r * keys + j] = stays ? 0 : (float)fmin(fabs((double)from) + fabs(added), FLT_MAX);
    }
  }
  return ATTN2C_OK;
}

/* y[b][h][i][j] = s[b][h][i][j] + across[h][left of j - left of i] + down[h][lower of j - lower of i] +
 * along[h][ upper of j - upper of i] of boxes (left, upper, right, lower), where the middle of a table is for
 * 0, and differences beyond its ends are its ends (Huang et al. 2022, LayoutLMv3). along: may be missing.
 * magnitude: the same of absolute values */
int attn2c_reference_add_places(const attn2c_reference_call *call) {
  static const int side_of[] = {0, 3, 1};
  const attn2c_tensor *along = attn2c_reference_operand(call, 4);
  const int axes = along ? 3 : 2;
  int64_t own;
  ATTN2C_TRY(read_own(call, &own));
  const int64_t *n = call->n, widths[] = {n['t'], n['t'], along ? n['u'] : 1};
  if (own != n['q'] || n['t'] % 2 != 1 || widths[2] % 2 != 1)
    return attn2c_reference_fault(call, "each key must have a box, and a table an odd number of columns");
  const float *s = call->in[0];
  const int32_t *boxes = call->in[1];
  const float *tables[] = {call->in[2], call->in[3], call->in[4]};
  float *y = call->out;
  for (int64_t r = 0; r < n['b'] * n['h'] * n['q']; r++) {
    const int64_t i = r % n['q'], h = r / n['q'] % n['h'], b = r / n['q'] / n['h'];
    for (int64_t j = 0; j < n['k']; j++) {
      const int64_t at = r * n['k'] + j;
      const int stays = j >= own || s[at] == -INFINITY;
      double sum = s[at], absolutes = stays ? 0 : fabs((double)s[at]);
      for (int axis = 0; axis < axes && !stays; axis++) {
        const int side = side_of[axis];
        const int64_t most = widths[axis] / 2;
        int64_t d = boxes[(b * n['q'] + j) * 4 + side] - (int64_t)boxes[(b * n['q'] + i) * 4 + side];
        d = d < -most ? -most : d > most ? most : d;
        const double term = tables[axis][h * widths[axis] + most + d];
        sum += term, absolutes += fabs(term);
      }
      y[at] = (float)sum;
      if (call->magnitude) call->magnitude[at] = (float)fmin(absolutes, FLT_MAX);
    }
  }
  return ATTN2C_OK;
}

/* The weight of place i of `from` for place `at` of `to`, before weights are divided by their sum: a tent, as
 * wide as a place of the axis that has fewer. */
static double tent(int64_t from, int64_t to, int64_t at, int64_t i) {
  const double scale = (double)from / (double)to, middle = ((double)at + 0.5) * scale - 0.5;
  return fmax(0, 1 - fabs((double)i - middle) / fmax(scale, 1));
}

/* y[b][i] = sum over r, c of weight of r for row i / w of h, times weight of c for column i % w of w, times
 * table[r G + c], for (h, w) = shapes[b]; 0 for i >= h w (Tschannen et al. 2025, SigLIP 2). magnitude: the
 * same of absolute values */
int attn2c_reference_grid_positions(const attn2c_reference_call *call) {
  const int64_t grid = (int64_t)llround(sqrt((double)call->n['g'])), width = call->n['d'],
                rows = call->n['r'];
  if (grid * grid != call->n['g']) return attn2c_reference_fault(call, "the table must be of a square grid");
  const int32_t *shapes = call->in[0];
  const float *table = call->in[1];
  float *y = call->out;
  for (int64_t e = 0; e < call->n['b'] * rows * width; e++) {
    const int64_t j = e % width, i = e / width % rows, h = shapes[2 * (e / width / rows)];
    const int64_t w = shapes[2 * (e / width / rows) + 1];
    double sum = 0, absolutes = 0, weights = 0;
    for (int64_t place = 0; i < h * w && place < call->n['g']; place++) {
      const double weight = tent(grid, h, i / w, place / grid) * tent(grid, w, i % w, place % grid);
      const double term = weight * table[place * width + j];
      weights += weight, sum += term, absolutes += fabs(term);
    }
    y[e] = (float)(i < h * w ? sum / weights : 0);
    if (call->magnitude) call->magnitude[e] = weights > 0 ? (float)fmin(absolutes / weights, FLT_MAX) : 0;
  }
  return ATTN2C_OK;
}

/* Returns the sigmoid of bias[0] + .. + bias[3] + sum over d and t < 4 of x[d] weight[t][d]; *magnitude: the
 * sum of absolute values. */
static double gate_of(const float *x, const float *weight, const float *bias, int64_t width,
                      double *magnitude) {
  double sum = 0;
  *magnitude = 0;
  for (int64_t t = 0; t < 4; t++) {
    sum += bias[t];
    *magnitude += fabs((double)bias[t]);
    for (int64_t d = 0; d < width; d++) {
      const double term = (double)x[d] * (double)weight[t * width + d];
      sum += term;
      *magnitude += fabs(term);
    }
  }
  return 1 / (1 + exp(-sum));
}

/* y[b][i][h] = a (g factors[h] - 1) + 2, where a and g are the gates of the first and last four rows of the
 * weight, of head h of x[b][i] (Chi et al. 2022, equation 6). magnitude: that of y's terms, and of the terms
 * of the sums, times what y changes with each sum */
int attn2c_reference_position_gates(const attn2c_reference_call *call) {
  const int64_t heads = call->n['h'], width = call->n['d'];
  const float *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *factors = call->in[3];
  float *y = call->out;
  for (int64_t i = 0; i < call->n['b'] * call->n['r'] * heads; i++) {
    double of_a, of_g;
    const double factor = factors[i % heads], a = gate_of(x + i * width, weight, bias, width, &of_a);
    const double g = gate_of(x + i * width, weight + 4 * width, bias + 4, width, &of_g);
    y[i] = (float)(a * (g * factor - 1) + 2);
    if (!call->magnitude) continue;
    const double of_sums = fabs(g * factor - 1) * a * (1 - a) * of_a + a * fabs(factor) * g * (1 - g) * of_g;
    call->magnitude[i] = (float)fmin(of_sums + a * (fabs(g * factor) + 1) + 2, FLT_MAX);
  }
  return ATTN2C_OK;
}

/* y[h][d] = table[index[d]][h] */
int attn2c_reference_bucket_table(const attn2c_reference_call *call) {
  const attn2c_tensor *index_shape = attn2c_reference_operand(call, 1);
  const int64_t buckets = call->n['n'], heads = call->n['h'], distances = call->n['d'];
  const float *table = call->in[0], *index = call->in[1];
  float *y = call->out;
  for (int64_t d = 0; d < distances; d++) {
    if (!(index[d] >= 0) || !(index[d] < (float)buckets) || index[d] != floorf(index[d]))
      return attn2c_fail(call->message, ATTN2C_FORMAT,
                         "%s: element %lld is %g, but must be a bucket from 0 to %lld", index_shape->name,
                         (long long)d, (double)index[d], (long long)buckets - 1);
    for (int64_t h = 0; h < heads; h++) y[h * distances + d] = table[(int64_t)index[d] * heads + h];
  }
  return ATTN2C_OK;
}
