/* tolerance.c - computes the allowed error of each op's elements, and of a model's outputs. u is the unit
 * roundoff, eps twice that. Ops that only move or round once are exact. For the others, the smallest normal
 * float is always allowed, since smaller results may be flushed to zero. */
#include "check/tolerance.h"
#include "reference/ops.h"

#include <math.h>

/* The inputs and outputs of the rules below. */
typedef struct {
  const attn2c_reference_call *call;
  const float *want;
  float *allowed;
  int64_t rows, width, elements; /* of the result */
} op_result;

static int exact(const op_result *result) {
  for (int64_t i = 0; i < result->elements; i++) result->allowed[i] = 0;
  return ATTN2C_OK;
}

/* Allows `factor` times the magnitude that the reference has stated. */
static int scaled(const op_result *result, double factor) {
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] = (float)(factor * result->allowed[i] + ATTN2C_SMALLEST);
  return ATTN2C_OK;
}

/* The rule of a product of length K: 4 sqrt(K) u (|A||B|). K roundings, each at most u of a partial sum that
 * is at most |A||B|, add up to K u at worst. Roundings go up as often as down, so sqrt(K) u is their usual
 * size and 4 of it are never met by chance. The rule uses u and not eps, since it counts roundings. A bias is
 * one more term of the sum. */
static int product(const op_result *result, int64_t length) {
  return scaled(result, 4 * sqrt((double)length) * ATTN2C_ROUNDOFF);
}

/* Adds to the magnitudes what a product of windows x0 x1 x2 and x2 x3 x4 has more if it is made in pairs:
 * with (x0 - x2) w0 + x1 w1 + x2 (w0 + w2) it is x2 w0 twice, and with (x4 - x2) w2 + x3 w1 + x2 (w0 + w2) it
 * is x2 w2. A difference and a sum round once each, as a term of the sum does. */
static void add_of_pairs(const op_result *result, int64_t width, int64_t windows, int64_t out) {
  const float *x = result->call->in[0], *weight = result->call->in[1];
  for (int64_t i = 0; i < result->elements; i++) {
    const int64_t row = i / out, is_second = row % windows % 2;
    const float *of_row = x + row * 3 * width + (is_second ? 0 : 2 * width);
    const float *of_weight = weight + i % out * 3 * width + (is_second ? 2 * width : 0);
    double sum = 0;
    for (int64_t c = 0; c < width; c++) sum += fabs((double)of_row[c] * (double)of_weight[c]);
    result->allowed[i] += (float)(2 * sum);
  }
}

/* It also holds for bf16 operands: their products are exact in a float, and only the sums are rounded. */
static int linear(const op_result *result) {
  const attn2c_reference_call *call = result->call;
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0);
  const int64_t in = attn2c_reference_width(x_shape), out = result->width;
  if (attn2c_reference_operand(call, 3)) add_of_pairs(result, in / 3, x_shape->shape[1], out);
  return product(result, in);
}

static int linear_experts(const op_result *result) {
  const attn2c_reference_call *call = result->call;
  return product(result, attn2c_reference_width(attn2c_reference_operand(call, 0)) /
                             attn2c_reference_width(attn2c_reference_operand(call, 1)));
}

/* The rules of two products, one of the other's results, as of one sum: each term has an error of both. */
static int adapt(const op_result *result) {
  const attn2c_reference_call *call = result->call;
  const double in = (double)attn2c_reference_width(attn2c_reference_operand(call, 1));
  const double ranks = (double)attn2c_reference_operand(call, 2)->shape[0];
  return scaled(result, 4 * (sqrt(in) + sqrt(ranks + 1)) * ATTN2C_ROUNDOFF);
}

/* A product with a term for each expert, and 2 u for the weight times the factor and for the product. */
static int combine(const op_result *result) {
  const double terms = (double)attn2c_reference_width(attn2c_reference_operand(result->call, 1));
  return scaled(result, (4 * sqrt(terms) + 2) * ATTN2C_ROUNDOFF);
}

