/* checkpoint.h - the tensors of a checkpoint, whether it is one safetensors file, the same in
 * memory, or a folder or index of several files: a list of tensors, and reading of any. */
#ifndef ATTN2C_CHECKPOINT_H
#define ATTN2C_CHECKPOINT_H

#include "formats/safetensors.h"

typedef struct attn2c_checkpoint attn2c_checkpoint;

/* path: a safetensors file; an index (a name that ends in .json) with its files beside it; or a folder with
 * model.safetensors or model.safetensors.index.json. ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure
 * *checkpoint is NULL and one line says why. */
int attn2c_checkpoint_open(const char *path, attn2c_checkpoint **checkpoint, attn2c_message *message);
/* The bytes must stay until it is closed. */
int attn2c_checkpoint_open_memory(const void *bytes, size_t size, attn2c_checkpoint **checkpoint,
                                  attn2c_message *message);
void attn2c_checkpoint_close(attn2c_checkpoint *checkpoint);

/* All tensors, numbered file by file, in each in the order of their names. */
int attn2c_checkpoint_count(const attn2c_checkpoint *checkpoint);
const attn2c_safetensor *attn2c_checkpoint_tensor(const attn2c_checkpoint *checkpoint, int index);
/* The number of a tensor, or -1. */
int attn2c_checkpoint_find(const attn2c_checkpoint *checkpoint, const char *name);
/* As attn2c_safetensors_read. */
int attn2c_checkpoint_read(const attn2c_checkpoint *checkpoint, int index, int64_t first, int64_t count,
                           float *values, attn2c_message *message);

#endif
