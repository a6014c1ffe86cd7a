/* checksum.h - computes a 64-bit checksum of bytes, to detect accidental damage. It detects every change
 * within one 8-byte word, and all but one in 2^64 of the others. It does not protect against intent. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the same number on every machine. begin: 0, or the checksum of the bytes before. */
uint64_t attn2c_checksum(uint64_t begin, const void *bytes, size_t size);

/* The same checksum of bytes that come in pieces, if every piece but the last is a multiple of 32 bytes. With
 * others it is another number, which depends on where the pieces end. */
typedef struct attn2c_checksum_parts {
  uint64_t lanes[4], size;
} attn2c_checksum_parts;
attn2c_checksum_parts attn2c_checksum_begin(uint64_t begin);
void attn2c_checksum_add(attn2c_checksum_parts *parts, const void *bytes, size_t size);
uint64_t attn2c_checksum_end(const attn2c_checksum_parts *parts);
