/* file.h - reads exact byte ranges from a file or memory, maps files, and writes files atomically. A read
 * fails if a byte is missing. After a write the name has either all new bytes or its old contents. */
#pragma once

#include "base/attn2c.h"

typedef struct attn2c_file {
  const char *name;            /* for messages; owned by the caller */
  int descriptor;              /* -1: in memory */
  const unsigned char *memory; /* NULL: a file */
  int64_t size;                /* bytes, when the file was opened */
} attn2c_file;

/* Says that there is no memory for a file. Returns ATTN2C_MEMORY. */
static inline int attn2c_file_no_memory(const char *path, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: out of memory", path);
}

/* Opens a regular file for reading; `path` must stay valid. Returns ATTN2C_OK or _IO. */
int attn2c_file_open(const char *path, attn2c_file *file, attn2c_message *message);
/* Returns a file of bytes in memory, which must stay valid. */
attn2c_file attn2c_file_memory(const void *bytes, size_t size, const char *name);
/* Reads bytes [offset, offset + bytes) into `to`. After a signal or a short read it reads on. Returns
 * ATTN2C_OK, _IO, or _FORMAT if the file ends before (it may have been cut since it was opened, which is why
 * no checkpoint is mapped). */
int attn2c_file_read(const attn2c_file *file, int64_t offset, void *to, size_t bytes,
                     attn2c_message *message);
void attn2c_file_close(attn2c_file *file);

/* Maps all bytes of a file read-only. They are read when they are used, and all processes that map the file
 * share one copy. The mapping stays valid when the file is closed. If the file is cut, a process that uses
 * bytes after the cut is ended. Returns ATTN2C_OK, _IO or _MEMORY. */
int attn2c_file_map(const attn2c_file *file, const void **bytes, attn2c_message *message);
/* Unmaps the bytes, which may be NULL. */
void attn2c_file_unmap(const void *bytes, int64_t size);

/* Writes the parts, one after the other, as the file `path`. It writes a temporary file in the same folder,
 * syncs it and renames it over `path`, with the permissions of the file that it replaces. On failure the
 * temporary file is removed and `path` is unchanged. Anything but a regular file (a device, a pipe,
 * /dev/stdout even if that is a regular file) is written as a stream, after its present contents. Returns
 * ATTN2C_OK or _IO. */
typedef struct attn2c_file_part {
  const void *bytes;
  size_t size;
} attn2c_file_part;
int attn2c_file_write(const char *path, const attn2c_file_part *parts, int count, attn2c_message *message);
/* Finds early if the folder of `path` takes a file, and leaves none. Returns ATTN2C_OK or _IO. */
int attn2c_file_check(const char *path, attn2c_message *message);
