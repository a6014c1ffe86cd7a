/* npy_header.h - the text in an array file that says what it holds: a Python dictionary
 * of exactly 'descr', 'fortran_order' and 'shape', in any order. */
#ifndef ATTN2C_NPY_HEADER_H
#define ATTN2C_NPY_HEADER_H

#include "formats/npy.h"

typedef struct attn2c_npy_header {
  char descr[16]; /* of the dictionary, as it stands there: "<f4" */
  int fortran_order;
  int rank;
  int64_t shape[ATTN2C_NPY_MAX_RANK];
} attn2c_npy_header;

/* NULL when it could be read, else what is wrong. No more than size bytes are read; the text need not be
 * terminated. */
const char *attn2c_npy_parse(const char *text, size_t size, attn2c_npy_header *header);

#endif
