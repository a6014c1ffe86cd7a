/* file.c - whole reads by pread and atomic writes: write beside, fsync, rename. Signals
 * and short transfers are met by going on; everything else is a status and one line. */
#define _DEFAULT_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need a 64-bit off_t");

/* The most that one transfer asks for: Linux moves 0x7ffff000 bytes at a time at most, others refuse above
 * INT_MAX. */
#define LARGEST_TRANSFER ((size_t)1 << 30)

int attn2c_file_open(const char *path, attn2c_file *file, attn2c_message *message) {
  struct stat about;
  /* Without O_NONBLOCK the opening of a pipe would wait for its writer, only to be refused. */
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 || fstat(descriptor, &about) != 0) {
    attn2c_say(message, "%s: cannot be opened: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return ATTN2C_IO;
  }
  if (!S_ISREG(about.st_mode)) {
    attn2c_say(message, "%s: is not a regular file", path);
    close(descriptor);
    return ATTN2C_IO;
  }
  *file = (attn2c_file){path, descriptor, NULL, about.st_size};
  return ATTN2C_OK;
}

attn2c_file attn2c_file_memory(const void *bytes, size_t size, const char *name) {
  return (attn2c_file){name, -1, bytes, (int64_t)size};
}

int attn2c_file_read(const attn2c_file *file, int64_t offset, void *to, size_t bytes,
                     attn2c_message *message) {
  if (offset < 0 || offset > file->size || bytes > (uint64_t)(file->size - offset)) {
    attn2c_say(message, "%s: %zu bytes at %lld are beyond its %lld bytes", file->name, bytes,
               (long long)offset, (long long)file->size);
    return ATTN2C_FORMAT;
  }
  if (file->descriptor < 0) {
    if (bytes) memcpy(to, file->memory + offset, bytes);
    return ATTN2C_OK;
  }
  char *at = to;
  while (bytes) {
    ssize_t got = pread(file->descriptor, at, bytes < LARGEST_TRANSFER ? bytes : LARGEST_TRANSFER, offset);
    if (got < 0) {
      if (errno == EINTR) continue;
      attn2c_say(message, "%s: cannot be read at byte %lld: %s", file->name, (long long)offset,
                 strerror(errno));
      return ATTN2C_IO;
    }
    if (got == 0) {
      attn2c_say(message, "%s: ends at byte %lld, but had %lld bytes when it was opened", file->name,
                 (long long)offset, (long long)file->size);
      return ATTN2C_FORMAT;
    }
    at += got, offset += got, bytes -= (size_t)got;
  }
  return ATTN2C_OK;
}

void attn2c_file_close(attn2c_file *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

/* 0, or -1 with errno. */
static int write_whole(int descriptor, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size) {
    ssize_t put = write(descriptor, at, size < LARGEST_TRANSFER ? size : LARGEST_TRANSFER);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC; /* POSIX lets a full device say so by writing nothing */
      return -1;
    }
    at += put, size -= (size_t)put;
  }
  return 0;
}

static int write_parts(int descriptor, const attn2c_part *parts, int count) {
  for (int i = 0; i < count; i++)
    if (write_whole(descriptor, parts[i].bytes, parts[i].size) != 0) return -1;
  return 0;
}

static int say_unwritten(const char *path, int error, attn2c_message *message) {
  attn2c_say(message, "%s: cannot be written: %s", path, strerror(error));
  return ATTN2C_IO;
}

/* Some file systems report a full disk only when the file is closed. EINTR there has closed it on Linux. */
static int close_checked(int descriptor) { return close(descriptor) == 0 || errno == EINTR ? 0 : -1; }

static int write_straight(const char *path, const attn2c_part *parts, int count, attn2c_message *message) {
  int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return say_unwritten(path, errno, message);
  int error = write_parts(descriptor, parts, count) == 0 ? 0 : errno;
  if (close_checked(descriptor) != 0 && error == 0) error = errno;
  return error ? say_unwritten(path, error, message) : ATTN2C_OK;
}

/* Creates a file that did not exist, in the folder of `target`: a rename cannot cross file systems. Its name
 * is short whatever the target's, so that it cannot be too long. The descriptor, or -1 with errno. */
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

/* Makes the rename itself durable. The file is whole under its name already, and not every file system can do
 * this, so that a failure is no fault. */
static void sync_folder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

/* replaced: the file that stands there now, or NULL. */
static int write_beside(const char *target, const struct stat *replaced, const attn2c_part *parts, int count,
                        attn2c_message *message) {
  char temporary[PATH_MAX];
  int descriptor = create_beside(target, temporary);
  if (descriptor < 0) return say_unwritten(target, errno, message);
  int error = 0;
  if (replaced && fchmod(descriptor, replaced->st_mode & 07777) != 0) error = errno;
  if (!error && write_parts(descriptor, parts, count) != 0) error = errno;
  while (!error && fsync(descriptor) != 0)
    if (errno != EINTR) error = errno;
  if (close_checked(descriptor) != 0 && !error) error = errno;
  if (!error && rename(temporary, target) != 0) error = errno;
  if (error) {
    unlink(temporary);
    return say_unwritten(target, error, message);
  }
  sync_folder(target);
  return ATTN2C_OK;
}

int attn2c_file_write(const char *path, const attn2c_part *parts, int count, attn2c_message *message) {
  struct stat about;
  char resolved[PATH_MAX];
  if (lstat(path, &about) != 0) {
    if (errno != ENOENT) return say_unwritten(path, errno, message);
    return write_beside(path, NULL, parts, count, message);
  }
  if (S_ISREG(about.st_mode)) return write_beside(path, &about, parts, count, message);
  /* A symbolic link keeps standing and its target is replaced. /dev/stdout and its like lead to a stream that
   * others hold open, even where that is a regular file: it must be written, not replaced. */
  if (S_ISLNK(about.st_mode) && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0 &&
      realpath(path, resolved) && stat(resolved, &about) == 0 && S_ISREG(about.st_mode))
    return write_beside(resolved, &about, parts, count, message);
  return write_straight(path, parts, count, message);
}
