/* tensors.h - declares the tensors of a checkpoint's file, in any format, and reads their values as f32. */
#ifndef ATTN2C_TENSORS_H
#define ATTN2C_TENSORS_H

#include "base/attn2c.h"
#include "formats/file.h"
#include "formats/scale_block.h"

#include <stddef.h>

#define ATTN2C_FILE_MAX_RANK 16
#define ATTN2C_LONGEST_BLOCK 256 /* elements */

/* How a file stores elements: each by itself, or blocks of elements that share scales. */
typedef struct attn2c_element_type {
  const char *name;    /* the format's own */
  int elements, bytes; /* of a block */
  /* Converts `count` elements that are each by themselves to f32. A type that has neither this function nor
   * `split` is not supported. */
  void (*widen)(const void *elements, float *values, size_t count);
  const char *readable; /* the format's supported types, for messages */
  int is_coded;         /* 1: the tensor is made of several of the file (weights/coded.h) */
  /* Converts blocks of `count` elements altogether to scale blocks. */
  void (*split)(const void *blocks, attn2c_scale_block *scale_blocks, size_t count);
} attn2c_element_type;

/* True if the values of a type can be read. */
static inline int attn2c_is_readable(const attn2c_element_type *type) {
  return type->widen || type->split || type->is_coded;
}

typedef struct attn2c_file_tensor {
  const char *name;
  const attn2c_element_type *type;
  int rank;
  int64_t shape[ATTN2C_FILE_MAX_RANK];
  int64_t elements;
  int64_t begin, end; /* byte range, from the start of the data */
} attn2c_file_tensor;

/* Reads elements [first, first + count) of a tensor, row-major, as f32. NaN and infinity stay. `start`: byte
 * offset of the data in the file. Returns ATTN2C_OK, _FORMAT (type, range, or a file that was cut since it
 * was opened) or _IO. Any number of threads may read at once. */
int attn2c_file_tensor_read(const attn2c_file *file, int64_t start, const attn2c_file_tensor *tensor,
                            int64_t first, int64_t count, float *values, attn2c_message *message);

/* Reads the same elements, whole blocks of a type with `split`, as scale blocks. */
int attn2c_file_tensor_read_blocks(const attn2c_file *file, int64_t start, const attn2c_file_tensor *tensor,
                                   int64_t first, int64_t count, attn2c_scale_block *blocks,
                                   attn2c_message *message);

#endif
