/* host_features.c - a user of a model that takes sound. It compares features, and the logits of a model that
 * has them, with transformers' (tests/hf/sounds.py): host_features WEIGHTS CASES, where WEIGHTS is empty for
 * a model without weights. Flags define MODEL, HEADER, WIDTH and LOGITS, a width or 0. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include HEADER

#define JOINED(a, b) a##_##b
#define JOIN(a, b)   JOINED(a, b)
#define N(name)      JOIN(MODEL, name)

enum { MOST = 1 << 20 };

static void expect(int is_true, const char *what) {
  if (is_true) return;
  printf("%s\n", what);
  exit(1);
}

static float *allocate(int64_t count) {
  float *floats = malloc((size_t)count * sizeof *floats + 1);
  expect(floats != NULL, "no memory");
  return floats;
}

static float *read_floats(FILE *file, int64_t count) {
  float *floats = allocate(count);
  expect(fread(floats, sizeof *floats, (size_t)count, file) == (size_t)count, "the file of cases is cut");
  return floats;
}

/* Returns the largest difference. */
static double compare(const float *want, const float *got, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; i++) {
    const double d = fabs((double)want[i] - (double)got[i]);
    largest = d <= largest ? largest : d; /* NaN is larger */
  }
  return largest;
}

/* Refuses to write more or fewer rows than the samples make. */
static void refuse(N(ctx) * ctx, const float *samples, int64_t count, float *features, int64_t rows) {
  expect(N(features)(ctx, samples, count, features, rows + 1) == 2, "one row more");
  expect(N(features)(ctx, samples, count, features, rows - 1) == 2, "one row fewer");
  expect(N(features)(ctx, samples, 0, features, 0) == 2, "no sample");
  expect(N(features)(ctx, NULL, count, features, rows) == 2, "no samples");
  expect(N(features)(NULL, samples, count, features, rows) == 2, "no context");
  expect(N(feature_rows)(0) == 0 && N(feature_rows)(-1) == 0, "rows of no sample");
}

int main(int argc, char **argv) {
  char message[1000];
  N(model) *model = NULL;
  N(ctx) *ctx = NULL;
  expect(argc == 3, "host_features WEIGHTS CASES");
  expect(N(open)(*argv[1] ? argv[1] : NULL, &model, message, sizeof message) == 0, message);
  expect(N(create)(model, &ctx) == 0, "create");
  FILE *file = fopen(argv[2], "rb");
  expect(file != NULL, argv[2]);
  int32_t sizes[2];
  int cases = 0;
  double worst = 0, worst_logits = 0;
  for (; fread(sizes, sizeof sizes, 1, file) == 1; cases++) {
    const int64_t count = sizes[0], rows = sizes[1];
    expect(count > 0 && count < MOST && rows > 0 && rows < MOST, "the file of cases is damaged");
    expect(N(feature_rows)(count) == rows, "rows");
    float *samples = read_floats(file, count), *want = read_floats(file, rows * WIDTH);
    float *got = allocate(rows * WIDTH);
    expect(N(features)(ctx, samples, count, got, rows) == 0, "features");
    worst = fmax(worst, compare(want, got, rows * WIDTH));
    refuse(ctx, samples, count, got, rows);
#if LOGITS
    const int32_t length = (int32_t)rows;
    float *logits = read_floats(file, rows * LOGITS), *made = allocate(rows * LOGITS);
    N(forward_in) in = {.sequences = 1, .lengths = &length, .features = got};
    N(forward_out) out = {.logits = made};
    expect(N(forward)(ctx, &in, &out) == 0, "forward");
    worst_logits = fmax(worst_logits, compare(logits, made, rows * LOGITS));
    free(logits), free(made);
#endif
    free(samples), free(want), free(got);
  }
  fclose(file);
  N(destroy)(ctx);
  N(close)(model);
  expect(cases > 3, "too few cases");
  printf("features %.1e, logits %.1e\n", worst, worst_logits);
  return worst < 2e-5 && worst_logits < 2e-5 ? 0 : 1;
}
