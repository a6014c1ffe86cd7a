/* weights_place.c - tells if an output file belongs to a checkpoint. */
#define _POSIX_C_SOURCE 200809L /* fstatat */
#include "program/weights_place.h"

#include <dirent.h>
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

/* Returns 1 if a folder has the file, under its own name or as a link to it. */
static int folder_has(const char *folder, const attn2c_place *place) {
  DIR *opened = opendir(folder);
  int found = 0;
  for (struct dirent *each; opened && !found && (each = readdir(opened));) {
    struct stat about;
    found = fstatat(dirfd(opened), each->d_name, &about, 0) == 0 && about.st_dev == place->device &&
            about.st_ino == place->number;
  }
  if (opened) closedir(opened);
  return found;
}

static void folder_of(const char *path, char *folder) {
  const size_t length = folder_length(path);
  memcpy(folder, path, length);
  folder[length] = '\0';
  if (length == 0) strcpy(folder, ".");
}

int attn2c_place_has_weights(const attn2c_place *place, const char *weights) {
  attn2c_place of_weights;
  char own[ATTN2C_PATH_SIZE];
  if (weights == NULL) return 0;
  attn2c_place_find(weights, &of_weights);
  if (attn2c_place_same(place, &of_weights)) return 1;
  if (place->kind != ATTN2C_PLACE_FILE || strlen(weights) >= sizeof own) return 0;
  if (is_of_several(weights))
    folder_of(weights, own);
  else
    strcpy(own, weights);
  return folder_has(own, place);
}
