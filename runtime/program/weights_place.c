/* weights_place.c - tells if an output file belongs to a checkpoint. */
#include "program/output.h"

#include <dirent.h>
#include <sys/stat.h>

/* Returns the length of the path's folder; 0 for the working directory. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

/* True for an index, and for a part of a GGUF model (-00001-of-00003.gguf): other files belong to it. */
static int is_of_several(const char *path) {
  const size_t length = strlen(path);
  if (length > 5 && strcmp(path + length - 5, ".json") == 0) return 1;
  return length > 20 && strcmp(path + length - 5, ".gguf") == 0 &&
         strncmp(path + length - 14, "-of-", 4) == 0;
}

/* Returns 1 if a folder has the file, under its own name or as a link to it. The name begins with `prefix`.
 */
static int folder_has(const char *folder, const char *prefix, const attn2c_place *place) {
  DIR *opened = opendir(folder);
  int found = 0;
  for (struct dirent *each; opened && !found && (each = readdir(opened));) {
    struct stat about;
    found = strncmp(each->d_name, prefix, strlen(prefix)) == 0 &&
            fstatat(dirfd(opened), each->d_name, &about, 0) == 0 && about.st_dev == place->device &&
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

/* Returns 1 if the file is the packed weights of a rank, WEIGHTS.rank0 and so on. */
static int has_part(const char *weights, const attn2c_place *place) {
  char folder[ATTN2C_PATH_SIZE], prefix[ATTN2C_PATH_SIZE + 8];
  const size_t length = folder_length(weights);
  const char *name = weights + length + (weights[length] == '/' ? 1 : 0);
  if (*name == '\0') return 0;
  folder_of(weights, folder);
  snprintf(prefix, sizeof prefix, "%s.rank", name);
  return folder_has(folder, prefix, place);
}

int attn2c_place_has_weights(const attn2c_place *place, const char *weights) {
  attn2c_place of_weights;
  char own[ATTN2C_PATH_SIZE];
  if (weights == NULL) return 0;
  attn2c_place_find(weights, &of_weights);
  if (attn2c_place_same(place, &of_weights)) return 1;
  if (place->kind != ATTN2C_PLACE_FILE || strlen(weights) >= sizeof own) return 0;
  if (is_of_several(weights)) {
    folder_of(weights, own);
    return folder_has(own, "", place);
  }
  strcpy(own, weights);
  return folder_has(own, "", place) || has_part(weights, place);
}
