/* test_reference_positions.c - the reference of rotated rows and of scores that depend on distances, by hand
 * and against their definitions in loops. */
#include "one_op.h"

/* cos and sin of 90, 180 degrees as exact numbers, so that rotations are exact. */
Test(rotate, halves_and_pairs) {
  /* one sequence of two rows, two heads of width 5, of which 4 are rotated: row 0 by 90 and 180 degrees, row
   * 1 by 0 and 90 */
  float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  float cosines[] = {0, -1, 1, 0}, sines[] = {1, 0, 0, 1}, y[20], magnitude[20];
  start("rotate");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 10, 0);
  op.operands[1] = tensor("cos", ATTN2C_F32, cosines, 2, 2, 0, 0);
  op.operands[2] = tensor("sin", ATTN2C_F32, sines, 2, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 10, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without heads");
  attribute(0, "heads", 2, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){-3, -2, 1, -4, 5, -8, -7, 6, -9, 10, 11, -14, 13, 12, 15, 16, -19, 18, 17, 20},
              20, 0);
  for (int i = 0; i < 20; i++) cr_assert_eq(magnitude[i], i % 5 == 4 ? 0 : fabsf(y[i]), "%d", i);
  attribute(1, "pairs", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){-2, 1, -3, -4, 5, -7, 6, -8, -9, 10, 11, 12, -14, 13, 15, 16, 17, -19, 18, 20},
              20, 0);
}

Test(rotate, keeps_lengths_and_takes_the_sequences_row) {
  /* two sequences of three rows, one head of width 2: row s turned by angle s */
  float x[12], cosines[3], sines[3], y[12], magnitude[12];
  for (int s = 0; s < 3; s++) cosines[s] = (float)cos(s), sines[s] = (float)sin(s);
  for (int i = 0; i < 12; i++) x[i] = i % 2 ? 0 : 2;
  start("rotate");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 2, 3, 2, 0);
  op.operands[1] = tensor("cos", ATTN2C_F32, cosines, 3, 1, 0, 0);
  op.operands[2] = tensor("sin", ATTN2C_F32, sines, 3, 1, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 3, 2, 0);
  attribute(0, "heads", 1, NULL);
  attribute(1, "pairs", 0, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 12; i++)
    cr_assert_float_eq(y[i], 2 * (i % 2 ? sin(i / 2 % 3) : cos(i / 2 % 3)), 1e-6, "%d", i);
  x[1] = 3; /* |x1 cos| + |x2 sin|, |x2 cos| + |x1 sin| of row 1 */
  x[3] = 3;
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  cr_assert_float_eq(magnitude[2], 2 * cos(1) + 3 * sin(1), 1e-5);
  cr_assert_float_eq(magnitude[3], 3 * cos(1) + 2 * sin(1), 1e-5);
  tensors[1].shape[0] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  tensors[1].shape[0] = 3, tensors[1].shape[1] = tensors[2].shape[1] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "more than the head has");
}

enum { B = 2, H = 4, K = 2, S = 3, T = 6, D = 3, M = 7, OFFSET = 2, EXTRA = 1 };

static void fill(float *x, int count, double step) {
  for (int i = 0; i < count; i++) x[i] = (float)sin(step * (i + 1));
}

/* Scores of which every fifth is masked. */
static void fill_scores(float *s) {
  fill(s, B * H * S * T, 0.7);
  for (int i = 0; i < B * H * S * T; i += 5) s[i] = -INFINITY;
}

