/* packed_header.h - the 4096 bytes before a packed block in a file: model, layout, length, checksums. The
 * checksums cover the block and the header itself. */
#pragma once

#include "base/descriptor.h"

enum {
  ATTN2C_PACKED_HEADER = 4096, /* bytes; the block after it begins at a page */
  ATTN2C_PACKED_MAGIC =
      16 /* the first bytes, which identify the file's kind; no checkpoint begins with them */
};

/* True if a file that begins with `start` holds packed weights. `size`: bytes of `start`, which may be the
 * whole file. */
int attn2c_packed_begins(const unsigned char *start, size_t size);

/* Writes the header of a block of the model. */
void attn2c_packed_header_make(const attn2c_descriptor *model, uint64_t block_checksum,
                               unsigned char header[ATTN2C_PACKED_HEADER]);

/* Verifies that the header is for the model's block and that the file has `size` bytes. Otherwise returns
 * ATTN2C_FORMAT, and a line says what differs and what to do. `name` is the file's, for that line. */
int attn2c_packed_header_verify(const attn2c_descriptor *model, const unsigned char *header, int64_t size,
                                const char *name, attn2c_message *message);

/* Returns the variant of the model that the header is for; the model itself if there is none. */
const attn2c_descriptor *attn2c_packed_header_owner(const attn2c_descriptor *model,
                                                    const unsigned char *header, int64_t size);

/* Return the block's checksum, and the number of files that were packed together, from a verified header. */
uint64_t attn2c_packed_header_checksum(const unsigned char *header);
uint64_t attn2c_packed_header_set(const unsigned char *header);
/* Changes that number. */
void attn2c_packed_header_join(unsigned char header[ATTN2C_PACKED_HEADER], uint64_t set);

/* Says "F: packed weights: WHAT; pack them again: N pack .." and returns ATTN2C_FORMAT. */
int attn2c_packed_refuse(const attn2c_descriptor *model, const char *name, const char *what,
                         attn2c_message *message);

/* Computes a number for how a model reads its weights and lays them out in its packed block. Models with the
 * same number can use each other's blocks. */

/* Covers of each weight the name, shape, formula, offset, panels, and the boxes of stored tensors that it
 * reads. */
uint64_t attn2c_layout(const attn2c_descriptor *model);
