/* npy.h - NumPy's array files, the inputs and outputs of emitted programs. Read: format
 * versions 1.0, 2.0 and 3.0, both orders, floats and integers of all sizes, and bool. Written:
 * version 1.0, float32 and int32, the bytes that numpy.save writes. */
#ifndef ATTN2C_NPY_H
#define ATTN2C_NPY_H

#include "base/descriptor.h"

#define ATTN2C_NPY_MAX_RANK 32

typedef enum attn2c_npy_type {
  ATTN2C_NPY_FLOAT16,
  ATTN2C_NPY_FLOAT32,
  ATTN2C_NPY_FLOAT64,
  ATTN2C_NPY_INT8,
  ATTN2C_NPY_INT16,
  ATTN2C_NPY_INT32,
  ATTN2C_NPY_INT64,
  ATTN2C_NPY_UINT8,
  ATTN2C_NPY_UINT16,
  ATTN2C_NPY_UINT32,
  ATTN2C_NPY_UINT64,
  ATTN2C_NPY_BOOL
} attn2c_npy_type;

typedef struct attn2c_npy {
  attn2c_npy_type type;
  int rank;
  int64_t shape[ATTN2C_NPY_MAX_RANK];
  int64_t elements;
  void *data; /* owned, of the type, in C order whatever the file's is */
  char *path; /* owned, for messages */
} attn2c_npy;

/* ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure one line says why and nothing is to be freed. */
int attn2c_npy_read(const char *path, attn2c_npy *array, attn2c_message *message);
void attn2c_npy_free(attn2c_npy *array);

/* The array as an input of this type and shape, into `out`: float32 from any float; int32 from any integer
 * whose values all fit, or from bool as 0 and 1. ATTN2C_OK or _FORMAT, with one line that names the input,
 * what is expected and what came. */
int attn2c_npy_as(const attn2c_npy *array, attn2c_type type, int rank, const int64_t *shape,
                  const char *input_name, void *out, attn2c_message *message);

/* Writes it atomically (file.h). ATTN2C_OK, _IO, _MEMORY, or _USAGE for a shape that no array has. */
int attn2c_npy_write(const char *path, attn2c_type type, int rank, const int64_t *shape, const void *data,
                     attn2c_message *message);

/* "float32", as NumPy calls it. */
const char *attn2c_npy_type_name(attn2c_npy_type type);

#endif
