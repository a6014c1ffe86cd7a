/* elementary.c - a bench of runtime/ops/elementary.h and rowops.h: core cycles an
 * element on operands in cache, beside a copy of the elements, an exp of them, and glibc's
 * libmvec where it has the function. All of a line are timed in turn, many rounds; ratios are
 * medians of the rounds' ratios. Compile it with the flags of emitted code; see ops.sh. */
#define _POSIX_C_SOURCE 200809L
#include "ops/rowops.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 4096, LD = 784, ROUNDS = 201, CHAIN = 2000 };

#define SAMPLE_SECONDS 10e-6

static float tile[512 * LD], residual[512 * LD], other[512 * LD], gain[1024], bias[1024];

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A chain of 64-bit multiplications takes 3 cycles each on every x86-64 core of today, whatever its clock. */
static void chain(void) {
  volatile unsigned long long seed = 3;
  unsigned long long x = seed;
  const unsigned long long factor = seed;
  for (int i = 0; i < CHAIN; i++) {
    x *= factor;
    __asm__ volatile("" : "+r"(x)); /* keeps the chain as it is */
  }
  seed = x;
}

/* Elementwise: a loop over an array, as emitted code has it inside a tile. */
#define ELEMENTWISE(name, function)                                                                          \
  static __attribute__((noinline)) void each_##name(void) {                                                  \
    _Pragma("omp simd") for (int j = 0; j < COUNT; j++) {                                                    \
      float v = tile[j];                                                                                     \
      v = function;                                                                                          \
      other[j] = v;                                                                                          \
    }                                                                                                        \
  }
ELEMENTWISE(exp, attn2c_exp(v))
ELEMENTWISE(exp_nonpositive, attn2c_exp_nonpositive(v))
ELEMENTWISE(erf, attn2c_erf(v))
ELEMENTWISE(tanh, attn2c_tanh(v))
ELEMENTWISE(relu, attn2c_relu(v))
ELEMENTWISE(sigmoid, attn2c_sigmoid(v))
ELEMENTWISE(silu, attn2c_silu(v))
ELEMENTWISE(quick_gelu, attn2c_quick_gelu(v))
ELEMENTWISE(gelu_tanh, attn2c_gelu_tanh(v))
ELEMENTWISE(gelu, attn2c_gelu(v))

/* libmvec as a compiler would call it: a vector at a time. */
#if defined(WITHOUT_LIBMVEC) || ATTN2C_LANES < 8
#define LIBMVEC(name) NULL
#else
#if ATTN2C_LANES == 16
#define LIBMVEC_NAME(name) _ZGVeN16v_##name
#else
#define LIBMVEC_NAME(name) _ZGVdN8v_##name
#endif
#define LIBMVEC(name) mvec_##name
#define LIBMVEC_LOOP(name)                                                                                   \
  attn2c_vector LIBMVEC_NAME(name)(attn2c_vector);                                                           \
  static __attribute__((noinline)) void mvec_##name(void) {                                                  \
    for (int j = 0; j < COUNT; j += ATTN2C_LANES)                                                            \
      attn2c_store(other + j, LIBMVEC_NAME(name)(attn2c_load(tile + j)));                                    \
  }
LIBMVEC_LOOP(expf)
LIBMVEC_LOOP(erff)
LIBMVEC_LOOP(tanhf)
#endif

/* Row operations, and with each size a copy and an exp of the same elements in the same places. The copy is
 * of vectors of the same width, not a call of memcpy. */
static inline void copy_row(float *y, const float *x, int cols) {
  int j = 0;
  for (; j + ATTN2C_LANES <= cols; j += ATTN2C_LANES) {
    attn2c_vector v = attn2c_load(x + j);
    __asm__ volatile("" : "+x"(v));
    attn2c_store(y + j, v);
  }
  for (; j < cols; j += 4) *(attn2c_vector4_in_array *)(y + j) = *(const attn2c_vector4_in_array *)(x + j);
}

static __attribute__((noinline)) void each_copy(void) { copy_row(other, tile, COUNT); }

static void copy_rows(int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) copy_row(other + i * ldy, tile + i * ldx, cols);
}

static void exp_rows(int rows, int cols, int ldx, int ldy) {
  for (int i = 0; i < rows; i++) {
#pragma omp simd
    for (int j = 0; j < cols; j++) other[i * ldy + j] = attn2c_exp(tile[i * ldx + j]);
  }
}

static int32_t indices[512];

