/* rows.c - the reference of ops on single rows or elements: linear, adapt, convolve, convolve_columns, embed,
 * add, multiply, scale, copy, activate, hadamard. */
#include "reference/ops.h"
#include "formats/scale_block.h"

#include <float.h>
#include <math.h>

enum { MOST_RANK = 64 }; /* of an adapter */

/* Without OpenMP's simd pragmas the loops below are the same, only slower. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

static double dot(const float *a, const float *b, int64_t length) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < length; k++) sum += (double)a[k] * (double)b[k];
  return sum;
}

/* Computes the same, and the sum of the terms' absolute values. */
static double dot_and_magnitude(const float *a, const float *b, int64_t length, double *magnitude) {
  double sum = 0, absolutes = 0;
#pragma omp simd reduction(+ : sum, absolutes)
  for (int64_t k = 0; k < length; k++) {
    double term = (double)a[k] * (double)b[k];
    sum += term;
    absolutes += fabs(term);
  }
  *magnitude = absolutes;
  return sum;
}

int attn2c_reference_has_minima(const attn2c_reference_call *call, int position) {
  const attn2c_descriptor *model = call->model;
  const int tensor = call->op->operands[position];
  for (int i = 0; model->packings && i < model->weight_count; i++)
    if (model->weights[i].tensor == tensor) return attn2c_facts_of(model->packings[i].type)->has_minimum;
  return 0;
}

/* Returns what minima add to the magnitude of a sum. A weight is a product with a scale and a minimum, summed
 * apart. The minimum of a block is at most its largest |w|, and a product at most |w| and the minimum. */
static double of_minima(const float *x, const float *w, int64_t count) {
  double sum = 0;
  for (int64_t first = 0; first < count; first += ATTN2C_BLOCK_NUMBERS) {
    double largest = 0, inputs = 0;
    for (int64_t i = first; i < first + ATTN2C_BLOCK_NUMBERS && i < count; i++) {
      largest = fmax(largest, fabs((double)w[i]));
      inputs += fabs((double)x[i]);
    }
    sum += 2 * largest * inputs;
  }
  return sum;
}

double attn2c_reference_dot(const float *x, const float *w, int64_t length, int with_minimum,
                            double *magnitude) {
  const double sum = dot_and_magnitude(x, w, length, magnitude);
  if (with_minimum) *magnitude += of_minima(x, w, length);
  return sum;
}

/* y[r][o] = bias[o] + sum over k of x[r][k] weight[o][k]
 * magnitude[r][o] = |bias[o]| + sum over k of |x[r][k] weight[o][k]| */
int attn2c_reference_linear(const attn2c_reference_call *call) {
  const int64_t rows = call->n['*'], in = call->n['i'], out = call->n['o'];
  const float *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
  float *y = call->out;
  const int with_minimum = attn2c_reference_has_minima(call, 1);
  for (int64_t o = 0; o < out; o++)
    for (int64_t r = 0; r < rows; r++) {
      double shift = bias ? bias[o] : 0, absolutes;
      if (!call->magnitude) {
        y[r * out + o] = (float)(shift + dot(x + r * in, weight + o * in, in));
      } else {
        y[r * out + o] =
            (float)(shift + attn2c_reference_dot(x + r * in, weight + o * in, in, with_minimum, &absolutes));
        call->magnitude[r * out + o] = (float)fmin(fabs(shift) + absolutes, FLT_MAX);
      }
    }
  return ATTN2C_OK;
}

/* Reads the number at a place of an adapter's attribute: the first rows of each, then the end. Returns 0 if
 * there is none. */
static int border(const attn2c_reference_call *call, int64_t place, int64_t ranks, int64_t *value) {
  const char *text = attn2c_text(call->op, "first");
  for (; text && place > 0; place--) text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL;
  *value = text ? strtoll(text, NULL, 10) : -1;
  return *value >= 0 && *value <= ranks;
}

/* y[b][i][o] = x[b][i][o] + sum over k of (sum over j of rows[b][i][j] inputs[k][j]) outputs[k][o], with
 * first[n - 1] <= k < first[n] for n = adapters[b]; no k for n = 0
 * magnitude: the same of absolute values */
