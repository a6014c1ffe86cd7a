/* http.c - HTTP by libevent's evhttp. A connection without a request takes some 3 KB. All memory of
 * connections together is limited, so clients cannot fill the machine's: libevent then drops connections. */
#include "program/serve/http.h"
#include "program/serve/sockets.h"
#include "system/clock.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdatomic.h>

enum {
  MOST_UNREAD = 4 << 20,  /* bytes of a stream that its client has not read */
  BEHIND = 16 << 10,      /* of these, from which on the client is behind */
  MOST_BYTES = 512 << 20, /* of all connections */
  MOST_FILES = 1 << 16,   /* descriptors, if the system allows them */
  IDLE_SECONDS = 75,      /* without a byte from or to a connection */
  REQUEST_SECONDS = 60,   /* from a request's first byte to its last */
  REFUSED_SECONDS = 30,   /* while bytes of a refused request are read */
  SILENT_SECONDS = 5,     /* without any of them */
  LINE = 24,              /* bytes of a line that tell if it is a chunk's size */
  BACKLOG = 512
};

/* A request that comes. libevent does not say when a connection ends, and another may get its number. */
struct coming {
  double begun; /* when its first byte came; 0: there is none */
  evutil_socket_t socket;
  uint64_t identity;   /* of the socket */
  char path[64];       /* as far as its first bytes have it */
  char front[LINE];    /* what libevent has not taken */
  char taken[2][LINE]; /* the last two lines, or pieces of data, that it has taken; "" for an empty line */
  int has_line;        /* 1: it has taken the last one without its end */
  /* The stream of a request that is refused, with a reference; NULL: none. A system resets a connection that
   * is closed with unread bytes, and its client loses the reply. So they are read for a while. */
  struct bufferevent *refused;
  double closes; /* when it ends at the latest */
};

struct attn2c_http {
  attn2c_http_options options;
  struct event_base *base;
  struct evhttp *server;
  struct evconnlistener *listener;
  struct event *wake, *sweep, *again, *signals[2];
  evutil_socket_t waker[2];
  int open, is_ending, signal_count;
  double last; /* when it ends at the latest */
  int most_seconds;
  struct coming *coming; /* [files] by the sockets' rows */
  int files;
  char address[128];
  attn2c_socket_file file;
};

/* An exchange with its parts of libevent. */
typedef struct {
  attn2c_exchange exchange; /* comes first */
  struct evhttp_request *request;
  struct bufferevent *stream;
  struct evhttp_connection *connection;
  int is_behind; /* the owner was told so */
} own_exchange;

static own_exchange *own(attn2c_exchange *exchange) { return (own_exchange *)exchange; }

/* Bytes that libevent has. */
static atomic_size_t allocated;

static void *count(void *memory) {
  if (memory) atomic_fetch_add(&allocated, attn2c_memory_bytes(memory));
  return memory;
}

static int is_full(size_t bytes) {
  if (atomic_load(&allocated) + bytes <= MOST_BYTES) return 0;
  errno = ENOMEM;
  return 1;
}

static void *take(size_t bytes) { return is_full(bytes) ? NULL : count(malloc(bytes)); }

static void *retake(void *memory, size_t bytes) {
  const size_t before = memory ? attn2c_memory_bytes(memory) : 0;
  if (bytes > before && is_full(bytes - before)) return NULL;
  void *moved = realloc(memory, bytes);
  if (moved || bytes == 0) atomic_fetch_sub(&allocated, before);
  return count(moved);
}

static void give(void *memory) {
  if (memory) atomic_fetch_sub(&allocated, attn2c_memory_bytes(memory));
  free(memory);
}

size_t attn2c_http_bytes(void) { return atomic_load(&allocated); }

static void say_nothing(int severity, const char *text) { (void)severity, (void)text; }

double attn2c_http_now(void) { return 1e-9 * (double)attn2c_system_clock(CLOCK_MONOTONIC); }

/* Ends an exchange: once, for its owner, for the log, and in memory. */
static void end_exchange(attn2c_exchange *exchange) {
  attn2c_http *http = exchange->http;
  http->open--;
  http->options.ended(http->options.context, exchange);
  free(exchange);
  if (http->is_ending && http->open == 0) event_base_loopexit(http->base, NULL);
}

