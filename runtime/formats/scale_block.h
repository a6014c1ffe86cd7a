/* scale_block.h - a block of 32 numbers that are integers of at most 8 bits, times a scale, plus a minimum.
 * Readers of checkpoints make such blocks of the formats that have them, and packing writes them
 * (packing/scale_blocks.h). */
#pragma once

#include "base/tables.h"

#include <stdint.h>

enum { ATTN2C_BLOCK_NUMBERS = 32, ATTN2C_BLOCK_PARTS = 2, ATTN2C_PART_NUMBERS = 16 };
/* Numbers of the blocks that share units. */
enum { ATTN2C_UNIT_NUMBERS = ATTN2C_UNIT_BLOCKS * ATTN2C_BLOCK_NUMBERS };

/* Number i is scale[i / 16] * integers[i] + least[i / 16]. Formats whose scales and minima are integers times
 * units have the units; others have 0. */
typedef struct {
  float scale[ATTN2C_BLOCK_PARTS], least[ATTN2C_BLOCK_PARTS];
  float unit, least_unit;
  int8_t integers[ATTN2C_BLOCK_NUMBERS];
} attn2c_scale_block;

/* Returns number i of a block, rounded to a float. */
static inline float attn2c_block_number(const attn2c_scale_block *block, int i) {
  const int part = i / ATTN2C_PART_NUMBERS;
  const float product = block->scale[part] * (float)block->integers[i];
  return block->least[part] == 0.0f ? product : product + block->least[part];
}
