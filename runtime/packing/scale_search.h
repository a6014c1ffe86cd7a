/* scale_search.h - the scale and minimum of a scale block of few bits with a small error: candidates, and the
 * numbers that both packing and the reference compute with. */
#pragma once

#include "base/number_types.h"

/* Rounding takes the candidate with the least sum of weighted squared errors. The first candidate is the
 * plain scale and minimum (scale_blocks.h). Others begin with a start and go on with the scale and minimum of
 * least squares for the integers of the candidate before, ATTN2C_SEARCH_STEPS times.
 *
 * All sums are of whole numbers below 2^53, so that doubles add them without rounding, in any order:
 * - a number x is rint((x - origin) 2^k), at most 2^20; the origin is the least number, or 0 without a
 * minimum
 * - an input's weight in the error is 2^max(0, 7 + power - the largest power of the block), or 1
 * - an error is at most 2^20 */
enum { ATTN2C_SEARCH_BITS = 20, ATTN2C_SEARCH_WEIGHT_BITS = 7 };
enum { ATTN2C_STEPS_WITH_MINIMUM = 2, ATTN2C_STEPS_WITHOUT = 1 };

/* True if the scales of a type are searched. */
static inline int attn2c_is_searched(const attn2c_type_facts *facts) {
  return facts->bits <= 4 && facts->value_count == 0;
}

/* A start: parts = sign * (most + more), where `most` is the greatest integer, or without a minimum the
 * magnitude of the least. With a minimum, scale = (most - least number) / parts, minimum = least - below *
 * scale; without one, scale = the number of the largest magnitude / parts. */
typedef struct {
  float sign, more, below;
} attn2c_search_start;

static const attn2c_search_start attn2c_starts_with_minimum[] = {
    {1, 0, 0}, {1, -1, 0}, {1, -0.5f, 0}, {1, 0.5f, 0}, {1, 1, 0.5f}};
static const attn2c_search_start attn2c_starts_without[] = {
    {-1, 0, 0},  {-1, 1, 0}, {-1, 0.5f, 0}, {-1, -0.5f, 0}, {-1, -1, 0},
    {-1, -2, 0}, {1, -2, 0}, {1, -1, 0},    {1, -0.5f, 0},  {1, 0, 0}};
enum {
  ATTN2C_STARTS_WITH_MINIMUM = sizeof attn2c_starts_with_minimum / sizeof *attn2c_starts_with_minimum,
  ATTN2C_STARTS_WITHOUT = sizeof attn2c_starts_without / sizeof *attn2c_starts_without
};

/* Improves the plain scale and minimum of x[count], count <= 32, which are finite. powers: of the count
 * inputs; NULL: all have the same weight. */
void attn2c_search_scale(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                         float *scale, float *least);
