/* new_file.c - writes a temporary file in the folder of the final one, syncs it and renames it. The temporary
 * file has no name until it is complete, where the file system supports that. */
#include "formats/new_file.h"
#include "system/system.h"

#include <errno.h>

_Static_assert(ATTN2C_PATH_SIZE >= PATH_MAX, "a temporary name is a path");

/* The largest transfer of one call: Linux moves at most 0x7ffff000 bytes at a time. */
#define LARGEST_TRANSFER ((size_t)1 << 30)

/* Writes all bytes; returns 0, or -1 with errno. */
int attn2c_write_whole(int descriptor, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size) {
    ssize_t put = write(descriptor, at, size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN && attn2c_system_await_output(descriptor)) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC; /* POSIX allows a full device to report this by writing nothing */
      return -1;
    }
    at += put, size -= (size_t)put;
  }
  return 0;
}

int attn2c_say_unwritten(const char *path, int error, attn2c_message *message) {
  if (*path == '\0')
    attn2c_say(message, "the path of a file to write is empty");
  else
    attn2c_say(message, "%s: cannot be written: %s", path, strerror(error));
  return ATTN2C_IO;
}

/* Closes a file; returns 0 or -1. Some file systems report a full disk only here. On Linux a close that fails
 * with EINTR has closed the file. */
int attn2c_close_checked(int descriptor) { return close(descriptor) == 0 || errno == EINTR ? 0 : -1; }

/* Writes the folder of a path, with a slash at its end unless it is the current one. */
static void folder_of(const char *path, char folder[PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
}

enum { ATTEMPTS = 1000 };

/* Writes the temporary name of attempt number `attempt`. It is short and does not depend on the target's
 * name, so it cannot be too long. Returns 0 if the folder's path is. */
static int name_beside(const char *target, int attempt, char temporary[ATTN2C_PATH_SIZE]) {
  const char *slash = strrchr(target, '/');
  const int folder = slash ? (int)(slash - target + 1) : 0;
  return snprintf(temporary, PATH_MAX, "%.*s.attn2c-%ld-%d", folder, target, (long)getpid(), attempt) <
         PATH_MAX;
}

/* Creates a new file in the folder of `target`, since a rename cannot cross file systems. Returns the
 * descriptor, or -1 with errno. */
static int create_beside(const char *target, char temporary[ATTN2C_PATH_SIZE]) {
  char folder[PATH_MAX];
  folder_of(target, folder);
  int descriptor = attn2c_system_open_unnamed(folder);
  temporary[0] = '\0';
  if (descriptor >= 0) return descriptor;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (!name_beside(target, attempt, temporary)) break;
    descriptor = attn2c_system_open(temporary, O_RDWR | O_CREAT | O_EXCL);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  errno = ENAMETOOLONG;
  return -1;
}

/* Gives a file without a name a temporary one; returns 0, or -1 with errno. */
static int give_name(attn2c_new_file *file) {
  for (int attempt = 0; file->temporary[0] == '\0' && attempt < ATTEMPTS; attempt++) {
    if (!name_beside(file->place.path, attempt, file->temporary)) break;
    if (attn2c_system_name(file->file.descriptor, file->temporary) == 0) return 0;
    file->temporary[0] = '\0';
    if (errno != EEXIST) return -1;
  }
  if (file->temporary[0]) return 0;
  errno = ENAMETOOLONG;
  return -1;
}

int attn2c_new_file_begin(const char *path, int64_t size, attn2c_new_file *file, attn2c_message *message) {
  attn2c_place_find(path, &file->place);
  if (file->place.error) return attn2c_say_unwritten(path, file->place.error, message);
  if (file->place.kind != ATTN2C_PLACE_NEW && file->place.kind != ATTN2C_PLACE_FILE) return ATTN2C_USAGE;
  const int descriptor = create_beside(file->place.path, file->temporary);
  if (descriptor < 0) return attn2c_say_unwritten(path, errno, message);
  file->file = (attn2c_file){path, descriptor, NULL, size};
  file->zeroed = 0;
  /* The new file gets the permissions of the replaced file, but never its set-user-ID bit. */
  if ((file->place.kind == ATTN2C_PLACE_FILE &&
       attn2c_system_permit(descriptor, file->place.permissions) != 0) ||
      (size > 0 && ftruncate(descriptor, size) != 0)) {
    const int status = attn2c_say_unwritten(path, errno, message);
    return attn2c_new_file_end(file, status, message);
  }
  return ATTN2C_OK;
}

/* Writes zeros into a file whose size is known, piece by piece, up to a piece that ends at `end` or later;
 * returns 0, or -1 with errno. The writes that follow are smaller, and begin anywhere. */
static int write_zeros(attn2c_new_file *file, int64_t end) {
  if (end > file->file.size) end = file->file.size;
  while (file->zeroed < end) {
    const int64_t after = attn2c_system_write_zeros(file->file.descriptor, file->zeroed, file->file.size);
    if (after < 0) return -1;
    file->zeroed = after;
  }
  return 0;
}

int attn2c_new_file_put(attn2c_new_file *file, int64_t offset, const void *bytes, size_t size,
                        attn2c_message *message) {
  if (write_zeros(file, offset + (int64_t)size) != 0 || lseek(file->file.descriptor, offset, SEEK_SET) < 0 ||
      attn2c_write_whole(file->file.descriptor, bytes, size) != 0)
    return attn2c_say_unwritten(file->file.name, errno, message);
  return ATTN2C_OK;
}

int attn2c_new_file_end(attn2c_new_file *file, int status, attn2c_message *message) {
  int error = 0;
  while (!status && !error && attn2c_system_sync(file->file.descriptor) != 0)
    if (errno != EINTR) error = errno;
  if (!status && !error && give_name(file) != 0) error = errno;
  if (attn2c_close_checked(file->file.descriptor) != 0 && !error) error = errno;
  file->file.descriptor = -1;
  if (!status && !error && attn2c_system_rename(file->temporary, file->place.path) != 0) error = errno;
  if (!status && !error) {
    char folder[PATH_MAX];
    folder_of(file->place.path, folder);
    attn2c_system_sync_folder(folder); /* the file is complete under its name, should this fail */
    return ATTN2C_OK;
  }
  if (file->temporary[0]) attn2c_system_unlink(file->temporary);
  return status ? status : attn2c_say_unwritten(file->file.name, error, message);
}
