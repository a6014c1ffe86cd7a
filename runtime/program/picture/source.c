/* source.c - reads the files of pictures. */
#include "program/picture/source.h"
#include "program/system.h"

#include <errno.h>

#include "picture/prepare.h"

/* The most bytes of a file. */
#define MOST_BYTES ((size_t)1 << 30)

static const char *const endings[] = {".png", ".jpg", ".jpeg", NULL};
const attn2c_path_kind attn2c_picture_paths = {"--image", "picture", "pictures", endings,
                                               ".png, .jpg or .jpeg"};

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
    const int64_t got = attn2c_program_read(STDIN_FILENO, *bytes + *size, capacity - *size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return attn2c_fail(message, ATTN2C_IO, "standard input: %s", strerror(errno));
    if (got == 0) return ATTN2C_OK;
    *size += (size_t)got;
  }
}

static int read_file(const char *path, uint8_t **bytes, size_t *size, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  *bytes = NULL, *size = 0;
  ATTN2C_TRY(attn2c_file_open(path, &file, message));
  if ((uint64_t)file.size > MOST_BYTES)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: has %lld bytes, but at most %zu are allowed for a picture", path,
                       (long long)file.size, MOST_BYTES);
  *size = (size_t)file.size;
  *bytes = malloc(*size + 1);
  if (!*bytes)
    return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for its %lld bytes", path,
                       (long long)file.size);
  return attn2c_file_read(&file, 0, *bytes, *size, message);
}

int attn2c_picture_source_bytes(const attn2c_picture_facts *facts, const uint8_t *bytes, size_t size,
                                float *image, int32_t shape[2], char fault[ATTN2C_PICTURE_FAULT]) {
  attn2c_picture picture = {.pixels = NULL};
  ATTN2C_TRY(attn2c_picture_decode(bytes, size, facts, &picture, fault));
  const long long width = (long long)picture.width, height = (long long)picture.height;
  int status = facts->patch ? attn2c_picture_patches(facts, picture.pixels, width, height, image, shape)
                            : attn2c_picture_prepare(facts, picture.pixels, width, height, image);
  attn2c_picture_free(&picture);
  if (status == ATTN2C_USAGE && facts->patch)
    snprintf(fault, ATTN2C_PICTURE_FAULT, "%lld x %lld pixels cannot become %d patches or fewer", width,
             height, facts->most);
  else if (status == ATTN2C_USAGE)
    snprintf(fault, ATTN2C_PICTURE_FAULT, "%lld x %lld pixels cannot become the model's %d x %d", width,
             height, facts->width, facts->height);
  else if (status != ATTN2C_OK)
    snprintf(fault, ATTN2C_PICTURE_FAULT, "no memory to resize it");
  return status == ATTN2C_USAGE ? ATTN2C_FORMAT : status;
}

int attn2c_picture_source_image(const attn2c_paths *paths, int number, const attn2c_picture_facts *facts,
                                float *image, int32_t shape[2], attn2c_message *message) {
  const char *path = paths->paths[number];
  char fault[ATTN2C_PICTURE_FAULT];
  ATTN2C_OWN uint8_t *bytes = NULL;
  size_t size;
  ATTN2C_TRY(strcmp(path, "-") == 0 ? read_input(&bytes, &size, message)
                                    : read_file(path, &bytes, &size, message));
  const int status = attn2c_picture_source_bytes(facts, bytes, size, image, shape, fault);
  if (status == ATTN2C_OK) return status;
  return attn2c_fail(message, status, "%s: %s", attn2c_path_name(paths, number), fault);
}
