/* safetensors_index.h - reads model.safetensors.index.json, which says which file holds each tensor. The
 * index is untrusted: no file name may lead out of the folder. */
#pragma once

#include "base/attn2c.h"

typedef struct {
  const char *tensor;
  int file; /* index into files */
} attn2c_index_entry;

typedef struct {
  char *text; /* text of the file, which the fields below point into */
  const char **files;
  int file_count;
  attn2c_index_entry *entries;
  int entry_count;
} attn2c_safetensors_index;

/* Reads and verifies the file. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure a line says why. */
int attn2c_safetensors_index_read(const char *path, attn2c_safetensors_index *index, attn2c_message *message);
void attn2c_safetensors_index_free(attn2c_safetensors_index *index);
