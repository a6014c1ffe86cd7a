/* scratch.c - a temporary folder for tests. It uses stdio, which the faults of faults.h do
 * not reach. */
#define _DEFAULT_SOURCE
#include "scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[512];

static void require(int condition, const char *what) {
  if (condition) return;
  perror(what);
  exit(70);
}

void scratch_open(void) {
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/attn2c-test-XXXXXX", parent && *parent ? parent : "/tmp");
  require(mkdtemp(folder) != NULL, folder);
}

/* The next entry of the folder that is not itself or its parent. */
static struct dirent *next_entry(DIR *directory) {
  struct dirent *entry;
  do entry = readdir(directory);
  while (entry && (entry->d_name[0] == '.' && (!entry->d_name[1] || entry->d_name[1] == '.')));
  return entry;
}

void scratch_close(void) {
  DIR *directory = opendir(folder);
  require(directory != NULL, folder);
  for (struct dirent *entry; (entry = next_entry(directory));) unlinkat(dirfd(directory), entry->d_name, 0);
  closedir(directory);
  rmdir(folder);
}

const char *scratch_path(const char *name) {
  static char paths[4][1024];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
  return paths[turn];
}

void scratch_put(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  require(file != NULL, path);
  require(fwrite(bytes, 1, size, file) == size, path);
  require(fclose(file) == 0, path);
}

size_t scratch_get(const char *path, void *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  require(file != NULL, path);
  size_t size = fread(bytes, 1, room, file);
  fclose(file);
  return size;
}

int scratch_count(void) {
  DIR *directory = opendir(folder);
  require(directory != NULL, folder);
  int count = 0;
  while (next_entry(directory)) count++;
  closedir(directory);
  return count;
}
