/* new_file.h - writes a file piece by piece, at any places. It gets its name when it is complete, in place of
 * an older file; a process that is killed before leaves nothing. */
#pragma once

#include "formats/file.h"
#include "formats/place.h"

typedef struct attn2c_new_file {
  attn2c_file file; /* what is written so far, for attn2c_file_read */
  attn2c_place place;
  char temporary[ATTN2C_PATH_SIZE]; /* its name until it is complete; "": none */
  int64_t zeroed;                   /* bytes from the beginning that were written, with zeros at first */
} attn2c_new_file;

/* Begins a file of `size` bytes, all of which are zero; 0: it grows. `path` must stay valid. place.kind tells
 * if that is a file at all: for streams nothing is begun, and ATTN2C_USAGE is returned without a line.
 * Otherwise returns ATTN2C_OK or _IO. */
int attn2c_new_file_begin(const char *path, int64_t size, attn2c_new_file *file, attn2c_message *message);
/* Writes bytes at a place; what lies beyond `size` makes the file longer. */
int attn2c_new_file_put(attn2c_new_file *file, int64_t offset, const void *bytes, size_t size,
                        attn2c_message *message);
/* If `status` is ATTN2C_OK, syncs the file and gives it its name, with the permissions of the file that it
 * replaces. Otherwise drops it. Returns `status`, or ATTN2C_IO. */
int attn2c_new_file_end(attn2c_new_file *file, int status, attn2c_message *message);

/* Opens a stream at its current position: nothing before it changes, and no file is created. place: as
 * attn2c_new_file_begin found it. Returns ATTN2C_OK or _IO. */
int attn2c_stream_open(const char *path, const attn2c_place *place, int *descriptor, attn2c_message *message);
/* Writes all bytes to a descriptor, after signals and short transfers too; returns 0, or -1 with errno. */
int attn2c_write_whole(int descriptor, const void *bytes, size_t size);
/* Says that a file cannot be written; returns ATTN2C_IO. */
int attn2c_say_unwritten(const char *path, int error, attn2c_message *message);
/* Closes a file; returns 0, or -1 with errno. */
int attn2c_close_checked(int descriptor);
