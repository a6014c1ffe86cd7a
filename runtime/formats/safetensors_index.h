/* safetensors_index.h - model.safetensors.index.json: which tensor of a checkpoint lies in
 * which of its files. The names of files come from a stranger: none may lead out of the
 * folder. */
#ifndef ATTN2C_SAFETENSORS_INDEX_H
#define ATTN2C_SAFETENSORS_INDEX_H

#include "base/attn2c.h"

typedef struct {
  const char *tensor;
  int file; /* index into files */
} attn2c_index_entry;

typedef struct {
  char *text; /* of the file; what follows points into it */
  const char **files;
  int file_count;
  attn2c_index_entry *entries;
  int entry_count;
} attn2c_safetensors_index;

/* Reads and verifies the file. ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure nothing is held and one line
 * says why. */
int attn2c_safetensors_index_read(const char *path, attn2c_safetensors_index *index, attn2c_message *message);
void attn2c_safetensors_index_free(attn2c_safetensors_index *index);

#endif