int attn2c_reference_adapt(const attn2c_reference_call *call) {
  const int64_t rows = call->n['*'], in = call->n['i'], out = call->n['o'], each = rows / call->n['b'];
  const float *x = call->in[0], *r = call->in[1], *inputs = call->in[2], *outputs = call->in[3];
  const int32_t *adapters = call->in[4];
  float *y = call->out;
  for (int64_t row = 0; row < rows; row++) {
    const int32_t adapter = adapters[row / each];
    int64_t begin = 0, end = 0;
    if (adapter != 0 &&
        !(border(call, adapter - 1, call->n['r'], &begin) && border(call, adapter, call->n['r'], &end)))
      return attn2c_reference_fault(call,
                                    "first must have a row of the factors for each adapter, and an end");
    double part[MOST_RANK], magnitude[MOST_RANK];
    if (end - begin > MOST_RANK) return attn2c_reference_fault(call, "an adapter's rank is too large");
    for (int64_t k = begin; k < end; k++)
      part[k - begin] = attn2c_reference_dot(r + row * in, inputs + k * in, in, 0, &magnitude[k - begin]);
    for (int64_t o = 0; o < out; o++) {
      double sum = x[row * out + o], absolutes = fabs(sum);
      for (int64_t k = begin; k < end; k++) {
        sum += part[k - begin] * outputs[k * out + o];
        absolutes += magnitude[k - begin] * fabs((double)outputs[k * out + o]);
      }
      y[row * out + o] = (float)sum;
      if (call->magnitude) call->magnitude[row * out + o] = (float)fmin(absolutes, FLT_MAX);
    }
  }
  return ATTN2C_OK;
}

/* Copies rows i - kernel / 2 and those after it, side by side, of the `width` columns from x on; 0 for rows
 * that are not among the first `valid`. Rows are ld floats apart. */
static void window(float *to, const float *x, int64_t i, int64_t valid, int64_t kernel, int64_t width,
                   int64_t ld) {
  for (int64_t t = 0; t < kernel; t++)
    for (int64_t c = 0; c < width; c++) {
      const int64_t row = i + t - kernel / 2;
      to[t * width + c] = row >= 0 && row < valid ? x[row * ld + c] : 0;
    }
}

/* y[b][i][g M + m] = bias[g M + m] + sum over t < K and c < W of x[b][i + t - K / 2][g W + c] weight[g M +
 * m][t W
 * + c], for group g of G; x is 0 before the first row of a sequence and after the first lengths[b] of them.
 * magnitude: the same of absolute values */
int attn2c_reference_convolve(const attn2c_reference_call *call) {
  const int64_t batch = call->n['b'], rows = call->n['r'], width = call->n['w'], kernel = call->n['k'];
  const int64_t groups = call->n['g'], in = kernel * width, out = groups * call->n['m'];
  if (!attn2c_reference_lengths(call, 3, batch, 0, rows)) return ATTN2C_FORMAT;
  const float *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
  const int32_t *valid = call->in[3];
  float *y = call->out, *from = malloc((size_t)in * sizeof *from);
  if (!from) return ATTN2C_MEMORY;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t o = 0; o < out; o++) {
        const int64_t at = (b * rows + i) * out + o;
        if (o % (out / groups) == 0)
          window(from, x + b * rows * groups * width + o / (out / groups) * width, i, valid ? valid[b] : rows,
                 kernel, width, groups * width);
        double absolutes = 0, shift = bias ? bias[o] : 0;
        const double sum = dot_and_magnitude(from, weight + o * in, in, &absolutes);
        y[at] = (float)(shift + sum);
        if (call->magnitude) call->magnitude[at] = (float)fmin(fabs(shift) + absolutes, FLT_MAX);
      }
  free(from);
  return ATTN2C_OK;
}

/* y[b][i][c] = bias[c] + sum over t < K of x[b][i - K + 1 + t][c] weight[t][c]; x is 0 before the first row
 * magnitude: the same of absolute values */
int attn2c_reference_convolve_columns(const attn2c_reference_call *call) {
  const int64_t rows = call->n['r'], width = call->n['c'], kernel = call->n['k'];
  const float *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
  float *y = call->out;
  for (int64_t at = 0; at < call->n['b'] * rows * width; at++) {
    const int64_t i = at / width % rows, c = at % width;
    double sum = bias ? bias[c] : 0, absolutes = fabs(sum);
    for (int64_t t = i < kernel - 1 ? kernel - 1 - i : 0; t < kernel; t++) {
      const double term = (double)x[at - (kernel - 1 - t) * width] * (double)weight[t * width + c];
      sum += term, absolutes += fabs(term);
    }
    y[at] = (float)sum;
    if (call->magnitude) call->magnitude[at] = (float)fmin(absolutes, FLT_MAX);
  }
  return ATTN2C_OK;
}