#define OPERATION(name, rows, cols, ldx, ldy, call)                                                          \
  enum { elements_##name = (rows) * (cols) };                                                                \
  static __attribute__((noinline)) void rows_##name(void) { call; }                                          \
  static __attribute__((noinline)) void copy_##name(void) { copy_rows(rows, cols, ldx, ldy); }               \
  static __attribute__((noinline)) void exp_##name(void) { exp_rows(rows, cols, ldx, ldy); }
OPERATION(softmax_32, 32, 32, 32, 32, attn2c_softmax(other, 32, 32, 32, 0.125f))
OPERATION(softmax_40, 64, 40, 48, 48, attn2c_softmax(other, 64, 40, 48, 0.125f))
OPERATION(softmax_64, 64, 64, 64, 64, attn2c_softmax(other, 64, 64, 64, 0.125f))
OPERATION(softmax_128, 64, 128, 128, 128, attn2c_softmax(other, 64, 128, 128, 0.125f))
OPERATION(softmax_512, 64, 512, 512, 512, attn2c_softmax(other, 64, 512, 512, 0.125f))
OPERATION(layer_norm_64, 32, 64, 64, 64, attn2c_layer_norm(other, tile, gain, bias, 32, 64, 64, 64, 1e-12f))
OPERATION(layer_norm_80, 32, 80, 80, 80, attn2c_layer_norm(other, tile, gain, bias, 32, 80, 80, 80, 1e-12f))
OPERATION(layer_norm_384, 16, 384, 400, 400,
          attn2c_layer_norm(other, tile, gain, bias, 16, 384, 400, 400, 1e-12f))
OPERATION(layer_norm_768, 16, 768, LD, LD,
          attn2c_layer_norm(other, tile, gain, bias, 16, 768, LD, LD, 1e-12f))
OPERATION(transpose_64, 64, 64, LD, 64, attn2c_transpose(other, tile, 64, 64, LD, 64))
OPERATION(transpose_16, 64, 16, LD, 64, attn2c_transpose(other, tile, 64, 16, LD, 64))
OPERATION(transpose_40, 32, 40, 48, 32, attn2c_transpose(other, tile, 32, 40, 48, 32))
OPERATION(mask_band_64, 64, 64, 64, 64, attn2c_mask_band(other, 64, 64, 64, -64, 1))
OPERATION(mask_length_64, 64, 64, 64, 64, attn2c_mask_length(other, 64, 64, 64, 40))
OPERATION(repair_64, 128, 64, LD, LD,
          attn2c_context_repair(other, residual, tile, 128, 128, 64, LD, 128, LD, -128, 128, 128))
OPERATION(copy_64, 128, 64, LD, 64, attn2c_copy(other, tile, 128, 64, LD, 64))
OPERATION(pool_mean_256, 64, 256, 272, 272, attn2c_pool_mean(other, tile, 64, 256, 272))
OPERATION(pool_max_256, 64, 256, 272, 272, attn2c_pool_max(other, tile, 64, 256, 272))
OPERATION(argmax_256, 64, 256, 272, 272, attn2c_argmax(indices, tile, 64, 256, 272))

/* The limit of a line: `most` times the larger of its copy and its exp, or once libmvec. */
enum { OURS, COPY, EXP, MVEC, CLOCK, CONTESTANTS };
typedef struct {
  const char *name;
  double elements;
  int by_exp; /* its least work has an exp */
  int by_mvec;
  void (*run[CLOCK])(void);
} line;

#define EACH(name, by_exp, by_mvec, mvec)                                                                    \
  {                                                                                                          \
#name, COUNT, by_exp, by_mvec, { each_##name, each_copy, each_exp, mvec }                                \
  }
#define ROWS(name, by_exp)                                                                                   \
  {                                                                                                          \
#name, elements_##name, by_exp, 0, { rows_##name, copy_##name, exp_##name, NULL }                        \
  }
static line lines[] = {
    EACH(exp, 0, 1, LIBMVEC(expf)),
    EACH(exp_nonpositive, 0, 1, LIBMVEC(expf)),
    EACH(tanh, 0, 1, LIBMVEC(tanhf)),
    EACH(erf, 1, 0, LIBMVEC(erff)),
    EACH(gelu, 1, 0, NULL),
    EACH(gelu_tanh, 1, 0, NULL),
    EACH(quick_gelu, 1, 0, NULL),
    EACH(silu, 1, 0, NULL),
    EACH(sigmoid, 1, 0, NULL),
    EACH(relu, 0, 0, NULL),
    ROWS(softmax_32, 1),
    ROWS(softmax_40, 1),
    ROWS(softmax_64, 1),
    ROWS(softmax_128, 1),
    ROWS(softmax_512, 1),
    ROWS(layer_norm_64, 0),
    ROWS(layer_norm_80, 0),
    ROWS(layer_norm_384, 0),
    ROWS(layer_norm_768, 0),
    ROWS(transpose_64, 0),
    ROWS(transpose_16, 0),
    ROWS(transpose_40, 0),
    ROWS(mask_band_64, 0),
    ROWS(mask_length_64, 0),
    ROWS(repair_64, 0),
    ROWS(copy_64, 0),
    ROWS(pool_mean_256, 0),
    ROWS(pool_max_256, 0),
    ROWS(argmax_256, 0),
};

/* Seconds of a call; `calls` of them are timed. */
static double time_calls(void (*run)(void), int calls) {
  const double start = seconds();
  for (int i = 0; i < calls; i++) run();
  return (seconds() - start) / calls;
}

static int calls_of(void (*run)(void)) {
  double least = 1.0;
  for (int i = 0; i < 10; i++) {
    const double took = time_calls(run, 1);
    if (took < least) least = took;
  }
  return least < SAMPLE_SECONDS ? (int)(SAMPLE_SECONDS / least) + 1 : 1;
}

static int by_value(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* Returns the median of the rounds' a / b. *spread: half of the quartiles' distance, as a fraction. */
static double ratio(double times[][CONTESTANTS], int a, int b, double *spread) {
  double list[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) list[i] = times[i][a] / times[i][b];
  qsort(list, ROUNDS, sizeof *list, by_value);
  const double median = list[ROUNDS / 2];
  if (spread) *spread = 0.5 * (list[3 * ROUNDS / 4] - list[ROUNDS / 4]) / median;
  return median;
}

static void print_ratio(double value) {
  if (value > 0.0)
    printf(" %7.2f |", value);
  else
    printf("       - |");
}

static void time_line(const line *l) {
  static double times[ROUNDS][CONTESTANTS];
  void (*run[CONTESTANTS])(void) = {l->run[OURS], l->run[COPY], l->run[EXP], l->run[MVEC], chain};
  int calls[CONTESTANTS];
  memcpy(other, tile, sizeof other);
  for (int c = 0; c < CONTESTANTS; c++) calls[c] = run[c] ? calls_of(run[c]) : 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int c = 0; c < CONTESTANTS; c++) times[round][c] = run[c] ? time_calls(run[c], calls[c]) : 0.0;
  const double cycles = 3.0 * CHAIN / l->elements;
  double spread;
  const double ours = cycles * ratio(times, OURS, CLOCK, &spread);
  const double copied = run[COPY] ? ratio(times, OURS, COPY, NULL) : 0.0;
  const double exped = run[EXP] ? ratio(times, OURS, EXP, NULL) : 0.0;
  const double mvec = run[MVEC] ? ratio(times, OURS, MVEC, NULL) : 0.0;
  printf("| %-21s | %7.3f | %4.1f%% |", l->name, ours, 100.0 * spread);
  print_ratio(copied);
  print_ratio(exped);
  print_ratio(mvec);
  if (l->by_mvec && run[MVEC])
    printf(" libmvec x 1: %s |\n", mvec <= 1.0 ? "met" : "missed");
  else if (run[COPY])
    printf(" %s x 2: %s |\n", l->by_exp ? "exp" : "copy",
           (l->by_exp ? exped : copied) <= 2.0 ? "met" : "missed");
  else
    printf(" - |\n");
}

/* Arguments: parts of the names of the lines that are wanted; none: all. */
static int is_wanted(const line *l, int count, char **parts) {
  for (int i = 1; i < count; i++)
    if (strstr(l->name, parts[i])) return 1;
  return count < 2;
}

int main(int count, char **arguments) {
  uint32_t state = 1;
  for (size_t i = 0; i < sizeof tile / sizeof *tile; i++) {
    state = state * 1664525u + 1013904223u;
    tile[i] = ((float)(state >> 8) / 16777216.0f - 0.5f) * 8.0f;
    residual[i] = tile[i] * 0.01f;
  }
  for (int i = 0; i < 1024; i++) gain[i] = 1.0f, bias[i] = 0.1f;
  printf("| vectors of %-2d floats  | cycles  | spread| of copy |  of exp | libmvec | bound |\n",
         ATTN2C_LANES);
  printf("|:----------------------|--------:|------:|--------:|--------:|--------:|:------|\n");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (is_wanted(&lines[i], count, arguments)) time_line(&lines[i]);
  return EXIT_SUCCESS;
}
