/* server.h - what the parts of the server share, and how a part adds routes. */
#pragma once

#include "model/model.h"
#include "program/arguments.h"
#include "program/serve/engine.h"
#include "program/serve/http.h"
#include "program/serve/metrics.h"

#include <jansson.h>
#include <stdarg.h>

typedef struct attn2c_server attn2c_server;

/* The form of a route's errors. */
typedef enum {
  ATTN2C_ERRORS_OPENAI, /* {"error": {"message", "type", "param", "code"}} */
  ATTN2C_ERRORS_TEI     /* {"error", "error_type"} */
} attn2c_error_form;

typedef struct attn2c_route {
  attn2c_http_method method;
  const char *path;
  /* Replies, or submits a job. given: the body's object of JSON, or NULL; it is released after the call. */
  void (*handle)(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
  attn2c_error_form errors;
  enum { ATTN2C_TAKES_NOTHING, ATTN2C_TAKES_JSON, ATTN2C_TAKES_BYTES } takes;
  int is_open;                                /* 1: without a key */
  int (*offers)(const attn2c_server *server); /* returns 0 if the model has no such answers; NULL: it has */
} attn2c_route;

/* A part of the server: of text, of sound. A program has those that its model needs. */
typedef struct attn2c_server_part {
  /* Prepares it. Is called once, before the first request. */
  int (*open)(attn2c_server *server, attn2c_message *message);
  void (*close)(attn2c_server *server);
  const attn2c_route *routes; /* ended by one without a path */
  size_t most_body;           /* bytes of a request; 0: as usual */
} attn2c_server_part;

extern const attn2c_server_part attn2c_server_generate __attribute__((weak));
extern const attn2c_server_part attn2c_server_text __attribute__((weak));
extern const attn2c_server_part attn2c_server_sound __attribute__((weak));
extern const attn2c_server_part attn2c_server_picture __attribute__((weak));
extern const attn2c_server_part attn2c_server_base;

struct attn2c_server {
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  FILE *notes;
  attn2c_model *opened; /* with its weights */
  attn2c_http *http;
  attn2c_engine *engine;
  attn2c_metrics metrics;
  size_t most_body;                       /* bytes of a request */
  char *key;                              /* NULL: none is needed */
  int64_t started;                        /* seconds since 1970 */
  struct attn2c_serve_generate *generate; /* of that part */
  struct attn2c_serve_text *text;         /* of that part */
  struct attn2c_serve_media *media;       /* of the parts of sound and of pictures */
};

/* Calls visit for each part of this program until it returns nonzero, which is returned. */
int attn2c_server_each_part(int (*visit)(const attn2c_server_part *part, void *context), void *context);

/* Gives a job to the engine. If too many wait, it replies 503 and frees the job. Until then the job's client
 * may go away: the job is then cancelled. */
void attn2c_serve_submit(attn2c_server *server, attn2c_exchange *exchange, attn2c_job *job);

/* Writes a reply of JSON, and releases it; NULL, or failed: 500. */
void attn2c_serve_reply(attn2c_exchange *exchange, int status, json_t *body, int failed);
/* Writes an event of a stream, and releases it; nothing without memory. */
void attn2c_serve_event(attn2c_exchange *exchange, json_t *event);
/* Reply with an error in the form of the exchange's route. param, code: may be NULL. */
void attn2c_serve_refuse(attn2c_exchange *exchange, int status, const char *param, const char *code,
                         const char *format, ...) __attribute__((format(ATTN2C_PRINTF, 5, 6)));
void attn2c_serve_refuse_with(attn2c_exchange *exchange, int status, const char *param, const char *code,
                              const char *format, va_list values)
    __attribute__((format(ATTN2C_PRINTF, 5, 0)));
/* Returns the error as JSON text, from malloc; NULL without memory. */
char *attn2c_serve_error(const attn2c_exchange *exchange, int status, const char *param, const char *code,
                         const char *message);

/* A line for each request on the standard error. It has no text of the client. */

/* The values of --log. */
typedef enum { ATTN2C_LOG_NONE = 1, ATTN2C_LOG_TEXT, ATTN2C_LOG_JSONL } attn2c_log_form;

void attn2c_log_write(attn2c_log_form form, const attn2c_exchange *exchange, const char *route, FILE *out);

/* The page that tries the model in a browser: `/`, and `/routes`, from which it knows what there is. */

void attn2c_page_reply(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
void attn2c_page_routes(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);

/* Finds the route of a request, checks its key, reads its JSON, and calls the route. */

/* The options.handle and options.ended of http.h; the context is the server. */
void attn2c_route_handle(void *server, attn2c_exchange *exchange);
char *attn2c_route_refused(void *server, attn2c_exchange *exchange);
void attn2c_route_ended(void *server, const attn2c_exchange *exchange);

/* Reads the key of --api-key-file: a line. Returns ATTN2C_OK, or another status and a line. */
int attn2c_route_read_key(const char *path, char **key, attn2c_message *message);