/* y = x / sum of n positive numbers: each operation and the reference's rounding are off by at most u. */
static int share(const op_result *result) {
  const double unit = ((double)result->width + 2) * ATTN2C_ROUNDOFF;
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] = (float)(unit * fabs((double)result->want[i]) + ATTN2C_SMALLEST);
  return ATTN2C_OK;
}

static int convolve(const op_result *result) {
  return product(result, attn2c_reference_width(attn2c_reference_operand(result->call, 1)));
}

static int convolve_columns(const op_result *result) {
  return product(result, (int64_t)attn2c_number(result->call->op, "kernel", 1));
}

/* The reference has followed the errors of each row into the rows after it; its own rounding is u. */
static int recurrent(const op_result *result) {
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] += (float)(ATTN2C_ROUNDOFF * fabs((double)result->want[i]) + ATTN2C_SMALLEST);
  return ATTN2C_OK;
}

/* Returns what it adds to the error of a sum that numbers, whose largest is given, are rounded to integers of
 * 16 bits (ops/kept.h): half a unit of each, and a 128th for three roundings, each off by at most u of a
 * number of at most 127 * 256 units, which is a 516th of a unit: that of the unit's inverse, of the number
 * times it, and of a weight times its scale. The unit's own rounding is one of half a unit. Each is
 * multiplied with a number; `others` is the sum of these numbers' magnitudes. */
static double of_integers(double largest, double others) {
  const double unit = fmax(largest / 127 / (1 << 8), 0x1p-125);
  return (0.5 + 0x1p-7) * unit * others;
}

/* A sum of integers has these roundings in addition: it becomes a float, and is multiplied by two scales. */
enum { OF_SCALES = 3 };

/* Returns the largest magnitude of x[count], and the sum of magnitudes. */
static double largest_of(const float *x, int64_t count, double *sum) {
  double largest = 0;
  *sum = 0;
  for (int64_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)x[i]));
    *sum += fabs((double)x[i]);
  }
  return largest;
}

/* The rule of a product. With integers as keys, queries are rounded, too. */
static int scores(const op_result *result) {
  const attn2c_reference_call *call = result->call;
  const attn2c_tensor *q_shape = attn2c_reference_operand(call, 0),
                      *k_shape = attn2c_reference_operand(call, 1);
  const float *q = call->in[0], *k = call->in[1];
  const float *scale = call->in[3];
  const int64_t heads = attn2c_reference_count(call, "heads", 1);
  const int64_t width = attn2c_reference_width(q_shape) / heads;
  if (!scale) return product(result, width);
  const int64_t key_heads = attn2c_reference_width(k_shape) / width;
  const int64_t queries = q_shape->shape[1], keys = k_shape->shape[1];
  const double roundings = 4 * sqrt((double)width) + OF_SCALES;
  for (int64_t i = 0; i < result->elements; i++) {
    const int64_t key = i % keys, query = i / keys % queries, head = i / keys / queries % heads;
    const int64_t b = i / keys / queries / heads;
    const int64_t row = (b * keys + key) * key_heads + head / (heads / key_heads);
    double of_query, of_key;
    const double largest = largest_of(q + ((b * queries + query) * heads + head) * width, width, &of_query);
    largest_of(k + row * width, width, &of_key);
    result->allowed[i] =
        (float)(roundings * ATTN2C_ROUNDOFF * result->allowed[i] +
                of_integers(largest, isfinite(scale[row]) ? of_key * (double)scale[row] : 0) +
                ATTN2C_SMALLEST);
  }
  return ATTN2C_OK;
}

/* The rule of log2(block) additions, each off by at most u of the magnitude, and 3 u for the factor, the
 * product and the reference's own rounding. */
static int hadamard(const op_result *result) {
  return scaled(result, (log2(attn2c_number(result->call->op, "block", 1)) + 3) * ATTN2C_ROUNDOFF);
}

