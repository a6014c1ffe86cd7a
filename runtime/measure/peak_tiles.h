/* peak_tiles.h - the rate of one core's multipliers on tiles of AMX, as peak.h has it for f32: products of
 * whole tiles of zeros, four sums in turn, with nothing loaded between them. */
#ifndef ATTN2C_PEAK_TILES_H
#define ATTN2C_PEAK_TILES_H

#include "measure/peak.h"
#include "ops/product_tiles.h"

/* product: attn2c_tile_bf16 or attn2c_tile_int8; inputs: of a row of a tile. */
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

#endif
