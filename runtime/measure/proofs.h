/* proofs.h - compares the results of a target's instructions of bf16 and int8 with plain C, on numbers of all
 * sizes. A virtual machine or an emulator may offer instructions that it gets wrong. */
#pragma once

#include "base/processor.h"
#include "ops/product/words.h"

enum { ATTN2C_PROOFS = 64 };

/* Returns the next of a sequence of numbers (Marsaglia's xorshift). */
ATTN2C_INLINE uint32_t attn2c_proof_next(uint32_t *state) {
  *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
  return *state;
}

ATTN2C_INLINE attn2c_words attn2c_proof_words(uint32_t *state) {
  attn2c_words words = {0};
  for (int lane = 0; lane < ATTN2C_LANES; lane++) words[lane] = attn2c_proof_next(state);
  return words;
}

#ifdef __AVX512BF16__
#include "ops/product/bf16.h"

/* Returns pairs of bf16 between 2^-31 and 2^33: their sums are finite and not denormal. */
ATTN2C_INLINE attn2c_words attn2c_proof_pairs(uint32_t *state) {
  return (attn2c_proof_words(state) & 0x9fff9fffu) + 0x30003000u;
}

/* True if pairs of bf16 give the bits of widened numbers (product/bf16.h). */
ATTN2C_INLINE int attn2c_proof_bf16(void) {
  uint32_t state = 2463534242u;
  attn2c_vector pairs = attn2c_zero(), widened = attn2c_zero();
  const attn2c_flush flush = attn2c_flush_on();
  int right = 1;
  for (int i = 0; i < ATTN2C_PROOFS; i++) {
    const attn2c_words a = attn2c_proof_pairs(&state), b = attn2c_proof_pairs(&state);
    pairs = attn2c_bf16_pairs(a, b, pairs);
    widened = attn2c_multiply_add(attn2c_bf16_odd(a), attn2c_bf16_odd(b), widened);
    widened = attn2c_multiply_add(attn2c_bf16_even(a), attn2c_bf16_even(b), widened);
    right &= memcmp(&pairs, &widened, sizeof pairs) == 0;
  }
  attn2c_flush_restore(flush);
  return right;
}
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#include "ops/product/int8.h"

/* True if sums of unsigned by signed bytes are exact. */
ATTN2C_INLINE int attn2c_proof_int8(void) {
  uint32_t state = 2463534242u;
  attn2c_integers sums = attn2c_integers_zero();
  int32_t expected[ATTN2C_LANES] = {0};
  int right = 1;
  for (int i = 0; i < ATTN2C_PROOFS; i++) {
    const attn2c_words a = attn2c_proof_words(&state), b = attn2c_proof_words(&state);
    sums = attn2c_int8_quads(a, b, sums);
    for (int lane = 0; lane < ATTN2C_LANES; lane++) {
      for (int byte = 0; byte < 4; byte++)
        expected[lane] += (int8_t)(a[lane] >> 8 * byte) * (int32_t)(b[lane] >> 8 * byte & 0xff);
      right &= sums[lane] == expected[lane];
    }
  }
  return right;
}
#endif
