/* shape.h - a shape that came out of a file: how many elements it claims, counted so that
 * it cannot wrap, and how it is written in messages. */
#ifndef ATTN2C_SHAPE_H
#define ATTN2C_SHAPE_H

#include <stdint.h>

typedef struct {
  char text[200];
} attn2c_shape_text;

/* "[2, 17, 60]"; a longer one than fits ends in "...]". */
attn2c_shape_text attn2c_shape_write(int rank, const int64_t *shape);

/* The product of the dimensions into *elements, and 1; 0 if one is negative or the product exceeds int64. */
int attn2c_shape_count(int rank, const int64_t *shape, int64_t *elements);

/* 1 where both are the same. */
int attn2c_shape_equal(int rank, const int64_t *shape, int other_rank, const int64_t *other);

#endif
