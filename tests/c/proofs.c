/* proofs.c - runs the proofs of instructions (measure/proofs.h, ops/product/tiles_proof.h), with emulated
 * tiles. With BREAK=n one of them computes a wrong result. Exit code: bit 0: pairs of bf16 are wrong; bit 1:
 * sums of int8; bit 2: tiles. */
#define ATTN2C_TILES_EMULATED
#include "ops/product/bf16.h"
#include "ops/product/int8.h"
#include "ops/product/tiles.h"

#ifndef BREAK
#define BREAK 0
#endif

/* Changes the lowest bit of one lane in one call of many. */
static int calls;
static int is_broken(int which) { return which == BREAK && ++calls == 2; }

static attn2c_vector maybe_pairs(attn2c_words a, attn2c_words b, attn2c_vector c) {
  attn2c_words sums = (attn2c_words)attn2c_bf16_pairs(a, b, c);
  if (is_broken(1)) sums[7] ^= 1;
  return (attn2c_vector)sums;
}

static attn2c_integers maybe_quads(attn2c_words a, attn2c_words b, attn2c_integers c) {
  attn2c_integers sums = attn2c_int8_quads(a, b, c);
  if (is_broken(2)) sums[15] ^= 1;
  return sums;
}

static void tile_bf16(int sum, int inputs, int weights) {
  attn2c_tile_bf16(sum, inputs, weights);
  if (BREAK == 3) attn2c_tiles_now.tile[sum][15][0] ^= 1;
}

static void tile_int8(int sum, int inputs, int weights) {
  attn2c_tile_int8(sum, inputs, weights);
  if (BREAK == 4) attn2c_tiles_now.tile[sum][0][15] ^= 1;
}

static void tile_signed(int sum, int inputs, int weights) {
  attn2c_tile_signed(sum, inputs, weights);
  if (BREAK == 5) attn2c_tiles_now.tile[sum][7][8] ^= 1;
}

#define attn2c_bf16_pairs  maybe_pairs
#define attn2c_int8_quads  maybe_quads
#define attn2c_tile_bf16   tile_bf16
#define attn2c_tile_int8   tile_int8
#define attn2c_tile_signed tile_signed
#include "measure/proofs.h"
#include "ops/product/tiles_proof.h"

int main(void) {
  const int pairs = attn2c_proof_bf16(), quads = attn2c_proof_int8(), tiles = attn2c_tiles_are_right();
  return (pairs ? 0 : 1) + (quads ? 0 : 2) + (tiles ? 0 : 4);
}