static void set_times(own_exchange *e, int may_idle) {
  const struct timeval idle = {.tv_sec = IDLE_SECONDS};
  bufferevent_set_timeouts(e->stream, may_idle ? NULL : &idle, &idle);
}

/* The reply is written. The connection may bring another request. */
static void note_written(struct evhttp_request *request, void *given) {
  own_exchange *e = given;
  (void)request;
  evhttp_connection_set_closecb(e->connection, NULL, NULL);
  set_times(e, 0);
  end_exchange(&e->exchange);
}

static void note_gone(struct evhttp_connection *connection, void *given) {
  own_exchange *e = given;
  (void)connection;
  if (e->exchange.gone) e->exchange.gone(&e->exchange);
  if (!evhttp_request_get_connection(e->request)) evhttp_request_free(e->request); /* libevent does not */
  end_exchange(&e->exchange);
}

/* Looks for the end of the connection while the reply is not there. Bytes that come are read later. */
static void watch(own_exchange *e) {
  bufferevent_data_cb write;
  bufferevent_event_cb event;
  void *context;
  bufferevent_getcb(e->stream, NULL, &write, &event, &context);
  bufferevent_setcb(e->stream, NULL, write, event, context);
  set_times(e, 1);
  bufferevent_enable(e->stream, EV_READ);
}

static attn2c_http_method method_of(const struct evhttp_request *request) {
  switch (evhttp_request_get_command(request)) {
  case EVHTTP_REQ_GET:
    return ATTN2C_HTTP_GET;
  case EVHTTP_REQ_POST:
    return ATTN2C_HTTP_POST;
  case EVHTTP_REQ_HEAD:
    return ATTN2C_HTTP_HEAD;
  default:
    return ATTN2C_HTTP_OTHER;
  }
}

/* True if a request has no length, or several, for which a proxy may take another. libevent takes the first,
 * and the bytes after it for the next request. */
static int is_ambiguous(struct evhttp_request *request) {
  const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
  const char *length = evhttp_find_header(headers, "Content-Length");
  for (const struct evkeyval *each = headers->tqh_first; each; each = each->next.tqe_next) {
    if (evutil_ascii_strcasecmp(each->key, "Content-Length") == 0 && strcmp(each->value, length) != 0)
      return 1;
    if (evutil_ascii_strcasecmp(each->key, "Transfer-Encoding") == 0 &&
        (length || evutil_ascii_strcasecmp(each->value, "chunked") != 0))
      return 1;
  }
  return 0;
}

/* Takes a whole request from libevent. */
static void handle(struct evhttp_request *request, void *given) {
  if (is_ambiguous(request)) {
    evhttp_send_error(request, HTTP_BADREQUEST, NULL);
    return;
  }
  attn2c_http *http = given;
  own_exchange *e = calloc(1, sizeof *e);
  struct evbuffer *input = evhttp_request_get_input_buffer(request);
  struct evhttp_connection *connection = evhttp_request_get_connection(request);
  const size_t length = evbuffer_get_length(input);
  /* The NUL after the body, so that all of it is in one piece. */
  const char *body = e && evbuffer_add(input, "", 1) == 0 ? (const char *)evbuffer_pullup(input, -1) : NULL;
  if (!body) {
    free(e);
    evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
    return;
  }
  const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
  e->request = request;
  e->connection = connection;
  e->stream = evhttp_connection_get_bufferevent(connection);
  e->exchange = (attn2c_exchange){.http = http,
                                  .method = method_of(request),
                                  .path = path && *path ? path : "/",
                                  .body = body,
                                  .length = length,
                                  .seconds = attn2c_http_now()};
  http->coming[attn2c_socket_row(bufferevent_getfd(e->stream), http->files)].begun = 0;
  http->open++;
  evhttp_connection_set_closecb(connection, note_gone, e);
  evhttp_request_set_on_complete_cb(request, note_written, e);
  watch(e);
  if (http->is_ending) attn2c_http_add_header(&e->exchange, "Connection", "close");
  http->options.handle(http->options.context, &e->exchange);
}

const char *attn2c_http_header(const attn2c_exchange *exchange, const char *name) {
  const own_exchange *e = (const own_exchange *)exchange;
  return evhttp_find_header(evhttp_request_get_input_headers(e->request), name);
}

void attn2c_http_add_header(attn2c_exchange *exchange, const char *name, const char *value) {
  evhttp_add_header(evhttp_request_get_output_headers(own(exchange)->request), name, value);
}