/* Returns the longest run of keys, among those with a weight, that have the same weight and value. */
static int64_t longest_run(const float *weights, const float *values, int64_t keys, int64_t stride) {
  int64_t longest = 1, run = 0, before = 0;
  for (int64_t j = 0; j < keys; j++) {
    if (weights[j] == 0) continue;
    const int is_same = weights[j] == weights[before] && values[j * stride] == values[before * stride];
    run = run > 0 && is_same ? run + 1 : 1;
    longest = run > longest ? run : longest;
    before = j;
  }
  return longest;
}

/* The most keys whose weights are rounded together: ATTN2C_KEPT_KEYS (ops/kept.h). */
enum { KEPT_KEYS = 64 };

/* Returns what rounding weights adds to the error of an element of a context whose values are integers.
 * Weights times the scales of values are rounded together for some keys of a page; keys without a weight do
 * not count. stride: from a key's value to the next; of_scales: from its scale. */
static double of_weights(const attn2c_descriptor *model, const float *weights, const float *values,
                         const float *scale, int64_t keys, int64_t stride, int64_t of_scales) {
  const int64_t page = model->continued ? model->continued->page : KEPT_KEYS;
  double error = 0, largest = 0, others = 0;
  for (int64_t j = 0; j < keys; j++) {
    if (j % page % KEPT_KEYS == 0) error += of_integers(largest, others), largest = others = 0;
    if (weights[j] == 0) continue;
    largest = fmax(largest, fabs((double)weights[j] * (double)scale[j * of_scales]));
    others += fabs((double)values[j * stride]);
  }
  return error + of_integers(largest, others);
}

/* The rule of a product, with one difference: roundings of equal terms do not go up as often as down. While
 * the sum stays between two powers of two, each addition of an equal term has the same error, at most u of
 * |A||B|. Values are equal if only one channel was normalised: the norm's bias is all that remains. With
 * integers as values, weights are rounded, too. */
static int context(const op_result *result) {
  const attn2c_reference_call *call = result->call;
  const attn2c_tensor *p = attn2c_reference_operand(call, 0);
  const float *weights = call->in[0], *values = call->in[1];
  const float *scale = call->in[3];
  const int64_t heads = p->shape[1], queries = p->shape[2], keys = p->shape[3], width = result->width / heads;
  const int64_t key_heads = attn2c_reference_count(call, "kv_heads", heads), stride = key_heads * width;
  for (int64_t i = 0; i < result->elements; i++) {
    const int64_t query = i / result->width, b = query / queries, head = i % result->width / width;
    const float *of_query = weights + ((b * heads + head) * queries + query % queries) * keys;
    const int64_t key_head = head / (heads / key_heads);
    const float *of_head = values + b * keys * stride + key_head * width + i % width;
    const double roundings = 4 * sqrt((double)keys) + (double)longest_run(of_query, of_head, keys, stride) -
                             1 + (scale ? OF_SCALES : 0);
    const double rounded = scale
                               ? of_weights(call->model, of_query, of_head,
                                            scale + b * keys * key_heads + key_head, keys, stride, key_heads)
                               : 0;
    result->allowed[i] =
        (float)(roundings * ATTN2C_ROUNDOFF * result->allowed[i] + rounded + ATTN2C_SMALLEST);
  }
  return ATTN2C_OK;
}

/* y = sum r s + b has the rule 4 u of |sum r s| + |b|. Converting sum to a float, two products, an addition
 * and the reference's own rounding are each off by at most u of a term. */
static int dequantise(const op_result *result) { return scaled(result, 4 * ATTN2C_ROUNDOFF); }

/* The rule of a product of length D: the score is one more term of its sum. */
static int add_relative(const op_result *result) {
  return product(result, attn2c_reference_width(attn2c_reference_operand(result->call, 2)));
}

/* The rule of a sum of v tanh(x), x = q + k, of length D. It is the sum of these parts, relative to the sum
 * of |v tanh(x)|:
 * - ATTN2C_ERROR_TANH, for each tanh;
 * - u, for the rounding of x: it makes an error of u |x| (1 - tanh(x)^2) in tanh(x), which is at most u
 *   |tanh(x)|, since 2x <= sinh(2x);
 * - 4 sqrt(D) u, as for every product. */
