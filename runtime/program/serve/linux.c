/* linux.c - implements sockets.h with POSIX and Linux. */
#include "program/serve/sockets.h"

#include <malloc.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Raises the number of descriptors to the limit of the system. */
int attn2c_sockets_begin(int most) {
  struct rlimit limit;
  const rlim_t wanted = (rlim_t)most;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur < wanted) {
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur < wanted ? (int)limit.rlim_cur : most;
}

int attn2c_socket_row(evutil_socket_t socket, int rows) { return (int)((unsigned)socket % (unsigned)rows); }

uint64_t attn2c_socket_identity(evutil_socket_t socket) {
  struct stat found;
  return fstat(socket, &found) == 0 ? found.st_ino : 0;
}

void attn2c_socket_end(evutil_socket_t socket) { shutdown(socket, SHUT_RDWR); }

/* A socket file's connection refuses it: its buffer is small. */
void attn2c_socket_hold_less(evutil_socket_t socket, int bytes) {
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

void attn2c_socket_claim(evutil_socket_t socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

int attn2c_waker_open(evutil_socket_t ends[2]) {
  ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return ends[0] < 0 ? -1 : 0;
}

void attn2c_waker_wake(const evutil_socket_t ends[2]) {
  const uint64_t once = 1;
  const ssize_t written = write(ends[1], &once, sizeof once);
  (void)written; /* a counter that is full wakes, too */
}

int attn2c_waker_take(const evutil_socket_t ends[2]) {
  uint64_t times;
  return read(ends[0], &times, sizeof times) == sizeof times;
}

void attn2c_waker_close(const evutil_socket_t ends[2]) {
  if (ends[0] >= 0) close(ends[0]);
}

evutil_socket_t attn2c_socket_file_open(const char *path, int waiting, attn2c_socket_file *file, int *status,
                                        attn2c_message *message) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat found;
  if (*path == '\0' || strlen(path) >= sizeof address.sun_path) {
    *status = ATTN2C_USAGE;
    attn2c_say(message, "--unix %s: a path of 1 to %zu bytes is allowed", path, sizeof address.sun_path - 1);
    return -1;
  }
  memcpy(address.sun_path, path, strlen(path) + 1);
  if (lstat(path, &found) == 0) {
    const int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int is_socket = S_ISSOCK(found.st_mode);
    const int answers = is_socket && connect(other, (struct sockaddr *)&address, sizeof address) == 0;
    const int is_stale = is_socket && !answers && errno == ECONNREFUSED;
    if (other >= 0) close(other);
    if (!is_stale || unlink(path) != 0) {
      attn2c_say(message, "--unix %s: %s", path,
                 !is_socket ? "a file that is no socket is there"
                 : answers  ? "another process listens there"
                            : strerror(errno));
      return -1;
    }
  }
  const int made = attn2c_listen((struct sockaddr *)&address, sizeof address, waiting, path, message);
  if (made >= 0 && lstat(path, &found) == 0) *file = (attn2c_socket_file){found.st_dev, found.st_ino};
  return made;
}

void attn2c_socket_file_remove(const char *path, attn2c_socket_file *file) {
  struct stat found;
  if (!file->number || lstat(path, &found) != 0) return;
  if (found.st_dev == file->device && found.st_ino == file->number) unlink(path);
  file->number = 0;
}

size_t attn2c_memory_bytes(void *memory) { return malloc_usable_size(memory); }
