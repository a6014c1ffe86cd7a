/* npy.h - reads and writes NumPy's array files, the inputs and outputs of emitted programs. It reads format
 * versions 1.0, 2.0 and 3.0, both orders, floats and integers of all sizes, and bool. It writes version 1.0,
 * float32, int32 and int64, the same bytes as numpy.save. */
#pragma once

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
  void *data; /* owned; elements of `type`, always in C order */
  char *path; /* owned, for messages */
} attn2c_npy;

/* Reads an array. Returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; a line says why, and nothing is to free. */
int attn2c_npy_read(const char *path, attn2c_npy *array, attn2c_message *message);
void attn2c_npy_free(attn2c_npy *array);

/* Converts the array to an input of this type and shape, into `out`. float32 is made from any float; int32
 * from any integer if all values fit, or from bool as 0 and 1. Returns ATTN2C_OK or _FORMAT, with one line
 * that names the input, and the expected and the given array. */
int attn2c_npy_as(const attn2c_npy *array, attn2c_type type, int rank, const int64_t *shape,
                  const char *input_name, void *out, attn2c_message *message);

/* Writes an array atomically (file.h). Returns ATTN2C_OK, _IO, _MEMORY, or _USAGE for an impossible shape. */
int attn2c_npy_write(const char *path, attn2c_type type, int rank, const int64_t *shape, const void *data,
                     attn2c_message *message);

/* The same, of int64. */
int attn2c_npy_write_int64(const char *path, int rank, const int64_t *shape, const int64_t *data,
                           attn2c_message *message);

/* Writes the bytes that are before the elements of a file of an array with this type and shape, and returns
 * their number, a multiple of 64. The shape must have at most ATTN2C_NPY_MAX_RANK dimensions, none negative.
 */
#define ATTN2C_NPY_HEADER 1024
size_t attn2c_npy_begin(char header[ATTN2C_NPY_HEADER], attn2c_type type, int rank, const int64_t *shape);

/* Parses an array file's header: a Python dictionary of 'descr', 'fortran_order' and 'shape'. The dictionary
 * has exactly these keys, in any order. */

typedef struct attn2c_npy_header {
  char descr[16]; /* text of the type in the dictionary: "<f4" */
  int fortran_order;
  int rank;
  int64_t shape[ATTN2C_NPY_MAX_RANK];
} attn2c_npy_header;

/* Parses the header. Returns NULL, or what is wrong. It reads at most `size` bytes. */
const char *attn2c_npy_parse(const char *text, size_t size, attn2c_npy_header *header);