static const char *words_of(int status) {
  static const struct {
    int status;
    const char *words;
  } rows[] = {{200, "OK"},
              {400, "Bad Request"},
              {401, "Unauthorized"},
              {404, "Not Found"},
              {405, "Method Not Allowed"},
              {413, "Content Too Large"},
              {417, "Expectation Failed"},
              {422, "Unprocessable Content"},
              {424, "Failed Dependency"},
              {429, "Too Many Requests"},
              {500, "Internal Server Error"},
              {503, "Service Unavailable"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].status == status) return rows[i].words;
  return "Error";
}

void attn2c_http_reply(attn2c_exchange *exchange, int status, const char *type, const void *body,
                       size_t length) {
  struct evhttp_request *request = own(exchange)->request;
  struct evbuffer *output = evhttp_request_get_output_buffer(request);
  exchange->status = status;
  exchange->gone = NULL;
  const int failed =
      exchange->method != ATTN2C_HTTP_HEAD && length && evbuffer_add(output, body, length) != 0;
  char text[32];
  snprintf(text, sizeof text, "%zu", failed ? 0 : length);
  attn2c_http_add_header(exchange, "Content-Type", type);
  attn2c_http_add_header(exchange, "Content-Length", text);
  if (failed) attn2c_http_add_header(exchange, "Connection", "close");
  evhttp_send_reply(request, status, words_of(status), NULL);
}

void attn2c_http_begin(attn2c_exchange *exchange, int status, const char *type) {
  exchange->status = status;
  attn2c_socket_hold_less(bufferevent_getfd(own(exchange)->stream), BEHIND);
  attn2c_http_add_header(exchange, "Content-Type", type);
  attn2c_http_add_header(exchange, "Cache-Control", "no-cache");
  evhttp_send_reply_start(own(exchange)->request, status, words_of(status));
}

/* The system has taken all bytes of a stream. */
static void note_read(struct evhttp_connection *connection, void *given) {
  own_exchange *e = given;
  (void)connection;
  if (!e->is_behind) return;
  e->is_behind = 0;
  e->exchange.caught_up(&e->exchange);
}

static size_t unread_of(const own_exchange *e) {
  return evbuffer_get_length(bufferevent_get_output(e->stream));
}

int attn2c_http_is_behind(attn2c_exchange *exchange) {
  own_exchange *e = own(exchange);
  if (unread_of(e) > BEHIND) e->is_behind = 1;
  return e->is_behind;
}

void attn2c_http_write(attn2c_exchange *exchange, const void *piece, size_t length) {
  own_exchange *e = own(exchange);
  struct evbuffer *buffer = evbuffer_new();
  const int failed = !buffer || unread_of(e) > MOST_UNREAD || evbuffer_add(buffer, piece, length) != 0;
  if (!failed) evhttp_send_reply_chunk_with_cb(e->request, buffer, note_read, e);
  if (buffer) evbuffer_free(buffer);
  /* The end of the connection comes as an event, not within this call. */
  if (failed) attn2c_socket_end(bufferevent_getfd(e->stream));
}

void attn2c_http_end(attn2c_exchange *exchange) {
  exchange->gone = NULL;
  evhttp_send_reply_end(own(exchange)->request);
}

/* The server whose connections libevent makes: its callback for bytes is given only the connection. */
static attn2c_http *serving;

/* Notes when the first byte of a request comes, and its path. */
static void note_begin(struct evbuffer *input, struct coming *coming, evutil_socket_t socket) {
  const uint64_t identity = attn2c_socket_identity(socket);
  if (!identity || (coming->begun > 0 && coming->identity == identity)) return;
  coming->begun = attn2c_http_now(), coming->socket = socket, coming->identity = identity;
  char line[2 * sizeof coming->path] = "";
  evbuffer_copyout(input, line, sizeof line - 1);
  *coming->path = '\0';
  sscanf(line, "%*s %63[^ ?\r\n]", coming->path);
}

/* Notes what libevent has taken: a line, then its end. An empty line has an end only. */
static void note_taken(struct coming *coming) {
  const int is_line = strcspn(coming->front, "\r\n") > 0;
  if (is_line) {
    memcpy(coming->taken[1], coming->taken[0], LINE);
    memcpy(coming->taken[0], coming->front, LINE);
  } else if (!coming->has_line) {
    *coming->taken[0] = '\0';
  }
  coming->has_line = is_line;
}

