/* serve_load.c - sends the lines of a file to a server on this machine, each as a request, by a number of
 * clients at once, and prints how long they took.
 *
 *   serve_load PORT FILE CLIENTS [PATH BEFORE AFTER]     default: /v1/embeddings, {"input":"..."}
 *
 * A client sends its next line once it has the answer to the one before. A line is put between BEFORE and
 * AFTER. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CLIENTS = 1024, MOST_REPLY = 1 << 20, MOST_LINE = 1 << 16 };

typedef struct {
  char *reply;
  size_t length;
  double sent;
} client;

static struct pollfd sockets[MOST_CLIENTS];
static client clients[MOST_CLIENTS];
static FILE *lines;
static const char *path = "/v1/embeddings";
static const char *before = "{\"encoding_format\":\"base64\",\"input\":\"", *after = "\"}";

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "serve_load: %s: %s\n", what, strerror(errno));
  exit(4);
}

/* Sends the next line. Returns 0 if there is none. */
static int send_next(int i) {
  static char line[MOST_LINE], body[8 * MOST_LINE], request[8 * MOST_LINE + 400];
  if (!fgets(line, sizeof line, lines)) return 0;
  size_t used = (size_t)sprintf(body, "%s", before);
  for (const char *at = line; *at && *at != '\n'; at++) {
    if (strchr("\"\\", *at)) body[used++] = '\\';
    body[used++] = (unsigned char)*at < ' ' ? ' ' : *at;
  }
  used += (size_t)sprintf(body + used, "%s", after);
  const int length = sprintf(request,
                             "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                             "Content-Length: %zu\r\n\r\n%s",
                             path, used, body);
  clients[i].sent = now();
  clients[i].length = 0;
  for (int done = 0; done < length;) {
    const ssize_t sent = send(sockets[i].fd, request + done, (size_t)(length - done), 0);
    if (sent <= 0) fail("send");
    done += (int)sent;
  }
  return 1;
}

/* Returns 1 once the reply is whole. */
static int receive(int i) {
  client *c = &clients[i];
  const ssize_t got = recv(sockets[i].fd, c->reply + c->length, MOST_REPLY - c->length - 1, 0);
  if (got <= 0) fail("the server closed a connection");
  c->length += (size_t)got;
  c->reply[c->length] = '\0';
  const char *end = strstr(c->reply, "\r\n\r\n"),
             *header = end ? strcasestr(c->reply, "content-length:") : NULL;
  if (!header || (size_t)(end - c->reply) + 4 + strtoul(header + 15, NULL, 10) > c->length) return 0;
  if (strncmp(c->reply, "HTTP/1.1 200", 12) != 0) {
    fprintf(stderr, "serve_load: %s\n", c->reply);
    exit(1);
  }
  return 1;
}

static int by_time(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const int count = atoi(argv[3]);
  lines = fopen(argv[2], "r");
  if (!lines) fail(argv[2]);
  if (argc > 6) path = argv[4], before = argv[5], after = argv[6];
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((unsigned short)atoi(argv[1])),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  double *times = NULL;
  size_t done = 0, open = 0;
  for (int i = 0; i < count && i < MOST_CLIENTS; i++, open++) {
    const int one = 1;
    sockets[i] = (struct pollfd){.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN};
    clients[i].reply = malloc(MOST_REPLY);
    if (connect(sockets[i].fd, (const struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(sockets[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  const double start = now();
  size_t active = 0;
  for (size_t i = 0; i < open; i++) {
    if (send_next((int)i))
      active++;
    else
      sockets[i].fd = -1;
  }
  while (active > 0) {
    if (poll(sockets, open, 60000) <= 0) fail("poll");
    for (size_t i = 0; i < open; i++) {
      if (!(sockets[i].revents & (POLLIN | POLLHUP)) || !receive((int)i)) continue;
      if (done % 1024 == 0) times = realloc(times, (done + 1024) * sizeof *times);
      times[done++] = now() - clients[i].sent;
      if (send_next((int)i)) continue;
      close(sockets[i].fd);
      sockets[i].fd = -1, active--;
    }
  }
  const double seconds = now() - start;
  if (done == 0) return 1;
  qsort(times, done, sizeof *times, by_time);
  printf(
      "%zu requests of %zu clients in %.2f s: %.1f a second, median %.2f ms, p99 %.2f ms, longest %.2f ms\n",
      done, open, seconds, (double)done / seconds, 1e3 * times[done / 2], 1e3 * times[done * 99 / 100],
      1e3 * times[done - 1]);
  return 0;
}
