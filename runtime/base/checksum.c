/* checksum.c - computes the checksum in four lanes, so that no multiplication waits for the one before. A
 * step is a bijection of the lane for each word and of the word for each lane, and so is the function that
 * joins the lanes: a change of one word always changes the checksum. */
#include "base/checksum.h"

#include <string.h>

enum { LANES = 4, WORD = 8 };

static uint64_t step(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * 0x9ddfea08eb382d69u;
  return lane ^ lane >> 29;
}

/* Returns a little-endian word; fewer than 8 bytes are followed by zeros. */
static uint64_t word_of(const unsigned char *bytes, size_t size) {
  uint64_t word = 0;
  memcpy(&word, bytes, size < WORD ? size : WORD);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

attn2c_checksum_parts attn2c_checksum_begin(uint64_t begin) {
  return (attn2c_checksum_parts){{begin, 1, 2, 3}, 0};
}

void attn2c_checksum_add(attn2c_checksum_parts *parts, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  uint64_t lanes[LANES];
  size_t left = size;
  memcpy(lanes, parts->lanes, sizeof lanes);
  for (; left >= LANES * WORD; left -= LANES * WORD, at += LANES * WORD)
    for (int i = 0; i < LANES; i++) lanes[i] = step(lanes[i], word_of(at + i * WORD, WORD));
  for (int i = 0; left > 0; i++) {
    const size_t taken = left < WORD ? left : WORD;
    lanes[i] = step(lanes[i], word_of(at, taken));
    left -= taken, at += taken;
  }
  memcpy(parts->lanes, lanes, sizeof lanes);
  parts->size += size;
}

uint64_t attn2c_checksum_end(const attn2c_checksum_parts *parts) {
  uint64_t sum = parts->size;
  for (int i = 0; i < LANES; i++) sum = step(sum, parts->lanes[i]);
  return sum;
}

uint64_t attn2c_checksum(uint64_t begin, const void *bytes, size_t size) {
  attn2c_checksum_parts parts = attn2c_checksum_begin(begin);
  attn2c_checksum_add(&parts, bytes, size);
  return attn2c_checksum_end(&parts);
}
