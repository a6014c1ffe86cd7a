/* npy_header.h - parses an array file's header: a Python dictionary of 'descr', 'fortran_order' and 'shape'.
 * The dictionary has exactly these keys, in any order. */
#pragma once

#include "formats/npy.h"

typedef struct attn2c_npy_header {
  char descr[16]; /* text of the type in the dictionary: "<f4" */
  int fortran_order;
  int rank;
  int64_t shape[ATTN2C_NPY_MAX_RANK];
} attn2c_npy_header;

/* Parses the header. Returns NULL, or what is wrong. It reads at most `size` bytes; the text need not be
 * terminated. */
const char *attn2c_npy_parse(const char *text, size_t size, attn2c_npy_header *header);
