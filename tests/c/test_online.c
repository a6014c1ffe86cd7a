/* test_online.c - runtime/ops/online.h: scores that come a block of keys at a time give the context and the
 * weights of the whole row, against the definition in double, for maxima that rise, fall, or are NaN or
 * infinite in any block. */
#define _DEFAULT_SOURCE
#include "ops/rowops.h"
#include "guarded.h"

#include <criterion/criterion.h>
#include <math.h>

enum { ROWS = 19, WIDTH = 5, LDC = 7, MOST_KEYS = 200 };

#define EPSILON 0x1p-23

/* Weights and context of one row in double; NaN where a score is NaN or +inf, 0 where all are -inf. sink: a
 * score that only the sum has, -inf: none. */
static void expected_row(const float *s, const float *v, int keys, double scale, double sink, double *weights,
                         double *context) {
  double max = sink / scale, sum = 0;
  for (int j = 0; j < keys; j++)
    if (isnan(s[j]) || s[j] > max) max = s[j];
  if (max > -INFINITY) sum = exp(sink - scale * max);
  for (int j = 0; j < keys; j++) sum += weights[j] = exp(scale * ((double)s[j] - max));
  for (int j = 0; j < keys; j++) weights[j] = max == -INFINITY ? 0 : weights[j] / sum;
  for (int c = 0; c < WIDTH; c++) {
    context[c] = 0;
    for (int j = 0; j < keys; j++) context[c] += weights[j] * (double)v[j * WIDTH + c];
  }
}

/* p · v of one block of keys, into y; plain, since the kernel is not what is tested. */
static void product(const float *p, const float *v, int cols, int ld, float *y, int ldy) {
  for (int i = 0; i < ROWS; i++)
    for (int c = 0; c < WIDTH; c++) {
      float sum = 0;
      for (int j = 0; j < cols; j++) sum += p[i * ld + j] * v[j * WIDTH + c];
      y[i * ldy + c] = sum;
    }
}

/* All of it, in blocks of at most `block` keys. sinks: one for each row, NULL: none. */
static void try_blocks(const float *s, const float *v, int keys, int block, float scale, const float *sinks) {
  const int ld = block + 3;
  float *tile = guarded_matrix(ROWS, block, ld, 3, 0.0f, 1.0f),
        *state = guarded_matrix(3, ROWS, ROWS, 3, 0.0f, 1.0f);
  float *y = guarded_matrix(ROWS, WIDTH, LDC, 3, 0.0f, 1.0f),
        *part = guarded_matrix(ROWS, WIDTH, LDC, 4, 0.0f, 1.0f);
  float *weights = guarded_matrix(ROWS, keys, keys, 3, 0.0f, 1.0f);
  for (int first = 0; first < keys; first += block) {
    const int cols = keys - first < block ? keys - first : block;
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < cols; j++) tile[i * ld + j] = s[i * keys + first + j];
    if (sinks && first == 0)
      attn2c_softmax_begin_sinks(tile, state, sinks, ROWS, cols, ld, scale, 1);
    else
      attn2c_softmax_chunk(tile, state, ROWS, cols, ld, scale, first == 0);
    product(tile, v + first * WIDTH, cols, ld, first == 0 ? y : part, LDC);
    if (first > 0) attn2c_softmax_add(y, part, state, ROWS, WIDTH, LDC, LDC);
  }
  attn2c_softmax_end(y, state, ROWS, WIDTH, LDC);
  attn2c_softmax_of(weights, s, state, ROWS, keys, keys, keys, scale);
  for (int i = 0; i < ROWS; i++) {
    double p[MOST_KEYS], context[WIDTH], size = 0;
    expected_row(s + i * keys, v, keys, scale, sinks ? (double)sinks[i] : -INFINITY, p, context);
    for (int j = 0; j < keys; j++) {
      const double got = weights[i * keys + j], limit = 16 * EPSILON * p[j] + 2 * FLT_MIN;
      cr_assert(isnan(p[j]) ? isnan(got) : fabs(got - p[j]) <= limit * (1 + 0.5 * fabs(log(p[j] + FLT_MIN))),
                "weight %d of row %d in blocks of %d of %d: %a, not %a", j, i, block, keys, got, p[j]);
    }
    for (int j = 0; j < keys; j++) size += p[j] * 2;
    for (int c = 0; c < WIDTH; c++) {
      const double got = y[i * LDC + c];
      cr_assert(isnan(context[c]) ? isnan(got)
                                  : fabs(got - context[c]) <= (keys + 40) * EPSILON * (size + FLT_MIN),
                "context %d of row %d in blocks of %d of %d: %a, not %a", c, i, block, keys, got, context[c]);
    }
  }
  cr_assert(guarded_padding_kept(y, ROWS, WIDTH, LDC));
  guarded_matrix_free(tile, ROWS, block, ld);
  guarded_matrix_free(state, 3, ROWS, ROWS);
  guarded_matrix_free(y, ROWS, WIDTH, LDC);
  guarded_matrix_free(part, ROWS, WIDTH, LDC);
  guarded_matrix_free(weights, ROWS, keys, keys);
}

static const int key_counts[] = {1, 16, 33, 64, 200}, blocks[] = {1, 16, 17, 64, 200};

/* kind: 0 random, 1 maxima that rise in each block, 2 that fall, 3 large scores, 4 masked from the left, 5
 * from the right, 6 nothing seen, 7 a NaN, 8 an infinity, 9 a NaN after masked blocks */