/* First the queries, with a head each; then the keys, with a head for two heads of queries. */
Test(add_relative, of_queries_and_of_keys) {
  static float s[B * H * S * T], x[B * T * H * D], table[(2 * M - 1) * D], y[B * H * S * T],
      magnitude[B * H * S * T];
  fill_scores(s), fill(x, B * T * H * D, 1.3), fill(table, (2 * M - 1) * D, 2.1);
  for (int of_keys = 0; of_keys < 2; of_keys++) {
    int heads = of_keys ? K : H, rows = of_keys ? T : S, element = 0;
    start("add_relative");
    op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
    op.operands[1] = tensor("x", ATTN2C_F32, x, B, rows, heads * D, 0);
    op.operands[2] = tensor("table", ATTN2C_F32, table, 2 * M - 1, D, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
    attribute(0, "keys", of_keys, NULL);
    attribute(1, "offset", OFFSET, NULL);
    attribute(2, "extra", EXTRA, NULL);
    cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
    for (int b = 0; b < B; b++)
      for (int h = 0; h < H; h++)
        for (int i = 0; i < S; i++)
          for (int j = 0; j < T; j++, element++) {
            double want = s[element], size = fabs(want);
            for (int d = 0; d < D && j < T - EXTRA; d++) {
              double term =
                  (double)
                      x[(b * rows + (of_keys ? j : i)) * heads * D + (of_keys ? h / (H / K) : h) * D + d] *
                  table[(i + OFFSET - j + M - 1) * D + d];
              want += term, size += fabs(term);
            }
            cr_assert_eq(y[element], (float)want, "keys %d: %d %d %d %d", of_keys, b, h, i, j);
            if (isfinite(want) && j < T - EXTRA)
              cr_assert_float_eq(magnitude[element], size, 1e-6 * size, "%d %d %d %d", b, h, i, j);
          }
  }
}

Test(add_relative, the_table_must_reach) {
  static float s[B * H * S * T], x[B * S * H * D], table[(2 * M - 1) * D], y[B * H * S * T];
  start("add_relative");
  op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
  op.operands[1] = tensor("x", ATTN2C_F32, x, B, S, H * D, 0);
  op.operands[2] = tensor("table", ATTN2C_F32, table, 2 * 6 - 1, D, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
  cr_assert_eq(run(NULL), ATTN2C_OK, "distances -5 to 2, M = 6: %s", text);
  tensors[2].shape[0] = 2 * 5 - 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
  attribute(0, "extra", 1, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  attribute(1, "offset", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "distance 5");
  tensors[2].shape[0] = 10;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "an even number of rows");
}

Test(add_distance, by_key_minus_query) {
  static float s[B * H * S * T], table[H * (S + T - 1)], y[B * H * S * T];
  fill_scores(s), fill(table, H * (S + T - 1), 0.9);
  s[7] = NAN;
  for (int extra = 0; extra < 3; extra++) {
    start("add_distance");
    op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
    op.operands[1] = tensor("table", ATTN2C_F32, table, H, S + T - 1, 0, 0);
    op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
    attribute(0, "extra", extra, NULL);
    cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
    for (int e = 0; e < B * H * S * T; e++) {
      int j = e % T, i = e / T % S, h = e / (T * S) % H;
      float want = j < T - extra ? s[e] + table[h * (S + T - 1) + j - i + S - 1] : s[e];
      cr_assert(isnan(want) ? isnan(y[e]) : y[e] == want, "extra %d, element %d", extra, e);
    }
  }
  table[S - 1] = INFINITY; /* distance 0 of head 0; s[0] is masked */
  attribute(0, "extra", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK);
  cr_assert_eq(y[0], -INFINITY);
  tensors[1].shape[1] = S + T - 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE);
}

/* Gates of one query and head multiply its row of distances; the magnitude is that of both terms. */
Test(add_gated, times_a_number_of_the_query_and_head) {
  static float s[B * H * S * T], table[H * (S + T - 1)], gates[B * S * H], y[B * H * S * T];
  static float magnitude[B * H * S * T];
  fill_scores(s), fill(table, H * (S + T - 1), 0.9), fill(gates, B * S * H, 0.4);
  start("add_gated");
  op.operands[0] = tensor("s", ATTN2C_F32, s, B, H, S, T);
  op.operands[1] = tensor("table", ATTN2C_F32, table, H, S + T - 1, 0, 0);
  op.operands[2] = tensor("gates", ATTN2C_F32, gates, B, S, H, 0);
  op.result = tensor("y", ATTN2C_F32, y, B, H, S, T);
  attribute(0, "extra", 1, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  for (int e = 0; e < B * H * S * T; e++) {
    const int j = e % T, i = e / T % S, h = e / (T * S) % H, b = e / (T * S * H);
    const int is_moved = j == T - 1 || s[e] == -INFINITY;
    const double added =
        is_moved ? 0 : (double)gates[(b * S + i) * H + h] * table[h * (S + T - 1) + j - i + S - 1];
    cr_assert_eq(y[e], (float)(s[e] + added), "element %d", e);
    cr_assert_eq(magnitude[e], is_moved ? 0 : (float)(fabs((double)s[e]) + fabs(added)), "element %d", e);
  }
  tensors[2].shape[1] = S + 1;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "gates of other rows");
}

/* Two heads of three tokens: left sides 0, 7, 2 and lower sides 5, 5, 9; tables reach to 3 on each side. */
Test(add_places, by_differences_of_boxes) {
  float s[18], across[14], down[14], y[18], magnitude[18];
  int32_t boxes[] = {0, 0, 9, 5, 7, 1, 9, 5, 2, 2, 9, 9};
  static const int x[] = {0, 3, 2, -3, 0, -3, -2, 3, 0}, d[] = {0, 0, 3, 0, 0, 3, -3, -3, 0};
  for (int i = 0; i < 18; i++) s[i] = 0.1f * (float)i;
  s[4] = -INFINITY;
  for (int i = 0; i < 14; i++) across[i] = (float)i, down[i] = -100 * (float)i;
  start("add_places");
  op.operands[0] = tensor("s", ATTN2C_F32, s, 1, 2, 3, 3);
  op.operands[1] = tensor("boxes", ATTN2C_I32, boxes, 1, 3, 4, 0);
  op.operands[2] = tensor("across", ATTN2C_F32, across, 2, 7, 0, 0);
  op.operands[3] = tensor("down", ATTN2C_F32, down, 2, 7, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 3, 3);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 18; i++) {
    const double right = 7 * (i / 9) + 3 + x[i % 9], lower = -100.0 * (7 * (i / 9) + 3 + d[i % 9]);
    cr_assert_eq(y[i], i == 4 ? -INFINITY : (float)(s[i] + right + lower), "%d", i);
    cr_assert_eq(magnitude[i], i == 4 ? 0 : (float)(s[i] + right - lower), "%d", i);
  }
  /* upper sides 0, 1, 2 are places in a sequence; a table that reaches to 1 */
  float along[] = {1000, 2000, 3000, 4000, 5000, 6000};
  static const int place[] = {0, 1, 1, -1, 0, 1, -1, -1, 0};
  op.operands[4] = tensor("along", ATTN2C_F32, along, 2, 3, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int i = 0; i < 18; i++) {
    const double right = 7 * (i / 9) + 3 + x[i % 9], lower = -100.0 * (7 * (i / 9) + 3 + d[i % 9]);
    const double of_place = 1000.0 * (3 * (i / 9) + 2 + place[i % 9]);
    cr_assert_eq(y[i], i == 4 ? -INFINITY : (float)(s[i] + right + lower + of_place), "%d", i);
  }
  tensors[op.operands[4]].shape[1] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "places without a middle");
  op.operands[4] = -1;
  tensors[3].shape[1] = 6, tensors[2].shape[1] = 6;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a table without a middle");
  tensors[3].shape[1] = 7, tensors[2].shape[1] = 7, tensors[1].shape[1] = 2;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "a key without a box");
}

