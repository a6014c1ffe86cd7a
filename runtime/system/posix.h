/* posix.h - implements what Linux and macOS have in common. Each includes it once. */
#pragma once

#include "system/system.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need a 64-bit off_t");

void *attn2c_system_allocate(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

void attn2c_system_free(void *memory) { free(memory); }

size_t attn2c_system_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

size_t attn2c_system_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? (size_t)pages * attn2c_system_page() : 0;
}

void *attn2c_system_reserve(size_t bytes) {
  /* MAP_NORESERVE, because a page with its own reservation would not merge with the page before it. */
  void *pages = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

int attn2c_system_protect(void *pages, size_t bytes, attn2c_access access) {
  static const int protections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
  return mprotect(pages, bytes, protections[access]);
}

void attn2c_system_release(void *pages, size_t bytes) { munmap(pages, bytes); }

int attn2c_system_stream(const char *path) {
  (void)path;
  return -1;
}

const char *attn2c_system_slash(const char *path) { return strrchr(path, '/'); }

int attn2c_system_open(const char *path, int flags) { return open(path, flags | O_CLOEXEC, 0666); }

int attn2c_system_again(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int64_t attn2c_system_read(int descriptor, void *to, size_t bytes, int64_t offset) {
  return pread(descriptor, to, bytes, offset);
}

int attn2c_system_sync(int descriptor) { return fsync(descriptor); }

void attn2c_system_sync_folder(const char *folder) {
  const int descriptor = attn2c_system_open(folder, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

int attn2c_system_permit(int descriptor, unsigned permissions) {
  return fchmod(descriptor, (mode_t)permissions);
}

int attn2c_system_await_output(int descriptor) {
  struct pollfd wanted = {descriptor, POLLOUT, 0};
  int ready;
  do {
    ready = poll(&wanted, 1, -1);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

int attn2c_system_rename(const char *from, const char *to) { return rename(from, to); }
int attn2c_system_unlink(const char *path) { return unlink(path); }
int attn2c_system_exists(const char *path) { return access(path, F_OK) == 0; }

static int describe(int status, const struct stat *found, attn2c_about *about) {
  const mode_t mode = found->st_mode;
  if (status != 0) return status;
  *about = (attn2c_about){.kind = S_ISREG(mode)    ? ATTN2C_REGULAR
                                  : S_ISDIR(mode)  ? ATTN2C_FOLDER
                                  : S_ISCHR(mode)  ? ATTN2C_CHARACTER
                                  : S_ISFIFO(mode) ? ATTN2C_PIPE
                                  : S_ISLNK(mode)  ? ATTN2C_LINK
                                                   : ATTN2C_OTHER_KIND,
                          .permissions = mode & 0777,
                          .size = found->st_size,
                          .changed = found->st_mtime,
                          .device = (uint64_t)found->st_dev,
                          .number = found->st_ino};
  return 0;
}

int attn2c_system_about_open(int descriptor, attn2c_about *about) {
  struct stat found = {0};
  return describe(fstat(descriptor, &found), &found, about);
}

int attn2c_system_about(const char *path, int is_link, attn2c_about *about) {
  struct stat found = {0};
  return describe((is_link ? lstat : stat)(path, &found), &found, about);
}

int64_t attn2c_system_read_link(const char *path, char *to, size_t bytes) {
  return readlink(path, to, bytes);
}
char *attn2c_system_real_path(const char *path, char *to) { return realpath(path, to); }

void *attn2c_system_map(int descriptor, size_t bytes) {
  void *mapping = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  return mapping == MAP_FAILED ? NULL : mapping;
}

void attn2c_system_unmap(void *mapping, size_t bytes) { munmap(mapping, bytes); }

int attn2c_system_start(pthread_t *thread, size_t stack, void *(*body)(void *), void *argument) {
  sigset_t all, before;
  pthread_attr_t attributes;
  int fault = pthread_attr_init(&attributes);
  if (fault) return fault;
  pthread_attr_setstacksize(&attributes, stack);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  fault = pthread_create(thread, &attributes, body, argument);
  /* Thread-local data of the process use part of the stack, and may not fit. */
  if (fault == EINVAL) fault = pthread_create(thread, NULL, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return fault;
}

attn2c_locale attn2c_system_plain_locale(void) {
  attn2c_locale locale = {newlocale(LC_ALL_MASK, "C", (locale_t)0), NULL};
  if (locale.plain) locale.before = uselocale((locale_t)locale.plain);
  return locale;
}

void attn2c_system_restore_locale(attn2c_locale locale) {
  if (!locale.plain) return;
  uselocale((locale_t)locale.before);
  freelocale((locale_t)locale.plain);
}
