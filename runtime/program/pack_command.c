/* pack_command.c - the command `pack`. Any machine may pack for any target. */
#include "program/commands.h"

#include <errno.h>

#include "base/checksum.h"
#include "base/processor.h"
#include "model/load.h"
#include "model/team.h"
#include "program/inputs.h"
#include "program/output.h"
#include "packing/packed_header.h"
#include "system/system.h"

static int verify_file(const attn2c_descriptor *model, const char *path, FILE *out, attn2c_message *message) {
  attn2c_packed *packed;
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *source = NULL;
  int64_t floats = 0;
  ATTN2C_TRY(attn2c_source_file(path, model, &source, message));
  packed = attn2c_source_packed(source);
  if (packed == NULL) {
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is a checkpoint, but a file that pack wrote is expected",
                       path);
  } else {
    ATTN2C_TRY(attn2c_packed_verify(packed, message));
    floats = attn2c_packed_model(packed)->weight_floats;
  }
  fprintf(out, "%" PRId64 " bytes of packed weights of %s: the checksum is right\n",
          floats * (int64_t)sizeof(float), model->name);
  return ATTN2C_OK;
}

/* Packed weights as a stream: summed up if descriptor is -1, else written. Weights come in the order of their
 * places, except for scales, which may come earlier and are held until their place. */
typedef struct {
  attn2c_checksum_parts sum;
  const char *path;
  int descriptor;
  int64_t done; /* floats */
  float *held;  /* NULL: none */
  int64_t held_offset, held_count;
} weight_stream;

static int append(weight_stream *to, const float *floats, int64_t count, attn2c_message *message) {
  const size_t size = (size_t)count * sizeof *floats;
  to->done += count;
  if (to->descriptor < 0) {
    attn2c_checksum_add(&to->sum, floats, size);
    return ATTN2C_OK;
  }
  return attn2c_write_whole(to->descriptor, floats, size) == 0
             ? ATTN2C_OK
             : attn2c_say_unwritten(to->path, errno, message);
}

/* Returns ATTN2C_USAGE if the weights come in an order that cannot be streamed. */
static int put_next(void *context, int64_t offset, const float *floats, int64_t count,
                    attn2c_message *message) {
  weight_stream *to = context;
  if (offset > to->done && !to->held) {
    to->held = malloc((size_t)count * sizeof *floats);
    if (!to->held)
      return attn2c_fail(message, ATTN2C_MEMORY, "pack: no memory for %" PRId64 " scales", count);
    memcpy(to->held, floats, (size_t)count * sizeof *floats);
    to->held_offset = offset, to->held_count = count;
    return ATTN2C_OK;
  }
  if (offset != to->done) return ATTN2C_USAGE;
  int status = append(to, floats, count, message);
  if (status || !to->held || to->held_offset != to->done) return status;
  status = append(to, to->held, to->held_count, message);
  free(to->held);
  to->held = NULL;
  return status;
}

/* Packs the weights one after the other. */
static int stream_weights(const attn2c_descriptor *model, attn2c_source *source, weight_stream *to,
                          attn2c_message *message) {
  int status = attn2c_load_each(model, source, attn2c_processors(), put_next, to, message);
  if (status == ATTN2C_OK && to->done != model->weight_floats) status = ATTN2C_USAGE;
  free(to->held);
  to->held = NULL;
  return status;
}

/* Packs the weights twice, as the header is before them and has their checksum. So memory is needed for only
 * one. Returns ATTN2C_USAGE if that is not possible; nothing is written then. */
static int pack_twice(const attn2c_descriptor *model, attn2c_source *source, const char *path,
                      const attn2c_place *place, attn2c_message *message) {
  unsigned char header[ATTN2C_PACKED_HEADER];
  weight_stream first = {.sum = attn2c_checksum_begin(0), .path = path, .descriptor = -1},
                to = {.path = path};
  ATTN2C_TRY(stream_weights(model, source, &first, message));
  attn2c_packed_header_make(model, attn2c_checksum_end(&first.sum), header);
  int status = attn2c_stream_open(path, place, &to.descriptor, message);
  if (status) return status;
  if (attn2c_write_whole(to.descriptor, header, sizeof header) != 0)
    status = attn2c_say_unwritten(path, errno, message);
  if (!status) status = stream_weights(model, source, &to, message);
  if (attn2c_close_checked(to.descriptor) != 0 && !status)
    status = attn2c_say_unwritten(path, errno, message);
  return status;
}

/* Packs all weights in memory, and writes them to a stream. */
static int pack_in_memory(const attn2c_descriptor *model, attn2c_source *source, const char *path,
                          attn2c_message *message) {
  ATTN2C_OWN_ALIGNED float *block = attn2c_reserve((size_t)model->weight_floats * sizeof(float));
  if (block == NULL)
    return attn2c_fail(message, ATTN2C_MEMORY, "pack: no memory for %" PRId64 " bytes",
                       model->weight_floats * (int64_t)sizeof(float));
  ATTN2C_TRY(attn2c_load_weights(model, source, block, attn2c_processors(), message));
  return attn2c_packed_write(path, model, block, message);
}

/* Reads and packs the weights of the source one after the other, so that memory is needed for only one. */
static int pack_source(const attn2c_descriptor *model, attn2c_source *source, const char *path,
                       attn2c_message *message) {
  attn2c_packed *packed = attn2c_source_packed(source);
  /* Damaged weights must not get a new checksum. */
  ATTN2C_TRY(packed != NULL ? attn2c_packed_verify(packed, message) : ATTN2C_OK);
  if (packed != NULL && attn2c_packed_fits(packed, model))
    return attn2c_packed_write(path, model, attn2c_packed_block(packed), message);
  attn2c_new_file file;
  int status = attn2c_packed_begin(path, model, &file, message);
  if (status == ATTN2C_USAGE) {
    status = pack_twice(model, source, path, &file.place, message);
    return status == ATTN2C_USAGE ? pack_in_memory(model, source, path, message) : status;
  }
  if (status != ATTN2C_OK) return status;
  status = attn2c_load_each(model, source, attn2c_processors(), attn2c_packed_put, &file, message);
  return attn2c_packed_end(model, &file, status, message);
}

