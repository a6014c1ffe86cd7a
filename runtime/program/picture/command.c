/* command.c - the pictures of `run --image` and `generate --image`. */
#include "program/commands.h"

#include "program/picture/source.h"

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
  return attn2c_picture_source_image(&pictures->paths, number, pictures->facts, image, shape, message);
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
  attn2c_media media = {.kind = &attn2c_picture_paths,
                        .words = arguments->images,
                        .word_count = arguments->image_count,
                        .member = "image",
                        .input = facts->input,
                        .has_shapes = facts->patch > 0,
                        .shape_input = facts->shape_input,
                        .length_input = facts->length_input,
                        .answer = facts->answer,
                        .output = facts->output,
                        .has_similarity = facts->has_similarity,
                        .similarity = facts->similarity,
                        .labels = facts->labels,
                        .label_count = facts->label_count,
                        .function = facts->function,
                        .calls = facts->calls,
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
  return attn2c_paths_open(&attn2c_picture_paths, arguments->images, arguments->image_count, &pictures->paths,
                           message);
}

static int reads(const attn2c_arguments *arguments, const attn2c_place *place) {
  return attn2c_paths_read(&attn2c_picture_paths, arguments->images, arguments->image_count, place);
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
                                                        .make = attn2c_picture_source_bytes,
                                                        .close = close_pictures,
                                                        .write_name = write_name,
                                                        .json_name = attn2c_json_text};
