/* new_file.c - writes a temporary file in the folder of the final one, syncs it and renames it. The temporary
 * file has no name until it is complete, where the file system supports that. */
#include "formats/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(ATTN2C_PATH_SIZE >= PATH_MAX, "a temporary name is a path");

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
int attn2c_write_whole(int descriptor, const void *bytes, size_t size) {
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

/* Creates a file without a name in the folder of `target`; returns -1 if that is not supported here. */
static int create_unnamed(const char *target) {
  char folder[PATH_MAX];
  folder_of(target, folder);
  if (access("/proc/self/fd", X_OK) != 0) return -1;
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
}

/* Creates a new file in the folder of `target`, since a rename cannot cross file systems. Returns the
 * descriptor, or -1 with errno. */
static int create_beside(const char *target, char temporary[ATTN2C_PATH_SIZE]) {
  int descriptor = create_unnamed(target);
  temporary[0] = '\0';
  if (descriptor >= 0) return descriptor;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (!name_beside(target, attempt, temporary)) break;
    descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  errno = ENAMETOOLONG;
  return -1;
}

/* Gives a file without a name a temporary one; returns 0, or -1 with errno. */
static int give_name(attn2c_new_file *file) {
  char own[40];
  snprintf(own, sizeof own, "/proc/self/fd/%d", file->file.descriptor);
  for (int attempt = 0; file->temporary[0] == '\0' && attempt < ATTEMPTS; attempt++) {
    if (!name_beside(file->place.path, attempt, file->temporary)) break;
    if (linkat(AT_FDCWD, own, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0) return 0;
    file->temporary[0] = '\0';
    if (errno != EEXIST) return -1;
  }
  if (file->temporary[0]) return 0;
  errno = ENAMETOOLONG;
  return -1;
}

/* Makes the rename itself durable. The file is already complete under its name, and not every file system
 * supports this, so a failure is ignored. */
static void sync_folder(const char *path) {
  char folder[PATH_MAX];
  folder_of(path, folder);
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
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
  if ((file->place.kind == ATTN2C_PLACE_FILE && fchmod(descriptor, file->place.permissions) != 0) ||
      (size > 0 && ftruncate(descriptor, size) != 0)) {
    const int status = attn2c_say_unwritten(path, errno, message);
    return attn2c_new_file_end(file, status, message);
  }
  return ATTN2C_OK;
}

/* Writes zeros into a file whose size is known, piece by piece, up to a piece that ends at `end` or later;
 * returns 0, or -1 with errno. Linux keeps what one write writes in units of up to a huge page, at which it
 * is mapped later on. The writes that follow are smaller, and begin anywhere. */
static int write_zeros(attn2c_new_file *file, int64_t end) {
  enum { PAGE = 4096, PAGES = 512, PIECE = PAGE * PAGES };
  static const char zeros[PAGE];
  struct iovec pages[PAGES];
  if (end > file->file.size) end = file->file.size;
  if (file->zeroed >= end) return 0;
  for (int i = 0; i < PAGES; i++) pages[i] = (struct iovec){(void *)(uintptr_t)zeros, PAGE};
  while (file->zeroed < end) {
    const int64_t left = file->file.size - file->zeroed;
    const int count = left >= PIECE ? PAGES : (int)((left + PAGE - 1) / PAGE);
    if (left < PIECE) pages[count - 1].iov_len = (size_t)((left - 1) % PAGE + 1);
    const ssize_t put = pwritev(file->file.descriptor, pages, count, file->zeroed);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -1;
    if (put == 0) {
      errno = ENOSPC;
      return -1;
    }
    /* After a short write the rest stays as it is: its bytes are zero, too. */
    file->zeroed += left < PIECE ? left : PIECE;
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
  while (!status && !error && fsync(file->file.descriptor) != 0)
    if (errno != EINTR) error = errno;
  if (!status && !error && give_name(file) != 0) error = errno;
  if (attn2c_close_checked(file->file.descriptor) != 0 && !error) error = errno;
  file->file.descriptor = -1;
  if (!status && !error && rename(file->temporary, file->place.path) != 0) error = errno;
  if (!status && !error) {
    sync_folder(file->place.path);
    return ATTN2C_OK;
  }
  if (file->temporary[0]) unlink(file->temporary);
  return status ? status : attn2c_say_unwritten(file->file.name, error, message);
}
