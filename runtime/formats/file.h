/* file.h - reads exactly the bytes that are asked for, from a file or from memory, or fails;
 * and writes a file so that its name has either all of the new bytes or its old contents. */
#ifndef ATTN2C_FILE_H
#define ATTN2C_FILE_H

#include "base/attn2c.h"

typedef struct attn2c_file {
  const char *name;            /* for messages; the caller's */
  int descriptor;              /* -1: in memory */
  const unsigned char *memory; /* NULL: a file */
  int64_t size;                /* bytes, when it was opened */
} attn2c_file;

/* Opens a regular file for reading; `path` must stay. ATTN2C_OK or _IO. */
int attn2c_file_open(const char *path, attn2c_file *file, attn2c_message *message);
/* The same for bytes in memory, which must stay. */
attn2c_file attn2c_file_memory(const void *bytes, size_t size, const char *name);
/* bytes [offset, offset + bytes) into `to`. Signals and short reads are met by reading on. ATTN2C_OK, _IO, or
 * _FORMAT where the file ends before (it may have been cut since it was opened, which is why no checkpoint is
 * mapped). */
int attn2c_file_read(const attn2c_file *file, int64_t offset, void *to, size_t bytes,
                     attn2c_message *message);
void attn2c_file_close(attn2c_file *file);

/* All bytes of a file, read-only, as they are read from it when they are used; one copy for all who map it.
 * They stay when the file is closed; whoever cuts the file ends those who use what was behind the cut.
 * ATTN2C_OK, _IO or _MEMORY. */
int attn2c_file_map(const attn2c_file *file, const void **bytes, attn2c_message *message);
/* bytes may be NULL. */
void attn2c_file_unmap(const void *bytes, int64_t size);

/* Writes the parts, one behind the other, as the file `path`: beside it, then made durable, then renamed over
 * it, with the permissions of the file that it replaces. On failure nothing is left and `path` is as it was.
 * What is not a regular file (a device, a pipe, /dev/stdout even where that is one) is written as a stream,
 * behind what stands there. ATTN2C_OK or _IO. */
typedef struct attn2c_file_part {
  const void *bytes;
  size_t size;
} attn2c_file_part;
int attn2c_file_write(const char *path, const attn2c_file_part *parts, int count, attn2c_message *message);

#endif
