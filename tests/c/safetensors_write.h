/* safetensors_write.h - writes files of named tensors, for tests that read them. */
#ifndef SAFETENSORS_WRITE_H
#define SAFETENSORS_WRITE_H

#include "base/attn2c.h"

/* Writes f32 tensors in the order of their names, atomically (file.h). Returns ATTN2C_OK, _IO, _MEMORY, or
 * _USAGE: a name that is given twice, reserved or not UTF-8, or a shape that is negative, too large or of too
 * many dimensions. */
typedef struct safetensors_item {
  const char *name;
  int rank;
  const int64_t *shape;
  const float *values;
} safetensors_item;
int safetensors_write(const char *path, const safetensors_item *items, int count, attn2c_message *message);

#endif
