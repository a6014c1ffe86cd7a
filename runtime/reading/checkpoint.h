/* checkpoint.h - opens a checkpoint as one list of tensors: a file, bytes in memory, or several files.
 * Several files are given as their folder or index, or as the first part of a GGUF model. */
#pragma once

#include "base/readers.h"
#include "formats/tensors.h"

typedef struct attn2c_checkpoint attn2c_checkpoint;
struct attn2c_coded_facts; /* coded.h */

/* Says that there is no memory; returns ATTN2C_MEMORY. */
static inline int attn2c_say_no_memory(attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "out of memory for reading the weights");
}

/* Opens a checkpoint, in one of the readers' formats and with quantised tensors in their coding. `path` is a
 * file, whose first bytes tell its format; an index (a name that ends in .json) next to its files; or a
 * folder with model.safetensors or model.safetensors.index.json. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY;
 * on failure *checkpoint is NULL and one line says why. */
int attn2c_checkpoint_open(const char *path, const attn2c_readers *readers, attn2c_checkpoint **checkpoint,
                           attn2c_message *message);
/* Opens bytes in memory, which must stay valid until the checkpoint is closed. */
int attn2c_checkpoint_open_memory(const void *bytes, size_t size, const attn2c_readers *readers,
                                  attn2c_checkpoint **checkpoint, attn2c_message *message);
void attn2c_checkpoint_close(attn2c_checkpoint *checkpoint);
/* Returns the readers that it was opened with. */
const attn2c_readers *attn2c_checkpoint_readers(const attn2c_checkpoint *checkpoint);

/* The tensors are numbered file by file, and within a file in the order of their names. Parts of coded
 * tensors (coded.h) are left out; the coded tensors come last. */
int attn2c_checkpoint_count(const attn2c_checkpoint *checkpoint);
const attn2c_file_tensor *attn2c_checkpoint_tensor(const attn2c_checkpoint *checkpoint, int index);
/* Returns the number of a tensor, or -1. */
int attn2c_checkpoint_find(const attn2c_checkpoint *checkpoint, const char *name);
/* Does the same as attn2c_tensor_file_read. */
int attn2c_checkpoint_read(const attn2c_checkpoint *checkpoint, int index, int64_t first, int64_t count,
                           float *values, attn2c_message *message);

/* Returns the number of the same tensor with its inputs in the order of their groups (coded.h), for the
 * functions that read; the tensor's own number if its inputs have no order. */
int attn2c_checkpoint_in_groups(const attn2c_checkpoint *checkpoint, int index);
/* Writes this order of the `columns` inputs of a tensor; 0, 1, 2 and so on if they have none. */
int attn2c_checkpoint_order(const attn2c_checkpoint *checkpoint, int index, int64_t columns, int32_t *inputs,
                            attn2c_message *message);

/* The tensors as the files have them, for coded.h. */
int attn2c_checkpoint_plain_count(const attn2c_checkpoint *checkpoint);
const attn2c_file_tensor *attn2c_checkpoint_plain(const attn2c_checkpoint *checkpoint, int plain);
/* Returns the file that such a tensor is in, and sets its number there and what its name begins with besides.
 */
const attn2c_tensor_file *attn2c_checkpoint_place(const attn2c_checkpoint *checkpoint, int plain, int *index,
                                                  const char **prefix);
/* Returns the number of a tensor among these, or -1 for a coded one, whose number among its like is set. */
int attn2c_checkpoint_plain_number(const attn2c_checkpoint *checkpoint, int index, int *coded);
/* Finds how a coded tensor is stored (coded.h). */
int attn2c_checkpoint_coded(const attn2c_checkpoint *checkpoint, int coded, struct attn2c_coded_facts *facts,
                            attn2c_message *message);
int attn2c_checkpoint_find_plain(const attn2c_checkpoint *checkpoint, const char *name);
int attn2c_checkpoint_plain_read(const attn2c_checkpoint *checkpoint, int plain, int64_t first, int64_t count,
                                 float *values, attn2c_message *message);
/* Reads bytes [offset, offset + bytes) of a tensor as they are; they must be within it. */
int attn2c_checkpoint_bytes(const attn2c_checkpoint *checkpoint, int plain, int64_t offset, size_t bytes,
                            void *to, attn2c_message *message);
/* Sets *same to 1 if two tensors have equal types, shapes and bytes. Tensors in one place are not read. */
int attn2c_checkpoint_same(const attn2c_checkpoint *checkpoint, int a, int b, int *same,
                           attn2c_message *message);
/* True if a tensor's format has scale blocks, and rows of `columns` elements from element `first` on, `step`
 * elements apart, are whole ones. */
int attn2c_checkpoint_has_blocks(const attn2c_checkpoint *checkpoint, int index, int64_t first, int64_t step,
                                 int64_t columns);
/* Reads elements [first, first + count) of such a tensor as blocks. Statuses as above. */
int attn2c_checkpoint_read_blocks(const attn2c_checkpoint *checkpoint, int index, int64_t first,
                                  int64_t count, attn2c_scale_block *blocks, attn2c_message *message);