static int additive_scores(const op_result *result) {
  double length = (double)attn2c_reference_width(attn2c_reference_operand(result->call, 2));
  return scaled(result, ATTN2C_ERROR_TANH + (1 + 4 * sqrt(length)) * ATTN2C_ROUNDOFF);
}

/* The rule of a (b f - 1) + 2, with sigmoids a and b of sums of length 4 D, relative to the magnitude that
 * the reference states: twice the error of a sigmoid, 4 sqrt(4 D) u for the sums, and 6 u for the roundings
 * of weights' sums and of the last operations. */
static int position_gates(const op_result *result) {
  const double length = 4 * (double)attn2c_reference_width(attn2c_reference_operand(result->call, 1));
  return scaled(result, 2 * ATTN2C_ERROR_SIGMOID + (6 + 4 * sqrt(length)) * ATTN2C_ROUNDOFF);
}

/* x1 cos - x2 sin has the rule 3 u of |x1 cos| + |x2 sin|. Each product is off by at most u of itself, their
 * sum by u of that, and the reference's own rounding by the same. A fused multiply-add has one rounding less.
 * Elements that are not rotated are moved, and their magnitude is 0. */
static int rotate(const op_result *result) {
  int64_t heads = attn2c_reference_count(result->call, "heads", 1), width = result->width / heads;
  int64_t rotated = 2 * attn2c_reference_width(attn2c_reference_operand(result->call, 1));
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] = i % result->width % width < rotated
                             ? (float)(3 * ATTN2C_ROUNDOFF * result->allowed[i] + ATTN2C_SMALLEST)
                             : 0;
  return ATTN2C_OK;
}

/* y = x r g: 5e-7 of |y| for the roundings of r and of each step, as in layer_norm. Nothing is subtracted, so
 * there is no other error. */
static int norm_without_mean(const op_result *result) {
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] = (float)(5e-7 * fabs((double)result->want[i]) + ATTN2C_SMALLEST);
  return ATTN2C_OK;
}

/* The rules are relative errors over the whole range. They hold for x/2 (1 + f(x)) with f near -1 too, as the
 * emitted functions are written so that nothing cancels. In x f(x), an f below the stated size may become
 * zero; the error is then |x| times that size. */
static int activate(const op_result *result) {
#define RULE(name, function, relative, flushed) {#name, relative, flushed},
  static const struct {
    const char *name;
    double relative, flushed;
  } rules[] = {ATTN2C_ACTIVATIONS(RULE)};
  const float *x = result->call->in[0];
  const char *name = attn2c_text(result->call->op, "function");
  for (size_t rule = 0; name && rule < sizeof rules / sizeof rules[0]; rule++) {
    if (strcmp(rules[rule].name, name) != 0) continue;
    if (rules[rule].relative == 0) return exact(result);
    for (int64_t i = 0; i < result->elements; i++) {
      double relative = rules[rule].relative * fabs((double)result->want[i]);
      double flushed = fmax(ATTN2C_SMALLEST, rules[rule].flushed * fabs((double)x[i]));
      result->allowed[i] = (float)(relative + flushed);
    }
    return ATTN2C_OK;
  }
  return attn2c_reference_fault(result->call, "there is no tolerance for this function");
}

/* The rule of y = g z + b with z = (x - mean) r, r = 1 / sqrt(variance + eps):
 * - 5e-7 of |g z| + |b| for the roundings of r and of each step. It uses the two terms and not |y|, since
 * their own errors remain when they cancel.
 * - The mean is off by a few u of the numbers that it is made of, whose size is rms = sqrt(mean^2 +
 * variance): its own rounding, the roundings of the partial sums and of their merging. x - mean has all of
 * this error, however small it is itself, and r and g scale it. 4 u rms r |g| is allowed: nearly 0 if the
 * mean is near 0, and more if the mean removes more digits of x. */
