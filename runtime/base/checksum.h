/* checksum.h - a number for bytes, by which damage is seen: any change within one of their
 * words of 8 bytes, and others but for one in 2^64. It guards against nobody's intent. */
#ifndef ATTN2C_CHECKSUM_H
#define ATTN2C_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The same on every machine. begin: 0, or the checksum of what stands before. */
uint64_t attn2c_checksum(uint64_t begin, const void *bytes, size_t size);

#endif
