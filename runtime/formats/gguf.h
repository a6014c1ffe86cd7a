/* gguf.h - reads GGUF files, versions 2 and 3, strictly: a count or length that claims more than the file
 * holds, and tensors that overlap, are not aligned or are beyond the file, are refused. Metadata is read
 * through once, in little memory; only what concerns the places of tensors is kept. */
#pragma once

#include "formats/tensors.h"

extern const attn2c_format attn2c_gguf_format;

/* A metadata entry, by its places in the file. */
typedef struct {
  int64_t key, key_bytes;
  const char *type; /* the format's name of the value's type, "UINT32" */
  const char *of;   /* of the values of an array; NULL: no array */
  int64_t count;    /* values; 1: no array */
  int64_t at, bytes;
} attn2c_gguf_entry;

/* Calls `visit` for each metadata entry of a file that `load` has verified, until it returns a status other
 * than ATTN2C_OK, which is returned. */
int attn2c_gguf_entries(const attn2c_file *file, int (*visit)(void *context, const attn2c_gguf_entry *entry),
                        void *context, attn2c_message *message);