static int layer_norm(const op_result *result) {
  const int64_t parts = attn2c_reference_count(result->call, "heads", 1);
  const int64_t rows = result->rows * parts, width = result->width / parts;
  const float *gain = result->call->in[1], *bias = result->call->in[2];
  const int each = attn2c_number(result->call->op, "each", 0) != 0;
  double eps = attn2c_number(result->call->op, "eps", 0);
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)result->call->in[0] + r * width;
    const float *own = gain ? gain + (each ? r % parts * width : 0) : NULL;
    double variance;
    const double mean = attn2c_reference_mean(x, width, &variance);
    double scale = 1 / sqrt(variance + eps), rms = sqrt(mean * mean + variance);
    for (int64_t i = 0; i < width; i++) {
      double g = own ? fabs((double)own[i]) : 1, b = bias ? fabs((double)bias[i]) : 0;
      result->allowed[r * width + i] = (float)(5e-7 * (g * fabs(x[i] - mean) * scale + b) +
                                               4 * ATTN2C_ROUNDOFF * rms * scale * g + ATTN2C_SMALLEST);
    }
  }
  return ATTN2C_OK;
}

/* The rule of y = max(x - c, 0) with the cutoff c = mean + f deviation:
 * - The mean is off by 4 u rms, as in layer_norm, with rms = sqrt(mean^2 + variance). So is the deviation,
 * which f multiplies: differences from a mean that is off are off by as much.
 * - 5e-7 of |x - mean| + |f| deviation for the roundings of the root, of each step and of the reference.
 * y depends on x and c without a jump. So a number near the cutoff may be kept in one result and not in the
 * other, and the two still differ by no more than that. A number that is farther below the cutoff must be
 * exactly 0. */
static int sparsify(const op_result *result) {
  const double factor = attn2c_number(result->call->op, "factor", 0);
  for (int64_t r = 0; r < result->rows; r++) {
    const float *x = (const float *)result->call->in[0] + r * result->width;
    double variance;
    const double mean = attn2c_reference_mean(x, result->width, &variance);
    const double spread = fabs(factor) * sqrt(variance), rms = sqrt(mean * mean + variance);
    for (int64_t i = 0; i < result->width; i++) {
      const double above = x[i] - mean - factor * sqrt(variance);
      const double off = 5e-7 * (fabs(x[i] - mean) + spread) +
                         4 * ATTN2C_ROUNDOFF * rms * (1 + fabs(factor)) + ATTN2C_SMALLEST;
      result->allowed[r * result->width + i] = above < -off ? 0 : (float)off;
    }
  }
  return ATTN2C_OK;
}

/* p = exp(t) / sum with t = scale (s - max) = ln(p / largest p). s - max and its product with scale round
 * once each, so t is off by up to 2 u |t| = eps |t|, and exp turns an absolute error of its argument into a
 * relative one of its result. 10 eps are for exp itself, the sum and the division. Powers below 2^-126 may
 * become 0. The largest is 2^-1/2 at least (ops/softmax.h), or 2^-(1/2 + 2^-5) where its large exponent is
 * rounded, so p is less than 1.446 2^-126 then. The weight of a masked key must be exactly 0. */
static int softmax(const op_result *result) {
  for (int64_t r = 0; r < result->rows; r++) {
    const float *s = (const float *)result->call->in[0] + r * result->width;
    const float *p = result->want + r * result->width;
    double largest = result->call->in[1] ? 1 : 0; /* a sink's part is at most 1 */
    for (int64_t i = 0; i < result->width; i++) largest = fmax(largest, p[i]);
    for (int64_t i = 0; i < result->width; i++) {
      double argument = p[i] > 0 ? fabs(log(p[i] / largest)) : 0;
      result->allowed[r * result->width + i] =
          s[i] == -INFINITY ? 0 : (float)((10 + argument) * ATTN2C_EPSILON * p[i] + 1.446 * ATTN2C_SMALLEST);
    }
  }
  return ATTN2C_OK;
}

/* y = 255 exp(t) with t = scale (s - max) has the error of a softmax, and in addition twice 7.5e-5: the error
 * of a short polynomial, for the element and for the largest one. y is rounded to an integer. A power of two
 * below the smallest normal number, 2^-126, becomes 0. Exponents count from that of the row's largest
 * element, which is 255, so such a y is less than 255 * 2^-126. */
