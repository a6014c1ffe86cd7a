/* peak_tiles.h - measures the rate of one core's multipliers on AMX tiles, like peak.h for f32. The products
 * are of whole tiles, with four sums in turn, and nothing is loaded between them. Their inputs are numbers: a
 * Xeon multiplies zeros up to 1.4 times as fast. */
#pragma once

#include "measure/peak.h"
#include "ops/product/tiles.h"

/* Fills a tile with bf16 of size 1 to 2, which are also bytes of many values. */
ATTN2C_INLINE void attn2c_peak_numbers(attn2c_tile_copy *tile) {
  uint32_t next = 1;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      next = next * 1664525u + 1013904223u;
      tile->row[i][j] = (next & 0x807f807fu) | 0x3f803f80u;
    }
}

/* product: attn2c_tile_bf16 or attn2c_tile_int8; inputs: inputs per row of a tile. */
#define ATTN2C_PEAK_TILES(name, product, inputs)                                                             \
  static double name(void) {                                                                                 \
    attn2c_tile_copy numbers;                                                                                \
    attn2c_peak_numbers(&numbers);                                                                           \
    attn2c_tiles_configure(32, 32, 64);                                                                      \
    attn2c_tile_load(4, &numbers, 64);                                                                       \
    attn2c_tile_load(5, &numbers, 64);                                                                       \
    attn2c_tile_load(6, &numbers, 64);                                                                       \
    attn2c_tile_load(7, &numbers, 64);                                                                       \
    for (int round = 0; round < ATTN2C_PEAK_ROUNDS / 16; round++) {                                          \
      product(0, 4, 6);                                                                                      \
      product(1, 4, 7);                                                                                      \
      product(2, 5, 6);                                                                                      \
      product(3, 5, 7);                                                                                      \
    }                                                                                                        \
    attn2c_tiles_release();                                                                                  \
    return 2.0 * 4 * 16 * 16 * (inputs) * (ATTN2C_PEAK_ROUNDS / 16);                                         \
  }
