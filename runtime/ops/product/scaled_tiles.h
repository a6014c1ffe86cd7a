/* scaled_tiles.h - products of many rows with weights in scale blocks, in tiles of AMX. A panel's
 * weights are widened once a call, to what a tile reads: signed bytes of 16 outputs, and scales of f32. A
 * strip of 16 rows (gen/kernels/scaled_tiles.lua) then sums the integers of a block in a tile, and adds the
 * sums to the outputs' sums as scaled.h does. So the bits are the same as with strips without tiles.
 *
 * A block takes half of a tile's inputs, as each block has a scale of its own. If it has two scales, each
 * takes a quarter. */
#pragma once

#include "ops/product/scaled.h"
#include "ops/product/tiles.h"

#line __LINE__ "attn2c/runtime/ops/product/scaled_tiles.h" /* see base/processor_x86_64.h */

/* A block of a panel: eight rows of a tile, then scales and minima, of 16 inputs each if there are two. */
typedef struct {
  attn2c_words w[ATTN2C_SCALE_BLOCK / 4];
  attn2c_vector scale[2], least[2];
} attn2c_wide_block;

/* Configures tiles for strips: sums 0 and 3, inputs 4 and 5, weights 6 and 7. */
ATTN2C_INLINE void attn2c_scaled_tiles_configure(int scales) {
  attn2c_tiles_configure(32, 32, ATTN2C_SCALE_BLOCK / scales);
}

/* Writes blocks [first, first + blocks) of a panel that has `all`, even numbers. Prefetches the bytes that
 * come `ahead` bytes later; 0: none. */
ATTN2C_INLINE void attn2c_scaled_widen(attn2c_wide_block *to, const uint8_t *panel, int first, int blocks,
                                       int all, attn2c_type type, ptrdiff_t ahead) {
  const attn2c_type_facts *facts = attn2c_facts_of(type);
  const ptrdiff_t scale = facts->scale_bytes * ATTN2C_SCALED_PANEL;
  const ptrdiff_t words = ATTN2C_SCALE_BLOCK * ATTN2C_SCALED_PANEL * facts->bits / 8;
  const ptrdiff_t pair = 2 * facts->block_bytes * ATTN2C_SCALED_PANEL, head = pair - 2 * words;
  const int low = attn2c_low_plane(facts->bits), high = facts->bits - low;
  const uint8_t *units = panel,
                *a = panel + attn2c_units_bytes(facts, all) * ATTN2C_SCALED_PANEL + first / 2 * pair;
  attn2c_words values = {0};
  if (facts->value_count) values = attn2c_values_load(facts);
  for (int i = 0; i < blocks; i += 2, a += pair) {
    for (ptrdiff_t line = 0; ahead && line < pair; line += 64) __builtin_prefetch(a + ahead + line, 0, 2);
    const uint8_t *unit = units + (first + i) / 8 * facts->unit_bytes * ATTN2C_SCALED_PANEL;
    for (int half = 0; half < 2; half++) {
      attn2c_wide_block *block = to + i + half;
      for (int part = 0; part < facts->scales; part++) {
        const uint8_t *at = a + (half * facts->scales + part) * scale;
        attn2c_scales_load(facts, at, at + 2 * facts->scales * scale, unit, &block->scale[part],
                           &block->least[part]);
      }
      const uint8_t *at = a + head + half * words;
      for (int row = 0; row < ATTN2C_SCALE_BLOCK / 4; row++) {
        attn2c_words w = attn2c_plane(attn2c_words_load(at + 64 * (row * low / 8)), row * low % 8, low, 0);
        if (high)
          w |= attn2c_plane(attn2c_words_load(at + 64 * (low + row * high / 8)), row * high % 8, high, low);
        if (facts->value_count)
          w = attn2c_values(values, w) ^ 0x80808080u;
        else
          w = (attn2c_words)((attn2c_bytes)w - (int8_t)attn2c_integer_offset(facts));
        block->w[row] = w;
      }
    }
  }
}
