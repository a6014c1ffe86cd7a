/* sound_constants.c - computes the constants of log-mel spectra in double, from their definitions. */
#include "weights/constants.h"

#include <math.h>

static const double turn = 6.283185307179586476925286766559;

enum { MOST = 7 /* numbers of a formula */ };

/* Reads all numbers after the name; returns 0 unless there are `count`. */
static int read_numbers(const char *formula, const char *name, int count, double numbers[MOST]) {
  const size_t length = strlen(name);
  if (strncmp(formula, name, length) != 0 || formula[length] != ' ') return 0;
  const char *rest = formula + length;
  for (int i = 0; i < count; i++)
    if (!attn2c_constant_number(&rest, &numbers[i])) return 0;
  return rest[strspn(rest, " ")] == '\0';
}

/* True for an integer from `least` to `most`. */
static int is_within(double number, double least, double most) {
  return number >= least && number <= most && number == floor(number);
}

enum { NONE, HANN, HANN_PERIODIC, HAMMING, HAMMING_PERIODIC, POVEY, WINDOWS };

static double window_at(int window, int64_t at, int64_t length) {
  const int is_periodic = window == HANN_PERIODIC || window == HAMMING_PERIODIC;
  const int64_t period = is_periodic || length == 1 ? length : length - 1;
  const double wave = cos(turn * (double)at / (double)period), hann = 0.5 - 0.5 * wave;
  if (window == NONE) return 1;
  if (window == POVEY) return pow(hann, 0.85);
  return window >= HAMMING ? 0.54 - 0.46 * wave : hann;
}

/* y . x = c . p, where p are the samples x of a frame without their mean and with preemphasis. */
static void undo(double *c, int64_t length, double preemphasis, int has_mean) {
  double mean = 0;
  c[0] *= 1 - preemphasis;
  for (int64_t i = 0; i + 1 < length; i++) {
    const double next = c[i + 1]; /* c[0] has its factor already */
    c[i] -= preemphasis * next;
    mean += c[i] / (double)length;
  }
  mean += c[length - 1] / (double)length;
  for (int64_t i = 0; has_mean && i < length; i++) c[i] -= mean;
}

static int spectrum(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                    float *values) {
  enum { FFT, WINDOW, PREEMPHASIS, MEAN, SCALE, FIRST, NUMBERS };
  double n[MOST];
  if (!read_numbers(formula, "spectrum", NUMBERS, n) || tensor->rank != 2 || tensor->shape[0] % 2) return 0;
  const int64_t bins = tensor->shape[0] / 2, length = tensor->shape[1];
  if (!is_within(n[FFT], (double)length, 65536) || !is_within(n[WINDOW], 0, WINDOWS - 1) ||
      !is_within(n[FIRST], 0, n[FFT] / 2 + 1 - (double)bins) || !is_within(n[MEAN], 0, 1))
    return 0;
  if (!values) return 1;
  ATTN2C_OWN double *row = malloc((size_t)length * sizeof *row);
  if (!row) return 0;
  for (int64_t r = first; r < first + count; r++) {
    const int64_t points = (int64_t)n[FFT], bin = r % bins + (int64_t)n[FIRST];
    for (int64_t i = 0; i < length; i++) {
      const double angle = turn * (double)(bin * i % points) / (double)points;
      row[i] = n[SCALE] * window_at((int)n[WINDOW], i, length) * (r < bins ? cos(angle) : -sin(angle));
    }
    undo(row, length, n[PREEMPHASIS], n[MEAN] != 0);
    for (int64_t i = 0; i < length; i++) values[(r - first) * length + i] = (float)row[i];
  }
  return 1;
}

enum { HTK, SLANEY, KALDI, SCALES };

/* Returns the place of a frequency on a scale. Slaney's is straight up to 1000 Hz, which is 15 of it. */
static double mel_of(int scale, double hertz) {
  if (scale == HTK) return 2595 * log10(1 + hertz / 700);
  if (scale == KALDI) return 1127 * log(1 + hertz / 700);
  return hertz < 1000 ? 3 * hertz / 200 : 15 + log(hertz / 1000) * 27 / log(6.4);
}

static double hertz_of(int scale, double mel) {
  if (scale == HTK) return 700 * (pow(10, mel / 2595) - 1);
  if (scale == KALDI) return 700 * (exp(mel / 1127) - 1);
  return mel < 15 ? 200 * mel / 3 : 1000 * exp((mel - 15) * log(6.4) / 27);
}

static int mels(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                float *values) {
  enum { SCALE, NORM, RATE, FFT, LOW, HIGH, FIRST, NUMBERS };
  double n[MOST];
  if (!read_numbers(formula, "mels", NUMBERS, n) || tensor->rank != 2 || tensor->shape[1] % 2) return 0;
  if (!is_within(n[SCALE], 0, SCALES - 1) || !(n[RATE] > 0) || !(n[FFT] > 0) || !(n[LOW] >= 0) ||
      !(n[HIGH] > n[LOW]) || isinf(n[HIGH]))
    return 0;
  const int64_t bins = tensor->shape[1] / 2;
  const int scale = (int)n[SCALE], is_bent = scale == KALDI;
  const double low = mel_of(scale, n[LOW]),
               step = (mel_of(scale, n[HIGH]) - low) / (double)(tensor->shape[0] + 1);
  for (int64_t r = first; values && r < first + count; r++) {
    double corners[3];
    for (int i = 0; i < 3; i++) {
      const double at = low + step * (double)(r + i);
      corners[i] = is_bent ? at : hertz_of(scale, at);
    }
    const double height = n[NORM] != 0 ? 2 / (corners[2] - corners[0]) : 1;
    for (int64_t i = 0; i < bins; i++) {
      const double hertz = ((double)i + n[FIRST]) * n[RATE] / n[FFT],
                   x = is_bent ? mel_of(scale, hertz) : hertz;
      const double up = (x - corners[0]) / (corners[1] - corners[0]);
      const double down = (corners[2] - x) / (corners[2] - corners[1]), side = fmin(up, down);
      float *row = values + (r - first) * 2 * bins;
      row[i] = row[bins + i] = (float)(height * fmax(side, 0));
    }
  }
  return 1;
}

int attn2c_sound_constant(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                          float *values) {
  return spectrum(formula, tensor, first, count, values) || mels(formula, tensor, first, count, values);
}