/* Is called when bytes come, and when libevent takes some. */
static void note_bytes(struct evbuffer *input, const struct evbuffer_cb_info *info, void *stream) {
  if (!serving) return;
  const evutil_socket_t socket = bufferevent_getfd(stream);
  struct coming *coming = &serving->coming[attn2c_socket_row(socket, serving->files)];
  if (coming->refused == stream) {
    if (info->n_added > 0) evbuffer_drain(input, evbuffer_get_length(input));
    return;
  }
  if (info->n_deleted > 0) note_taken(coming);
  memset(coming->front, 0, LINE);
  evbuffer_copyout(input, coming->front, LINE - 1);
  if (info->n_added > 0) note_begin(input, coming, socket);
}

/* Returns the size of a chunk that a line is, or -1. */
static long long chunk_size(const char *line) {
  char *end;
  const long long size = strtoll(line, &end, 16);
  return end == line || !strchr(" \r\n", *end) ? -1 : size;
}

/* True if the last line that libevent has taken was to be a chunk's size, and is none, or was to be a trailer
 * after the last chunk. libevent refuses such a body as one that is too long. */
static int is_damaged(const struct coming *coming) {
  return *coming->taken[0] && (chunk_size(coming->taken[0]) < 0 || chunk_size(coming->taken[1]) == 0);
}

/* Keeps the stream of a refused request after libevent has ended it. */
static void keep_refused(struct coming *coming, struct bufferevent *stream) {
  const struct timeval silent = {.tv_sec = SILENT_SECONDS}, idle = {.tv_sec = IDLE_SECONDS};
  if (coming->refused) return;
  bufferevent_incref(stream);
  bufferevent_set_timeouts(stream, &silent, &idle);
  coming->refused = stream;
  coming->closes = attn2c_http_now() + REFUSED_SECONDS;
}

/* Closes it, if libevent has done so, too. */
static void give_refused(struct coming *coming) {
  if (coming->refused) bufferevent_decref(coming->refused);
  coming->refused = NULL;
}

/* True if a stream's output is a page of HTML with which libevent refuses a request by itself. Gives its
 * status. */
static int is_refusal(struct evbuffer *output, int *status) {
  static const char end[] = "\n</BODY></HTML>\n";
  char line[16] = "";
  evbuffer_copyout(output, line, sizeof line - 1);
  return sscanf(line, "HTTP/1.%*d %d", status) == 1 && *status >= 400 &&
         evbuffer_search(output, end, strlen(end), NULL).pos >= 0;
}

/* Writes the caller's words in place of such a page. */
static void note_reply(struct evbuffer *output, const struct evbuffer_cb_info *info, void *stream) {
  if (!serving || info->n_added == 0) return;
  const int row = attn2c_socket_row(bufferevent_getfd(stream), serving->files);
  struct coming *coming = &serving->coming[row];
  attn2c_exchange exchange = {.http = serving, .path = coming->path, .seconds = attn2c_http_now()};
  evbuffer_unfreeze(output, 1); /* only the stream takes bytes from its front else */
  char *body = NULL;
  if (is_refusal(output, &exchange.status)) {
    if (exchange.status == 413 && is_damaged(coming)) exchange.status = 400;
    body = serving->options.refused(serving->options.context, &exchange);
    keep_refused(coming, stream);
  }
  if (body) {
    evbuffer_drain(output, evbuffer_get_length(output));
    char head[160];
    snprintf(head, sizeof head,
             "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n\r\n",
             exchange.status, words_of(exchange.status), strlen(body));
    evbuffer_add(output, head, strlen(head));
    evbuffer_add(output, body, strlen(body));
  }
  evbuffer_freeze(output, 1);
  free(body);
}

static struct bufferevent *new_stream(struct event_base *base, void *given) {
  const attn2c_http *http = given;
  struct bufferevent *stream = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
  if (!stream) return NULL;
  /* Bytes beyond a request are not read before it has a reply. */
  bufferevent_setwatermark(stream, EV_READ, 0, http->options.most_body + 2 * ATTN2C_HTTP_HEADERS);
  evbuffer_add_cb(bufferevent_get_input(stream), note_bytes, stream);
  evbuffer_add_cb(bufferevent_get_output(stream), note_reply, stream);
  return stream;
}

