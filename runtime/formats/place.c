/* place.c - follows symbolic links one by one. realpath cannot do this: it fails on a link whose target is
 * missing. It also follows /proc/self/fd/1 to its file, but that must be written through the descriptor,
 * which has the stream's position. */
#include "formats/place.h"
#include "system/system.h"

#include <errno.h>

_Static_assert(PATH_MAX <= ATTN2C_PATH_SIZE, "realpath writes up to PATH_MAX bytes");

enum { MOST_LINKS = 40 }; /* Linux's own limit */

static void fail(attn2c_place *place, int error) {
  place->kind = ATTN2C_PLACE_OTHER;
  place->error = error;
}

static void describe(attn2c_place *place, const attn2c_about *about) {
  place->device = about->device;
  place->number = about->number;
  place->permissions = about->permissions;
  place->character = about->kind == ATTN2C_CHARACTER;
}

void attn2c_place_descriptor(int descriptor, attn2c_place *place) {
  attn2c_about about;
  *place = (attn2c_place){.kind = ATTN2C_PLACE_DESCRIPTOR, .descriptor = descriptor};
  snprintf(place->path, sizeof place->path, "/dev/fd/%d", descriptor);
  if (attn2c_system_about_open(descriptor, &about) != 0)
    fail(place, errno);
  else
    describe(place, &about);
}

/* Returns the descriptor that `name` in `folder` of /proc is for this process, or -1. */
static int descriptor_of(const char *folder, const char *name) {
  char of_process[64], of_thread[64];
  char *end;
  const int length = snprintf(of_process, sizeof of_process, "/proc/%ld/", (long)getpid());
  if (strncmp(folder, of_process, (size_t)length) != 0) return -1;
  snprintf(of_thread, sizeof of_thread, "task/%ld/fd", (long)getpid()); /* the first thread's */
  if (strcmp(folder + length, "fd") != 0 && strcmp(folder + length, of_thread) != 0) return -1;
  if (*name < '0' || *name > '9') return -1;
  errno = 0;
  const long number = strtol(name, &end, 10);
  return *end == '\0' && errno == 0 && number <= INT_MAX ? (int)number : -1;
}

/* Divides a path into the folder, without links, and the last name; returns 0, or errno. */
static int divide(const char *path, char folder[ATTN2C_PATH_SIZE], const char **name) {
  char before[ATTN2C_PATH_SIZE];
  const char *slash = attn2c_system_slash(path);
  *name = slash ? slash + 1 : path;
  if (strlen(path) >= sizeof before) return ENAMETOOLONG;
  if (**name == '\0') return *path == '\0' ? ENOENT : EISDIR;
  snprintf(before, sizeof before, "%.*s",
           slash == NULL   ? 1
           : slash == path ? 1
                           : (int)(slash - path),
           slash == NULL ? "." : path);
  return attn2c_system_real_path(before, folder) == NULL ? errno : 0;
}

/* Writes folder/name to `path`; returns 0, or errno. */
static int join(const char *folder, const char *name, char path[ATTN2C_PATH_SIZE]) {
  char made[2 * ATTN2C_PATH_SIZE + 2];
  if (*name == '/')
    snprintf(made, sizeof made, "%s", name);
  else
    snprintf(made, sizeof made, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
  if (strlen(made) >= ATTN2C_PATH_SIZE) return ENAMETOOLONG;
  memcpy(path, made, strlen(made) + 1);
  return 0;
}

/* Follows one link. Returns 1 if place->path is now another path, 0 if it is the end, -1 if place->error is
 * set. */
static int follow(attn2c_place *place) {
  char folder[ATTN2C_PATH_SIZE], link[ATTN2C_PATH_SIZE];
  const char *name;
  attn2c_about about;
  int error = divide(place->path, folder, &name);
  if (error == 0) {
    const int descriptor = descriptor_of(folder, name);
    if (descriptor >= 0) {
      attn2c_place_descriptor(descriptor, place);
      return place->error ? -1 : 0;
    }
    char copy[ATTN2C_PATH_SIZE];
    snprintf(copy, sizeof copy, "%s", name);
    error = join(folder, copy, place->path);
  }
  if (error != 0) {
    fail(place, error);
    return -1;
  }
  if (attn2c_system_about(place->path, 1, &about) != 0) {
    if (errno != ENOENT) return fail(place, errno), -1;
    place->kind = ATTN2C_PLACE_NEW;
    return 0;
  }
  if (about.kind == ATTN2C_LINK) {
    const int64_t length = attn2c_system_read_link(place->path, link, sizeof link - 1);
    if (length < 0) return fail(place, errno), -1;
    link[length] = '\0';
    /* The path of another process's /proc/N/fd/1 does not name its target; the kernel follows it. */
    if (strncmp(folder, "/proc/", 6) != 0) {
      error = join(folder, link, place->path);
      if (error != 0) return fail(place, error), -1;
      return 1;
    }
    if (attn2c_system_about(place->path, 0, &about) != 0) return fail(place, errno), -1;
    describe(place, &about);
    place->kind = about.kind == ATTN2C_FOLDER ? ATTN2C_PLACE_OTHER : ATTN2C_PLACE_DEVICE;
    return 0;
  }
  describe(place, &about);
  const int is_stream = about.kind == ATTN2C_CHARACTER || about.kind == ATTN2C_PIPE;
  place->kind = about.kind == ATTN2C_REGULAR ? ATTN2C_PLACE_FILE
                : is_stream                  ? ATTN2C_PLACE_DEVICE
                                             : ATTN2C_PLACE_OTHER;
  if (about.kind == ATTN2C_FOLDER) place->error = EISDIR;
  return 0;
}

void attn2c_place_find(const char *path, attn2c_place *place) {
  const int stream = attn2c_system_stream(path);
  *place = (attn2c_place){.descriptor = -1};
  if (stream >= 0) {
    attn2c_place_descriptor(stream, place);
    return;
  }
  if (strlen(path) >= sizeof place->path) {
    fail(place, ENAMETOOLONG);
    return;
  }
  memcpy(place->path, path, strlen(path) + 1);
  for (int links = 0; links <= MOST_LINKS; links++)
    if (follow(place) != 1) return;
  fail(place, ELOOP);
}

int attn2c_place_same(const attn2c_place *a, const attn2c_place *b) {
  if (a->error || b->error) return 0;
  if (a->kind == ATTN2C_PLACE_NEW || b->kind == ATTN2C_PLACE_NEW)
    return a->kind == b->kind && strcmp(a->path, b->path) == 0;
  if (a->kind == ATTN2C_PLACE_DESCRIPTOR && b->kind == ATTN2C_PLACE_DESCRIPTOR &&
      a->descriptor == b->descriptor)
    return 1;
  return a->device == b->device && a->number == b->number && !a->character;
}

int attn2c_place_is_at(const attn2c_place *place, const char *path) {
  attn2c_place other;
  if (path == NULL) return 0;
  attn2c_place_find(path, &other);
  return attn2c_place_same(place, &other);
}
