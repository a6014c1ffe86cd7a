/* projected.h - computes tables of projected distances, the constants of disentangled attention. A table
 * depends only on weights, so it is made once, when weights are packed. */
#pragma once

#include "base/descriptor.h"

#define ATTN2C_PROJECTED "projected "

/* The formula of such a constant:
 *
 *   projected HEADS REACH DIRECTION BUCKETS DISTANCE EPS TABLE WEIGHT BIAS GAIN NORM_BIAS
 *
 * The last five are names of weights; the last three may be "-", none. The constant is [heads rows][width]
 * (He et al. 2021, section 3). Row c of a head is for the distance d = DIRECTION (c - REACH) from key to
 * query:
 *
 *   W_head norm(TABLE[bucket(d)]) + b_head
 *
 * where W_head has the head's rows of WEIGHT, and the norm is a layer norm, or none without GAIN. With
 * BUCKETS > 0, distances below BUCKETS / 2 have a row of TABLE each, and longer ones share rows by their
 * logarithms, up to DISTANCE; with BUCKETS 0 all distances below DISTANCE have their own. Farther ones share
 * the last. */
typedef struct {
  int64_t heads, reach, direction, buckets, distance;
  double eps;
  int table, weight, bias, gain, norm_bias; /* indices of weights; -1: none */
} attn2c_projected;

/* True if the formula is of this kind; it may still be wrong. */
static inline int attn2c_is_projected(const attn2c_weight *weight) {
  return weight->formula && strncmp(weight->formula, ATTN2C_PROJECTED, sizeof ATTN2C_PROJECTED - 1) == 0;
}

/* Reads the formula of a weight. 0: it does not parse, names no weight, or does not fit the shapes. */
int attn2c_projected_parse(const attn2c_descriptor *model, const attn2c_weight *weight,
                           attn2c_projected *projected);

/* Returns the row of TABLE for a distance. */
int64_t attn2c_projected_row(const attn2c_projected *projected, int64_t distance);

/* Norms the rows of TABLE, [rows][width], in place. gain and norm_bias: of the norm; norm_bias may be NULL.
 */
void attn2c_projected_norm(float *table, int64_t rows, int64_t width, double eps, const float *gain,
                           const float *norm_bias);

/* Writes the rows [count][width] of one head, the first `count` of them. table: its (normed) rows; weight:
 * the head's rows [width][inputs]; bias: the head's, or NULL; scratch: floats for a transposed copy of weight
 * and for a projected table, (inputs + rows of TABLE) x width. */
void attn2c_projected_head(const attn2c_projected *projected, const float *table, int64_t inputs,
                           const float *weight, const float *bias, int64_t width, int64_t count,
                           float *scratch, float *values);

/* Returns the rows of TABLE. */
static inline int64_t attn2c_projected_rows(const attn2c_projected *projected) {
  return 2 * (projected->buckets > 0 ? projected->buckets : projected->distance);
}