static int exponentials(const op_result *result) {
  for (int64_t i = 0; i < result->elements; i++) {
    const double y = result->want[i], argument = y > 0 ? fabs(log(y / 255)) : 0;
    const float *s = result->call->in[0];
    result->allowed[i] = s[i] == -INFINITY
                             ? 0
                             : (float)((ATTN2C_EXPONENTIAL_ERROR + (10 + argument) * ATTN2C_EPSILON) * y +
                                       255 * ATTN2C_SMALLEST);
  }
  return ATTN2C_OK;
}

/* y = t - log(sum of exp(t)) with t = x - max has two terms of one sign. Each is rounded once, and so is
 * their sum: 2 u |y|. As in a softmax, the sum is off by at most 10 eps of itself, its logarithm by 10
 * eps. */
static int log_softmax(const op_result *result) {
  for (int64_t i = 0; i < result->elements; i++) {
    double size = fabs((double)result->want[i]);
    result->allowed[i] = isinf(size) ? 0 : (float)((10 + size) * ATTN2C_EPSILON);
  }
  return ATTN2C_OK;
}

/* y = cap tanh(s / cap) has the sum of three errors. They are 4e-5 for the emitted tanh, u for its argument
 * (x tanh'(x) is never more than tanh(x)), u for the product. */
static int softcap(const op_result *result) {
  for (int64_t i = 0; i < result->elements; i++) {
    double size = fabs((double)result->want[i]);
    result->allowed[i] = isinf(size) ? 0 : (float)((4e-5 + 2 * ATTN2C_ROUNDOFF) * size + ATTN2C_SMALLEST);
  }
  return ATTN2C_OK;
}

/* y = f ln(x) + s has the rule 5e-7 of |f| + |f ln(x)| + |s|: 3 ulp of 1 + |ln(x)| for the emitted logarithm,
 * u for the product, for the sum and for the reference's own rounding. */
static int logarithm(const op_result *result) {
  const double shift = attn2c_number(result->call->op, "shift", 0);
  const double rest = fabs(shift) + fabs(attn2c_number(result->call->op, "factor", 1));
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] = (float)(5e-7 * (fabs(result->want[i] - shift) + rest) + ATTN2C_SMALLEST);
  return ATTN2C_OK;
}

/* The mean of n numbers has the rule n eps of the mean of |x|. There are n - 1 additions and a division, each
 * off by at most u. The magnitude is n times the mean of |x| already. */
static int mean(const op_result *result) { return scaled(result, ATTN2C_EPSILON); }

/* y = x - mean has the rule 2 u of |x| + |mean|, for the difference and the reference's own rounding, and n
 * eps of the mean of |x|, as every mean. The magnitude is the sum of these with n times the mean of |x|. */
static int centre(const op_result *result) { return mean(result); }

/* Means have the rule of a mean, whatever their weights. Single rows are exact unless a mean is in the same
 * result. The magnitudes of a root, of a weighted mean and of a deviation are such that twice the bound of
 * a mean is theirs. */
static int pool(const op_result *result) {
  const char *function = attn2c_text(result->call->op, "function");
  const int sums = function && (strstr(function, "mean") || strstr(function, "root") ||
                                strstr(function, "weighted") || strstr(function, "patches") ||
                                strstr(function, "tokens") || strstr(function, "deviation"));
  if (!sums) return exact(result);
  const int status = mean(result);
  for (int64_t i = 0; i < result->elements && strcmp(function, "mean") != 0; i++) result->allowed[i] *= 2;
  return status;
}

/* One correct rounding; but with products of bf16 the whole call flushes denormals to zero. (a + 1) b has
 * two, which are eps together. */
static int rounded_once(const op_result *result) {
  const float smallest = result->call->model->packings ? (float)ATTN2C_SMALLEST : 0;
  const float relative = attn2c_number(result->call->op, "plus_one", 0) != 0 ? (float)ATTN2C_EPSILON : 0;
  for (int64_t i = 0; i < result->elements; i++)
    result->allowed[i] = relative > 0 ? relative * fabsf(result->want[i]) + smallest : smallest;
  return ATTN2C_OK;
}

