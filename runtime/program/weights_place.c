/* weights_place.c - tells if an output file belongs to a checkpoint. */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "program/weights_place.h"

#include <string.h>
#include <sys/stat.h>

/* Returns the length of the path's folder; 0 for the working directory. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

/* True for an index, and for a part of a GGUF model (-00001-of-00003.gguf): other files next to it belong to
 * the checkpoint. */
static int is_of_several(const char *path) {
  const size_t length = strlen(path);
  if (length > 5 && strcmp(path + length - 5, ".json") == 0) return 1;
  return length > 20 && strcmp(path + length - 5, ".gguf") == 0 &&
         strncmp(path + length - 14, "-of-", 4) == 0;
}

/* Returns 1 if both are the same folder. */
static int same_folder(const char *a, const char *b) {
  struct stat of_a, of_b;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISDIR(of_a.st_mode) && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

static void folder_of(const char *path, char *folder) {
  const size_t length = folder_length(path);
  memcpy(folder, path, length);
  folder[length] = '\0';
  if (length == 0) strcpy(folder, ".");
}

int attn2c_place_has_weights(const attn2c_place *place, const char *weights) {
  attn2c_place of_weights;
  char folder[ATTN2C_PATH_SIZE], own[ATTN2C_PATH_SIZE];
  if (weights == NULL) return 0;
  attn2c_place_find(weights, &of_weights);
  if (attn2c_place_same(place, &of_weights)) return 1;
  if (place->kind != ATTN2C_PLACE_FILE || strlen(weights) >= sizeof own) return 0;
  folder_of(place->path, folder);
  if (is_of_several(weights))
    folder_of(weights, own);
  else
    strcpy(own, weights);
  return same_folder(own, folder);
}
