/* file_write.c - writes files atomically: write a temporary file, fsync, rename. Anything but a regular file
 * is a stream, which is written from its current position. After a signal or a short transfer it writes
 * on. */
#define _GNU_SOURCE
#include "formats/file.h"
#include "formats/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest transfer of one call: Linux moves at most 0x7ffff000 bytes at a time. */
#define LARGEST_TRANSFER ((size_t)1 << 30)

/* Waits until a non-blocking stream, such as a full pipe, takes more; true if it does. */
static int wait_for(int descriptor) {
  struct pollfd wanted = {descriptor, POLLOUT, 0};
  int ready;
  do {
    ready = poll(&wanted, 1, -1);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/* Writes all bytes; returns 0, or -1 with errno. */
static int write_whole(int descriptor, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size) {
    ssize_t put = write(descriptor, at, size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN && wait_for(descriptor)) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC; /* POSIX allows a full device to report this by writing nothing */
      return -1;
    }
    at += put, size -= (size_t)put;
  }
  return 0;
}

static int write_parts(int descriptor, const attn2c_file_part *parts, int count) {
  for (int i = 0; i < count; i++)
    if (write_whole(descriptor, parts[i].bytes, parts[i].size) != 0) return -1;
  return 0;
}

static int say_unwritten(const char *path, int error, attn2c_message *message) {
  attn2c_say(message, "%s: cannot be written: %s", path, strerror(error));
  return ATTN2C_IO;
}

/* Closes a file; returns 0 or -1. Some file systems report a full disk only here. On Linux a close that fails
 * with EINTR has closed the file. */
static int close_checked(int descriptor) { return close(descriptor) == 0 || errno == EINTR ? 0 : -1; }

/* Writes a stream from its current position: nothing before it changes, and no file is created. */
static int write_straight(const char *path, int held, const attn2c_file_part *parts, int count,
                          attn2c_message *message) {
  int descriptor =
      held >= 0 ? fcntl(held, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return say_unwritten(path, errno, message);
  int error = write_parts(descriptor, parts, count) == 0 ? 0 : errno;
  if (close_checked(descriptor) != 0 && error == 0) error = errno;
  return error ? say_unwritten(path, error, message) : ATTN2C_OK;
}

/* Creates a new file in the folder of `target`, since a rename cannot cross file systems. Its name is short
 * and does not depend on the target's, so it cannot be too long. Returns the descriptor, or -1 with errno. */
static int create_beside(const char *target, char temporary[PATH_MAX]) {
  const char *slash = strrchr(target, '/');
  int folder = slash ? (int)(slash - target + 1) : 0;
  for (int attempt = 0; attempt < 1000; attempt++) {
    int length = snprintf(temporary, PATH_MAX, "%.*s.attn2c-%ld-%d", folder, target, (long)getpid(), attempt);
    if (length >= PATH_MAX) break;
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  errno = ENAMETOOLONG;
  return -1;
}

/* Makes the rename itself durable. The file is already complete under its name, and not every file system
 * supports this, so a failure is ignored. */
static void sync_folder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

static int write_beside(const char *path, const attn2c_place *place, const attn2c_file_part *parts, int count,
                        attn2c_message *message) {
  char temporary[PATH_MAX];
  int descriptor = create_beside(place->path, temporary);
  if (descriptor < 0) return say_unwritten(path, errno, message);
  int error = 0;
  /* The new file gets the permissions of the replaced file, but never its set-user-ID bit. */
  if (place->kind == ATTN2C_PLACE_FILE && fchmod(descriptor, place->permissions) != 0) error = errno;
  if (!error && write_parts(descriptor, parts, count) != 0) error = errno;
  while (!error && fsync(descriptor) != 0)
    if (errno != EINTR) error = errno;
  if (close_checked(descriptor) != 0 && !error) error = errno;
  if (!error && rename(temporary, place->path) != 0) error = errno;
  if (error) {
    unlink(temporary);
    return say_unwritten(path, error, message);
  }
  sync_folder(place->path);
  return ATTN2C_OK;
}

int attn2c_file_write(const char *path, const attn2c_file_part *parts, int count, attn2c_message *message) {
  attn2c_place place;
  attn2c_place_find(path, &place);
  switch (place.error ? ATTN2C_PLACE_OTHER : place.kind) {
  case ATTN2C_PLACE_NEW:
  case ATTN2C_PLACE_FILE:
    return write_beside(path, &place, parts, count, message);
  case ATTN2C_PLACE_DEVICE:
  case ATTN2C_PLACE_DESCRIPTOR:
    return write_straight(path, place.descriptor, parts, count, message);
  default:
    return say_unwritten(path, place.error ? place.error : EINVAL, message);
  }
}
