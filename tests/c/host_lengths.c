/* host_lengths.c - runs a model of any length on sequences of several lengths: one call with all of them, and
 * a call for each. The bits must be the same, also next to a sequence of NaN. Usage: host_lengths
 * WEIGHTS WIDTH LENGTH ... */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define OF(name)    JOIN(MODEL, name)

typedef struct OF(_model) OF(_model);
typedef struct OF(_ctx) OF(_ctx);
typedef struct {
  int64_t sequences;
  const int32_t *lengths;
  const float *hidden;
} inputs;
typedef struct {
  float *states;
} outputs;

int OF(_open)(const char *weights, OF(_model) * *model, char *message, size_t size);
int OF(_create)(const OF(_model) * model, OF(_ctx) * *ctx);
int OF(_forward)(OF(_ctx) * ctx, const inputs *in, outputs *out);
void OF(_destroy)(OF(_ctx) * ctx);
void OF(_close)(OF(_model) * model);

/* Fills x with numbers from -2 to 2. */
static void fill(float *x, size_t count) {
  uint32_t seed = 1;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / 4194304.0f - 2.0f;
  }
}

int main(int argc, char **argv) {
  const int count = argc - 3, width = argc > 2 ? atoi(argv[2]) : 0;
  int32_t lengths[64];
  size_t rows = 0;
  if (count < 1 || count > 64) return 2;
  for (int i = 0; i < count; i++) rows += (size_t)(lengths[i] = atoi(argv[i + 3]));
  char message[1000] = "";
  OF(_model) * model;
  OF(_ctx) * ctx;
  if (OF(_open)(argv[1], &model, message, sizeof message) || OF(_create)(model, &ctx)) {
    fprintf(stderr, "%s\n", message);
    return 3;
  }
  const size_t all = rows * (size_t)width;
  float *x = malloc(4 * all), *together = malloc(4 * all), *alone = malloc(4 * all);
  int faults = 0;
  fill(x, all);
  for (int nan = -1; nan < count; nan++) { /* the sequence that is NaN */
    size_t at = 0;
    for (int i = 0; i < nan; i++) at += (size_t)lengths[i] * (size_t)width;
    for (size_t i = 0; nan >= 0 && i < (size_t)lengths[nan] * (size_t)width; i++) x[at + i] = NAN;
    faults += OF(_forward)(ctx, &(inputs){count, lengths, x}, &(outputs){together}) != 0;
    at = 0;
    for (int i = 0; i < count; at += (size_t)lengths[i++] * (size_t)width) {
      const size_t bytes = 4 * (size_t)lengths[i] * (size_t)width;
      if (nan < 0)
        faults += OF(_forward)(ctx, &(inputs){1, &lengths[i], x + at}, &(outputs){alone + at}) != 0;
      if (i != nan && (memcmp(together + at, alone + at, bytes) != 0 || !isfinite(together[at]))) {
        printf("sequence %d, %d rows, NaN in %d\n", i, lengths[i], nan);
        faults++;
      }
    }
    fill(x, all);
  }
  printf("%d faults\n", faults);
  free(x), free(together), free(alone);
  OF(_destroy)(ctx);
  OF(_close)(model);
  return faults != 0;
}
