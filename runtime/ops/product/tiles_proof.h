/* tiles_proof.h - compares products of AMX tiles with plain C. A model for tiles runs this when it is opened,
 * since a virtual machine may offer tiles that do not work. */
#pragma once

#include "ops/product/tiles.h"

#line __LINE__ "attn2c/runtime/ops/product/tiles_proof.h" /* see base/processor_x86_64.h */

enum { ATTN2C_TILES_PROOF_SIDE = 16 };

/* Numbers between -5 and 5; all sums are exact in any order. */
ATTN2C_INLINE int attn2c_tiles_proof_input(int row, int k) { return (7 * row + 3 * k + row * k) % 11 - 5; }
ATTN2C_INLINE int attn2c_tiles_proof_weight(int k, int column) { return (5 * column + 2 * k) % 11 - 5; }

/* The products that are proved. A tile's row has 64 bytes of inputs: 32 of bf16 or 64 of int8, whose inputs
 * are unsigned (tdpbusd) or signed (tdpbssd). */
typedef enum { ATTN2C_PROVE_BF16, ATTN2C_PROVE_UNSIGNED, ATTN2C_PROVE_SIGNED, ATTN2C_PROVED } attn2c_proved;

/* Returns the bits of a small integer as bf16. */
ATTN2C_INLINE uint32_t attn2c_tiles_proof_bf16(int number) {
  const float value = (float)number;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 16;
}

/* Inputs in a group of 4 bytes. */
ATTN2C_INLINE int attn2c_tiles_proof_count(attn2c_proved product) {
  return product == ATTN2C_PROVE_BF16 ? 2 : 4;
}

/* The number that is added to inputs, so that none is negative. */
ATTN2C_INLINE int attn2c_tiles_proof_start(attn2c_proved product) {
  return product == ATTN2C_PROVE_UNSIGNED ? 128 : 0;
}

/* Returns the bits of a number in a group. */
ATTN2C_INLINE uint32_t attn2c_tiles_proof_bits(attn2c_proved product, int number) {
  return product == ATTN2C_PROVE_BF16 ? attn2c_tiles_proof_bf16(number) : (uint32_t)number & 0xff;
}

/* Writes inputs and weights of a product. */
ATTN2C_INLINE void attn2c_tiles_proof_fill(attn2c_tile_copy *inputs, attn2c_tile_copy *weights,
                                           attn2c_proved product) {
  const int count = attn2c_tiles_proof_count(product), start = attn2c_tiles_proof_start(product);
  for (int i = 0; i < ATTN2C_TILES_PROOF_SIDE; i++) {
    for (int j = 0; j < ATTN2C_TILES_PROOF_SIDE; j++) {
      inputs->row[i][j] = weights->row[i][j] = 0;
      for (int part = 0; part < count; part++) {
        const int input = attn2c_tiles_proof_input(i, count * j + part) + start;
        const int weight = attn2c_tiles_proof_weight(count * i + part, j);
        const int shift = 32 / count * part;
        inputs->row[i][j] |= attn2c_tiles_proof_bits(product, input) << shift;
        weights->row[i][j] |= attn2c_tiles_proof_bits(product, weight) << shift;
      }
    }
  }
}

/* Returns element (i, j) of the product, plus 3 for the sums that it is added to. */
ATTN2C_INLINE int attn2c_tiles_proof_sum(int i, int j, attn2c_proved product) {
  const int inputs = attn2c_tiles_proof_count(product) * ATTN2C_TILES_PROOF_SIDE;
  int sum = 3;
  for (int k = 0; k < inputs; k++)
    sum += (attn2c_tiles_proof_input(i, k) + attn2c_tiles_proof_start(product)) *
           attn2c_tiles_proof_weight(k, j);
  return sum;
}

/* Compares sums of f32 or s32 with plain C. */
ATTN2C_INLINE int attn2c_tiles_proof_holds(const attn2c_tile_copy *sums, attn2c_proved product) {
  int right = 1;
  for (int i = 0; i < ATTN2C_TILES_PROOF_SIDE; i++) {
    for (int j = 0; j < ATTN2C_TILES_PROOF_SIDE; j++) {
      const int expected = attn2c_tiles_proof_sum(i, j, product);
      const float as_float = (float)expected;
      uint32_t bits = (uint32_t)expected;
      if (product == ATTN2C_PROVE_BF16) memcpy(&bits, &as_float, sizeof bits);
      right &= sums->row[i][j] == bits;
    }
  }
  return right;
}

/* True if products of bf16 and int8 are right, with sums loaded from memory. */
static inline int attn2c_tiles_are_right(void) {
  enum { STRIDE = 64 };
  int right = 1;
  for (attn2c_proved product = 0; product < ATTN2C_PROVED; product++) {
    attn2c_tile_copy inputs, weights, sums;
    attn2c_tiles_proof_fill(&inputs, &weights, product);
    for (int i = 0; i < ATTN2C_TILES_PROOF_SIDE; i++) {
      for (int j = 0; j < ATTN2C_TILES_PROOF_SIDE; j++)
        sums.row[i][j] = product == ATTN2C_PROVE_BF16 ? 0x40400000u /* 3.0f */ : 3u;
    }
    attn2c_tiles_configure(16, 16, 64);
    attn2c_tile_load(0, &sums, STRIDE);
    attn2c_tile_load(4, &inputs, STRIDE);
    attn2c_tile_load(6, &weights, STRIDE);
    switch (product) {
    case ATTN2C_PROVE_BF16:
      attn2c_tile_bf16(0, 4, 6);
      break;
    case ATTN2C_PROVE_UNSIGNED:
      attn2c_tile_int8(0, 4, 6);
      break;
    default:
      attn2c_tile_signed(0, 4, 6);
    }
    attn2c_tile_store(0, &sums, STRIDE);
    attn2c_tiles_release();
    right &= attn2c_tiles_proof_holds(&sums, product);
  }
  return right;
}
