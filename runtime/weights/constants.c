/* constants.c - parses the formulas of constants, checks them against the tensor's shape, and computes the
 * values. It computes in double; T5's buckets have the borders that float32 gives. */
#include "weights/constants.h"
#include "system/system.h"

#include <math.h>

const char attn2c_constant_names[] =
    "sinusoidal, rope_cos, rope_sin, angle_cos, angle_sin, grown_cos, "
    "grown_sin, plane_cos, plane_sin, alibi, alibi_of, t5_buckets, ones, identity or list";

/* The numbers after a formula's name, read one after the other; bad once one of them is not a number.
 * function: of angles, in the formulas that have one. */
typedef struct {
  const char *rest;
  int bad;
  double (*function)(double);
} words;

static double next_number(words *from) {
  while (*from->rest == ' ') from->rest++;
  char *end = NULL;
  double number = *from->rest && !from->bad ? strtod(from->rest, &end) : 0;
  if (!end || end == from->rest || (*end != ' ' && *end != '\0')) {
    from->bad = 1;
    return 0;
  }
  from->rest = end;
  return number;
}

/* Returns an integer of at most 31 bits. */
static int64_t next_integer(words *from) {
  double number = next_number(from);
  if (!(fabs(number) <= (double)INT32_MAX) || number != floor(number)) {
    from->bad = 1;
    return 0;
  }
  return (int64_t)number;
}

static int at_end(const words *from) { return !from->bad && from->rest[strspn(from->rest, " ")] == '\0'; }

enum { PAIRS, HALVES, FAIRSEQ };

/* Returns sin or cos of the angle of a position in a column. Layouts differ in where pair i is. */
static double sinusoid(int64_t layout, int64_t position, int64_t column, int64_t width) {
  const int64_t sines = layout == FAIRSEQ ? width / 2 : (width + 1) / 2;
  const int is_cosine = layout == PAIRS ? (int)(column % 2) : column >= sines;
  const int64_t pair = layout == PAIRS ? column / 2 : column - (is_cosine ? sines : 0);
  double angle;
  if (layout == FAIRSEQ) { /* fairseq computes angles in floats */
    const float step = (float)(log(10000.0) / (double)(sines - 1));
    if (pair >= sines) return 0;
    angle = (double)((float)position * (float)exp((double)((float)pair * -step)));
  } else {
    angle = (double)position / pow(10000.0, (double)(2 * pair) / (double)width);
  }
  return is_cosine ? cos(angle) : sin(angle);
}

/* P[s][2i] = sin(p / 10000^(2i/d)), P[s][2i+1] = cos(p / 10000^(2i/d)), p = first + s, where first defaults
 * to 0 (Vaswani et al. 2017, section 3.5). Shape [s][d]; with an odd d the last column is a sine. Other
 * layouts have all sines first, and FAIRSEQ has 10000^(i/(d/2-1)) in place of 10000^(2i/d). */
static int fill_sinusoidal(words *from, const attn2c_tensor *tensor, float *values) {
  int64_t first = at_end(from) ? 0 : next_integer(from), layout = at_end(from) ? PAIRS : next_integer(from);
  if (!at_end(from) || tensor->rank < 1 || layout < PAIRS || layout > FAIRSEQ) return 0;
  int64_t width = tensor->shape[tensor->rank - 1], rows = width > 0 ? attn2c_elements(tensor) / width : 0;
  if (layout == FAIRSEQ && width < 4) return 0;
  for (int64_t s = 0; values && s < rows; s++)
    for (int64_t column = 0; column < width; column++)
      values[s * width + column] = (float)sinusoid(layout, first + s, column, width);
  return 1;
}

/* y[s][d] = f((first + s) theta^(-2d/R)), R = 2 x columns (Su et al. 2021, section 3.2.2) */
static int fill_rope(words *from, const attn2c_tensor *tensor, float *values) {
  double theta = next_number(from);
  int64_t first = next_integer(from);
  if (!at_end(from) || !(theta > 0) || isinf(theta) || tensor->rank != 2) return 0;
  int64_t rows = tensor->shape[0], width = tensor->shape[1];
  for (int64_t d = 0; values && d < width; d++) {
    double frequency = pow(theta, -2.0 * (double)d / (2.0 * (double)width));
    for (int64_t s = 0; s < rows; s++)
      values[s * width + d] = (float)from->function((double)(first + s) * frequency);
  }
  return 1;
}

/* y[s][d] = scale f((first + s) F_d), with listed frequencies F_d; times 1 + beta ln(1 + floor((first + s) /
 * long)) if it grows, which has beta and long after the scale */
