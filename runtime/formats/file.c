/* file.c - reads byte ranges by pread, and maps files. After a signal or a short transfer it goes on. Every
 * other failure is a status and one line. */
#include "formats/file.h"
#include "system/system.h"

#include <errno.h>

/* The largest transfer of one call: Linux moves at most 0x7ffff000 bytes, others refuse above INT_MAX. */
#define LARGEST_TRANSFER ((size_t)1 << 30)

int attn2c_file_open(const char *path, attn2c_file *file, attn2c_message *message) {
  attn2c_about about;
  if (*path == '\0') return attn2c_fail(message, ATTN2C_IO, "the path of a file to read is empty");
  /* Without O_NONBLOCK, opening a pipe would wait for its writer, only to be refused. */
  int descriptor = attn2c_system_open(path, O_RDONLY | O_NONBLOCK);
  if (descriptor < 0 || attn2c_system_about_open(descriptor, &about) != 0) {
    attn2c_say(message, "%s: cannot be opened: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return ATTN2C_IO;
  }
  if (about.kind != ATTN2C_REGULAR) {
    attn2c_say(message, "%s: is not a regular file", path);
    close(descriptor);
    return ATTN2C_IO;
  }
  *file = (attn2c_file){path, descriptor, NULL, about.size};
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
    const int64_t got =
        attn2c_system_read(file->descriptor, at, bytes < LARGEST_TRANSFER ? bytes : LARGEST_TRANSFER, offset);
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
  void *mapping = attn2c_system_map(file->descriptor, (size_t)file->size);
  if (!mapping) {
    const int error = errno;
    attn2c_say(message, "%s: cannot be mapped: %s", file->name, strerror(error));
    return error == ENOMEM ? ATTN2C_MEMORY : ATTN2C_IO;
  }
  /* With this advice Linux reads megabytes at a time, and maps them as huge pages where the file system
   * keeps them so. Reading ahead would start the reading at once, but in pages of 4 KB, whose mapping costs
   * more each time that the file is opened. */
  if (attn2c_system_advise(mapping, (size_t)file->size, ATTN2C_HUGE_PAGES) != 0)
    (void)attn2c_system_advise(mapping, (size_t)file->size, ATTN2C_WILL_READ);
  *bytes = mapping;
  return ATTN2C_OK;
}

void attn2c_file_unmap(const void *bytes, int64_t size) {
  if (bytes) attn2c_system_unmap((void *)(uintptr_t)bytes, (size_t)size);
}
