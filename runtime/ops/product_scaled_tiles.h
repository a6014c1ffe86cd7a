/* product_scaled_tiles.h - products of many rows with weights in scale blocks, in tiles of AMX. A panel's
 * weights are widened once a call, to what a tile reads: signed bytes of 16 outputs, and scales of f32. A
 * strip of 16 rows (gen/kernels/scaled_tiles.lua) then sums the integers of a block in a tile, and adds the
 * sums to the outputs' sums as product_scaled.h does. So the bits are the same as with strips without tiles.
 *
 * A block takes half of a tile's inputs, as each block has a scale of its own. If it has two scales, each
 * takes a quarter. */
#pragma once

#include "ops/product_scaled.h"
#include "ops/product_tiles.h"

#line __LINE__ "attn2c/runtime/ops/product_scaled_tiles.h" /* see base/processor_x86_64.h */

/* A block of a panel: eight rows of a tile, then scales and minima, of 16 inputs each if there are two. */
typedef struct {
  attn2c_words w[ATTN2C_SCALE_BLOCK / 4];
  attn2c_vector scale[2], least[2];
} attn2c_wide_block;

/* Configures tiles for strips: sums 0 and 3, inputs 4 and 5, weights 6 and 7. */
ATTN2C_INLINE void attn2c_scaled_tiles_configure(int scales) {
  attn2c_tiles_configure(32, 32, ATTN2C_SCALE_BLOCK / scales);
}

/* Loads scales or minima of `bytes` bytes. */
ATTN2C_INLINE attn2c_vector attn2c_scales_load(const uint8_t *at, int bytes) {
  return bytes == 1 ? attn2c_powers_load(at) : bytes == 2 ? attn2c_halves_load(at) : attn2c_floats_load(at);
}

/* Writes `blocks` blocks of a panel, an even number. The other arguments are a type's record
 * (gen/data/types.lua). Prefetches the bytes that come `ahead` bytes later; 0: none. */
ATTN2C_INLINE void attn2c_scaled_widen(attn2c_wide_block *to, const uint8_t *a, int blocks, int bits,
                                       int scale_bytes, int scales, int has_minimum, ptrdiff_t ahead) {
  const ptrdiff_t scale = scale_bytes * ATTN2C_SCALED_PANEL, head = 2 * scales * scale * (1 + has_minimum);
  const ptrdiff_t words = ATTN2C_SCALE_BLOCK * ATTN2C_SCALED_PANEL * bits / 8, pair = head + 2 * words;
  for (int i = 0; i < blocks; i += 2, a += pair) {
    for (ptrdiff_t line = 0; ahead && line < pair; line += 64) __builtin_prefetch(a + ahead + line, 0, 2);
    for (int half = 0; half < 2; half++) {
      attn2c_wide_block *block = to + i + half;
      for (int part = 0; part < scales; part++) {
        const uint8_t *at = a + (half * scales + part) * scale;
        block->scale[part] = attn2c_scales_load(at, scale_bytes);
        if (has_minimum) block->least[part] = attn2c_scales_load(at + 2 * scales * scale, scale_bytes);
      }
      const uint8_t *at = a + head + half * words;
      for (int row = 0; row < ATTN2C_SCALE_BLOCK / 4; row++) {
        if (bits == 8) {
          block->w[row] = attn2c_words_load(at + 64 * row) ^ 0x80808080u;
        } else {
          const attn2c_words both = attn2c_words_load(at + 64 * (row / 2));
          const attn2c_words four = row % 2 ? attn2c_high_fours(both) : attn2c_low_fours(both);
          block->w[row] = scale_bytes == 1 ? attn2c_levels(four) ^ 0x80808080u
                          : has_minimum    ? four
                                           : (attn2c_words)((attn2c_bytes)four - (int8_t)8);
        }
      }
    }
  }
}
