/* packed.h - opens and writes weights in the layout that a model uses in memory. They are in a file that
 * `pack` writes and opening maps, so that nothing is read before it is used and all processes share one copy;
 * or they are linked into the model. */
#pragma once

#include "base/descriptor.h"
#include "formats/new_file.h"

typedef struct attn2c_packed attn2c_packed;

/* The form in which a model's weights are given: packed, the path of a checkpoint, or bytes of one. All are
 * NULL for a model whose weights are all constants. */
typedef struct {
  attn2c_packed *packed;
  const char *path;
  const void *bytes; /* valid until the weights are loaded */
  size_t size;
  int stay; /* 1: the bytes are valid for ever, at a multiple of ATTN2C_ALIGNMENT: they are used in place */
} attn2c_given;

/* Opens what was given, if it is packed, for the model or another of its variants: sets given->packed. Checks
 * only header and size. Returns ATTN2C_OK; ATTN2C_FORMAT with one line if it is for another model, cut or
 * damaged; _IO; _MEMORY. A file may be replaced (by a rename) while it is open, but not cut or overwritten.
 */
int attn2c_packed_find(attn2c_given *given, const attn2c_descriptor *model, attn2c_message *message);
/* Returns the weights that are linked into a model. */
attn2c_given attn2c_packed_embedded(const attn2c_descriptor *model);

/* Returns the variant of the model whose layout the block has. */
const attn2c_descriptor *attn2c_packed_model(const attn2c_packed *packed);
/* True if that is this model's own layout, so that its block can be used as it is. */
int attn2c_packed_fits(const attn2c_packed *packed, const attn2c_descriptor *model);
/* Returns the packed block, the variant's weight_floats, read-only. */
const float *attn2c_packed_block(const attn2c_packed *packed);
/* Replaces the block by a copy that may be written, and returns it; NULL if there is no memory. */
float *attn2c_packed_own(attn2c_packed *packed);
/* Returns that copy, or NULL if none was made. */
float *attn2c_packed_owned(const attn2c_packed *packed);

/* Returns the checksum that the header states of the block. */
uint64_t attn2c_packed_checksum(const attn2c_packed *packed);
/* Returns the number that all files have which were packed together for stages; 0 for others. */
uint64_t attn2c_packed_set(const attn2c_packed *packed);
/* Reads the whole block; ATTN2C_FORMAT and a line if it differs from what was packed. */
int attn2c_packed_verify(const attn2c_packed *packed, attn2c_message *message);

/* Add and remove a holder; the last one to be removed frees the weights. NULL is allowed. Not for several
 * threads at once. */
attn2c_packed *attn2c_packed_hold(attn2c_packed *packed);
void attn2c_packed_release(attn2c_packed *packed);

/* Writes a packed block as a file of packed weights, atomically (file.h). */
int attn2c_packed_write(const char *path, const attn2c_descriptor *model, const float *block,
                        attn2c_message *message);

/* Begins a file of packed weights whose block is written in parts; new_file.h has the statuses. */
int attn2c_packed_begin(const char *path, const attn2c_descriptor *model, attn2c_new_file *file,
                        attn2c_message *message);
/* Writes floats of the block from `offset` on; what is not written is zero. `file`: an attn2c_new_file. */
int attn2c_packed_put(void *file, int64_t offset, const float *floats, int64_t count,
                      attn2c_message *message);
/* Completes the header and gives the file its name if `status` is ATTN2C_OK; otherwise drops the file. */
int attn2c_packed_end(const attn2c_descriptor *model, attn2c_new_file *file, int status,
                      attn2c_message *message);

/* Gives files that were packed together a number that only their blocks decide. */
int attn2c_packed_join(char *const *paths, int count, attn2c_message *message);
