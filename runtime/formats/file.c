/* file.c - reads byte ranges by pread, and maps files. After a signal or a short transfer it goes on. Every
 * other failure is a status and one line. */
#include "formats/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need a 64-bit off_t");

/* The largest transfer of one call: Linux moves at most 0x7ffff000 bytes at a time, others refuse above
 * INT_MAX. */
#define LARGEST_TRANSFER ((size_t)1 << 30)

int attn2c_file_open(const char *path, attn2c_file *file, attn2c_message *message) {
  struct stat about;
  if (*path == '\0') return attn2c_fail(message, ATTN2C_IO, "the path of a file to read is empty");
  /* Without O_NONBLOCK, opening a pipe would wait for its writer, only to be refused. */
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
  if (offset < 0 || offset > file->size || bytes > (uint64_t)(file->size - offset))
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: %zu bytes at %lld are beyond its %lld bytes", file->name,
                       bytes, (long long)offset, (long long)file->size);
  if (file->descriptor < 0) {
    if (bytes) memcpy(to, file->memory + offset, bytes);
    return ATTN2C_OK;
  }
  char *at = to;
  while (bytes) {
    ssize_t got = pread(file->descriptor, at, bytes < LARGEST_TRANSFER ? bytes : LARGEST_TRANSFER, offset);
    if (got < 0) {
      if (errno == EINTR) continue;
      return attn2c_fail(message, ATTN2C_IO, "%s: cannot be read at byte %lld: %s", file->name,
                         (long long)offset, strerror(errno));
    }
    if (got == 0)
      return attn2c_fail(message, ATTN2C_FORMAT,
                         "%s: ends at byte %lld, but had %lld bytes when it was opened", file->name,
                         (long long)offset, (long long)file->size);
    at += got, offset += got, bytes -= (size_t)got;
  }
  return ATTN2C_OK;
}

void attn2c_file_close(attn2c_file *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

int attn2c_file_map(const attn2c_file *file, const void **bytes, attn2c_message *message) {
  *bytes = NULL;
  void *mapping = mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
  if (mapping == MAP_FAILED) {
    const int error = errno;
    attn2c_say(message, "%s: cannot be mapped: %s", file->name, strerror(error));
    return error == ENOMEM ? ATTN2C_MEMORY : ATTN2C_IO;
  }
  /* With this advice Linux reads megabytes at a time, and maps them as huge pages where the file system
   * keeps them so. MADV_WILLNEED would start the reading at once, but in pages of 4 KB, whose mapping costs
   * more each time that the file is opened. */
  if (madvise(mapping, (size_t)file->size, MADV_HUGEPAGE) != 0)
    (void)madvise(mapping, (size_t)file->size, MADV_WILLNEED);
  *bytes = mapping;
  return ATTN2C_OK;
}

void attn2c_file_unmap(const void *bytes, int64_t size) {
  if (bytes) munmap((void *)(uintptr_t)bytes, (size_t)size);
}
