/* sockets.h - declares what the server needs of sockets and memory beyond C and libevent. linux.c and
 * windows.c, beside this file, implement it. */
#pragma once

#include "base/attn2c.h"

#include <event2/util.h>

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#define ATTN2C_ADDRESS_IS_TAKEN WSAEADDRINUSE
#else
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#define ATTN2C_ADDRESS_IS_TAKEN EADDRINUSE
#endif

/* Prepares sockets. Returns the number that may be open at a time, up to `most`, or -1. */
int attn2c_sockets_begin(int most);

/* Returns the row of a socket in a table of `rows`. */
int attn2c_socket_row(evutil_socket_t socket, int rows);
/* Returns what distinguishes a socket from others that had the same number; 0: it is not open. */
uint64_t attn2c_socket_identity(evutil_socket_t socket);
/* Ends both directions of a connection. */
void attn2c_socket_end(evutil_socket_t socket);
/* Lets the system take at most some bytes of a connection that it has not sent; where it can. */
void attn2c_socket_hold_less(evutil_socket_t socket, int bytes);
/* Lets a socket listen on a port that a process has just left, and on none that another one has. */
void attn2c_socket_claim(evutil_socket_t socket);

/* A waker: ends[0] can be read once another thread has called _wake, and until _take. Returns 0, or -1. */
int attn2c_waker_open(evutil_socket_t ends[2]);
void attn2c_waker_wake(const evutil_socket_t ends[2]);
/* Returns 1 if somebody has waked. */
int attn2c_waker_take(const evutil_socket_t ends[2]);
void attn2c_waker_close(const evutil_socket_t ends[2]);

/* A socket file, by the system's numbers. */
typedef struct {
  uint64_t device, number;
} attn2c_socket_file;
/* Returns a socket that listens at a file, or -1 with a line; *status is changed if there can be none. */
evutil_socket_t attn2c_socket_file_open(const char *path, int waiting, attn2c_socket_file *file, int *status,
                                        attn2c_message *message);
/* Removes the file, if it is still the same one. */
void attn2c_socket_file_remove(const char *path, attn2c_socket_file *file);

/* Returns a socket that listens on an address, or -1 with a line. */
evutil_socket_t attn2c_listen(const struct sockaddr *address, int length, int waiting, const char *name,
                              attn2c_message *message);

/* Returns the bytes that a piece of memory has. */
size_t attn2c_memory_bytes(void *memory);
