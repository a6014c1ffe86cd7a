/* test_constants.c - the formulas of constants against their definitions, and what does not parse. */
#define _POSIX_C_SOURCE 200809L
#include "weights/constants.h"
#include "weights/projected.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static float values[4096];

static attn2c_tensor shaped(int rank, int64_t d0, int64_t d1) {
  return (attn2c_tensor){.name = "constant", .kind = ATTN2C_CONSTANT, .rank = rank, .shape = {d0, d1}};
}

static void fill(const char *formula, int rank, int64_t d0, int64_t d1) {
  const attn2c_tensor tensor = shaped(rank, d0, d1);
  values[attn2c_elements(&tensor)] = 77;
  cr_assert(attn2c_constant_fill(formula, &tensor, NULL), "%s", formula);
  cr_assert(attn2c_constant_fill(formula, &tensor, values), "%s", formula);
  cr_assert_eq(values[attn2c_elements(&tensor)], 77);
}

Test(constants, angles) {
  static const double frequencies[] = {1, 0.25, 0.01};
  for (int sine = 0; sine < 2; sine++) {
    fill(sine ? "angle_sin 5 1.5 1 0.25 0.01" : "angle_cos 5 1.5 1 0.25 0.01", 2, 40, 3);
    for (int s = 0; s < 40; s++)
      for (int d = 0; d < 3; d++) {
        const double angle = (5 + s) * frequencies[d];
        cr_assert_float_eq(values[3 * s + d], 1.5 * (sine ? sin(angle) : cos(angle)), 1e-6);
      }
  }
}

Test(constants, plane) {
  for (int sine = 0; sine < 2; sine++) {
    fill(sine ? "plane_sin 100 2 3" : "plane_cos 100 2 3", 2, 2 + 4 * 3, 6); /* 4 patches down, 3 across */
    for (int s = 0; s < 14; s++)
      for (int d = 0; d < 6; d++) {
        const double y = ((s - 2) / 3 + 0.5) / 4, x = ((s + 1) % 3 + 0.5) / 3;
        const double angle = s < 2 ? 0 : 2 * M_PI * (2 * (d < 3 ? y : x) - 1) / pow(100, d % 3 / 3.0);
        cr_assert_float_eq(values[6 * s + d], sine ? sin(angle) : cos(angle), 1e-6, "%d %d", s, d);
      }
  }
}

Test(constants, rope) {
  for (int first = 0; first < 200; first += 100) {
    char formula[64];
    for (int sine = 0; sine < 2; sine++) {
      snprintf(formula, sizeof formula, "rope_%s 10000.0 %d", sine ? "sin" : "cos", first);
      fill(formula, 2, 50, 16); /* R = 32 */
      for (int s = 0; s < 50; s++)
        for (int d = 0; d < 16; d++) {
          double angle = (first + s) * exp(-2.0 * d / 32 * log(10000));
          cr_assert_float_eq(values[s * 16 + d], sine ? sin(angle) : cos(angle), 6e-8, "%s: %d %d", formula,
                             s, d);
        }
    }
  }
  fill("rope_sin 1e4 1", 2, 1, 2); /* as tables have them: sin 1 and sin 0.01 */
  cr_assert_float_eq(values[0], 0.84147098, 3e-8);
  cr_assert_float_eq(values[1], 0.00999983333, 1e-9);
}

/* 2^-1, 2^-3 and 2^-2 for three heads whose least slope would be that of MPT with alibi_bias_max 3; halved.
 */
