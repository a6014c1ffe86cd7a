/* gguf.h - reads GGUF files, versions 2 and 3, strictly: a count or length that claims more than the file
 * holds, and tensors that overlap, are not aligned or are beyond the file, are refused. Metadata is read
 * through once, in little memory; only what concerns the places of tensors is kept. */
#ifndef ATTN2C_GGUF_H
#define ATTN2C_GGUF_H

#include "formats/tensors.h"

typedef struct attn2c_gguf attn2c_gguf;

/* True if the first bytes are those of a GGUF file. */
int attn2c_gguf_begins(const void *bytes, size_t size);

/* Reads and verifies all but the tensors' values. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure
 * *file is NULL and one line says why. */
int attn2c_gguf_open(const char *path, attn2c_gguf **file, attn2c_message *message);
/* Opens bytes in memory, which must stay valid until the file is closed. */
int attn2c_gguf_open_memory(const void *bytes, size_t size, attn2c_gguf **file, attn2c_message *message);
void attn2c_gguf_close(attn2c_gguf *file);

/* The tensors, in the order of their names. */
int attn2c_gguf_count(const attn2c_gguf *file);
const attn2c_file_tensor *attn2c_gguf_tensor(const attn2c_gguf *file, int index);
/* Returns the index of a tensor, by binary search, or -1. */
int attn2c_gguf_find(const attn2c_gguf *file, const char *name);
/* Does the same as attn2c_file_tensor_read. Values are those of the format's definition, rounded once to f32
 * at most. */
int attn2c_gguf_read(const attn2c_gguf *file, int index, int64_t first, int64_t count, float *values,
                     attn2c_message *message);
/* Does the same as attn2c_file_tensor_read_blocks. */
int attn2c_gguf_read_blocks(const attn2c_gguf *file, int index, int64_t first, int64_t count,
                            attn2c_scale_block *blocks, attn2c_message *message);

/* How a model is divided into files: this one's number, from 0; the number of files; and the number of
 * tensors of all files, or -1 if the file does not say it. A file that is not divided is number 0 of 1. */
typedef struct attn2c_gguf_split {
  int64_t number, count, tensors;
} attn2c_gguf_split;
attn2c_gguf_split attn2c_gguf_split_of(const attn2c_gguf *file);

#endif