static int pack_file(const attn2c_descriptor *model, const attn2c_arguments *arguments, const char *path,
                     FILE *out, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *source = NULL;
  ATTN2C_TRY(attn2c_source_choose(arguments, model, &source, message));
  const attn2c_modes modes = attn2c_modes_hold();
  int status = pack_source(model, source, path, message);
  attn2c_modes_set(modes);
  attn2c_progress_hide();
  if (status == ATTN2C_OK && model->variants)
    fprintf(out, "packed for %s; on its other targets %s packs the weights again when it opens them\n",
            model->target, model->name);
  return status;
}

typedef enum { NOTHING /* it is empty, or cannot be read */, PACKED_WEIGHTS, SOMETHING_ELSE } content;

static content content_of(const char *path) {
  unsigned char start[ATTN2C_PACKED_MAGIC];
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  attn2c_file file;
  if (attn2c_file_open(path, &file, &quiet) != ATTN2C_OK) return NOTHING;
  const int64_t size = attn2c_system_read(file.descriptor, start, sizeof start, 0);
  attn2c_file_close(&file);
  return size <= 0 ? NOTHING : attn2c_packed_begins(start, (size_t)size) ? PACKED_WEIGHTS : SOMETHING_ELSE;
}

/* True if a file must not be overwritten, as weights are read from it. A file that was packed into a
 * checkpoint's folder is no part of the checkpoint. */
static int has_weights(const attn2c_arguments *arguments, const char *path, const attn2c_place *place) {
  attn2c_about about;
  if (!attn2c_place_has_weights(place, arguments->weights)) return 0;
  return attn2c_system_about(arguments->weights, 0, &about) != 0 || about.kind != ATTN2C_FOLDER ||
         content_of(path) != PACKED_WEIGHTS;
}

/* Refuses a rank's file that has no packed weights, as the user did not name it, or that is read. */
static int verify_part(const attn2c_arguments *arguments, const char *path, attn2c_message *message) {
  attn2c_place place;
  attn2c_place_find(path, &place);
  if (has_weights(arguments, path, &place))
    return attn2c_fail(message, ATTN2C_USAGE, "-o %s: %s belongs to the weights", arguments->packed, path);
  if (place.kind != ATTN2C_PLACE_FILE || content_of(path) != SOMETHING_ELSE) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE,
                     "-o %s: %s exists, and is not a file of packed weights; remove it, or name another file",
                     arguments->packed, path);
}

/* Packs the parts of all ranks of a model, each into a file of its own: FILE.rank0, FILE.rank1, ... */
static int pack_ranks(const attn2c_divided *divided, const attn2c_arguments *arguments, FILE *out,
                      attn2c_message *message) {
  const size_t size = strlen(arguments->packed) + 16;
  ATTN2C_OWN char **paths = calloc((size_t)divided->count, sizeof *paths),
                  *text = calloc((size_t)divided->count, size);
  int status = paths && text ? ATTN2C_OK : ATTN2C_MEMORY;
  if (size > ATTN2C_PATH_SIZE) status = attn2c_fail(message, ATTN2C_USAGE, "-o: the path is too long");
  for (int rank = 0; rank < divided->count && status == ATTN2C_OK; rank++) {
    paths[rank] = text + (size_t)rank * size;
    attn2c_source_of_rank(arguments->packed, rank, paths[rank], size);
    status = verify_part(arguments, paths[rank], message);
  }
  for (int rank = 0; rank < divided->count && status == ATTN2C_OK; rank++)
    status = pack_file(divided->ranks[rank], arguments, paths[rank], out, message);
  if (status == ATTN2C_OK && divided->stages > 1) status = attn2c_packed_join(paths, divided->count, message);
  return status;
}

/* Reports options that are missing, and an output that would overwrite the weights. */
static int verify_arguments(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                            attn2c_message *message) {
  int status = ATTN2C_OK;
  if (arguments->verify != NULL) {
    if (arguments->weights == NULL && arguments->packed == NULL) return ATTN2C_OK;
    return attn2c_fail(message, ATTN2C_USAGE, "pack: --verify FILE allows no other option");
  }
  if (attn2c_lacks_weights(model, arguments->weights, "pack", message)) status = ATTN2C_USAGE;
  if (arguments->packed == NULL) status = attn2c_fail(message, ATTN2C_USAGE, "pack: -o FILE is needed");
  if (arguments->packed != NULL && strcmp(arguments->packed, "-") == 0)
    status = attn2c_fail(message, ATTN2C_USAGE, "-o -: a file is needed; /dev/stdout is the standard output");
  if (status != ATTN2C_OK || arguments->weights == NULL) return status;
  attn2c_place to;
  attn2c_place_find(arguments->packed, &to);
  if (!has_weights(arguments, arguments->packed, &to)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE, "-o %s: this file belongs to the weights", arguments->packed);
}

int attn2c_pack_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message) {
  ATTN2C_TRY(verify_arguments(model, arguments, message));
  if (arguments->verify != NULL) return verify_file(model, arguments->verify, out, message);
  return model->divided ? pack_ranks(model->divided, arguments, out, message)
                        : pack_file(model, arguments, arguments->packed, out, message);
}
