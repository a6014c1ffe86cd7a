/* safetensors.h - reads files of named tensors strictly, and writes the same bytes for the same tensors. A
 * header that claims more than the file holds, leaves a byte unclaimed or claims one twice is refused before
 * anything of its size is allocated. */
#ifndef ATTN2C_SAFETENSORS_H
#define ATTN2C_SAFETENSORS_H

#include "base/attn2c.h"

#define ATTN2C_SAFETENSORS_MAX_RANK 16

/* Element types by the format's own names. Values of F64, F32, F16 and BF16 can be read. */
typedef enum attn2c_dtype {
  ATTN2C_DTYPE_F64,
  ATTN2C_DTYPE_F32,
  ATTN2C_DTYPE_F16,
  ATTN2C_DTYPE_BF16,
  ATTN2C_DTYPE_I64,
  ATTN2C_DTYPE_I32,
  ATTN2C_DTYPE_I16,
  ATTN2C_DTYPE_I8,
  ATTN2C_DTYPE_U64,
  ATTN2C_DTYPE_U32,
  ATTN2C_DTYPE_U16,
  ATTN2C_DTYPE_U8,
  ATTN2C_DTYPE_BOOL,
  ATTN2C_DTYPE_F8_E4M3,
  ATTN2C_DTYPE_F8_E5M2
} attn2c_dtype;

typedef struct attn2c_safetensor {
  const char *name;
  attn2c_dtype dtype;
  int rank;
  int64_t shape[ATTN2C_SAFETENSORS_MAX_RANK];
  int64_t elements;
  int64_t begin, end; /* byte range, from the start of the data */
} attn2c_safetensor;

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
const attn2c_safetensor *attn2c_safetensors_tensor(const attn2c_safetensors *file, int index);
/* Returns the index of a tensor, by binary search, or -1. */
int attn2c_safetensors_find(const attn2c_safetensors *file, const char *name);

const char *attn2c_dtype_name(attn2c_dtype dtype);
/* True if values of the type can be read. */
int attn2c_dtype_readable(attn2c_dtype dtype);

/* Reads elements [first, first + count) of a tensor, row-major, as f32. F16 and BF16 are exact, F64 is
 * rounded, NaN and infinity stay. Returns ATTN2C_OK, _FORMAT (type, range, or a file that was cut since it
 * was opened) or _IO. Any number of threads may read at once. */
int attn2c_safetensors_read(const attn2c_safetensors *file, int index, int64_t first, int64_t count,
                            float *values, attn2c_message *message);

/* Writes f32 tensors in the order of their names, atomically (file.h). Returns ATTN2C_OK, _IO, _MEMORY, or
 * _USAGE: a name that is given twice, reserved or not UTF-8, or a shape that is negative, too large or of too
 * many dimensions. */
typedef struct attn2c_safetensors_item {
  const char *name;
  int rank;
  const int64_t *shape;
  const float *values;
} attn2c_safetensors_item;
int attn2c_safetensors_write(const char *path, const attn2c_safetensors_item *items, int count,
                             attn2c_message *message);

#endif