Test(constants, alibi_of) {
  fill("alibi_of 3 0.5 -2", 2, 3, 4);
  static const double slopes[] = {0.35355339059327376 / 2, 1. / 16, 0.59460355750136053 / 2};
  for (int h = 0; h < 3; h++)
    for (int d = 0; d < 4; d++)
      cr_assert_float_eq(values[h * 4 + d], -slopes[h] * abs(d - 2), 1e-7, "%d, %d", h, d);
  float usual[8];
  fill("alibi -3", 2, 1, 8);
  memcpy(usual, values, sizeof usual);
  fill("alibi_of 8 1 -3", 2, 1, 8);
  cr_assert_arr_eq(values, usual, sizeof usual);
  fill("alibi_of 8 1 -1 1 4", 2, 2, 2); /* heads 1 and 2 of four */
  cr_assert_eq(values[0], -1.0f / 16);
  cr_assert_eq(values[2], -1.0f / 64);
}

/* 1 + 0.5 ln(1 + p // 2) times the angle's, with p = 3, 4, 5, 6. */
Test(constants, grown) {
  const double growth[] = {1 + 0.5 * log(2), 1 + 0.5 * log(3), 1 + 0.5 * log(3), 1 + 0.5 * log(4)};
  fill("grown_cos 3 2 0.5 2 0.25", 2, 4, 1);
  for (int s = 0; s < 4; s++)
    cr_assert_float_eq(values[s], 2 * growth[s] * cos(0.25 * (3 + s)), 1e-6, "%d", s);
  fill("grown_sin 3 2 0.5 2 0.25", 2, 4, 1);
  for (int s = 0; s < 4; s++)
    cr_assert_float_eq(values[s], 2 * growth[s] * sin(0.25 * (3 + s)), 1e-6, "%d", s);
}

/* The slopes of the paper's code, whose function is given there for 8 and 12 heads. */
Test(constants, alibi) {
  static const double eight[] = {1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256};
  static const double behind[] = {0.70710678118654752, 0.35355339059327376, 0.17677669529663688,
                                  0.088388347648318447};
  for (int heads = 8; heads <= 12; heads++) {
    fill("alibi -6", 2, heads, 10);
    for (int h = 0; h < heads; h++)
      for (int d = 0; d < 10; d++) {
        double slope = h < 8 ? eight[h] : behind[h - 8];
        cr_assert_eq(values[h * 10 + d], (float)(-slope * abs(d - 6)), "%d of %d heads, %d", h, heads, d);
      }
  }
  fill("alibi 0", 2, 1, 3); /* 2^-8 for a single head; three have the slopes of two, and 2^-2 of four */
  cr_assert_eq(values[2], -2.0f / 256);
  fill("alibi 1", 2, 3, 1);
  cr_assert_eq(values[0], -1.0f / 16);
  cr_assert_eq(values[1], -1.0f / 256);
  cr_assert_eq(values[2], -1.0f / 4);
}

/* By the definition in whole numbers: of n buckets a direction the first e = n/2 hold one distance each, and
 * distance x >= e is in bucket e + k for the largest k < n - e with (x/e)^(n-e) >= (far/e)^k. Where both are
 * the same, float32 decides; those borders are in the next test. */
static int bucket_by_powers(int distance, int n, int far) {
  int e = n / 2, k = 0;
  if (distance < e) return distance;
  while (k + 1 < n - e && (n - e) * log((double)distance / e) >= (k + 1) * log((double)far / e)) k++;
  return e + k;
}

static int on_a_border(int distance, int n, int far) {
  int e = n / 2;
  double k = (n - e) * log((double)distance / e) / log((double)far / e);
  return distance >= e && fabs(k - round(k)) < 1e-5;
}

Test(constants, t5_buckets) {
  static const struct {
    int buckets, far, first;
  } cases[] = {{32, 128, -300}, {32, 128, -3}, {8, 20, -40}, {64, 100, -150}, {7, 50, -60}};
  for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++)
    for (int both = 0; both < 2; both++) {
      char formula[64];
      snprintf(formula, sizeof formula, "t5_buckets %d %d %d %d", cases[at].buckets, cases[at].far, both,
               cases[at].first);
      fill(formula, 1, 600, 0);
      for (int d = 0; d < 600; d++) {
        int distance = d + cases[at].first, n = both ? cases[at].buckets / 2 : cases[at].buckets, want;
        int magnitude = both ? abs(distance) : distance < 0 ? -distance : 0;
        if (on_a_border(magnitude, n, cases[at].far)) continue;
        want = bucket_by_powers(magnitude, n, cases[at].far) + (both && distance > 0 ? n : 0);
        cr_assert_eq(values[d], want, "%s: distance %d is in %g, not %d", formula, distance, values[d], want);
      }
    }
}