/* y[i][c] = table[ids[i]][c] scale[ids[i]] */
int attn2c_reference_embed(const attn2c_reference_call *call) {
  const attn2c_tensor *ids_shape = attn2c_reference_operand(call, 0);
  const attn2c_tensor *scale_shape = attn2c_reference_operand(call, 2);
  const int64_t count = call->n['*'], width = call->n['w'], vocabulary = call->n['v'];
  if (scale_shape && attn2c_elements(scale_shape) != vocabulary)
    return attn2c_reference_fault(call, "the scales must be one a row of the table");
  const int32_t *ids = call->in[0];
  const float *table = call->in[1], *scale = call->in[2];
  float *y = call->out;
  for (int64_t i = 0; i < count; i++) {
    if (ids[i] < 0 || ids[i] >= vocabulary)
      return attn2c_fail(call->message, ATTN2C_FORMAT, "%s: element %lld is %ld, but must be from 0 to %lld",
                         ids_shape->name, (long long)i, (long)ids[i], (long long)vocabulary - 1);
    const float *row = table + ids[i] * width;
    for (int64_t c = 0; c < width; c++)
      y[i * width + c] = scale ? (float)((double)row[c] * (double)scale[ids[i]]) : row[c];
  }
  return ATTN2C_OK;
}

static int check_box(const attn2c_reference_call *call, const int32_t *box, int64_t i, int64_t places) {
  for (int k = 0; k < 4; k++)
    if (box[k] < 0 || box[k] >= places)
      return attn2c_fail(
          call->message, ATTN2C_FORMAT, "%s: box %lld has a side at %ld, but 0 to %lld is allowed",
          attn2c_reference_operand(call, 0)->name, (long long)i, (long)box[k], (long long)places - 1);
  return ATTN2C_OK;
}

/* y[i] = x[left], y[upper], x[right], y[lower], h[max(lower - upper, 0)] and w[max(right - left, 0)] of box i
 * side by side, where x and y, h and w are the halves of two tables (Huang et al. 2022, LayoutLMv3) */
static int join_boxes(const attn2c_reference_call *call) {
  attn2c_reference_sizes n = {['f'] = 4, ['t'] = 2};
  if (!attn2c_reference_fits(call, "*f, (tp)w, (tp)v -> *y", n)) return ATTN2C_USAGE;
  const int64_t count = n['*'], places = n['p'], widths[] = {n['w'], n['v']};
  if (n['y'] != 4 * n['w'] + 2 * n['v']) return attn2c_reference_fault(call, "six rows must be side by side");
  const int32_t *boxes = call->in[0];
  float *y = call->out;
  for (int64_t i = 0; i < count; i++, boxes += 4) {
    const int64_t height = boxes[3] - (int64_t)boxes[1], width = boxes[2] - (int64_t)boxes[0];
    const int64_t rows[] = {boxes[0],          places + boxes[1],       boxes[2],
                            places + boxes[3], height > 0 ? height : 0, places + (width > 0 ? width : 0)};
    if (check_box(call, boxes, i, places) != ATTN2C_OK) return ATTN2C_FORMAT;
    for (int k = 0; k < 6; k++) {
      const float *table = call->in[k < 4 ? 1 : 2];
      for (int64_t c = 0; c < widths[k / 4]; c++) *y++ = table[rows[k] * widths[k / 4] + c];
    }
  }
  return ATTN2C_OK;
}

/* y[b] = left, place in the sequence, right and lower of the boxes of b, then of a page of 1,000 x 1,000
 * without its border, and of its down x across parts, row by row, whose places begin again at 0 (Huang et al.
 * 2022, LayoutLMv3) */