/* Ends connections whose request takes too long to come, or is refused and has ended. */
static void sweep(evutil_socket_t file, short what, void *given) {
  attn2c_http *http = given;
  const double now = attn2c_http_now(), last = now - REQUEST_SECONDS;
  (void)file, (void)what;
  for (int i = 0; i < http->files; i++) {
    struct coming *coming = &http->coming[i];
    if (coming->refused && (coming->closes < now || !(bufferevent_get_enabled(coming->refused) & EV_READ)))
      give_refused(coming);
    if (coming->begun == 0 || coming->begun > last) continue;
    if (attn2c_socket_identity(coming->socket) == coming->identity) attn2c_socket_end(coming->socket);
    coming->begun = 0;
  }
}

/* No descriptor is left: connections wait a moment. */
static void rest(struct evconnlistener *listener, void *given) {
  attn2c_http *http = given;
  const struct timeval moment = {.tv_usec = 100000};
  evconnlistener_disable(listener);
  event_add(http->again, &moment);
}

static void listen_again(evutil_socket_t file, short what, void *given) {
  const attn2c_http *http = given;
  (void)file, (void)what;
  if (http->listener) evconnlistener_enable(http->listener);
}

static void note_wake(evutil_socket_t file, short what, void *given) {
  attn2c_http *http = given;
  (void)file, (void)what;
  if (attn2c_waker_take(http->waker)) http->options.woken(http->options.context);
}

void attn2c_http_wake(attn2c_http *http) { attn2c_waker_wake(http->waker); }

static void stop(attn2c_http *http) {
  const struct timeval most = {.tv_sec = http->most_seconds};
  if (http->is_ending) return;
  http->is_ending = 1;
  attn2c_socket_file_remove(http->options.path, &http->file);
  evconnlistener_disable(http->listener);
  attn2c_socket_end(evconnlistener_get_fd(http->listener));
  if (http->open == 0)
    event_base_loopexit(http->base, NULL);
  else
    event_base_loopexit(http->base, &most);
}

int attn2c_http_stops(const attn2c_http *http) { return http->is_ending; }

static void note_signal(evutil_socket_t number, short what, void *given) {
  attn2c_http *http = given;
  (void)number, (void)what;
  if (http->signal_count++) event_base_loopbreak(http->base);
  stop(http);
}

evutil_socket_t attn2c_listen(const struct sockaddr *address, int length, int waiting, const char *name,
                              attn2c_message *message) {
  const evutil_socket_t made = (evutil_socket_t)socket(address->sa_family, SOCK_STREAM, 0);
  if (made >= 0 && evutil_make_socket_closeonexec(made) == 0 && evutil_make_socket_nonblocking(made) == 0) {
    if (address->sa_family != AF_UNIX) attn2c_socket_claim(made);
    if (bind(made, address, (socklen_t)length) == 0 && listen(made, waiting) == 0) return made;
  }
  const int error = evutil_socket_geterror(made);
  attn2c_say(message, "%s: %s", name,
             error == ATTN2C_ADDRESS_IS_TAKEN ? "another process listens there"
                                              : evutil_socket_error_to_string(error));
  if (made >= 0) evutil_closesocket(made);
  return -1;
}

/* Sets *status if the address is none. */
static evutil_socket_t listen_at_port(attn2c_http *http, int *status, attn2c_message *message) {
  const attn2c_http_options *o = &http->options;
  const char *host = strcmp(o->host, "localhost") == 0 ? "127.0.0.1" : o->host;
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)o->port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)o->port)};
  const int is_four = inet_pton(AF_INET, host, &four.sin_addr) == 1;
  if (!is_four && inet_pton(AF_INET6, host, &six.sin6_addr) != 1) {
    *status = ATTN2C_USAGE;
    attn2c_say(message, "--host: '%s', but a number such as 127.0.0.1 or ::1, or localhost is allowed",
               o->host);
    return -1;
  }
  snprintf(http->address, sizeof http->address, is_four ? "%s:%d" : "[%s]:%d", host, o->port);
  const struct sockaddr *address = is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six;
  const evutil_socket_t file =
      attn2c_listen(address, is_four ? sizeof four : sizeof six, BACKLOG, http->address, message);
  socklen_t length = sizeof six; /* the port is at the same place in both */
  if (file < 0 || getsockname(file, (struct sockaddr *)&six, &length) != 0) return file;
  snprintf(http->address, sizeof http->address, is_four ? "http://%s:%d" : "http://[%s]:%d", host,
           ntohs(six.sin6_port));
  return file;
}

