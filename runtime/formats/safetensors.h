/* safetensors.h - reads files of named tensors strictly. A header that claims more than the file holds,
 * leaves a byte unclaimed or claims one twice is refused before anything of its size is allocated. */
#ifndef ATTN2C_SAFETENSORS_H
#define ATTN2C_SAFETENSORS_H

#include "formats/tensors.h"

typedef struct attn2c_safetensors attn2c_safetensors;

/* Reads and verifies the header. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure *file is NULL and one
 * line says why. */
int attn2c_safetensors_open(const char *path, attn2c_safetensors **file, attn2c_message *message);
/* Opens bytes in memory, which must stay valid until the file is closed. */
int attn2c_safetensors_open_memory(const void *bytes, size_t size, attn2c_safetensors **file,
                                   attn2c_message *message);
void attn2c_safetensors_close(attn2c_safetensors *file);

/* The tensors, in the order of their names. */
int attn2c_safetensors_count(const attn2c_safetensors *file);
const attn2c_file_tensor *attn2c_safetensors_tensor(const attn2c_safetensors *file, int index);
/* Returns the index of a tensor, by binary search, or -1. */
int attn2c_safetensors_find(const attn2c_safetensors *file, const char *name);

/* Does the same as attn2c_file_tensor_read. F16 and BF16 are exact, F64 is rounded. */
int attn2c_safetensors_read(const attn2c_safetensors *file, int index, int64_t first, int64_t count,
                            float *values, attn2c_message *message);

/* Reads bytes [offset, offset + bytes) of a tensor as they are; they must be within the tensor. */
int attn2c_safetensors_bytes(const attn2c_safetensors *file, int index, int64_t offset, size_t bytes,
                             void *to, attn2c_message *message);

#endif
