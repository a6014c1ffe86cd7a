/* paths.c - lists the files that an option names. */
#include "program/media/command.h"

#include "program/system.h"

#include <errno.h>
#include <strings.h>

static int no_memory(const attn2c_paths *paths, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for the list of %s", paths->kind->option,
                     paths->kind->many);
}

static int add(attn2c_paths *paths, const char *folder, const char *name, attn2c_message *message) {
  if (paths->count >= INT_MAX / 2 || ATTN2C_MORE(paths->paths, paths->count) != ATTN2C_OK)
    return no_memory(paths, message);
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);
  if (!path) return no_memory(paths, message);
  const char *slash = attn2c_system_slash(folder);
  const int has_slash = *folder == '\0' || (slash && slash[1] == '\0');
  snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
  paths->paths[paths->count++] = path;
  return ATTN2C_OK;
}

static int has_ending(const char *name, const char *const *endings) {
  const size_t length = strlen(name);
  for (; *endings; endings++) {
    const size_t ending = strlen(*endings);
    if (*name != '.' && length > ending && strcasecmp(name + length - ending, *endings) == 0) return 1;
  }
  return 0;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct {
  attn2c_paths *paths;
  const char *path;
  attn2c_message *message;
} folder_list;

static int add_named(void *context, const char *name) {
  const folder_list *list = context;
  if (!has_ending(name, list->paths->kind->endings)) return ATTN2C_OK;
  return add(list->paths, list->path, name, list->message);
}

static int add_folder(attn2c_paths *paths, const char *path, attn2c_message *message) {
  const int first = paths->count;
  folder_list list = {paths, path, message};
  const int status = attn2c_program_names(path, add_named, &list);
  if (status < 0)
    return attn2c_fail(message, ATTN2C_IO, "%s %s: %s", paths->kind->option, path, strerror(errno));
  if (status != ATTN2C_OK) return status;
  if (paths->count == first)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s %s: no file of this folder ends in %s",
                       paths->kind->option, path, paths->kind->endings_text);
  qsort(paths->paths + first, (size_t)(paths->count - first), sizeof *paths->paths, by_bytes);
  paths->has_folder = 1;
  return ATTN2C_OK;
}

int attn2c_paths_open(const attn2c_path_kind *kind, const char *const *words, int count, attn2c_paths *paths,
                      attn2c_message *message) {
  int status = ATTN2C_OK, inputs = 0;
  *paths = (attn2c_paths){.kind = kind};
  for (int i = 0; i < count && status == ATTN2C_OK; i++) {
    const char *word = words[i];
    attn2c_about facts;
    const int is_input = strcmp(word, "-") == 0;
    if (is_input && inputs++)
      status = attn2c_fail(message, ATTN2C_USAGE, "%s -: given twice, but the standard input has one %s",
                           kind->option, kind->one);
    else if (!is_input && attn2c_system_about(word, 0, &facts) != 0)
      status = attn2c_fail(message, ATTN2C_IO, "%s %s: %s", kind->option, word, strerror(errno));
    else
      status = !is_input && facts.kind == ATTN2C_FOLDER ? add_folder(paths, word, message)
                                                        : add(paths, "", word, message);
  }
  return status;
}

void attn2c_paths_close(attn2c_paths *paths) {
  for (int i = 0; i < paths->count; i++) free(paths->paths[i]);
  free(paths->paths);
  *paths = (attn2c_paths){.paths = NULL};
}

typedef struct {
  const attn2c_path_kind *kind;
  const char *folder;
  const attn2c_place *place;
} folder_search;

static int is_at(void *context, const char *name) {
  const folder_search *s = context;
  char path[2 * ATTN2C_PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  return has_ending(name, s->kind->endings) && attn2c_place_is_at(s->place, path);
}

int attn2c_paths_read(const attn2c_path_kind *kind, const char *const *words, int count,
                      const attn2c_place *place) {
  const char *slash = attn2c_system_slash(place->path);
  for (int i = 0; i < count; i++) {
    folder_search s = {kind, words[i], place};
    if (attn2c_place_is_at(place, words[i])) return 1;
    if (place->kind == ATTN2C_PLACE_NEW ? is_at(&s, slash ? slash + 1 : place->path)
                                        : attn2c_program_names(words[i], is_at, &s) > 0)
      return 1;
  }
  return 0;
}

int attn2c_paths_are_several(const attn2c_paths *paths) { return paths->count > 1 || paths->has_folder; }

const char *attn2c_path_name(const attn2c_paths *paths, int number) {
  return strcmp(paths->paths[number], "-") == 0 ? "standard input" : paths->paths[number];
}
