/* paths.h - the files that an option such as --image names: files, a folder's files, the standard input. */
#pragma once

#include "program/arguments.h"

/* The kind of files that an option names. */
typedef struct {
  const char *option;         /* "--image" */
  const char *one, *many;     /* "picture", "pictures" */
  const char *const *endings; /* of a folder's files, ended by NULL */
  const char *endings_text;   /* ".png, .jpg or .jpeg" */
} attn2c_path_kind;

typedef struct attn2c_paths {
  const attn2c_path_kind *kind;
  char **paths; /* "-": the standard input */
  int count;
  int has_folder; /* 1: some of the words is a folder */
} attn2c_paths;

/* Lists the files: all files of a folder that have an ending, in the order of their names' bytes. Returns
 * ATTN2C_OK, _USAGE, _FORMAT for a folder without any, _IO or _MEMORY; the caller closes it in every case. */
int attn2c_paths_open(const attn2c_path_kind *kind, const char *const *words, int count, attn2c_paths *paths,
                      attn2c_message *message);
void attn2c_paths_close(attn2c_paths *paths);

/* True if answers have the names of their files. */
int attn2c_paths_are_several(const attn2c_paths *paths);

/* Returns the name of a file for messages and answers. */
const char *attn2c_path_name(const attn2c_paths *paths, int number);
