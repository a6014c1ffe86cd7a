/* http.h - listens on an address or a socket file, reads whole requests within limits, and writes replies and
 * streams. It knows no model. All of it is used by one thread, the one that calls attn2c_http_run. */
#pragma once

#include "base/attn2c.h"

typedef struct attn2c_http attn2c_http;
typedef struct attn2c_exchange attn2c_exchange;

typedef enum {
  ATTN2C_HTTP_GET = 1,
  ATTN2C_HTTP_POST,
  ATTN2C_HTTP_HEAD,
  ATTN2C_HTTP_OTHER
} attn2c_http_method;

enum { ATTN2C_HTTP_HEADERS = 16 << 10 }; /* most bytes of a request's headers */

/* A request and its reply. It is freed once the reply is written, or the client has gone. */
struct attn2c_exchange {
  attn2c_http *http;
  attn2c_http_method method;
  const char *path; /* decoded, without the query */
  const char *body; /* [length]; ends with a NUL */
  size_t length;
  int status;                       /* of the reply; 0: there is none yet */
  double seconds;                   /* on the clock of attn2c_http_now, when the request was whole */
  void *owner;                      /* of the caller, as the next ones */
  const struct attn2c_route *route; /* NULL: not looked for yet */
  /* Called once if the client goes away before the reply is whole; NULL: not called. No other function may
   * be called on the exchange from then on. */
  void (*gone)(attn2c_exchange *exchange);
  /* Called when a stream that was behind has no unread bytes. */
  void (*caught_up)(attn2c_exchange *exchange);
  int64_t read_tokens, written_tokens;
  struct json_t *unread; /* while its JSON is read: a copy of it without the fields that were asked for */
  char ignored[160];     /* names of fields that nothing reads, with spaces between */
};

typedef struct attn2c_http_options {
  const char *host; /* a name or a number */
  int port;         /* 0: any free one */
  const char *path; /* of a socket file; NULL: host and port */
  size_t most_body; /* bytes */
  void *context;
  /* Takes a whole request, and replies now or later. */
  void (*handle)(void *context, attn2c_exchange *exchange);
  /* Returns the body of a reply to a request that cannot be read, for which the status is chosen; the caller
   * frees it. NULL: no memory. The exchange has a path, perhaps cut, and no method. */
  char *(*refused)(void *context, attn2c_exchange *exchange);
  /* Is told of each exchange that ends; status 0: the client has gone before a reply. */
  void (*ended)(void *context, const attn2c_exchange *exchange);
  /* Is called in the loop's thread some time after attn2c_http_wake. */
  void (*woken)(void *context);
} attn2c_http_options;

/* Returns ATTN2C_OK, _IO (the address cannot be listened on, and a line says why), or _MEMORY. *http is then
 * NULL. A socket file that nobody listens on is replaced. */
int attn2c_http_create(const attn2c_http_options *options, attn2c_http **http, attn2c_message *message);
void attn2c_http_free(attn2c_http *http);

/* Returns the address that it listens on, such as http://127.0.0.1:8080. */
const char *attn2c_http_address(const attn2c_http *http);

/* Serves until SIGTERM or SIGINT has come and all requests have a reply; at most some seconds after that. */
void attn2c_http_run(attn2c_http *http, int most_seconds);
/* True once such a signal has come. */
int attn2c_http_stops(const attn2c_http *http);

/* Makes the loop call options.woken; from any thread. */
void attn2c_http_wake(attn2c_http *http);

/* Returns seconds on a clock that only runs forward. */
double attn2c_http_now(void);

/* Returns a header of the request, or NULL. */
const char *attn2c_http_header(const attn2c_exchange *exchange, const char *name);
/* Adds a header to the reply. */
void attn2c_http_add_header(attn2c_exchange *exchange, const char *name, const char *value);
/* Replies. The body is copied. The exchange is freed some time after. */
void attn2c_http_reply(attn2c_exchange *exchange, int status, const char *type, const void *body,
                       size_t length);

/* A reply that is written piece by piece. A client that leaves too many bytes unread is dropped: it has then
 * gone. */
void attn2c_http_begin(attn2c_exchange *exchange, int status, const char *type);
void attn2c_http_write(attn2c_exchange *exchange, const void *piece, size_t length);
void attn2c_http_end(attn2c_exchange *exchange);
/* True if the client reads a stream more slowly than it is written: exchange->caught_up will be called. */
int attn2c_http_is_behind(attn2c_exchange *exchange);

/* Numbers for metrics: open requests; bytes that the connections take. */
int attn2c_http_open(const attn2c_http *http);
size_t attn2c_http_bytes(void);