/* Makes all that libevent has of the server. */
static int make(attn2c_http *http) {
  static const struct timeval each_second = {.tv_sec = 1};
  struct event_config *config = event_config_new();
  if (config) event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
  http->base = config ? event_base_new_with_config(config) : NULL;
  if (config) event_config_free(config);
  http->server = http->base ? evhttp_new(http->base) : NULL;
  if (!http->server) return ATTN2C_MEMORY;
  evhttp_set_max_headers_size(http->server, ATTN2C_HTTP_HEADERS);
  evhttp_set_max_body_size(http->server, (ev_ssize_t)http->options.most_body);
  evhttp_set_timeout(http->server, IDLE_SECONDS);
  evhttp_set_bevcb(http->server, new_stream, http);
  evhttp_set_gencb(http->server, handle, http);
  evhttp_set_allowed_methods(http->server, 0xffff); /* the caller refuses those that it does not have */
  http->wake = event_new(http->base, http->waker[0], EV_READ | EV_PERSIST, note_wake, http);
  http->sweep = event_new(http->base, -1, EV_PERSIST, sweep, http);
  http->again = evtimer_new(http->base, listen_again, http);
  for (int i = 0; i < 2; i++)
    http->signals[i] = evsignal_new(http->base, i ? SIGINT : SIGTERM, note_signal, http);
  if (!http->wake || !http->sweep || !http->again || !http->signals[0] || !http->signals[1])
    return ATTN2C_MEMORY;
  event_add(http->wake, NULL);
  event_add(http->sweep, &each_second);
  event_add(http->signals[0], NULL);
  event_add(http->signals[1], NULL);
  return ATTN2C_OK;
}

int attn2c_http_create(const attn2c_http_options *options, attn2c_http **made, attn2c_message *message) {
  *made = NULL;
  event_set_mem_functions(take, retake, give);
  event_set_log_callback(say_nothing);
  attn2c_http *http = calloc(1, sizeof *http);
  if (!http) return ATTN2C_MEMORY;
  http->options = *options;
  http->files = attn2c_sockets_begin(MOST_FILES);
  http->waker[0] = http->waker[1] = -1;
  if (http->files > 0) http->coming = calloc((size_t)http->files, sizeof *http->coming);
  int status = http->coming && attn2c_waker_open(http->waker) == 0 ? make(http) : ATTN2C_MEMORY;
  evutil_socket_t file = -1;
  if (status == ATTN2C_OK && options->path) {
    file = attn2c_socket_file_open(options->path, BACKLOG, &http->file, &status, message);
    snprintf(http->address, sizeof http->address, "unix:%s", options->path);
  } else if (status == ATTN2C_OK) {
    file = listen_at_port(http, &status, message);
  }
  if (status == ATTN2C_OK && file < 0) status = ATTN2C_IO;
  if (status == ATTN2C_OK) {
    http->listener =
        evconnlistener_new(http->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, file);
    if (!http->listener || !evhttp_bind_listener(http->server, http->listener)) status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_OK) evconnlistener_set_error_cb(http->listener, rest);
  serving = http;
  if (status == ATTN2C_OK)
    *made = http;
  else
    attn2c_http_free(http);
  return status;
}

void attn2c_http_run(attn2c_http *http, int most_seconds) {
  http->most_seconds = most_seconds;
  event_base_dispatch(http->base);
}

const char *attn2c_http_address(const attn2c_http *http) { return http->address; }

int attn2c_http_open(const attn2c_http *http) { return http->open; }

void attn2c_http_free(attn2c_http *http) {
  if (!http) return;
  serving = NULL;
  attn2c_socket_file_remove(http->options.path, &http->file);
  for (int i = 0; i < http->files && http->coming; i++) give_refused(&http->coming[i]);
  if (http->server) evhttp_free(http->server); /* with its listener and connections */
  struct event *events[] = {http->wake, http->sweep, http->again, http->signals[0], http->signals[1]};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (events[i]) event_free(events[i]);
  if (http->base) event_base_free(http->base);
  attn2c_waker_close(http->waker);
  ATTN2C_FREE(http->coming, http);
}
