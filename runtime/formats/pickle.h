/* pickle.h - reads the tensors of a state_dict that torch.save() wrote as a pickle. Nothing that a pickle
 * names is called: only what a state_dict consists of is known, and all else is refused by its name. */
#pragma once

#include "formats/tensors.h"

/* A tensor of the outermost dictionary. */
typedef struct {
  const char *name, *storage; /* in the pickle's bytes */
  const char *type;           /* "F32", as safetensors call it */
  int64_t first;              /* element of the storage */
  int rank;
  int64_t shape[ATTN2C_FILE_MAX_RANK], strides[ATTN2C_FILE_MAX_RANK]; /* elements */
} attn2c_pickled;

/* Reads `size` bytes, in which texts get ends, so that tensors may point to them. Calls take(context, tensor)
 * for each tensor, until it returns a status other than ATTN2C_OK, which is returned. Also returns
 * ATTN2C_FORMAT, with a line that begins with `name`, or ATTN2C_MEMORY. */
int attn2c_pickle_read(unsigned char *bytes, size_t size, const char *name,
                       int (*take)(void *context, const attn2c_pickled *tensor), void *context,
                       attn2c_message *message);