static int fill_turns(words *from, const attn2c_tensor *tensor, float *values, int grows) {
  int64_t first = next_integer(from);
  double scale = next_number(from);
  const double beta = grows ? next_number(from) : 0, length = grows ? next_number(from) : 1;
  if (tensor->rank != 2 || from->bad || !(length > 0)) return 0;
  int64_t rows = tensor->shape[0], width = tensor->shape[1];
  words counted = *from;
  for (int64_t d = 0; d < width && !counted.bad; d++) next_number(&counted);
  if (!at_end(&counted)) return 0;
  for (int64_t d = 0; values && d < width; d++) {
    double frequency = next_number(from);
    for (int64_t s = 0; s < rows; s++) {
      const double growth = grows ? 1 + beta * log1p(floor((double)(first + s) / length)) : 1;
      values[s * width + d] = (float)(growth * scale * from->function((double)(first + s) * frequency));
    }
  }
  return 1;
}

/* y[s][d] = f(0) for s < tokens, then f(2 pi p theta^(-2d/n)): p is the middle of patch s - tokens, as a part
 * of the image's height from -1 to 1 in the first half of the n columns, of its width in the other, with d
 * counted from the half's first column; `across` patches side by side (Siméoni et al. 2025, DINOv3) */
static int fill_plane(words *from, const attn2c_tensor *tensor, float *values) {
  const double theta = next_number(from);
  const int64_t tokens = next_integer(from), across = next_integer(from);
  if (!at_end(from) || !(theta > 0) || isinf(theta) || tensor->rank != 2) return 0;
  const int64_t rows = tensor->shape[0], width = tensor->shape[1], half = width / 2;
  if (across < 1 || tokens < 0 || tokens > rows || (rows - tokens) % across != 0 || width % 2 != 0) return 0;
  const int64_t down = (rows - tokens) / across;
  for (int64_t s = 0; values && s < rows; s++)
    for (int64_t d = 0; d < width; d++) {
      const int64_t place = d < half ? (s - tokens) / across : (s - tokens) % across;
      const double middle = 2 * ((double)place + 0.5) / (double)(d < half ? down : across) - 1;
      const double frequency = pow(theta, -2.0 * (double)(d % half) / (double)width);
      values[s * width + d] = (float)from->function(s < tokens ? 0 : 2 * acos(-1.0) * middle * frequency);
    }
  return 1;
}

static int fill_angles(words *from, const attn2c_tensor *tensor, float *values) {
  return fill_turns(from, tensor, values, 0);
}

static int fill_grown(words *from, const attn2c_tensor *tensor, float *values) {
  return fill_turns(from, tensor, values, 1);
}

/* Returns the slope of head h of `heads`: 2^(-most (h + 1) / heads) if heads is a power of two. Otherwise the
 * first n heads have the slopes of the next smaller power n, and the others every other slope of 2n, from the
 * first on (Press et al. 2022, section 3, and its published code, where most is 8). */
static double alibi_slope(int64_t h, int64_t heads, double most) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (h < power) return exp2(-most * (double)(h + 1) / (double)power);
  return exp2(-most * (double)(2 * (h - power) + 1) / (double)(2 * power));
}

/* y[h][d] = -factor (slope of h) |d + first|; of all heads, or of the heads of a rank, which has the number
 * of its first head and of all heads after `first`. */
static int fill_slopes(words *from, const attn2c_tensor *tensor, float *values, double most, double factor) {
  int64_t first = next_integer(from);
  const int is_part = !at_end(from);
  const int64_t before = is_part ? next_integer(from) : 0, all = is_part ? next_integer(from) : 0;
  if (!at_end(from) || tensor->rank != 2) return 0;
  int64_t heads = tensor->shape[0], distances = tensor->shape[1];
  if (is_part && (before < 0 || before + heads > all)) return 0;
  for (int64_t h = 0; values && h < heads; h++) {
    double slope = factor * alibi_slope(before + h, is_part ? all : heads, most);
    for (int64_t d = 0; d < distances; d++)
      values[h * distances + d] = (float)(-slope * fabs((double)(d + first)));
  }
  return 1;
}

static int fill_alibi(words *from, const attn2c_tensor *tensor, float *values) {
  return fill_slopes(from, tensor, values, 8, 1);
}

static int fill_alibi_of(words *from, const attn2c_tensor *tensor, float *values) {
  const double most = next_number(from), factor = next_number(from);
  return fill_slopes(from, tensor, values, most, factor);
}

