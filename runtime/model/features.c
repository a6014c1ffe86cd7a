/* features.c - turns samples into features: chunk by chunk by the entry `features`, whose inputs and results
 * are normalised over the whole sound. Sums over the sound are in double. */
#include "model/features.h"

#include <math.h>

enum { MOST_KERNEL = 64, MOST_COLUMNS = 1024 };

/* A sound: samples, which become (x - mean) scale; `total` of them, of which those from count on are 0. */
typedef struct {
  const attn2c_feature_facts *facts;
  const float *samples;
  int64_t count, total;
  double mean, scale;
} sound;

static int64_t frames_of(const attn2c_feature_facts *facts, int64_t count) {
  const int64_t total = (facts->samples ? facts->samples : count) + 2 * facts->margin;
  return count < 1 || total < facts->length ? 0 : (total - facts->length) / facts->hop + 1;
}

int64_t attn2c_feature_rows(const attn2c_feature_facts *facts, int64_t count) {
  const int64_t frames = frames_of(facts, count);
  return frames > 0 && facts->rows > 0 ? facts->rows : frames;
}

/* Finds the mean m and the deviation of the samples: (x - m) / sqrt(variance + 1e-7), as in wav2vec 2.0. */
static void normalise(sound *s) {
  double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < s->count; i++) sum += (double)s->samples[i];
  s->mean = sum / (double)s->count;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < s->count; i++) {
    const double d = (double)s->samples[i] - s->mean;
    squares += d * d;
  }
  s->scale = 1 / sqrt(squares / (double)s->count + 1e-7);
}

/* Returns the sample at a place, which may be before the first or after the last: they are reflected there.
 */
static float sample_at(const sound *s, int64_t at) {
  if (s->facts->margin && (at < 0 || at >= s->total)) {
    const int64_t period = s->total > 1 ? 2 * (s->total - 1) : 1;
    at = (at % period + period) % period;
    if (at >= s->total) at = period - at;
  }
  return at < 0 || at >= s->count ? 0 : (float)(((double)s->samples[at] - s->mean) * s->scale);
}

/* Returns the samples from `first` on, where they are if nothing is to be done to them; else in `room`. */
static const float *chunk_at(const sound *s, int64_t first, int64_t count, float *room) {
  if (!s->facts->is_normalised && first >= 0 && first + count <= s->count) return s->samples + first;
  for (int64_t i = 0; i < count; i++) room[i] = sample_at(s, first + i);
  return room;
}

/* Writes the mean of all windows of `kernel` samples, `stride` apart, and the columns of the factor L of
 * their covariance C = L Lᵀ (Cholesky), one a row: [kernel + 1][kernel]. The channel of a weight w then has
 * the mean w m and the variance |Lᵀ w|^2. It is L, since w C wᵀ
 * loses twice the digits. */
static void moments_of(const sound *s, float *moments) {
  const int kernel = s->facts->kernel;
  const int64_t windows = (s->total - kernel) / s->facts->stride + 1;
  double mean[MOST_KERNEL] = {0}, sums[MOST_KERNEL][MOST_KERNEL] = {{0}}, x[MOST_KERNEL];
  for (int64_t w = 0; w < windows; w++) {
    const int64_t first = w * s->facts->stride, there = s->count - first;
    for (int i = 0; i < kernel; i++) {
      x[i] = i < there ? ((double)s->samples[first + i] - s->mean) * s->scale : 0;
      mean[i] += x[i];
    }
    for (int i = 0; i < kernel; i++)
#pragma omp simd
      for (int j = 0; j < kernel; j++) sums[i][j] += x[i] * x[j];
  }
  for (int i = 0; i < kernel; i++) mean[i] /= (double)windows, moments[i] = (float)mean[i];
  for (int j = 0; j < kernel; j++) {
    const double variance = sums[j][j] / (double)windows - mean[j] * mean[j];
    double root = 0;
    for (int i = 0; i < kernel; i++) {
      double rest = i < j ? 0 : sums[i][j] / (double)windows - mean[i] * mean[j];
      for (int k = 0; i >= j && k < j; k++)
        rest -= (double)moments[(k + 1) * kernel + i] * (double)moments[(k + 1) * kernel + j];
      if (i == j) root = rest > 1e-13 * variance ? sqrt(rest) : 0; /* 0: the windows have no such direction */
      moments[(j + 1) * kernel + i] = root > 0 ? (float)(i == j ? root : rest / root) : 0;
    }
  }
}

/* Writes the mean of each channel's group and the group's deviation, [2][channels], over the rows that the
 * entry `channels` makes of the whole sound, a call at a time. */
