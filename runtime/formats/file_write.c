/* file_write.c - writes files atomically (new_file.h). Anything but a regular file is a stream, which is
 * written from its current position. */
#include "formats/new_file.h"
#include "system/system.h"

#include <errno.h>

static int write_parts(int descriptor, const attn2c_file_part *parts, int count) {
  for (int i = 0; i < count; i++)
    if (attn2c_write_whole(descriptor, parts[i].bytes, parts[i].size) != 0) return -1;
  return 0;
}

int attn2c_stream_open(const char *path, const attn2c_place *place, int *descriptor,
                       attn2c_message *message) {
  const int held = place->descriptor;
  if (place->kind == ATTN2C_PLACE_OTHER) return attn2c_say_unwritten(path, EINVAL, message);
  *descriptor =
      held >= 0 ? attn2c_system_again(held) : attn2c_system_open(path, O_WRONLY | O_APPEND | O_NOCTTY);
  return *descriptor < 0 ? attn2c_say_unwritten(path, errno, message) : ATTN2C_OK;
}

/* Writes a stream from its current position. */
static int write_straight(const char *path, const attn2c_place *place, const attn2c_file_part *parts,
                          int count, attn2c_message *message) {
  int descriptor;
  ATTN2C_TRY(attn2c_stream_open(path, place, &descriptor, message));
  int error = write_parts(descriptor, parts, count) == 0 ? 0 : errno;
  if (attn2c_close_checked(descriptor) != 0 && error == 0) error = errno;
  return error ? attn2c_say_unwritten(path, error, message) : ATTN2C_OK;
}

int attn2c_file_write(const char *path, const attn2c_file_part *parts, int count, attn2c_message *message) {
  attn2c_new_file file;
  int status = attn2c_new_file_begin(path, 0, &file, message);
  if (status == ATTN2C_USAGE) return write_straight(path, &file.place, parts, count, message);
  if (status) return status;
  int64_t offset = 0;
  for (int i = 0; i < count && !status; offset += (int64_t)parts[i++].size)
    status = attn2c_new_file_put(&file, offset, parts[i].bytes, parts[i].size, message);
  return attn2c_new_file_end(&file, status, message);
}

int attn2c_file_check(const char *path, attn2c_message *message) {
  attn2c_new_file file;
  const int status = attn2c_new_file_begin(path, 0, &file, message);
  if (status == ATTN2C_USAGE) return ATTN2C_OK; /* a stream: writing it shows */
  if (status == ATTN2C_OK) (void)attn2c_new_file_end(&file, ATTN2C_USAGE, message); /* drops it */
  return status;
}
