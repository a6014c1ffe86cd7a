/* windows.c - implements sockets.h with Windows' sockets. */
#include "program/serve/sockets.h"

#include <malloc.h>

int attn2c_sockets_begin(int most) {
  WSADATA about;
  return WSAStartup(MAKEWORD(2, 2), &about) == 0 ? most : -1;
}

/* Handles are multiples of 4. */
int attn2c_socket_row(evutil_socket_t socket, int rows) {
  return (int)((uintptr_t)socket / 4 % (unsigned)rows);
}

/* The address and port of the other end. */
uint64_t attn2c_socket_identity(evutil_socket_t socket) {
  struct sockaddr_in6 other = {0};
  int length = sizeof other;
  if (getpeername((SOCKET)socket, (struct sockaddr *)&other, &length) != 0) return 0;
  uint64_t sum = UINT64_C(14695981039346656037);
  for (int i = 0; i < length; i++) sum = (sum ^ ((const unsigned char *)&other)[i]) * UINT64_C(1099511628211);
  return sum | 1;
}

void attn2c_socket_end(evutil_socket_t socket) { shutdown((SOCKET)socket, SD_BOTH); }

/* The system's own buffer is small. */
void attn2c_socket_hold_less(evutil_socket_t socket, int bytes) { (void)socket, (void)bytes; }

void attn2c_socket_claim(evutil_socket_t socket) {
  const BOOL on = TRUE;
  setsockopt((SOCKET)socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&on, sizeof on);
}

int attn2c_waker_open(evutil_socket_t ends[2]) {
  if (evutil_socketpair(AF_INET, SOCK_STREAM, 0, ends) != 0) return -1;
  evutil_make_socket_nonblocking(ends[0]);
  return evutil_make_socket_nonblocking(ends[1]);
}

void attn2c_waker_wake(const evutil_socket_t ends[2]) {
  send((SOCKET)ends[1], "", 1, 0); /* a socket that is full wakes, too */
}

int attn2c_waker_take(const evutil_socket_t ends[2]) {
  char bytes[256];
  int is_there = 0;
  while (recv((SOCKET)ends[0], bytes, sizeof bytes, 0) > 0) is_there = 1;
  return is_there;
}

void attn2c_waker_close(const evutil_socket_t ends[2]) {
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0) evutil_closesocket(ends[i]);
}

evutil_socket_t attn2c_socket_file_open(const char *path, int waiting, attn2c_socket_file *file, int *status,
                                        attn2c_message *message) {
  (void)waiting, (void)file;
  *status = ATTN2C_USAGE;
  attn2c_say(message, "--unix %s: a program for Windows has no socket files; --host and --port are allowed",
             path);
  return -1;
}

void attn2c_socket_file_remove(const char *path, attn2c_socket_file *file) { (void)path, (void)file; }

size_t attn2c_memory_bytes(void *memory) { return _msize(memory); }
