/* packed.h - weights as a model has them in memory: in a file that `pack` writes and opening maps, so that
 * nothing is read before it is used and all processes share one copy; or linked into the model itself. */
#ifndef ATTN2C_PACKED_H
#define ATTN2C_PACKED_H

#include "base/descriptor.h"

typedef struct attn2c_packed attn2c_packed;

/* Opens the file at `path` for the model or another of its variants, by its header and size alone. ATTN2C_OK
 * with *packed NULL: it is no file of packed weights. ATTN2C_FORMAT: of another model, cut or damaged, with
 * one line; _IO; _MEMORY. The file may be replaced (by a rename) while it is open, but not cut or written
 * over. */
int attn2c_packed_open(const char *path, const attn2c_descriptor *model, attn2c_packed **packed,
                       attn2c_message *message);
/* The same of bytes in memory, which are copied. */
int attn2c_packed_open_memory(const void *bytes, size_t size, const attn2c_descriptor *model,
                              attn2c_packed **packed, attn2c_message *message);
/* The same of bytes that stay for ever and lie at a multiple of ATTN2C_ALIGNMENT: they are used in place. */
int attn2c_packed_open_place(const void *bytes, size_t size, const attn2c_descriptor *model,
                             attn2c_packed **packed, attn2c_message *message);

/* The variant of the model whose layout the block has. */
const attn2c_descriptor *attn2c_packed_model(const attn2c_packed *packed);
/* 1 where that is this model's own: its block can be used as it is. */
int attn2c_packed_fits(const attn2c_packed *packed, const attn2c_descriptor *model);
/* The packed block, the variant's weight_floats, read-only. */
const float *attn2c_packed_block(const attn2c_packed *packed);
/* Has the block be a copy of one's own, which may be written; NULL without memory. */
float *attn2c_packed_own(attn2c_packed *packed);
/* The same, where that was done; else NULL. */
float *attn2c_packed_owned(const attn2c_packed *packed);

/* Reads all of the block: ATTN2C_FORMAT and a line where it is not what was packed. */
int attn2c_packed_verify(const attn2c_packed *packed, attn2c_message *message);

/* One holder more, and one less; the last takes it away. NULL is allowed. Not for several threads at once. */
attn2c_packed *attn2c_packed_hold(attn2c_packed *packed);
void attn2c_packed_release(attn2c_packed *packed);

/* Writes a packed block as such a file, atomically (file.h). */
int attn2c_packed_write(const char *path, const attn2c_descriptor *model, const float *block,
                        attn2c_message *message);

#endif
