/* command.c - the pictures of `run --image` and `generate --image`. */
#include <errno.h>

#include "picture/picture.h"
#include "picture/prepare.h"
#include "program/commands.h"
#include "program/media/command.h"
#include "program/system.h"

/* The most bytes of a file. */
#define MOST_BYTES ((size_t)1 << 30)

static const char *const endings[] = {".png", ".jpg", ".jpeg", NULL};
static const attn2c_path_kind kind = {"--image", "picture", "pictures", endings, ".png, .jpg or .jpeg"};

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

static int make_image(const attn2c_picture_facts *facts, const uint8_t *bytes, size_t size, float *image,
                      int32_t shape[2], char fault[ATTN2C_PICTURE_FAULT]) {
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

/* Reads a picture, and writes the input that it becomes. */
static int read_image(const attn2c_paths *paths, int number, const attn2c_picture_facts *facts, float *image,
                      int32_t shape[2], attn2c_message *message) {
  const char *path = paths->paths[number];
  char fault[ATTN2C_PICTURE_FAULT];
  ATTN2C_OWN uint8_t *bytes = NULL;
  size_t size;
  ATTN2C_TRY(strcmp(path, "-") == 0 ? read_input(&bytes, &size, message)
                                    : read_file(path, &bytes, &size, message));
  const int status = make_image(facts, bytes, size, image, shape, fault);
  if (status == ATTN2C_OK) return status;
  return attn2c_fail(message, status, "%s: %s", attn2c_path_name(paths, number), fault);
}

/* Pictures, one after the other. */
struct attn2c_pictures {
  const attn2c_picture_facts *facts;
  attn2c_paths paths;
  int next;
  float *image; /* of the last one, unless a caller has memory for it */
};

static int read_next(attn2c_pictures *pictures, float *image, int32_t shape[2], const char **name,
                     attn2c_message *message) {
  const int number = pictures->next;
  *name = NULL;
  if (number >= pictures->paths.count) return ATTN2C_OK;
  pictures->next++;
  *name = attn2c_path_name(&pictures->paths, number);
  return read_image(&pictures->paths, number, pictures->facts, image, shape, message);
}

static int next_item(attn2c_media *media, attn2c_context *context, float *input, attn2c_item *item,
                     attn2c_message *message) {
  attn2c_pictures *pictures = media->from;
  (void)context;
  pictures->paths = media->paths;
  *item = (attn2c_item){.number = pictures->next};
  return read_next(pictures, input, item->shape, &item->name, message);
}

static int run(const attn2c_descriptor *model, const attn2c_picture_facts *facts,
               const attn2c_arguments *arguments, FILE *out, FILE *notes, attn2c_message *message) {
  attn2c_pictures pictures = {.facts = facts};
  attn2c_media media = {.kind = &kind,
                        .words = arguments->images,
                        .word_count = arguments->image_count,
                        .member = "image",
                        .facts = facts->media,
                        .from = &pictures,
                        .next = next_item};
  return attn2c_media_run(model, &media, arguments, out, notes, message);
}

static void close_pictures(attn2c_pictures *pictures) {
  if (!pictures) return;
  attn2c_paths_close(&pictures->paths);
  attn2c_free(pictures->image);
  free(pictures);
}

static int open_pictures(const attn2c_picture_facts *facts, const attn2c_arguments *arguments,
                         attn2c_pictures **made, attn2c_message *message) {
  attn2c_pictures *pictures = *made = calloc(1, sizeof *pictures);
  const size_t bytes = ATTN2C_PLANES * (size_t)facts->height * (size_t)facts->width * sizeof(float);
  if (pictures) pictures->image = attn2c_allocate(bytes);
  if (!pictures || !pictures->image)
    return attn2c_fail(message, ATTN2C_MEMORY, "generate: no memory for a picture");
  pictures->facts = facts;
  return attn2c_paths_open(&kind, arguments->images, arguments->image_count, &pictures->paths, message);
}

static int reads(const attn2c_arguments *arguments, const attn2c_place *place) {
  return attn2c_paths_read(&kind, arguments->images, arguments->image_count, place);
}

static int are_several(const attn2c_pictures *pictures) { return attn2c_paths_are_several(&pictures->paths); }

static int next_picture(attn2c_pictures *pictures, const float **image, const char **name,
                        attn2c_message *message) {
  int32_t shape[2]; /* encoders read images of one size */
  const int status = read_next(pictures, pictures->image, shape, name, message);
  *image = *name ? pictures->image : NULL;
  return status;
}

static void write_name(const char *name, FILE *out) {
  attn2c_safe_write(name, strlen(name), out);
  fputc('\t', out);
}

const attn2c_picture_commands attn2c_picture_program = {.run = run,
                                                        .open = open_pictures,
                                                        .reads = reads,
                                                        .are_several = are_several,
                                                        .next = next_picture,
                                                        .make = make_image,
                                                        .close = close_pictures,
                                                        .write_name = write_name,
                                                        .json_name = attn2c_json_text};
