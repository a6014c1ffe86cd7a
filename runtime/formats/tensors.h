/* tensors.h - opens a file of named tensors, in any format, and reads their values as f32. A format only says
 * how the list of tensors is read. */
#pragma once

#include "formats/file.h"
#include "formats/scale_block.h"

#define ATTN2C_FILE_MAX_RANK 16
#define ATTN2C_LONGEST_BLOCK 256 /* elements */

/* How a file stores elements: each by itself, or blocks of elements that share scales. */
typedef struct attn2c_element_type {
  const char *name;    /* the format's own */
  int elements, bytes; /* of a block */
  /* Converts `count` single elements to f32. A type with neither this nor `split` is not supported. */
  void (*widen)(const void *elements, float *values, size_t count);
  const char *readable; /* the format's supported types, for messages */
  int is_coded;         /* 1: the tensor is made of several of the file (reading/coded.h) */
  /* Converts a block to scale blocks. */
  void (*split)(const uint8_t *block, attn2c_scale_block *scale_blocks);
} attn2c_element_type;

/* True if the values of a type can be read. */
static inline int attn2c_is_readable(const attn2c_element_type *type) {
  return type->widen || type->split || type->is_coded;
}

/* Returns a type of single elements by the name that safetensors have for it, or NULL. */
const attn2c_element_type *attn2c_plain_type(const char *name);

typedef struct attn2c_file_tensor {
  const char *name;
  const attn2c_element_type *type;
  int rank;
  int64_t shape[ATTN2C_FILE_MAX_RANK];
  int64_t elements;
  int64_t begin, end; /* byte range, from the start of the data */
} attn2c_file_tensor;

/* How a model is divided into files: this one's number, from 0; the number of files; and the number of
 * tensors of all files, or -1 if the file does not say it. A file that is not divided is number 0 of 1. */
typedef struct attn2c_split {
  int64_t number, count, tensors;
} attn2c_split;

/* An open file of tensors. */
typedef struct attn2c_tensor_file {
  attn2c_file file;
  int64_t start;               /* byte offset of the data */
  attn2c_file_tensor *tensors; /* in the order of their names */
  int count;
  void *names; /* memory of the tensors' names */
  attn2c_split split;
  char name[]; /* the file's, for messages */
} attn2c_tensor_file;

/* A format. `load` reads and verifies all but the tensors' values: it sets start, tensors, count and names.
 * It returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; on failure one line says why, unless there is no memory. */
typedef struct attn2c_format {
  const char *said;  /* "a GGUF file" */
  const char *magic; /* the first four bytes; NULL: they may be any */
  int (*load)(attn2c_tensor_file *file, attn2c_message *message);
  /* Writes the path of part `number`, from 0, of a model of `count` files, from that of the first part.
   * Returns 0 if that path does not end as the format requires, or is too long. NULL: a model is one file. */
  int (*part)(const char *first, int number, int count, char *path, size_t size);
} attn2c_format;

/* Returns the first of several formats, ended by NULL, of a file that begins so; NULL: none. */
const attn2c_format *attn2c_format_of(const attn2c_format *const *formats, const void *bytes, size_t size);

/* Opens a file of a format. Returns a status like `load`; on failure *file is NULL and one line says why. */
int attn2c_tensor_file_open(const attn2c_format *format, const char *path, attn2c_tensor_file **file,
                            attn2c_message *message);
/* Opens bytes in memory, which must stay valid until the file is closed. */
int attn2c_tensor_file_open_memory(const attn2c_format *format, const void *bytes, size_t size,
                                   attn2c_tensor_file **file, attn2c_message *message);
void attn2c_tensor_file_close(attn2c_tensor_file *file);

/* Sorts the tensors by name. Returns one whose name occurs twice, or NULL. */
const attn2c_file_tensor *attn2c_tensor_file_sort(attn2c_tensor_file *file);
/* Returns the index of a tensor, by binary search, or -1. */
int attn2c_tensor_file_find(const attn2c_tensor_file *file, const char *name);

/* Reads elements [first, first + count) of a tensor, row-major, as f32. NaN and infinity stay, F16 and BF16
 * are exact, F64 is rounded. Returns ATTN2C_OK, _FORMAT (type, range, or a file that was cut since it was
 * opened) or _IO. Any number of threads may read at once. */
int attn2c_tensor_file_read(const attn2c_tensor_file *file, int index, int64_t first, int64_t count,
                            float *values, attn2c_message *message);
/* Reads the same elements, whole blocks of a type with `split`, as scale blocks. */
int attn2c_tensor_file_read_blocks(const attn2c_tensor_file *file, int index, int64_t first, int64_t count,
                                   attn2c_scale_block *blocks, attn2c_message *message);
/* Reads bytes [offset, offset + bytes) of a tensor as they are; they must be within the tensor. */
int attn2c_tensor_file_bytes(const attn2c_tensor_file *file, int index, int64_t offset, size_t bytes,
                             void *to, attn2c_message *message);