/* The first distance of each bucket of T5's own sizes, per direction, of a trained model's code. Where the
 * border is a whole number (of 8 growing buckets, 16, 32 and 64 times 8/8) float32 puts it. */
Test(constants, t5_buckets_of_trained_models) {
  static const int first_of[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  fill("t5_buckets 32 128 1 -1000", 1, 2001, 0);
  for (int distance = -1000; distance <= 1000; distance++) {
    int bucket = 0, size = abs(distance);
    while (bucket < 15 && first_of[bucket + 1] <= size) bucket++;
    if (distance > 0) bucket += 16;
    cr_assert_eq(values[distance + 1000], bucket, "distance %d: %g, not %d", distance,
                 values[distance + 1000], bucket);
  }
}

Test(constants, ones) {
  fill("ones", 1, 5, 0);
  for (int i = 0; i < 5; i++) cr_assert_eq(values[i], 1.0f);
}

Test(constants, identities) {
  fill("identity", 2, 3, 3);
  for (int i = 0; i < 9; i++) cr_assert_eq(values[i], i % 4 == 0 ? 1.0f : 0.0f);
}

Test(constants, lists) {
  fill("list 1 0.5 0 -2.5e-3 inf 1e-60", 2, 2, 3);
  const float want[] = {1, 0.5f, 0, -2.5e-3f, INFINITY, 0};
  for (int i = 0; i < 6; i++) cr_assert_eq(values[i], want[i]);
  fill("list  7 ", 2, 1, 1);
  cr_assert_eq(values[0], 7);
}

Test(constants, numbers_are_those_of_c_in_every_locale) {
  /* Without such a locale on the machine there is nothing to see, and the test passes. */
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) setlocale(LC_ALL, "fr_FR.UTF-8");
  fill("list 0.5 1e-1", 1, 2, 0);
  cr_assert_eq(values[0], 0.5f);
  cr_assert_eq(values[1], 0.1f);
  setlocale(LC_ALL, "C");
}

