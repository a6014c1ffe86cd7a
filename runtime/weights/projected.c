/* projected.c - parses the formula of a table of projected distances, and computes the table, head by head.
 * Sums are in float, input by input, so that they have the same bits on every machine; the build compiles
 * this file as element loops, without fused multiply-adds. */
#include "weights/projected.h"
#include "weights/constants.h"

#include <math.h>

/* Reads the next word, which ends at a space or at the end of the formula; returns its length. */
static size_t next_word(const char **rest, const char **word) {
  *rest += strspn(*rest, " ");
  *word = *rest;
  const size_t length = strcspn(*rest, " ");
  *rest += length;
  return length;
}

static int next_integer(const char **rest, int64_t least, int64_t most, int64_t *value) {
  const char *word;
  const size_t length = next_word(rest, &word);
  char *end;
  *value = strtoll(word, &end, 10);
  return length > 0 && end == word + length && *value >= least && *value <= most;
}

static int find_weight(const attn2c_descriptor *model, const char *name, size_t length) {
  for (int i = 0; i < model->weight_count; i++) {
    const char *other = model->tensors[model->weights[i].tensor].name;
    if (strlen(other) == length && memcmp(other, name, length) == 0) return i;
  }
  return -1;
}

/* Reads the name of a weight with `elements` elements, or of any number if that is 0. */
static int next_weight(const attn2c_descriptor *model, const char **rest, int64_t elements, int is_optional,
                       int *index) {
  const char *word;
  const size_t length = next_word(rest, &word);
  *index = -1;
  if (is_optional && length == 1 && *word == '-') return 1;
  *index = find_weight(model, word, length);
  if (*index < 0 || model->weights[*index].formula) return 0;
  return elements == 0 || attn2c_elements(&model->tensors[model->weights[*index].tensor]) == elements;
}

static const attn2c_tensor *tensor_of(const attn2c_descriptor *model, int weight) {
  return &model->tensors[model->weights[weight].tensor];
}

int attn2c_projected_parse(const attn2c_descriptor *model, const attn2c_weight *weight, attn2c_projected *p) {
  const attn2c_tensor *own = &model->tensors[weight->tensor];
  const int64_t most = INT64_C(1) << 24;
  const char *rest = weight->formula + sizeof ATTN2C_PROJECTED - 1;
  if (!next_integer(&rest, 1, most, &p->heads) || !next_integer(&rest, 0, most, &p->reach) ||
      !next_integer(&rest, -1, 1, &p->direction) || p->direction == 0 ||
      !next_integer(&rest, 0, most, &p->buckets) || !next_integer(&rest, 1, most, &p->distance) ||
      !attn2c_constant_number(&rest, &p->eps) || !(p->eps >= 0))
    return 0;
  if (p->buckets > 0 && (p->buckets < 4 || p->distance - 1 <= p->buckets / 2)) return 0;
  if (own->rank != 2 || own->shape[0] % p->heads != 0) return 0;
  if (!next_weight(model, &rest, 0, 0, &p->table) || !next_weight(model, &rest, 0, 0, &p->weight)) return 0;
  const attn2c_tensor *table = tensor_of(model, p->table), *by = tensor_of(model, p->weight);
  const int64_t inputs = table->rank == 2 ? table->shape[1] : 0, outputs = p->heads * own->shape[1];
  if (table->rank != 2 || by->rank != 2 || table->shape[0] != attn2c_projected_rows(p) ||
      by->shape[0] != outputs || by->shape[1] != inputs)
    return 0;
  if (!next_weight(model, &rest, outputs, 1, &p->bias) || !next_weight(model, &rest, inputs, 1, &p->gain) ||
      !next_weight(model, &rest, inputs, 1, &p->norm_bias))
    return 0;
  return rest[strspn(rest, " ")] == '\0';
}

/* Returns the bucket of a distance of at least half the buckets. Borders may be integers, so it computes in
 * float32 in the order of training (make_log_bucket_position of Hugging Face's DeBERTa-v2). */
static int64_t far_bucket(int64_t distance, int64_t buckets, int64_t farthest) {
  const int64_t middle = buckets / 2;
  float share = logf((float)distance / (float)middle);
  share = share / logf((float)((double)(farthest - 1) / (double)middle));
  return (int64_t)ceilf(share * (float)(middle - 1)) + middle;
}

int64_t attn2c_projected_row(const attn2c_projected *p, int64_t distance) {
  const int64_t middle = attn2c_projected_rows(p) / 2, size = distance < 0 ? -distance : distance;
  int64_t bucket = size;
  if (p->buckets > 0 && size > p->buckets / 2) bucket = far_bucket(size, p->buckets, p->distance);
  const int64_t row = middle + (distance < 0 ? -bucket : bucket);
  return row < 0 ? 0 : row > 2 * middle - 1 ? 2 * middle - 1 : row;
}

