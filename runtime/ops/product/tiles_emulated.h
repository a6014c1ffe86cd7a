/* tiles_emulated.h - emulates AMX's instructions in C (ATTN2C_TILES_EMULATED), slowly, with the same bits. A
 * use that faults on a processor traps here: tiles that are not configured, or whose shapes do not match. It
 * uses vectors of 16 floats and relies on the processor's flush bits for denormals, so it needs AVX-512, and
 * a caller that has set these bits (base/processor.h). */
#pragma once

#include "ops/product/bf16.h"

/* The functions are not inline, as kernels call them in many places. */
#define ATTN2C_TILE static __attribute__((noinline, unused))

typedef struct {
  attn2c_tiles set;
  uint32_t tile[8][16][16];
} attn2c_tile_state;

static _Thread_local attn2c_tile_state attn2c_tiles_now;

ATTN2C_TILE void attn2c_tile_expect(int holds) {
  if (!holds) __builtin_trap();
}

ATTN2C_TILE void attn2c_tiles_set(const attn2c_tiles *set) {
  attn2c_tile_expect(set->palette == 1 && set->start_row == 0);
  for (int t = 0; t < 16; t++)
    attn2c_tile_expect(set->rows[t] <= 16 && set->bytes[t] <= 64 && set->bytes[t] % 4 == 0 &&
                       (set->rows[t] == 0) == (set->bytes[t] == 0) && (t < 8 || set->rows[t] == 0));
  attn2c_tiles_now = (attn2c_tile_state){.set = *set};
}

/* Each product configures tiles again, so that none relies on values that another has left in them. */
ATTN2C_TILE int attn2c_tiles_are(const attn2c_tiles *set) { return set == NULL; }

ATTN2C_TILE void attn2c_tiles_release(void) { attn2c_tiles_now = (attn2c_tile_state){.set.palette = 0}; }

ATTN2C_TILE void attn2c_tile_zero(int t) {
  attn2c_tile_expect(attn2c_tiles_now.set.rows[t] > 0);
  memset(attn2c_tiles_now.tile[t], 0, sizeof attn2c_tiles_now.tile[t]);
}

ATTN2C_TILE void attn2c_tile_load(int t, const void *from, ptrdiff_t stride) {
  attn2c_tile_zero(t);
  for (int i = 0; i < attn2c_tiles_now.set.rows[t]; i++)
    memcpy(attn2c_tiles_now.tile[t][i], (const char *)from + i * stride, attn2c_tiles_now.set.bytes[t]);
}

ATTN2C_TILE void attn2c_tile_load_once(int t, const void *from, ptrdiff_t stride) {
  attn2c_tile_load(t, from, stride);
}

ATTN2C_TILE void attn2c_tile_store(int t, void *to, ptrdiff_t stride) {
  attn2c_tile_expect(attn2c_tiles_now.set.rows[t] > 0);
  for (int i = 0; i < attn2c_tiles_now.set.rows[t]; i++)
    memcpy((char *)to + i * stride, attn2c_tiles_now.tile[t][i], attn2c_tiles_now.set.bytes[t]);
}

/* Traps unless these are three different, configured tiles with the shapes of a product. */
ATTN2C_TILE void attn2c_tile_expect_product(int sum, int inputs, int weights) {
  const attn2c_tiles *set = &attn2c_tiles_now.set;
  attn2c_tile_expect(sum != inputs && sum != weights && inputs != weights);
  attn2c_tile_expect(set->rows[sum] > 0 && set->rows[weights] > 0);
  attn2c_tile_expect(set->rows[sum] == set->rows[inputs] && set->bytes[sum] == set->bytes[weights] &&
                     set->bytes[inputs] == 4 * set->rows[weights]);
}

ATTN2C_TILE void attn2c_tile_bf16(int sum, int inputs, int weights) {
  attn2c_tile_expect_product(sum, inputs, weights);
  for (int i = 0; i < attn2c_tiles_now.set.rows[sum]; i++) {
    float *to = (float *)(void *)attn2c_tiles_now.tile[sum][i];
    attn2c_vector even = attn2c_zero(), odd = attn2c_zero();
    for (int group = 0; group < attn2c_tiles_now.set.rows[weights]; group++) {
      const attn2c_words w = attn2c_words_load(attn2c_tiles_now.tile[weights][group]);
      const attn2c_words x = attn2c_words_splat(&attn2c_tiles_now.tile[inputs][i][group]);
      even = attn2c_multiply_add(attn2c_bf16_even(w), attn2c_bf16_even(x), even);
      odd = attn2c_multiply_add(attn2c_bf16_odd(w), attn2c_bf16_odd(x), odd);
    }
    attn2c_store(to, attn2c_load(to) + (even + odd));
  }
}

/* Adds a product of inputs, unsigned or signed, and signed weights; sums wrap. */
ATTN2C_TILE void attn2c_tile_bytes(int sum, int inputs, int weights, int is_signed) {
  attn2c_tile_expect_product(sum, inputs, weights);
  for (int i = 0; i < attn2c_tiles_now.set.rows[sum]; i++) {
    uint32_t *to = attn2c_tiles_now.tile[sum][i];
    attn2c_words total = attn2c_words_load(to);
    for (int group = 0; group < attn2c_tiles_now.set.rows[weights]; group++) {
      const attn2c_words w = attn2c_words_load(attn2c_tiles_now.tile[weights][group]);
      const uint32_t x = attn2c_tiles_now.tile[inputs][i][group];
      for (int byte = 0; byte < 4; byte++) {
        const uint32_t input = x >> 8 * byte & 0xffu;
        total += (attn2c_words)((attn2c_integers)(w << (24 - 8 * byte)) >> 24) *
                 (is_signed ? (uint32_t)(int8_t)input : input);
      }
    }
    memcpy(to, &total, sizeof total);
  }
}

ATTN2C_TILE void attn2c_tile_int8(int sum, int inputs, int weights) {
  attn2c_tile_bytes(sum, inputs, weights, 0);
}
ATTN2C_TILE void attn2c_tile_signed(int sum, int inputs, int weights) {
  attn2c_tile_bytes(sum, inputs, weights, 1);
}
