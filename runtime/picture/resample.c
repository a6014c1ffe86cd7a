/* resample.c - resizes 8-bit planes: one axis after the other, with weights in fixed point. Pillow
 * (src/libImaging/Resample.c) has the same arithmetic, so the bits are the same. Results that keep their
 * fractions have the same weights as floats. */
#include "picture/prepare.h"

#include <math.h>

/* Bits after the point of a weight. A sum of 8-bit values times weights, some negative, fits an int32. */
#define WEIGHT_BITS 22

static const double PI = 3.14159265358979323846;

/* The weights of one axis: the result's position i is the sum over `count` inputs from `first` on. */
typedef struct {
  int64_t first, count;
} span;

typedef struct {
  int64_t size; /* weights a position has room for */
  span *spans;
  double *exact;
  int32_t *weights; /* `exact` in fixed point */
} axis_weights;

static double bilinear(double x) {
  x = x < 0 ? -x : x;
  return x < 1 ? 1 - x : 0;
}

/* Keys' cubic with a = -1/2. */
static double bicubic(double x) {
  const double a = -0.5;
  x = x < 0 ? -x : x;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/* The window of half a pixel to each side; with the right end. */
static double box(double x) { return x > -0.5 && x <= 0.5; }

static double sinc(double x) { return x == 0 ? 1 : sin(x * PI) / (x * PI); }

static double hamming(double x) {
  x = x < 0 ? -x : x;
  return x < 1 ? sinc(x) * (0.54F + 0.46F * cos(x * PI)) : 0;
}

static double lanczos(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

static const struct {
  double (*weight)(double x);
  double support; /* the weight is 0 from here on */
} filters[] = {
    [ATTN2C_FILTER_NEAREST] = {box, 0}, /* the weight of the only input */
    [ATTN2C_FILTER_LANCZOS] = {lanczos, 3}, [ATTN2C_FILTER_BOX] = {box, 0.5},
    [ATTN2C_FILTER_HAMMING] = {hamming, 1}, [ATTN2C_FILTER_BILINEAR] = {bilinear, 1},
    [ATTN2C_FILTER_BICUBIC] = {bicubic, 2},
};

static int64_t rounded_up(double x) {
  const int64_t below = (int64_t)x;
  return (double)below < x ? below + 1 : below;
}

static void weights_free(axis_weights *made) { ATTN2C_FREE(made->spans, made->exact, made->weights); }

/* Writes the weights of one position, whose filter has its middle at `center` of the input. */
static void weigh(double center, double stretch, int64_t inputs, attn2c_filter filter, span *to,
                  double *exact, int32_t *weights) {
  const double support = filters[filter].support * stretch, inverse = 1.0 / stretch;
  int64_t first = (int64_t)(center - support + 0.5), end = (int64_t)(center + support + 0.5);
  double sum = 0.0;
  if (first < 0) first = 0;
  if (end > inputs) end = inputs;
  to->first = first, to->count = end - first;
  for (int64_t k = 0; k < to->count; k++) {
    exact[k] = filters[filter].weight(((double)(k + first) - center + 0.5) * inverse);
    sum += exact[k];
  }
  for (int64_t k = 0; k < to->count; k++) {
    exact[k] = sum != 0.0 ? exact[k] / sum : exact[k];
    const double weight = exact[k] * (1 << WEIGHT_BITS);
    weights[k] = (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
  }
}

/* Takes the input that the middle of each position is in. Pillow adds up the places, and so do the rounding
 * errors. */
static void take_nearest(const attn2c_resample_axis *axis, double scale, axis_weights *made) {
  double at = scale * 0.5;
  for (int64_t i = 0; i < axis->first + axis->count; i++, at += scale) {
    if (i < axis->first) continue;
    made->spans[i - axis->first] = (span){(int64_t)at, 1};
    made->weights[(i - axis->first) * made->size] = 1 << WEIGHT_BITS;
  }
}

/* The caller frees the weights, also after a failure. */
static int weights_make(const attn2c_resample_axis *axis, attn2c_filter filter, axis_weights *made) {
  const double scale = (double)axis->from / (double)axis->to, stretch = scale < 1 ? 1 : scale;
  made->size = 2 * rounded_up(filters[filter].support * stretch) + 1;
  made->spans = calloc((size_t)axis->count, sizeof *made->spans);
  if (made->size <= INT64_MAX / 64 / axis->count) {
    made->exact = calloc((size_t)(axis->count * made->size), sizeof *made->exact);
    made->weights = calloc((size_t)(axis->count * made->size), sizeof *made->weights);
  }
  if (!made->spans || !made->exact || !made->weights) return ATTN2C_MEMORY;
  if (filter == ATTN2C_FILTER_NEAREST) take_nearest(axis, scale, made);
  for (int64_t i = 0; i < axis->count && filter != ATTN2C_FILTER_NEAREST; i++)
    weigh(((double)(axis->first + i) + 0.5) * scale, stretch, axis->from, filter, &made->spans[i],
          made->exact + i * made->size, made->weights + i * made->size);
  return ATTN2C_OK;
}

static uint8_t clipped(int32_t sum) {
  const int32_t value = sum >> WEIGHT_BITS;
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* An axis whose size does not change is copied, as a filter would change its values' last bit. */
static int stays(const attn2c_resample_axis *axis) { return axis->from == axis->to; }

/* The inputs that the window of an axis needs. */
static span needed(const attn2c_resample_axis *axis, const axis_weights *of) {
  if (stays(axis)) return (span){axis->first, axis->count};
  const span *last = &of->spans[axis->count - 1];
  return (span){of->spans[0].first, last->first + last->count - of->spans[0].first};
}

/* Resizes one row, which begins with input `begin`. */
static void resample_row(const uint8_t *row, int64_t begin, const axis_weights *of, int64_t count,
                         uint8_t *out) {
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *from = row + ATTN2C_PLANES * (of->spans[i].first - begin);
    const int32_t *weights = of->weights + i * of->size;
    int32_t red = 1 << (WEIGHT_BITS - 1), green = red, blue = red;
    for (int64_t k = 0; k < of->spans[i].count; k++, from += ATTN2C_PLANES) {
      red += from[0] * weights[k];
      green += from[1] * weights[k];
      blue += from[2] * weights[k];
    }
    out[0] = clipped(red), out[1] = clipped(green), out[2] = clipped(blue);
    out += ATTN2C_PLANES;
  }
}

/* Resizes each of `rows` rows, `step` bytes apart, which begin with input `begin`. */
static void resize_columns(const uint8_t *from, int64_t step, int64_t rows, int64_t begin,
                           const attn2c_resample_axis *x, const axis_weights *of, uint8_t *out) {
  const int64_t width = ATTN2C_PLANES * x->count;
  for (int64_t r = 0; r < rows; r++, from += step, out += width) {
    if (stays(x))
      memcpy(out, from + ATTN2C_PLANES * (x->first - begin), (size_t)width);
    else
      resample_row(from, begin, of, x->count, out);
  }
}

/* Makes rows of `width` bytes of rows that are `step` bytes apart, of which the first is input `begin`.
 * sums: [width]. */
static void resize_rows(const uint8_t *from, int64_t step, int64_t width, int64_t begin,
                        const attn2c_resample_axis *y, const axis_weights *of, int32_t *sums, uint8_t *out) {
  for (int64_t r = 0; r < y->count; r++, out += width) {
    if (stays(y)) {
      memcpy(out, from + (y->first + r - begin) * step, (size_t)width);
      continue;
    }
    const uint8_t *row = from + (of->spans[r].first - begin) * step;
    for (int64_t i = 0; i < width; i++) sums[i] = 1 << (WEIGHT_BITS - 1);
    for (int64_t k = 0; k < of->spans[r].count; k++, row += step) {
      const int32_t weight = of->weights[r * of->size + k];
      for (int64_t i = 0; i < width; i++) sums[i] += row[i] * weight;
    }
    for (int64_t i = 0; i < width; i++) out[i] = clipped(sums[i]);
  }
}

/* The order decides last bits. Pillow 13 takes rows first where that saves much; older ones never do. */
static int takes_rows_first(const attn2c_resample_axis *x, const attn2c_resample_axis *y) {
  return y->from > y->to && y->from - y->to > 2 * (x->from - x->to);
}

int attn2c_resample(const uint8_t *pixels, const attn2c_resample_axis *x, const attn2c_resample_axis *y,
                    attn2c_filter filter, uint8_t *out) {
  axis_weights of_x = {0}, of_y = {0};
  int status = stays(x) ? ATTN2C_OK : weights_make(x, filter, &of_x);
  if (status == ATTN2C_OK && !stays(y)) status = weights_make(y, filter, &of_y);
  if (status == ATTN2C_OK) {
    const span columns = needed(x, &of_x), rows = needed(y, &of_y);
    const int rows_first = takes_rows_first(x, y);
    const int64_t step = ATTN2C_PLANES * x->from;
    const int64_t width = ATTN2C_PLANES * (rows_first ? columns.count : x->count);
    const uint8_t *from = pixels + rows.first * step;
    uint8_t *between = malloc((size_t)((rows_first ? y->count : rows.count) * width));
    int32_t *sums = malloc((size_t)width * sizeof *sums);
    if (!between || !sums) {
      status = ATTN2C_MEMORY;
    } else if (rows_first) {
      resize_rows(from + ATTN2C_PLANES * columns.first, step, width, rows.first, y, &of_y, sums, between);
      resize_columns(between, width, y->count, columns.first, x, &of_x, out);
    } else {
      resize_columns(from, step, rows.count, 0, x, &of_x, between);
      resize_rows(between, width, width, rows.first, y, &of_y, sums, out);
    }
    ATTN2C_FREE(between, sums);
  }
  weights_free(&of_x);
  weights_free(&of_y);
  return status;
}

/* Sums the rows that row `at` of the result is made of: line[column] of the inputs' columns. */
static void sum_rows(const uint8_t *pixels, int64_t width, const axis_weights *of_y, int64_t at,
                     double *line) {
  const uint8_t *row = pixels + of_y->spans[at].first * width;
  for (int64_t i = 0; i < width; i++) line[i] = 0;
  for (int64_t k = 0; k < of_y->spans[at].count; k++, row += width) {
    const double weight = of_y->exact[at * of_y->size + k];
    for (int64_t i = 0; i < width; i++) line[i] += weight * row[i];
  }
}

static void sum_columns(const double *line, const axis_weights *of_x, int64_t at, float *out) {
  for (int plane = 0; plane < ATTN2C_PLANES; plane++) {
    const double *from = line + ATTN2C_PLANES * of_x->spans[at].first + plane;
    double sum = 0;
    for (int64_t k = 0; k < of_x->spans[at].count; k++)
      sum += of_x->exact[at * of_x->size + k] * from[ATTN2C_PLANES * k];
    out[plane] = (float)sum;
  }
}

int attn2c_resample_floats(const uint8_t *pixels, const attn2c_resample_axis *x,
                           const attn2c_resample_axis *y, attn2c_filter filter, float *out) {
  axis_weights of_x = {0}, of_y = {0};
  ATTN2C_OWN double *line = malloc((size_t)(ATTN2C_PLANES * x->from) * sizeof *line);
  int status = line ? weights_make(x, filter, &of_x) : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = weights_make(y, filter, &of_y);
  for (int64_t r = 0; r < y->count && status == ATTN2C_OK; r++) {
    sum_rows(pixels, ATTN2C_PLANES * x->from, &of_y, r, line);
    for (int64_t c = 0; c < x->count; c++, out += ATTN2C_PLANES) sum_columns(line, &of_x, c, out);
  }
  weights_free(&of_x);
  weights_free(&of_y);
  return status;
}
