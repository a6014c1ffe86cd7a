/* packed_header.h - the 4096 bytes in front of a packed block in a file: whose it is, how it
 * lies, how long it is, and checksums of it and of themselves. */
#ifndef ATTN2C_PACKED_HEADER_H
#define ATTN2C_PACKED_HEADER_H

#include "base/descriptor.h"

enum {
  ATTN2C_PACKED_HEADER = 4096, /* bytes: the block behind it begins at a page */
  ATTN2C_PACKED_MAGIC = 16     /* of them that say what the file is; no checkpoint begins so */
};

/* 1 where so many first bytes of a file, or of what is left of one, are those of packed weights. */
int attn2c_packed_begins(const unsigned char *start, size_t size);

/* Writes the header of a block of the model. */
void attn2c_packed_header_make(const attn2c_descriptor *model, uint64_t block_checksum,
                               unsigned char header[ATTN2C_PACKED_HEADER]);

/* ATTN2C_OK where the header is of the model's block and the file has `size` bytes; else ATTN2C_FORMAT and a
 * line: what differs and what to do. name: the file's, for that. */
int attn2c_packed_header_verify(const attn2c_descriptor *model, const unsigned char *header, int64_t size,
                                const char *name, attn2c_message *message);

/* The variant of the model whose block the header is of; the model itself where it is of none. */
const attn2c_descriptor *attn2c_packed_header_owner(const attn2c_descriptor *model,
                                                    const unsigned char *header, int64_t size);

/* The block's checksum that a verified header has. */
uint64_t attn2c_packed_header_checksum(const unsigned char *header);

/* "F: packed weights: WHAT; pack them again: N pack .."; ATTN2C_FORMAT. */
int attn2c_packed_refuse(const attn2c_descriptor *model, const char *name, const char *what,
                         attn2c_message *message);

#endif
