/* bound_product.h - one product of a model with a given tile: the calls that emitted code
 * would make, epilogue left out, with weights that stream from the model's packed block. */
#ifndef ATTN2C_BOUND_PRODUCT_H
#define ATTN2C_BOUND_PRODUCT_H

#include "descriptor.h"

#define ATTN2C_MOST_TILES 260
#define ATTN2C_TILE_TEXT  96

/* panel outputs by tokens rows, K in blocks of k_block: in one call that sums over them, or (outer) one call
 * each that adds to the tile. call_rows, k_span and fetch as in gen/tile.lua. */
typedef struct {
  int panel, k_block, outer, tokens, call_rows, k_span, fetch;
} attn2c_tile;

/* Distinct tiles worth trying for a product; the number of them. */
int attn2c_tiles_of(const attn2c_part_product *product, attn2c_tile *tiles);
/* "panel 64, K 12 x 64 outer, 128 tokens", and how strips of them go, where a tile has some */
void attn2c_tile_say(const attn2c_part_product *product, const attn2c_tile *tile,
                     char text[ATTN2C_TILE_TEXT]);

/* What a product reads and writes: weights is walked over and over, from *position on. */
typedef struct {
  const float *weights;
  int64_t weight_floats, position;
  const float *b; /* [tokens][ldb] */
  float *c;       /* [tokens][ldc], 64-byte aligned */
} attn2c_product_setting;

typedef struct attn2c_tiled_product attn2c_tiled_product;

/* Dispatches the tile's kernels. ATTN2C_OK; ATTN2C_MACHINE where one cannot be made, or a panel is larger
 * than all weights; ATTN2C_MEMORY. */
int attn2c_tiled_product_open(const attn2c_part_product *product, const attn2c_tile *tile, const char *target,
                              int64_t weight_floats, attn2c_tiled_product **tiled);
/* The whole product once. */
void attn2c_tiled_product_run(const attn2c_tiled_product *tiled, attn2c_product_setting *setting);
void attn2c_tiled_product_close(attn2c_tiled_product *tiled);

#endif