static int measure(const attn2c_context *context, const sound *s, float *moments) {
  const attn2c_feature_facts *facts = s->facts;
  const attn2c_entry *entry = &context->model->descriptor->entries[facts->measuring];
  const int64_t needs = (facts->measured - 1) * facts->stride + facts->kernel;
  const int64_t rows = (s->total - facts->kernel) / facts->stride + 1, each = facts->channels / facts->groups;
  float *room = context->arena + attn2c_entry_arena(context->model->descriptor, entry), *made = room + needs;
  double first[MOST_COLUMNS], sums[MOST_COLUMNS] = {0}, squares[MOST_COLUMNS] = {0};
  for (int64_t done = 0; done < rows; done += facts->measured) {
    const void *const in[] = {chunk_at(s, done * facts->stride, needs, room)};
    void *const out[] = {made};
    ATTN2C_TRY(attn2c_context_run(context, entry, in, out));
    const int64_t count = attn2c_lesser(rows - done, facts->measured);
    for (int64_t g = 0; g < facts->groups && done == 0; g++) first[g] = (double)made[g * each];
    for (int64_t at = 0; at < count * facts->groups; at++) {
      const int64_t g = at % facts->groups;
      const float *x = made + at * each;
      double sum = 0, square = 0;
#pragma omp simd reduction(+ : sum, square)
      for (int64_t j = 0; j < each; j++) {
        const double d = (double)x[j] - first[g];
        sum += d, square += d * d;
      }
      sums[g] += sum, squares[g] += square;
    }
  }
  for (int64_t c = 0; c < facts->channels; c++) {
    const int64_t g = c / each;
    const double mean = sums[g] / (double)(rows * each);
    const double variance = squares[g] / (double)(rows * each) - mean * mean;
    moments[c] = (float)(first[g] + mean);
    moments[facts->channels + c] = (float)(variance < 0 ? 0 : sqrt(variance)); /* or what is no number */
  }
  return ATTN2C_OK;
}

/* Raises numbers that are less than the largest by more than the range. */
static void limit(float *features, int64_t count, float range) {
  float largest = -INFINITY;
  for (int64_t i = 0; i < count; i++) largest = features[i] > largest ? features[i] : largest;
  for (int64_t i = 0; i < count; i++)
    if (features[i] < largest - range) features[i] = largest - range;
}

static void centre(float *features, int64_t rows, int64_t width) {
  double means[MOST_COLUMNS] = {0};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++) means[j] += (double)features[i * width + j];
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++)
      features[i * width + j] = (float)((double)features[i * width + j] - means[j] / (double)rows);
}

/* Makes the rows, a chunk at a time. The last chunk ends with the last row, so that some are made again. */
static int make_rows(const attn2c_context *context, const sound *s, int64_t rows, float *features) {
  const attn2c_feature_facts *facts = s->facts;
  const attn2c_entry *entry = &context->model->descriptor->entries[facts->entry];
  const int64_t needs = (facts->chunk - 1) * facts->hop + facts->length;
  float *room = context->arena + attn2c_entry_arena(context->model->descriptor, entry);
  float *made = room + needs, *moments = made + facts->chunk * facts->width;
  if (facts->channels) ATTN2C_TRY(measure(context, s, moments));
  if (facts->kernel && !facts->channels) moments_of(s, moments);
  for (int64_t done = 0; done < rows; done += facts->chunk) {
    const int64_t last = rows - facts->chunk, first = last < 0 ? 0 : attn2c_lesser(done, last);
    const void *const in[] = {chunk_at(s, first * facts->hop - facts->margin, needs, room), moments};
    void *const out[] = {last < 0 ? made : features + first * facts->width};
    ATTN2C_TRY(attn2c_context_run(context, entry, in, out));
  }
  if (rows < facts->chunk) memcpy(features, made, (size_t)(rows * facts->width) * sizeof *features);
  return ATTN2C_OK;
}

int attn2c_features(const attn2c_context *context, const attn2c_feature_facts *facts, const float *samples,
                    int64_t count, float *features, int64_t rows) {
  if (!context || !samples || !features || rows < 1 || rows != attn2c_feature_rows(facts, count))
    return ATTN2C_USAGE;
  sound s = {facts, samples, count, facts->samples ? facts->samples : count, 0, 1};
  s.count = attn2c_lesser(s.count, s.total);
  if (facts->is_normalised) normalise(&s);
  const int64_t made = attn2c_lesser(rows, frames_of(facts, s.count)), width = facts->width;
  const int status = make_rows(context, &s, made, features);
  if (facts->range > 0) limit(features, made * width, facts->range);
  if (facts->is_centred) centre(features, made, width);
  for (int64_t i = made * width; i < rows * width; i++) features[i] = facts->filler;
  return status;
}
