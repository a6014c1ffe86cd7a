/* shape.h - counts the elements of a shape from a file without overflow, and writes shapes for messages. */
#pragma once

#include <stdint.h>

typedef struct {
  char text[200];
} attn2c_shape_text;

/* Returns "[2, 17, 60]"; a shape that does not fit ends in "...]". */
attn2c_shape_text attn2c_shape_write(int rank, const int64_t *shape);

/* Writes the product of the dimensions to *elements and returns 1. Returns 0 if a dimension is negative or
 * the product exceeds int64. */
int attn2c_shape_count(int rank, const int64_t *shape, int64_t *elements);

/* True if both shapes are equal. */
int attn2c_shape_equal(int rank, const int64_t *shape, int other_rank, const int64_t *other);