/* The exact ops are exact for these reasons:
 * - embed, copy, swap, join, patches, gather_columns, pick, spread and bucket_table move; block_array moves
 * or adds;
 * - add, add_distance, add_array and add_length round one addition, correctly;
 * - multiply, gate_rows, scale, head_scale and weigh round one product. The product of two floats is exact in
 * double, so the reference also rounds once; relu takes the rounded number or 0;
 * - round and quantise get the same number in both, which has one right rounding; row_scale and column_scale
 * divide a largest magnitude, and integers are summed, also those whose sum weight_scale divides 1 by;
 * - argmax, topk and group_rows get the same numbers that they are judged by. */
#define ROW(op, operands, result, reference, tolerance, shapes) {#op, tolerance},
static const struct {
  const char *name;
  int (*function)(const op_result *result);
} table[] = {ATTN2C_OPS(ROW)};

int attn2c_tolerance_op(const attn2c_descriptor *model, const attn2c_op *op, void *const *tensors,
                        float *allowed, attn2c_message *message) {
  const attn2c_reference_call call = attn2c_reference_call_of(model, op, tensors, NULL, message);
  const attn2c_tensor *shape = attn2c_reference_result(&call);
  op_result result = {&call,
                      tensors[op->result],
                      allowed,
                      attn2c_reference_rows(shape),
                      attn2c_reference_width(shape),
                      attn2c_elements(shape)};
  for (size_t row = 0; row < sizeof table / sizeof table[0]; row++)
    if (strcmp(table[row].name, op->op) == 0) return table[row].function(&result);
  return attn2c_reference_fault(&call, "there is no tolerance for this op");
}

/* Returns the distance within which the reference follows the trace. If a model rounds to a grid (bf16,
 * int8), an error far below a unit of the grid may turn a rounding and become a whole unit, which is 2^-8 of
 * a bf16: 65,536 times the error of a float. No tolerance of outputs that lets all roundings turn would tell
 * a wrong product from a right one. So the reference follows the trace's roundings. If the trace's element is
 * the rounding of a number that is as close to the reference's as two f32 results of the model's depth may
 * be, the reference continues with the trace's element, otherwise with its own. Two correct computations then
 * stay as close as two in f32, and the outputs are judged by that. A larger error is not followed: it shows
 * in later ops and in the outputs. */
double attn2c_tolerance_settled(const attn2c_tolerance *model, double x, double root_mean_square,
                                double unit) {
  return unit / 2 + model->absolute * fmax(1, root_mean_square) + model->relative * fabs(x);
}

double attn2c_tolerance_row_sum(int64_t width) { return (double)width * ATTN2C_EPSILON; }

/* Returns limits that are interpolated linearly between these points, and proportional to the layers after
 * the last: errors of layers add up. */
attn2c_tolerance attn2c_tolerance_model(int layers) {
  static const struct {
    double layers, absolute, relative_l2;
  } points[] = {{12, 1e-5, 1e-5}, {24, 1e-4, 3e-5}, {32, 1e-4, 3e-5}};
  enum { LAST = sizeof points / sizeof points[0] - 1 };
  attn2c_tolerance tolerance = {NULL, points[0].absolute, 1e-4, points[0].relative_l2};
  for (int next = 1; next <= LAST && layers > points[next - 1].layers; next++) {
    double from = points[next - 1].layers, share = fmin((layers - from) / (points[next].layers - from), 1);
    tolerance.absolute =
        points[next - 1].absolute + share * (points[next].absolute - points[next - 1].absolute);
    tolerance.relative_l2 =
        points[next - 1].relative_l2 + share * (points[next].relative_l2 - points[next - 1].relative_l2);
  }
  if (layers > points[LAST].layers) {
    tolerance.absolute *= layers / points[LAST].layers;
    tolerance.relative_l2 *= layers / points[LAST].layers;
  }
  return tolerance;
}
