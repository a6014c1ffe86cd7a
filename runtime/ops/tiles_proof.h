/* tiles_proof.h - compares products of AMX tiles with plain C. A model for tiles runs this when it is opened,
 * since a virtual machine may offer tiles that do not work. */
#ifndef ATTN2C_TILES_PROOF_H
#define ATTN2C_TILES_PROOF_H

#include "ops/product_tiles.h"

enum { ATTN2C_TILES_PROOF_SIDE = 16 };

/* Numbers between -5 and 5; all sums are exact in any order. */
ATTN2C_INLINE int attn2c_tiles_proof_input(int row, int k) { return (7 * row + 3 * k + row * k) % 11 - 5; }
ATTN2C_INLINE int attn2c_tiles_proof_weight(int k, int column) { return (5 * column + 2 * k) % 11 - 5; }

/* Returns the bits of a small integer as bf16. */
ATTN2C_INLINE uint32_t attn2c_tiles_proof_bf16(int number) {
  const float value = (float)number;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 16;
}

/* Writes inputs and weights as a group of 4 bytes holds them: `count` numbers, 2 of bf16 or 4 of int8. */
ATTN2C_INLINE void attn2c_tiles_proof_fill(attn2c_tile_copy *inputs, attn2c_tile_copy *weights, int count) {
  for (int i = 0; i < ATTN2C_TILES_PROOF_SIDE; i++) {
    for (int j = 0; j < ATTN2C_TILES_PROOF_SIDE; j++) {
      inputs->row[i][j] = weights->row[i][j] = 0;
      for (int part = 0; part < count; part++) {
        const int input = attn2c_tiles_proof_input(i, count * j + part);
        const int weight = attn2c_tiles_proof_weight(count * i + part, j);
        const int shift = 32 / count * part;
        const int is_int8 = count == 4; /* inputs of int8 are unsigned */
        inputs->row[i][j] |= (is_int8 ? (uint32_t)(input + 128) : attn2c_tiles_proof_bf16(input)) << shift;
        weights->row[i][j] |= (is_int8 ? (uint32_t)weight & 0xff : attn2c_tiles_proof_bf16(weight)) << shift;
      }
    }
  }
}

/* Returns element (i, j) of the product, plus 3 for the sums that it is added to. */
ATTN2C_INLINE int attn2c_tiles_proof_sum(int i, int j, int count) {
  const int unsigned_by = count == 4 ? 128 : 0;
  int sum = 3;
  for (int k = 0; k < count * ATTN2C_TILES_PROOF_SIDE; k++)
    sum += (attn2c_tiles_proof_input(i, k) + unsigned_by) * attn2c_tiles_proof_weight(k, j);
  return sum;
}

/* Compares sums in tile 0, of f32 or s32, with plain C. */
ATTN2C_INLINE int attn2c_tiles_proof_holds(const attn2c_tile_copy *sums, int count) {
  int right = 1;
  for (int i = 0; i < ATTN2C_TILES_PROOF_SIDE; i++) {
    for (int j = 0; j < ATTN2C_TILES_PROOF_SIDE; j++) {
      const int expected = attn2c_tiles_proof_sum(i, j, count);
      const float as_float = (float)expected;
      uint32_t bits = (uint32_t)expected;
      if (count == 2) memcpy(&bits, &as_float, sizeof bits);
      right &= sums->row[i][j] == bits;
    }
  }
  return right;
}

/* True if products of bf16 and int8 are right, with sums loaded from memory. */
static inline int attn2c_tiles_are_right(void) {
  enum { STRIDE = 64 };
  int right = 1;
  for (int count = 2; count <= 4; count += 2) {
    attn2c_tile_copy inputs, weights, sums;
    attn2c_tiles_proof_fill(&inputs, &weights, count);
    for (int i = 0; i < ATTN2C_TILES_PROOF_SIDE; i++) {
      for (int j = 0; j < ATTN2C_TILES_PROOF_SIDE; j++)
        sums.row[i][j] = count == 2 ? 0x40400000u /* 3.0f */ : 3u;
    }
    attn2c_tiles_configure(16, 16, 64);
    attn2c_tile_load(0, &sums, STRIDE);
    attn2c_tile_load(4, &inputs, STRIDE);
    attn2c_tile_load(6, &weights, STRIDE);
    if (count == 2)
      attn2c_tile_bf16(0, 4, 6);
    else
      attn2c_tile_int8(0, 4, 6);
    attn2c_tile_store(0, &sums, STRIDE);
    attn2c_tiles_release();
    right &= attn2c_tiles_proof_holds(&sums, count);
  }
  return right;
}

#endif