/* Two sequences of one box; a page of 3 columns and 2 rows. */
Test(page_places, after_the_boxes_of_each_sequence) {
  int32_t boxes[] = {5, 6, 7, 8, 50, 60, 70, 80}, y[2 * 8 * 4];
  static const int32_t page[] = {1,    0,   999, 999, 0,   1,    333, 500, 333, 2,    666, 500, 666,  3,
                                 1000, 500, 0,   4,   333, 1000, 333, 5,   666, 1000, 666, 6,   1000, 1000};
  start("page_places");
  op.operands[0] = tensor("boxes", ATTN2C_I32, boxes, 2, 1, 4, 0);
  op.result = tensor("y", ATTN2C_I32, (float *)y, 2, 8, 4, 0);
  attribute(0, "across", 3, NULL);
  attribute(1, "down", 2, NULL);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  for (int b = 0; b < 2; b++) {
    const int32_t *own = y + 32 * b, *box = boxes + 4 * b;
    cr_assert(own[0] == box[0] && own[1] == 0 && own[2] == box[2] && own[3] == box[3]);
    for (int i = 0; i < 28; i++) cr_assert_eq(own[4 + i], page[i], "%d", i);
  }
  attribute(1, "down", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "more rows than there are");
  attribute(1, "down", 0, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "no rows");
}