/* Returns the bucket of one distance. Half of the buckets (in each direction) are for one distance each; the
 * others grow by a constant factor up to `farthest`. A border may be an integer, so this computes in float32
 * from the logarithm on, in the order in which models were trained: log(float(distance) / exact) /
 * log(farthest / exact) * (buckets - exact), where the second logarithm is a double that is rounded to float
 * (Raffel et al. 2020, section 2.1, and relative_position_bucket of Hugging Face's T5). */
static int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t farthest, int bidirectional) {
  int64_t begin = 0;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) begin = buckets;
    distance = distance < 0 ? -distance : distance;
  } else {
    distance = distance < 0 ? -distance : 0;
  }
  int64_t exact = buckets / 2;
  if (distance < exact) return begin + distance;
  float share = logf((float)distance / (float)exact);
  share = share / (float)log((double)farthest / (double)exact);
  share = share * (float)(buckets - exact);
  int64_t bucket = exact + (int64_t)share;
  return begin + (bucket < buckets ? bucket : buckets - 1);
}

static int fill_t5_buckets(words *from, const attn2c_tensor *tensor, float *values) {
  int64_t buckets = next_integer(from), farthest = next_integer(from);
  int64_t bidirectional = next_integer(from), first = next_integer(from);
  if (!at_end(from) || tensor->rank != 1 || bidirectional < 0 || bidirectional > 1) return 0;
  int64_t exact = (bidirectional ? buckets / 2 : buckets) / 2;
  if (exact < 1 || farthest <= exact) return 0;
  for (int64_t d = 0; values && d < tensor->shape[0]; d++)
    values[d] = (float)t5_bucket(d + first, buckets, farthest, (int)bidirectional);
  return 1;
}

static int fill_list(words *from, const attn2c_tensor *tensor, float *values) {
  int64_t elements = attn2c_elements(tensor);
  words counted = *from;
  for (int64_t i = 0; i < elements && !counted.bad; i++) next_number(&counted);
  if (!at_end(&counted)) return 0;
  for (int64_t i = 0; values && i < elements; i++) values[i] = (float)next_number(from);
  return 1;
}

static int fill_ones(words *from, const attn2c_tensor *tensor, float *values) {
  if (!at_end(from)) return 0;
  const int64_t elements = attn2c_elements(tensor);
  for (int64_t i = 0; values && i < elements; i++) values[i] = 1.0f;
  return 1;
}

/* identity: 1 where row and column are the same, 0 elsewhere. */
static int fill_identity(words *from, const attn2c_tensor *tensor, float *values) {
  if (!at_end(from) || tensor->rank != 2 || tensor->shape[0] != tensor->shape[1]) return 0;
  const int64_t side = tensor->shape[0];
  for (int64_t i = 0; values && i < side * side; i++) values[i] = i % (side + 1) == 0 ? 1.0f : 0.0f;
  return 1;
}

static const struct {
  const char *name;
  int (*fill)(words *from, const attn2c_tensor *tensor, float *values);
  double (*function)(double);
} formulas[] = {{"sinusoidal", fill_sinusoidal, NULL},
                {"rope_cos", fill_rope, cos},
                {"rope_sin", fill_rope, sin},
                {"angle_cos", fill_angles, cos},
                {"angle_sin", fill_angles, sin},
                {"grown_cos", fill_grown, cos},
                {"grown_sin", fill_grown, sin},
                {"plane_cos", fill_plane, cos},
                {"plane_sin", fill_plane, sin},
                {"alibi", fill_alibi, NULL},
                {"alibi_of", fill_alibi_of, NULL},
                {"t5_buckets", fill_t5_buckets, NULL},
                {"ones", fill_ones, NULL},
                {"identity", fill_identity, NULL},
                {"list", fill_list, NULL}};

static int fill(const char *formula, const attn2c_tensor *tensor, float *values) {
  size_t length = strcspn(formula, " ");
  for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
    if (strlen(formulas[i].name) == length && memcmp(formulas[i].name, formula, length) == 0) {
      words from = {formula + length, 0, formulas[i].function};
      return formulas[i].fill(&from, tensor, values);
    }
  return 0;
}

int attn2c_constant_fill(const char *formula, const attn2c_tensor *tensor, float *values) {
  /* strtod uses the thread's locale, in which numbers may be written as 0,5. */
  const attn2c_locale before = attn2c_system_plain_locale();
  int filled = fill(formula, tensor, values);
  attn2c_system_restore_locale(before);
  return filled;
}

int attn2c_constant_number(const char **rest, double *number) {
  /* strtod uses the thread's locale, in which numbers may be written as 0,5. */
  const attn2c_locale before = attn2c_system_plain_locale();
  words from = {.rest = *rest};
  *number = next_number(&from);
  *rest = from.rest;
  attn2c_system_restore_locale(before);
  return !from.bad;
}