Test(constants, what_does_not_parse_is_refused) {
  static const struct {
    const char *formula;
    int rank, d0, d1;
  } cases[] = {
      {"", 2, 2, 2},
      {"none", 2, 2, 2},
      {"sinusoidal 1 3", 2, 2, 2},
      {"sinusoidals", 2, 2, 2},
      {"rope_cos", 2, 2, 2},
      {"rope_cos 10000", 2, 2, 2},
      {"rope_cos 10000 0 1", 2, 2, 2},
      {"rope_cos 0 0", 2, 2, 2},
      {"rope_cos nan 0", 2, 2, 2},
      {"rope_cos inf 0", 2, 2, 2},
      {"rope_cos 10000 0.5", 2, 2, 2},
      {"rope_cos 10000 1e10", 2, 2, 2},
      {"rope_cos 10000x 0", 2, 2, 2},
      {"rope_sin 10000 0", 1, 2, 0},
      {"angle_cos", 2, 2, 2},
      {"angle_cos 0 1 0.5", 2, 2, 2},
      {"angle_cos 0 1 0.5 0.25 0.125", 2, 2, 2},
      {"angle_cos 0.5 1 0.5 0.25", 2, 2, 2},
      {"angle_sin 0 x 0.5 0.25", 2, 2, 2},
      {"angle_sin 0 1 0.5 y", 2, 2, 2},
      {"angle_sin 0 1 0.5", 1, 2, 0},
      {"plane_cos 100 1", 2, 2, 2},
      {"plane_cos 100 3 1", 2, 2, 2},
      {"plane_cos 100 0 0", 2, 2, 2},
      {"plane_sin 100 1 1", 2, 2, 3},
      {"plane_sin 0 1 1", 2, 2, 2},
      {"plane_sin 100 1 2", 2, 4, 2},
      {"alibi", 2, 2, 2},
      {"alibi x", 2, 2, 2},
      {"alibi 0", 1, 2, 0},
      {"alibi 0,5", 2, 2, 2},
      {"alibi_of 8 1", 2, 2, 2},
      {"alibi_of 8 y 0", 2, 2, 2},
      {"grown_cos 0 1 0.5 8 0.25", 2, 2, 2},
      {"grown_cos 0 1 0.5 0 0.25 0.125", 2, 2, 2},
      {"grown_sin 0 1 0.5 8 0.25", 1, 2, 0},
      {"t5_buckets 32 128 1", 1, 4, 0},
      {"t5_buckets 32 128 2 0", 1, 4, 0},
      {"t5_buckets 32 128 1 0", 2, 2, 2},
      {"t5_buckets 3 128 1 0", 1, 4, 0},
      {"t5_buckets 32 8 1 0", 1, 4, 0},
      {"t5_buckets -32 128 1 0", 1, 4, 0},
      {"ones 1", 1, 4, 0},
      {"identity 1", 2, 2, 2},
      {"identity", 2, 2, 3},
      {"identity", 1, 4, 0},
      {"list", 1, 1, 0},
      {"list 1 2", 1, 3, 0},
      {"list 1 2 3 4", 1, 3, 0},
      {"list 1 2 y", 1, 3, 0},
      {"list 1,2 3", 1, 2, 0},
  };
  values[0] = 77;
  for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
    const attn2c_tensor tensor = shaped(cases[at].rank, cases[at].d0, cases[at].d1);
    cr_assert_not(attn2c_constant_fill(cases[at].formula, &tensor, values), "%s", cases[at].formula);
    cr_assert_not(attn2c_constant_fill(cases[at].formula, &tensor, NULL), "%s", cases[at].formula);
  }
  cr_assert_eq(values[0], 77);
}

/* The rows of a table of 512 for distances, as transformers' make_log_bucket_position with 256 buckets and
 * 512 positions has them in float32 (torch 2.15), and with each distance by itself, up to 5. */
Test(constants, rows_of_projected_distances) {
  const attn2c_projected of = {.buckets = 256, .distance = 512}, plain = {.buckets = 0, .distance = 5};
  static const int64_t rows[][2] = {{0, 256},   {1, 257},   {2, 258},   {127, 383}, {128, 384}, {129, 385},
                                    {130, 386}, {131, 387}, {150, 399}, {200, 425}, {255, 448}, {256, 448},
                                    {257, 448}, {300, 463}, {362, 480}, {400, 489}, {450, 500}, {500, 510},
                                    {509, 511}, {510, 511}, {511, 511}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_assert_eq(attn2c_projected_row(&of, rows[i][0]), rows[i][1], "%lld", (long long)rows[i][0]);
    const int64_t mirrored = 512 - rows[i][1];
    cr_assert_eq(attn2c_projected_row(&of, -rows[i][0]), mirrored, "%lld", (long long)-rows[i][0]);
  }
  cr_assert_eq(attn2c_projected_row(&of, 4000), 511);
  cr_assert_eq(attn2c_projected_row(&of, -4000), 0);
  cr_assert_eq(attn2c_projected_row(&plain, 4), 9);
  cr_assert_eq(attn2c_projected_row(&plain, 5), 9);
  cr_assert_eq(attn2c_projected_row(&plain, -5), 0);
  cr_assert_eq(attn2c_projected_row(&plain, -9), 0);
}