static void fill_scores(float *s, int keys, int kind) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < keys; j++) {
      float *at = &s[i * keys + j];
      if (kind == 1) *at += 0.3f * (float)j;
      if (kind == 2) *at -= 0.3f * (float)j;
      if (kind == 3) *at *= 1e5f;
      const int masked = (kind == 4 && j < keys * i / ROWS) || (kind == 5 && j > keys * i / ROWS) ||
                         kind == 6 || (kind == 9 && j < keys - 1);
      if (masked) *at = -INFINITY;
      if ((kind == 7 || kind == 9) && i % 3 == 1 && j == keys * i / ROWS) *at = NAN;
      if (kind == 8 && i % 3 == 1 && j == keys * i / ROWS) *at = INFINITY;
    }
}

Test(online, is_the_softmax_of_whole_rows) {
  for (size_t k = 0; k < sizeof key_counts / sizeof *key_counts; k++)
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
      for (int kind = 0; kind < 10; kind++) {
        const int keys = key_counts[k];
        float *s = guarded_matrix(ROWS, keys, keys, 11, 0.0f, 4.0f),
              *v = guarded_matrix(keys, WIDTH, WIDTH, 5, 0.0f, 1.0f);
        fill_scores(s, keys, kind);
        try_blocks(s, v, keys, blocks[b], 0.125f, NULL);
        try_blocks(s, v, keys, blocks[b], 1.0f, NULL);
        guarded_matrix_free(s, ROWS, keys, keys);
        guarded_matrix_free(v, keys, WIDTH, WIDTH);
      }
}

/* Sinks below, between and far above the scores. */
static void fill_sinks(float sinks[ROWS], int kind) {
  for (int i = 0; i < ROWS; i++) sinks[i] = (float)(i - ROWS / 2) * (kind == 3 ? 1e4f : 0.7f);
  sinks[3] = -INFINITY;
}

Test(online, sinks_are_in_the_sums) {
  for (size_t k = 0; k < sizeof key_counts / sizeof *key_counts; k++)
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
      for (int kind = 0; kind < 10; kind++) {
        const int keys = key_counts[k];
        float *s = guarded_matrix(ROWS, keys, keys, 11, 0.0f, 4.0f), sinks[ROWS],
              *v = guarded_matrix(keys, WIDTH, WIDTH, 5, 0.0f, 1.0f);
        fill_scores(s, keys, kind);
        fill_sinks(sinks, kind);
        try_blocks(s, v, keys, blocks[b], 0.125f, sinks);
        guarded_matrix_free(s, ROWS, keys, keys);
        guarded_matrix_free(v, keys, WIDTH, WIDTH);
      }
}

/* The same of whole rows, which have the same bits by themselves, with masked keys after them, and beside
 * others. */
Test(softmax, sinks_are_in_the_sums) {
  enum { LD = MOST_KEYS + 16 };
  for (size_t k = 0; k < sizeof key_counts / sizeof *key_counts; k++)
    for (int kind = 0; kind < 10; kind++) {
      const int keys = key_counts[k];
      float *s = guarded_matrix(ROWS, keys, keys, 11, 0.0f, 4.0f), sinks[ROWS], own[LD], all[ROWS * LD];
      uint16_t rounded[ROWS * LD], expected[LD];
      const float scale = kind % 2 ? 1.0f : 0.125f, v[MOST_KEYS * WIDTH] = {0};
      fill_scores(s, keys, kind);
      fill_sinks(sinks, kind);
      for (int i = 0; i < ROWS * LD; i++) all[i] = -INFINITY;
      for (int i = 0; i < ROWS; i++) memcpy(all + i * LD, s + i * keys, (size_t)keys * sizeof *s);
      attn2c_softmax_sinks(all, sinks, ROWS, keys + 5, LD, scale, 1);
      for (int i = 0; i < ROWS; i++) {
        double p[MOST_KEYS], context[WIDTH];
        expected_row(s + i * keys, v, keys, scale, sinks[i], p, context);
        memcpy(own, s + i * keys, (size_t)keys * sizeof *s);
        attn2c_softmax_sinks(own, sinks + i, 1, keys, LD, scale, 0);
        for (int j = 0; j < keys; j++) {
          const double got = own[j], limit = 16 * EPSILON * p[j] + 2 * FLT_MIN;
          cr_assert(isnan(p[j]) ? isnan(got)
                                : fabs(got - p[j]) <= limit * (1 + 0.5 * fabs(log(p[j] + FLT_MIN))),
                    "kind %d: weight %d of row %d of %d keys: %a, not %a", kind, j, i, keys, got, p[j]);
          if (!isnan(got))
            cr_assert_eq(all[i * LD + j], own[j], "kind %d: %d of row %d beside others", kind, j, i);
        }
        memcpy(own, s + i * keys, (size_t)keys * sizeof *s);
        attn2c_softmax_sinks_rounded(rounded, own, sinks + i, 1, keys, LD, LD, scale, 0);
        memcpy(own, s + i * keys, (size_t)keys * sizeof *s);
        attn2c_softmax_sinks(own, sinks + i, 1, keys, LD, scale, 0);
        attn2c_round_scaled(expected, own, 1.0f, keys);
        cr_assert_eq(memcmp(rounded, expected, (size_t)keys * sizeof *rounded), 0, "kind %d, row %d", kind,
                     i);
      }
      guarded_matrix_free(s, ROWS, keys, keys);
    }
}