int attn2c_reference_page_places(const attn2c_reference_call *call) {
  const int64_t across = attn2c_reference_count(call, "across", 0),
                down = attn2c_reference_count(call, "down", 0);
  if (across < 1 || down < 1 || call->n['t'] != call->n['s'] + 1 + across * down)
    return attn2c_reference_fault(call, "the result must have the boxes, the page and its parts");
  const int32_t *boxes = call->in[0];
  int32_t *y = call->out;
  for (int64_t b = 0; b < call->n['b']; b++)
    for (int64_t i = 0; i < call->n['t']; i++, y += 4) {
      const int64_t place = i < call->n['s'] ? i : i - call->n['s'], column = (place - 1) % across,
                    row = (place - 1) / across;
      const int32_t *box = boxes + 4 * (b * call->n['s'] + i);
      const int of_text = i < call->n['s'], of_page = i == call->n['s'];
      y[0] = of_text ? box[0] : of_page ? 1 : (int32_t)(1000 * column / across);
      y[1] = (int32_t)place;
      y[2] = of_text ? box[2] : of_page ? 999 : (int32_t)(1000 * (column + 1) / across);
      y[3] = of_text ? box[3] : of_page ? 999 : (int32_t)(1000 * (row + 1) / down);
    }
  return ATTN2C_OK;
}

/* y[i] = x[left] + y[upper] + x[right] + y[lower] + h[|lower - upper|] + w[|right - left|] of box i, where x,
 * y, h and w are the quarters of a table: the places of LayoutLM (Xu et al. 2019) */
int attn2c_reference_embed_boxes(const attn2c_reference_call *call) {
  attn2c_reference_sizes n = {['f'] = 4};
  if (attn2c_reference_operand(call, 2)) return join_boxes(call);
  if (!attn2c_reference_fits(call, "*f, (fp)w -> *w", n)) return ATTN2C_USAGE;
  const int64_t count = n['*'], places = n['p'], width = n['w'];
  const int32_t *boxes = call->in[0];
  const float *table = call->in[1];
  float *y = call->out;
  for (int64_t i = 0; i < count; i++, boxes += 4) {
    const int64_t rows[] = {boxes[0],
                            places + boxes[1],
                            boxes[2],
                            places + boxes[3],
                            2 * places + labs((long)boxes[3] - boxes[1]),
                            3 * places + labs((long)boxes[2] - boxes[0])};
    if (check_box(call, boxes, i, places) != ATTN2C_OK) return ATTN2C_FORMAT;
    for (int64_t c = 0; c < width; c++) {
      double sum = 0;
      for (int k = 0; k < 6; k++) sum += table[rows[k] * width + c];
      y[i * width + c] = (float)sum;
    }
  }
  return ATTN2C_OK;
}

/* y[i] = a[i] of b[i modulo b's elements]: b is repeated over the leading dimensions that it lacks. */
static int of_both(const attn2c_reference_call *call, double (*of)(double a, double b)) {
  const attn2c_tensor *a_shape = attn2c_reference_operand(call, 0),
                      *b_shape = attn2c_reference_operand(call, 1);
  const attn2c_tensor *y_shape = attn2c_reference_result(call);
  if (a_shape->rank != y_shape->rank || !attn2c_reference_same(a_shape, y_shape, a_shape->rank))
    return attn2c_reference_fault(call, "the first operand must have the result's shape");
  int suffix = b_shape->rank <= a_shape->rank;
  for (int axis = 1; suffix && axis <= b_shape->rank; axis++)
    suffix = b_shape->shape[b_shape->rank - axis] == a_shape->shape[a_shape->rank - axis];
  if (!suffix)
    return attn2c_reference_fault(call, "the second operand's shape must be a suffix of the first's");
  const float *a = call->in[0], *b = call->in[1];
  float *y = call->out;
  int64_t period = attn2c_elements(b_shape), repeats = attn2c_elements(a_shape) / period;
  for (int64_t repeat = 0; repeat < repeats; repeat++)
    for (int64_t i = 0; i < period; i++)
      y[repeat * period + i] = (float)of((double)a[repeat * period + i], (double)b[i]);
  return ATTN2C_OK;
}

static double sum(double a, double b) { return a + b; }
static double product(double a, double b) { return a * b; }
static double product_plus_one(double a, double b) { return (a + 1) * b; }

/* y[i] = a[i] + b[i], b repeated */
int attn2c_reference_add(const attn2c_reference_call *call) { return of_both(call, sum); }

/* y[i] = a[i] b[i], b repeated; plus_one: (a[i] + 1) b[i] */
int attn2c_reference_multiply(const attn2c_reference_call *call) {
  return of_both(call, attn2c_number(call->op, "plus_one", 0) != 0 ? product_plus_one : product);
}

/* y[r][c] = a[r][c] b[r][column] */
int attn2c_reference_gate_rows(const attn2c_reference_call *call) {
  const int64_t column = attn2c_reference_count(call, "column", 0), width = call->n['w'];
  if (column < 0 || column >= call->n['k']) return attn2c_reference_fault(call, "the column is out of range");
  const float *a = call->in[0], *b = (const float *)call->in[1] + column;
  float *y = call->out;
  for (int64_t i = 0; i < call->n['*'] * width; i++)
    y[i] = (float)((double)a[i] * (double)b[i / width * call->n['k']]);
  return ATTN2C_OK;
}

