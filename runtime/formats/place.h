/* place.h - what a write to a path would write to: through every symbolic link, also one
 * whose target does not exist, to a file's own name, or to a descriptor that this process
 * holds (/dev/stdout, /dev/fd/3). So it shows whether two paths lead to one file. */
#ifndef ATTN2C_PLACE_H
#define ATTN2C_PLACE_H

#include "base/attn2c.h"

#define ATTN2C_PATH_SIZE 4096

typedef enum {
  ATTN2C_PLACE_NEW,        /* nothing is there yet */
  ATTN2C_PLACE_FILE,       /* a regular file */
  ATTN2C_PLACE_DEVICE,     /* a character device or a pipe: what is written there replaces nothing */
  ATTN2C_PLACE_DESCRIPTOR, /* whatever this process holds open under that number */
  ATTN2C_PLACE_OTHER       /* a folder and what else cannot be written */
} attn2c_place_kind;

typedef struct {
  attn2c_place_kind kind;
  int descriptor;              /* of ATTN2C_PLACE_DESCRIPTOR, else -1 */
  int error;                   /* errno, where the path leads nowhere; kind is then ATTN2C_PLACE_OTHER */
  char path[ATTN2C_PATH_SIZE]; /* without links; of a descriptor, as it was given */
  uint64_t device, number;     /* of the file that exists: its file system and inode */
  unsigned permissions;        /* of a regular file */
  int character;               /* the file, or the descriptor's, is a character device */
} attn2c_place;

/* Follows `path`; what is wrong with it is in place->error. */
void attn2c_place_find(const char *path, attn2c_place *place);
/* The place of a descriptor, as a path to it would find it. */
void attn2c_place_descriptor(int descriptor, attn2c_place *place);
/* 1 where both are one file, one stream, or one name at which nothing is yet. Two names of one device do
 * not count: writing to /dev/null twice overwrites nothing. */
int attn2c_place_same(const attn2c_place *a, const attn2c_place *b);

#endif