void attn2c_projected_norm(float *table, int64_t rows, int64_t width, double eps, const float *gain,
                           const float *norm_bias) {
  for (int64_t i = 0; i < rows; i++) {
    float *row = table + i * width;
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < width; j++) mean += row[j];
    mean /= (double)width;
    for (int64_t j = 0; j < width; j++) variance += (row[j] - mean) * (row[j] - mean);
    const double factor = 1 / sqrt(variance / (double)width + eps);
    for (int64_t j = 0; j < width; j++)
      row[j] = (float)((row[j] - mean) * factor * gain[j] + (norm_bias ? norm_bias[j] : 0));
  }
}

/* Rows, and vectors of columns, whose sums stay in registers. */
enum { ROWS = 4, VECTORS = 2, LANES = 8 };

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* y[r][j] += sum over k of x[r][k] w[k][j], for ROWS rows and `vectors` vectors of columns. */
INLINE void block(const float *x, int64_t inputs, const float *w, int64_t width, float *y,
                  const int vectors) {
  lanes sums[ROWS][VECTORS];
  for (int r = 0; r < ROWS; r++)
    for (int v = 0; v < vectors; v++) sums[r][v] = *(const lanes *)(y + r * width + v * LANES);
  for (int64_t k = 0; k < inputs; k++)
    for (int r = 0; r < ROWS; r++)
      for (int v = 0; v < vectors; v++)
        sums[r][v] += x[r * inputs + k] * *(const lanes *)(w + k * width + v * LANES);
  for (int r = 0; r < ROWS; r++)
    for (int v = 0; v < vectors; v++) *(lanes *)(y + r * width + v * LANES) = sums[r][v];
}

/* The same for one element, added in the same order. */
INLINE void single(const float *x, int64_t inputs, const float *w, int64_t width, float *y) {
  float sum = *y;
  for (int64_t k = 0; k < inputs; k++) sum += x[k] * w[k * width];
  *y = sum;
}

/* y[rows][width] += x[rows][inputs] w[inputs][width] */
INLINE void multiply(const float *x, int64_t rows, int64_t inputs, const float *w, int64_t width, float *y,
                     const int vectors) {
  const int64_t whole_rows = rows - rows % ROWS, whole = width - width % (vectors * LANES);
  for (int64_t i = 0; i < whole_rows; i += ROWS)
    for (int64_t j = 0; j < whole; j += vectors * LANES)
      block(x + i * inputs, inputs, w + j, width, y + i * width + j, vectors);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = i < whole_rows ? whole : 0; j < width; j++)
      single(x + i * inputs, inputs, w + j, width, y + i * width + j);
}

/* The same code with and without AVX2 gives the same bits. */
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void multiply_avx2(const float *x, int64_t rows, int64_t inputs,
                                                          const float *w, int64_t width, float *y) {
  multiply(x, rows, inputs, w, width, y, VECTORS);
}

static int is_wide(void) { return __builtin_cpu_supports("avx2"); }
#else
static void multiply_avx2(const float *x, int64_t rows, int64_t inputs, const float *w, int64_t width,
                          float *y) {
  multiply(x, rows, inputs, w, width, y, VECTORS);
}

static int is_wide(void) { return 1; }
#endif

/* y[rows][width] = x[rows][inputs] w[inputs][width] + bias */
static void multiply_add(const float *x, int64_t rows, int64_t inputs, const float *w, const float *bias,
                         int64_t width, float *y) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++) y[i * width + j] = bias ? bias[j] : 0;
  if (is_wide())
    multiply_avx2(x, rows, inputs, w, width, y);
  else
    multiply(x, rows, inputs, w, width, y, 1);
}

void attn2c_projected_head(const attn2c_projected *p, const float *table, int64_t inputs, const float *weight,
                           const float *bias, int64_t width, int64_t count, float *scratch, float *values) {
  float *turned = scratch, *product = scratch + inputs * width;
  for (int64_t j = 0; j < width; j++)
    for (int64_t k = 0; k < inputs; k++) turned[k * width + j] = weight[j * inputs + k];
  /* The rows in use follow each other, as a farther distance never has an earlier row. */
  const int64_t one = attn2c_projected_row(p, p->direction * -p->reach);
  const int64_t other = attn2c_projected_row(p, p->direction * (count - 1 - p->reach));
  const int64_t first = one < other ? one : other, last = one < other ? other : one;
  multiply_add(table + first * inputs, last - first + 1, inputs, turned, bias, width, product);
  for (int64_t c = 0; c < count; c++) {
    const int64_t row = attn2c_projected_row(p, p->direction * (c - p->reach)) - first;
    memcpy(values + c * width, product + row * width, (size_t)width * sizeof *values);
  }
}