/* y[i] = factor x[i], and -inf if x[i] is -inf: a masked score stays masked, whatever the factor. factor is
 * the emitted code's constant, a float. */
int attn2c_reference_scale(const attn2c_reference_call *call) {
  double factor = (float)attn2c_number(call->op, "factor", NAN);
  if (!isfinite(factor)) return attn2c_reference_fault(call, "factor must be given, and be a finite number");
  const float *x = call->in[0];
  float *y = call->out;
  int64_t count = call->n['*'];
  for (int64_t i = 0; i < count; i++) y[i] = x[i] == -INFINITY ? x[i] : (float)(factor * (double)x[i]);
  return ATTN2C_OK;
}

/* y[i] = x[i] */
int attn2c_reference_copy(const attn2c_reference_call *call) {
  memcpy(call->out, call->in[0], (size_t)call->n['*'] * sizeof(float));
  return ATTN2C_OK;
}

/* y[i] = factor ln(max(x[i], least)) + shift; NaN stays NaN. The attributes are the emitted floats. */
int attn2c_reference_logarithm(const attn2c_reference_call *call) {
  const double least = (float)attn2c_number(call->op, "least", NAN);
  const double factor = (float)attn2c_number(call->op, "factor", NAN);
  const double shift = (float)attn2c_number(call->op, "shift", NAN);
  if (!(least > 0) || !isfinite(factor) || !isfinite(shift))
    return attn2c_reference_fault(call, "least must be positive, factor and shift finite numbers");
  const float *x = call->in[0];
  float *y = call->out;
  const int64_t count = call->n['*'];
  for (int64_t i = 0; i < count; i++) y[i] = (float)(factor * log(x[i] < least ? least : x[i]) + shift);
  return ATTN2C_OK;
}

/* y[b][0][c] = gain[c] / sqrt(sum over i > 0 of x[b][i][c]^2 + eps)
 * y[b][1][c] = bias[c] - y[b][0][c] x[b][0][c]; magnitude: the same of absolute values */
int attn2c_reference_channel_factors(const attn2c_reference_call *call) {
  const double eps = (float)attn2c_number(call->op, "eps", NAN);
  if (!(eps > 0)) return attn2c_reference_fault(call, "eps must be positive");
  const int64_t rows = call->n['r'], width = call->n['c'];
  const float *gain = call->in[1], *bias = call->in[2];
  for (int64_t at = 0; at < call->n['b'] * width; at++) {
    const int64_t c = at % width;
    const float *x = (const float *)call->in[0] + at / width * rows * width + c;
    double sum = eps;
    for (int64_t i = 1; i < rows; i++) sum += (double)x[i * width] * (double)x[i * width];
    const double scale = gain[c] / sqrt(sum);
    float *y = (float *)call->out + at / width * 2 * width + c;
    y[0] = (float)scale;
    y[width] = (float)(bias[c] - scale * x[0]);
    if (!call->magnitude) continue;
    float *size = call->magnitude + at / width * 2 * width + c;
    size[0] = (float)fabs(scale);
    size[width] = (float)fmin(fabs((double)bias[c]) + fabs(scale * x[0]), FLT_MAX);
  }
  return ATTN2C_OK;
}

/* y[b][i][c] = x[b][i][c] factors[b][0][c] + factors[b][1][c]; magnitude: the same of absolute values */
int attn2c_reference_scale_columns(const attn2c_reference_call *call) {
  const float *x = call->in[0], *factors = call->in[1];
  float *y = call->out;
  const int64_t rows = call->n['r'], width = call->n['c'];
  for (int64_t i = 0; i < call->n['b'] * rows * width; i++) {
    const float *of = factors + i / (rows * width) * 2 * width + i % width;
    const double term = (double)x[i] * (double)of[0], shift = of[width];
    y[i] = (float)(term + shift);
    if (call->magnitude) call->magnitude[i] = (float)fmin(fabs(term) + fabs(shift), FLT_MAX);
  }
  return ATTN2C_OK;
}

/* square(x) = x x */
static double square(double x) { return x * x; }

/* relu(x) = max(x, 0); NaN stays NaN */
static double relu(double x) { return x < 0 ? 0 : x; }

