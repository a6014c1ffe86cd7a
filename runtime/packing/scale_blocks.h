/* scale_blocks.h - weights of integers in scale blocks: rounds floats to blocks of a number type, and writes
 * and reads blocks in packed weights. The layout is that of ops/product/scaled.h for panels of 16 outputs,
 * and of ops/scaled.h for rows of a table. */
#pragma once

#include "base/number_types.h"
#include "formats/scale_block.h"

/* Returns the blocks of a row of `columns` numbers. */
static inline int64_t attn2c_blocks_of(int64_t columns) {
  return (columns + ATTN2C_BLOCK_NUMBERS - 1) / ATTN2C_BLOCK_NUMBERS;
}

/* Returns the floats that the blocks of an output and their units take. */
static inline int64_t attn2c_blocks_floats(const attn2c_type_facts *facts, int64_t blocks) {
  return attn2c_units_bytes(facts, blocks) / 4 + (blocks * facts->block_bytes + 3) / 4;
}

/* Returns the blocks that are rounded together: those that share a unit. */
static inline int attn2c_blocks_together(const attn2c_type_facts *facts) {
  return facts->unit ? ATTN2C_UNIT_BLOCKS : 1;
}

/* Rounds x[count] to the blocks of a type that are together; the other numbers of the last block are 0. The
 * plain scale is the largest magnitude / 127 for int8; for types of few bits the number of the largest
 * magnitude / the least integer or value; with a minimum the range divided by that of the integers, the
 * minimum being that of the numbers. Types of up to 4 bits without values take a scale and a minimum near
 * these that have the least sum of squared errors (scale_search.h); powers[count] weighs the errors of
 * the inputs by powers of two, NULL: all alike. Scales and minima are rounded to the type's floats, or to
 * multiples of units: the largest magnitude / 127; of 4 bits the largest scale / 15 and the least minimum, if
 * below 0, / 15. Integers are rounded to the nearest, ties to even; values to the first nearest. The
 * power of two of E2M1 is that by which the largest magnitude is from 4 to 8 (Microscaling Formats 1.0, 6.3),
 * or a little less where E2M1 ends at 6; ties go to the even code. A NaN or infinity makes all blocks NaN. */
void attn2c_blocks_round(const attn2c_type_facts *facts, const float *x, const signed char *powers, int count,
                         attn2c_scale_block *blocks);

/* True if a type holds exactly the numbers of `count` blocks that are together. */
int attn2c_blocks_fit(const attn2c_type_facts *facts, const attn2c_scale_block *blocks, int count);

/* The place of an output in packed weights: a column of a panel, or a row of a table. */
typedef struct {
  unsigned char *begin; /* of the panel or row */
  int64_t leading;      /* outputs of the panel; 1 for a row */
  int64_t column;       /* the output */
  int64_t blocks;       /* of an output; in a panel an even number */
} attn2c_block_place;

/* Write or read block `number` of an output. */
void attn2c_block_put(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number,
                      const attn2c_scale_block *block);
void attn2c_block_get(const attn2c_type_facts *facts, const attn2c_block_place *place, int64_t number,
                      attn2c_scale_block *block);

/* Returns the place of the unit of a block's scales, or of its first scale if the type has no units. */
unsigned char *attn2c_block_scale(const attn2c_type_facts *facts, const attn2c_block_place *place,
                                  int64_t number);

/* The floats that scale blocks have for their scales and minimums. */

/* Returns the bits of the nearest f16, ties to even; finite numbers beyond its range become the largest. */
uint16_t attn2c_to_half(float x);
/* Returns x rounded to the floats of a type's scales, before units are known. */
float attn2c_to_scale(const attn2c_type_facts *facts, float x);
