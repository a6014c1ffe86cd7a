/* source.c - lists and reads the files of pictures. */
#include "program/picture/source.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/file.h"
#include "picture/prepare.h"

/* The most bytes of a file. */
#define MOST_BYTES ((size_t)1 << 30)

static int no_memory(attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "--image: no memory for the list of pictures");
}

static int add(attn2c_picture_source *source, const char *folder, const char *name, attn2c_message *message) {
  char **grown =
      source->count < INT_MAX / 2 ? attn2c_grown(source->paths, (size_t)source->count, sizeof *grown) : NULL;
  if (!grown) return no_memory(message);
  source->paths = grown;
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);
  if (!path) return no_memory(message);
  const int has_slash = *folder == '\0' || folder[strlen(folder) - 1] == '/';
  snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
  source->paths[source->count++] = path;
  return ATTN2C_OK;
}

static int is_picture(const char *name) {
  static const char *const endings[] = {".png", ".jpg", ".jpeg"};
  const size_t length = strlen(name);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const size_t ending = strlen(endings[i]);
    if (*name != '.' && length > ending && strcasecmp(name + length - ending, endings[i]) == 0) return 1;
  }
  return 0;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_folder(attn2c_picture_source *source, const char *path, attn2c_message *message) {
  const int first = source->count;
  int status = ATTN2C_OK;
  DIR *folder = opendir(path);
  if (!folder) return attn2c_fail(message, ATTN2C_IO, "--image %s: %s", path, strerror(errno));
  for (struct dirent *entry; status == ATTN2C_OK && (entry = readdir(folder));)
    if (is_picture(entry->d_name)) status = add(source, path, entry->d_name, message);
  closedir(folder);
  if (status != ATTN2C_OK) return status;
  if (source->count == first)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "--image %s: no file of this folder ends in .png, .jpg or .jpeg", path);
  qsort(source->paths + first, (size_t)(source->count - first), sizeof *source->paths, by_bytes);
  source->has_folder = 1;
  return ATTN2C_OK;
}

int attn2c_picture_source_open(const attn2c_arguments *arguments, attn2c_picture_source *source,
                               attn2c_message *message) {
  int status = ATTN2C_OK, inputs = 0;
  *source = (attn2c_picture_source){.paths = NULL};
  for (int i = 0; i < arguments->image_count && status == ATTN2C_OK; i++) {
    const char *word = arguments->images[i];
    struct stat facts;
    const int is_input = strcmp(word, "-") == 0;
    if (is_input && inputs++)
      status = attn2c_fail(message, ATTN2C_USAGE,
                           "--image -: given twice, but the standard input has one picture");
    else if (!is_input && stat(word, &facts) != 0)
      status = attn2c_fail(message, ATTN2C_IO, "--image %s: %s", word, strerror(errno));
    else
      status = !is_input && S_ISDIR(facts.st_mode) ? add_folder(source, word, message)
                                                   : add(source, "", word, message);
  }
  return status;
}

void attn2c_picture_source_close(attn2c_picture_source *source) {
  for (int i = 0; i < source->count; i++) free(source->paths[i]);
  free(source->paths);
  *source = (attn2c_picture_source){.paths = NULL};
}

const char *attn2c_picture_name(const attn2c_picture_source *source, int number) {
  return strcmp(source->paths[number], "-") == 0 ? "standard input" : source->paths[number];
}

/* Reads the standard input to its end. */
static int read_input(uint8_t **bytes, size_t *size, attn2c_message *message) {
  size_t capacity = 0;
  *bytes = NULL, *size = 0;
  for (;;) {
    if (*size == capacity) {
      capacity = capacity ? 2 * capacity : (size_t)1 << 16;
      uint8_t *moved = capacity <= 2 * MOST_BYTES ? realloc(*bytes, capacity) : NULL;
      if (!moved)
        return attn2c_fail(message, ATTN2C_MEMORY,
                           "standard input: no memory for a picture of more than %zu bytes", *size);
      *bytes = moved;
    }
    const ssize_t got = read(STDIN_FILENO, *bytes + *size, capacity - *size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return attn2c_fail(message, ATTN2C_IO, "standard input: %s", strerror(errno));
    if (got == 0) return ATTN2C_OK;
    *size += (size_t)got;
  }
}

static int read_file(const char *path, uint8_t **bytes, size_t *size, attn2c_message *message) {
  attn2c_file file;
  *bytes = NULL, *size = 0;
  int status = attn2c_file_open(path, &file, message);
  if (status != ATTN2C_OK) return status;
  if ((uint64_t)file.size > MOST_BYTES) {
    status =
        attn2c_fail(message, ATTN2C_FORMAT, "%s: has %lld bytes, but at most %zu are allowed for a picture",
                    path, (long long)file.size, MOST_BYTES);
  } else if (!(*bytes = malloc((size_t)file.size + 1))) {
    status =
        attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for its %lld bytes", path, (long long)file.size);
  } else {
    *size = (size_t)file.size;
    status = attn2c_file_read(&file, 0, *bytes, *size, message);
  }
  attn2c_file_close(&file);
  return status;
}

int attn2c_picture_source_read(const attn2c_picture_source *source, int number,
                               const attn2c_picture_facts *facts, attn2c_picture *picture,
                               attn2c_message *message) {
  const char *path = source->paths[number];
  char fault[ATTN2C_PICTURE_FAULT];
  uint8_t *bytes;
  size_t size;
  *picture = (attn2c_picture){.pixels = NULL};
  int status =
      strcmp(path, "-") == 0 ? read_input(&bytes, &size, message) : read_file(path, &bytes, &size, message);
  if (status == ATTN2C_OK) {
    status = attn2c_picture_decode(bytes, size, facts, picture, fault);
    if (status != ATTN2C_OK) attn2c_say(message, "%s: %s", attn2c_picture_name(source, number), fault);
  }
  free(bytes);
  return status;
}

int attn2c_picture_source_image(const attn2c_picture_source *source, int number,
                                const attn2c_picture_facts *facts, float *image, attn2c_message *message) {
  attn2c_picture picture;
  int status = attn2c_picture_source_read(source, number, facts, &picture, message);
  if (status != ATTN2C_OK) return status;
  const char *name = attn2c_picture_name(source, number);
  status = attn2c_picture_prepare(facts, picture.pixels, picture.width, picture.height, image);
  if (status == ATTN2C_USAGE)
    status =
        attn2c_fail(message, ATTN2C_FORMAT, "%s: %lld x %lld pixels cannot become the model's %d x %d", name,
                    (long long)picture.width, (long long)picture.height, facts->width, facts->height);
  else if (status != ATTN2C_OK)
    attn2c_say(message, "%s: no memory to resize it", name);
  attn2c_picture_free(&picture);
  return status;
}
