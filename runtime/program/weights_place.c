/* weights_place.c - tells if an output file belongs to a checkpoint. */
#include "program/output.h"
#include "program/system.h"

/* Returns the length of the path's folder; 0 for the working directory. */
static size_t folder_length(const char *path) {
  const char *slash = attn2c_system_slash(path);
  return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

/* True for an index, and for a part of a GGUF model (-00001-of-00003.gguf): other files belong to it. */
static int is_of_several(const char *path) {
  const size_t length = strlen(path);
  if (length > 5 && strcmp(path + length - 5, ".json") == 0) return 1;
  return length > 20 && strcmp(path + length - 5, ".gguf") == 0 &&
         strncmp(path + length - 14, "-of-", 4) == 0;
}

typedef struct {
  const char *folder, *prefix;
  const attn2c_place *place;
} search;

static int is_found(void *context, const char *name) {
  const search *s = context;
  char path[2 * ATTN2C_PATH_SIZE];
  attn2c_about about;
  if (strncmp(name, s->prefix, strlen(s->prefix)) != 0) return 0;
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  return attn2c_system_about(path, 0, &about) == 0 && about.device == s->place->device &&
         about.number == s->place->number;
}

/* Returns 1 if a folder has the file, under its own name or as a link to it. The name begins with `prefix`.
 */
static int folder_has(const char *folder, const char *prefix, const attn2c_place *place) {
  search s = {folder, prefix, place};
  return attn2c_program_names(folder, is_found, &s) > 0;
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
  const char *name = weights + length + (weights[length] == '/' || weights[length] == '\\' ? 1 : 0);
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