/* A grid of 2 x 2, columns 0 and 1 of each place: a picture of 1 x 3 patches, then one of 4 x 1. */
Test(grid_positions, resized_to_each_shape) {
  float table[] = {0, 1, 4, 1, 8, 1, 12, 1}, y[16], magnitude[16];
  int32_t shapes[] = {1, 3, 4, 1};
  start("grid_positions");
  op.operands[0] = tensor("shapes", ATTN2C_I32, shapes, 2, 2, 0, 0);
  op.operands[1] = tensor("table", ATTN2C_F32, table, 4, 2, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 4, 2, 0);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  /* rows: the mean of both; columns: the ends, and halfway between them */
  assert_near(y, (double[]){4, 1, 6, 1, 8, 1, 0, 0, 2, 1, 4, 1, 8, 1, 10, 1}, 16, 1e-6);
  cr_assert_float_eq(magnitude[0], 4, 1e-6);
  tensors[1].shape[0] = 3;
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "no square grid");
}

/* Sums of four rows of the weight: 1 and 0 of head elements for a, 0 and 1 for g, with biases 1 and -1. */
Test(position_gates, of_each_head_by_itself) {
  float x[] = {1, 2, -3, 0.5f, 0, 0, NAN, 1}, bias[] = {1, 0, 0, 0, 0, -2, 0, 1}, factors[] = {3, -1}, y[4];
  float weight[16] = {0.5f, 0, 0.25f, 0, 0.25f, 1, 0, -1, 0, 0.5f, 2, 0, -2, 0.25f, 0, 0.25f}, magnitude[4];
  start("position_gates");
  op.operands[0] = tensor("x", ATTN2C_F32, x, 1, 2, 4, 0);
  op.operands[1] = tensor("weight", ATTN2C_F32, weight, 8, 2, 0, 0);
  op.operands[2] = tensor("bias", ATTN2C_F32, bias, 8, 0, 0, 0);
  op.operands[3] = tensor("factors", ATTN2C_F32, factors, 2, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 1, 2, 2, 0);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "without heads");
  attribute(0, "heads", 2, NULL);
  cr_assert_eq(run(magnitude), ATTN2C_OK, "%s", text);
  double want[4];
  for (int i = 0; i < 4; i++) {
    const double a = 1 / (1 + exp(-(x[2 * i] + 1.0))), g = 1 / (1 + exp(-(x[2 * i + 1] - 1.0)));
    want[i] = a * (g * factors[i % 2] - 1) + 2;
  }
  want[3] = NAN;
  assert_near(y, want, 4, 1e-6);
  for (int i = 0; i < 3; i++) cr_assert_geq(magnitude[i], 2, "%d", i);
  attribute(0, "heads", 3, NULL);
  cr_assert_eq(run(NULL), ATTN2C_USAGE, "4 columns are not 3 heads");
}

Test(bucket_table, heads_in_rows) {
  float table[] = {1, 2, 3, 4, 5, 6}, index[] = {2, 0, 0, 1}, y[8];
  start("bucket_table");
  op.operands[0] = tensor("table", ATTN2C_F32, table, 3, 2, 0, 0);
  op.operands[1] = tensor("index", ATTN2C_F32, index, 4, 0, 0, 0);
  op.result = tensor("y", ATTN2C_F32, y, 2, 4, 0, 0);
  cr_assert_eq(run(NULL), ATTN2C_OK, "%s", text);
  assert_near(y, (double[]){5, 1, 1, 3, 6, 2, 2, 4}, 8, 0);
  const float wrong[] = {3, -1, 0.5f, NAN};
  for (int i = 0; i < 4; i++) {
    index[1] = wrong[i];
    cr_assert_eq(run(NULL), ATTN2C_FORMAT, "bucket %g", wrong[i]);
  }
}
