/* place.h - finds the file, device or descriptor that a write to a path would reach. It follows every
 * symbolic link, also one whose target does not exist, to a file's own name, or to a descriptor of this
 * process (/dev/stdout, /dev/fd/3). So it shows whether two paths lead to one file. */
#pragma once

#include "base/attn2c.h"

#define ATTN2C_PATH_SIZE 4096

typedef enum {
  ATTN2C_PLACE_NEW,        /* nothing is there yet */
  ATTN2C_PLACE_FILE,       /* a regular file */
  ATTN2C_PLACE_DEVICE,     /* a character device or a pipe: a write replaces nothing */
  ATTN2C_PLACE_DESCRIPTOR, /* the file that this process has open under that number */
  ATTN2C_PLACE_OTHER       /* a folder, or another kind that cannot be written */
} attn2c_place_kind;

typedef struct {
  attn2c_place_kind kind;
  int descriptor;              /* for ATTN2C_PLACE_DESCRIPTOR, else -1 */
  int error;                   /* errno if the path leads nowhere; kind is then ATTN2C_PLACE_OTHER */
  char path[ATTN2C_PATH_SIZE]; /* without links; for a descriptor as it was given */
  uint64_t device, number;     /* file system and inode of an existing file */
  unsigned permissions;        /* of a regular file */
  int character;               /* 1: the file, or the descriptor's, is a character device */
} attn2c_place;

/* Follows `path`; a failure is in place->error. */
void attn2c_place_find(const char *path, attn2c_place *place);
/* Writes the place of a descriptor, as a path to it would find it. */
void attn2c_place_descriptor(int descriptor, attn2c_place *place);
/* True if both are one file, one stream, or one name that does not exist yet. Two names of one device do not
 * count, since writing to /dev/null twice overwrites nothing. */
int attn2c_place_same(const attn2c_place *a, const attn2c_place *b);
/* True if `path` leads to the place; NULL leads nowhere. */
int attn2c_place_is_at(const attn2c_place *place, const char *path);