/* log_relu(x) = log(1 + max(x, 0)) */
static double log_relu(double x) { return log1p(relu(x)); }

/* sigmoid(x) = 1 / (1 + exp(-x)) */
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* silu(x) = x sigmoid(x) */
static double silu(double x) { return x * sigmoid(x); }

/* quick_gelu(x) = x sigmoid(1.702 x) */
static double quick_gelu(double x) { return x * sigmoid(1.702 * x); }

/* gelu(x) = x/2 (1 + erf(x / sqrt 2)); 1 + erf(z) is erfc(-z), which does not cancel for negative x */
static double gelu(double x) { return 0.5 * x * erfc(-x * sqrt(0.5)); }

/* gelu_tanh(x) = x/2 (1 + tanh(z)), z = sqrt(2/pi) (x + 0.044715 x^3); (1 + tanh(z)) / 2 is sigmoid(2 z),
 * which does not cancel for negative x */
static double gelu_tanh(double x) {
  const double sqrt_2_over_pi = 0.79788456080286535588;
  return x * sigmoid(2 * sqrt_2_over_pi * (x + 0.044715 * x * x * x));
}

#define ACTIVATION(name, function, relative, flushed) {#name, function},
static const struct {
  const char *name;
  double (*function)(double);
} activations[] = {ATTN2C_ACTIVATIONS(ACTIVATION)};

/* y[i] = x[i], at most limit and, but for only_above, at least -limit */
int attn2c_reference_clamp(const attn2c_reference_call *call) {
  const float limit = (float)attn2c_number(call->op, "limit", NAN);
  if (!(limit > 0)) return attn2c_reference_fault(call, "limit must be positive");
  const float *x = call->in[0];
  const float least = attn2c_number(call->op, "only_above", 0) != 0 ? -INFINITY : -limit;
  float *y = call->out;
  for (int64_t i = 0, n = call->n['*']; i < n; i++) y[i] = x[i] < least ? least : x[i] > limit ? limit : x[i];
  return ATTN2C_OK;
}

/* y[i] = f(x[i]) */
int attn2c_reference_activate(const attn2c_reference_call *call) {
  const char *name = attn2c_text(call->op, "function");
  double (*function)(double) = NULL;
  for (size_t row = 0; name && row < sizeof activations / sizeof activations[0]; row++)
    if (strcmp(activations[row].name, name) == 0) function = activations[row].function;
  if (!function) return attn2c_reference_fault(call, "function must be " ATTN2C_ACTIVATION_NAMES);
  const float *x = call->in[0];
  float *y = call->out;
  int64_t count = call->n['*'];
  for (int64_t i = 0; i < count; i++) y[i] = (float)function(x[i]);
  return ATTN2C_OK;
}

/* True if an odd number of bits of x are 1. */
static int is_odd(int64_t x) {
  int odd = 0;
  for (; x > 0; x /= 2) odd ^= (int)(x % 2);
  return odd;
}

/* y[i] = the sum over j of (-1)^(the bits that i and j share) x[j] / sqrt(block), for each `block` numbers of
 * a head: Sylvester's Hadamard matrix. magnitude: the sum of |x[j]| / sqrt(block) */
int attn2c_reference_hadamard(const attn2c_reference_call *call) {
  const int64_t heads = attn2c_reference_count(call, "heads", 0),
                block = attn2c_reference_count(call, "block", 0);
  if (heads < 1 || block < 1 || (block & (block - 1)) != 0 || call->n['w'] % heads != 0 ||
      call->n['w'] / heads % block != 0)
    return attn2c_reference_fault(call, "block must be a power of two that divides a head");
  const double factor = 1 / sqrt((double)block);
  for (int64_t first = 0; first < call->n['*'] * call->n['w']; first += block) {
    const float *x = (const float *)call->in[0] + first;
    float *y = (float *)call->out + first;
    double absolutes = 0;
    for (int64_t j = 0; j < block; j++) absolutes += fabs((double)x[j]);
    for (int64_t i = 0; i < block; i++) {
      double sum = 0;
      for (int64_t j = 0; j < block; j++) sum += is_odd(i & j) ? -(double)x[j] : (double)x[j];
      y[i] = (float)(sum * factor);
      if (call->magnitude) call->magnitude[first + i] = (float)fmin(absolutes * factor, FLT_MAX);
    }
  }
  return ATTN2C_OK;
}
