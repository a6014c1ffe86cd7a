/* peak_tiles.h - measures the rate of one core's multipliers on AMX tiles, like peak.h for f32. The products
 * are of whole tiles of zeros, with four sums in turn, and nothing is loaded between them. */
#pragma once

#include "measure/peak.h"
#include "ops/product/tiles.h"

/* product: attn2c_tile_bf16 or attn2c_tile_int8; inputs: inputs per row of a tile. */
#define ATTN2C_PEAK_TILES(name, product, inputs)                                                             \
  static double name(void) {                                                                                 \
    attn2c_tiles_configure(32, 32, 64);                                                                      \
    for (int round = 0; round < ATTN2C_PEAK_ROUNDS / 16; round++) {                                          \
      product(0, 4, 6);                                                                                      \
      product(1, 4, 7);                                                                                      \
      product(2, 5, 6);                                                                                      \
      product(3, 5, 7);                                                                                      \
    }                                                                                                        \
    attn2c_tiles_release();                                                                                  \
    return 2.0 * 4 * 16 * 16 * (inputs) * (ATTN2C_PEAK_ROUNDS / 16);                                         \
  }
