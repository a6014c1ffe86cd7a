/* route.c - the table of routes is that of all parts of the program. */

#include <strings.h>

#include "base/text_facts.h"
#include "program/serve/request.h"

enum { MOST_JSON = 4 << 20, MOST_KEY = 1024 }; /* bytes */

int attn2c_server_each_part(int (*visit)(const attn2c_server_part *, void *), void *context) {
  const attn2c_server_part *const parts[] = {&attn2c_server_generate, &attn2c_server_text,
                                             &attn2c_server_sound, &attn2c_server_picture,
                                             &attn2c_server_base};
  int result = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !result; i++)
    if (parts[i]) result = visit(parts[i], context);
  return result;
}

/* The search for a route. */
typedef struct {
  const attn2c_server *server;
  const attn2c_exchange *exchange;
  size_t left_out;                   /* bytes of OpenAI's routes that the path lacks: of /v1 */
  const attn2c_route *found, *known; /* known: of the path, but of other models */
  char methods[64];                  /* that the path has */
} search;

enum { VERSION_BYTES = sizeof "/v1" - 1 };

static int is_of_openai(const char *path) { return strncmp(path, "/v1/", VERSION_BYTES + 1) == 0; }

/* True if a route has a path. One that ends with '/' has all paths that go on. */
static int has_path(const attn2c_route *route, size_t left_out, const char *path) {
  if (left_out && !is_of_openai(route->path)) return 0;
  const char *own = route->path + left_out;
  const size_t length = strlen(own);
  const int is_prefix = length > 1 && own[length - 1] == '/';
  return is_prefix ? strncmp(path, own, length) == 0 && path[length] : strcmp(path, own) == 0;
}

static int look(const attn2c_server_part *part, void *given) {
  search *s = given;
  for (const attn2c_route *route = part->routes; route->path; route++) {
    if (!has_path(route, s->left_out, s->exchange->path)) continue;
    if (!s->known) s->known = route;
    if (route->offers && !route->offers(s->server)) continue;
    const int is_get = route->method == ATTN2C_HTTP_GET;
    if (route->method == s->exchange->method || (is_get && s->exchange->method == ATTN2C_HTTP_HEAD))
      return s->found = route, 1;
    const size_t used = strlen(s->methods);
    snprintf(s->methods + used, sizeof s->methods - used, "%s%s", used ? ", " : "",
             is_get ? "GET, HEAD" : "POST");
  }
  return 0;
}

static int asks_as_tei(const attn2c_server_part *part, void *server) {
  for (const attn2c_route *route = part->routes; route->path; route++)
    if (route->errors == ATTN2C_ERRORS_TEI && route->offers && route->offers(server)) return 1;
  return 0;
}

/* Returns what stands for a path that no route has. Clients of a model that has routes as TEI has them know
 * TEI's errors, except under /v1/. */
static const attn2c_route *other_route(attn2c_server *server, const char *path) {
  static const attn2c_route others[] = {{.path = "other", .errors = ATTN2C_ERRORS_OPENAI},
                                        {.path = "other", .errors = ATTN2C_ERRORS_TEI}};
  return &others[!is_of_openai(path) && attn2c_server_each_part(asks_as_tei, server)];
}

/* The paths of a model. */
typedef struct {
  const attn2c_server *server;
  char paths[400];
} offer;

static int name_paths(const attn2c_server_part *part, void *given) {
  offer *o = given;
  for (const attn2c_route *route = part->routes; route->path; route++) {
    const size_t used = strlen(o->paths);
    if (route->takes == ATTN2C_TAKES_NOTHING || !route->path[1] ||
        (route->offers && !route->offers(o->server)))
      continue;
    snprintf(o->paths + used, sizeof o->paths - used, "%s, ", route->path);
  }
  return 0;
}

/* Says that the model does not have the path of a request, and what it has. */
static void refuse_path(const attn2c_server *server, attn2c_exchange *exchange) {
  offer o = {.server = server};
  attn2c_server_each_part(name_paths, &o);
  attn2c_serve_refuse(exchange, 404, NULL, NULL, "there is no such route; this model has %s/v1/models",
                      o.paths);
}

/* True if the request has the server's key. The time does not depend on how much of it is right. */
static int has_key(const attn2c_server *server, const attn2c_exchange *exchange) {
  const char *given = attn2c_http_header(exchange, "Authorization");
  if (!server->key) return 1;
  if (!given || strncasecmp(given, "Bearer ", 7) != 0) return 0;
  given += 7;
  const size_t length = strlen(server->key), other = strlen(given);
  unsigned differs = length != other;
  for (size_t i = 0; i < other; i++)
    differs |= (unsigned char)given[i] ^ (unsigned char)server->key[i % length];
  return !differs;
}

int attn2c_route_read_key(const char *path, char **key, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  char text[MOST_KEY + 1];
  *key = NULL;
  ATTN2C_TRY(attn2c_file_open(path, &file, message));
  const size_t length = file.size <= MOST_KEY ? (size_t)file.size : 0;
  if (length) ATTN2C_TRY(attn2c_file_read(&file, 0, text, length, message));
  text[length] = '\0';
  text[strcspn(text, "\r\n")] = '\0';
  for (const char *at = text; *at; at++)
    if (*at <= ' ' || *at > '~') *text = '\0';
  if (*text == '\0')
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "--api-key-file %s: a first line of 1 to %d letters, digits and marks is expected",
                       path, MOST_KEY);
  *key = attn2c_copied(text, strlen(text));
  return *key ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Returns the most bytes of a route's body. Texts may come with pictures of their pages. */
static size_t most_of(const attn2c_server *server, const attn2c_route *route) {
  const int has_pages = server->model->text && server->model->text->image >= 0;
  return route->takes == ATTN2C_TAKES_BYTES || has_pages ? server->most_body : MOST_JSON;
}

/* Reads the body and calls the route. */
static void handle_json(attn2c_server *server, attn2c_exchange *exchange, const attn2c_route *route) {
  json_error_t error;
  const size_t most = most_of(server, route);
  if (exchange->length > most) {
    attn2c_serve_refuse(exchange, 413, NULL, NULL, "the body has %zu bytes, but at most %zu are allowed",
                        exchange->length, most);
    return;
  }
  json_auto_t *given = json_loadb(exchange->body, exchange->length, JSON_REJECT_DUPLICATES, &error);
  if (route->errors == ATTN2C_ERRORS_TEI && given && !attn2c_request_spread(exchange, given)) return;
  json_auto_t *unread = json_is_object(given) ? json_copy(given) : NULL;
  exchange->unread = unread;
  if (json_is_object(given) && !unread)
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the request");
  else if (json_is_object(given))
    route->handle(server, exchange, given);
  else if (given)
    attn2c_serve_refuse(exchange, 400, NULL, NULL, "the body: an object in JSON is expected");
  else
    attn2c_serve_refuse(exchange, 400, NULL, NULL, "the body is no JSON: %s, at byte %d",
                        error.position >= 0 ? error.text : "it cannot be read", error.position);
}

/* Gives an exchange the route of its path, or what stands for one. Returns the search. */
static search find_route(attn2c_server *server, attn2c_exchange *exchange) {
  search s = {.server = server, .exchange = exchange};
  attn2c_server_each_part(look, &s);
  if (!s.known) { /* clients of llama.cpp and infinity leave out the version */
    s.left_out = VERSION_BYTES;
    attn2c_server_each_part(look, &s);
  }
  exchange->route = s.found ? s.found : s.known ? s.known : other_route(server, exchange->path);
  return s;
}

void attn2c_route_handle(void *given, attn2c_exchange *exchange) {
  attn2c_server *server = given;
  const search s = find_route(server, exchange);
  if ((!s.found || !s.found->is_open) && !has_key(server, exchange)) {
    attn2c_http_add_header(exchange, "WWW-Authenticate", "Bearer");
    attn2c_serve_refuse(exchange, 401, NULL, "invalid_api_key", "the key is missing or wrong");
  } else if (!s.found && *s.methods) {
    attn2c_http_add_header(exchange, "Allow", s.methods);
    attn2c_serve_refuse(exchange, 405, NULL, NULL, "the route takes %s", s.methods);
  } else if (!s.found) {
    refuse_path(server, exchange);
  } else if (s.found->takes == ATTN2C_TAKES_JSON) {
    handle_json(server, exchange, s.found);
  } else {
    s.found->handle(server, exchange, NULL);
  }
}

char *attn2c_route_refused(void *given, attn2c_exchange *exchange) {
  attn2c_server *server = given;
  char line[120];
  find_route(server, exchange);
  const size_t most = most_of(server, exchange->route);
  if (exchange->status == 413)
    snprintf(line, sizeof line, "the body: at most %zu bytes are allowed", most);
  else if (exchange->status == 417)
    snprintf(line, sizeof line, "Expect: 100-continue is allowed");
  else if (exchange->status == 400)
    snprintf(line, sizeof line,
             "the request: HTTP/1.1 with one length or chunks and at most %d bytes of headers is expected",
             ATTN2C_HTTP_HEADERS);
  else
    snprintf(line, sizeof line, "no memory for the request");
  attn2c_route_ended(server, exchange);
  return attn2c_serve_error(exchange, exchange->status, NULL, NULL, line);
}

void attn2c_route_ended(void *given, const attn2c_exchange *exchange) {
  attn2c_server *server = given;
  const char *route = exchange->route->path;
  attn2c_metrics_note(&server->metrics, route, exchange->status, attn2c_http_now() - exchange->seconds);
  attn2c_log_write((attn2c_log_form)server->arguments->serve.log, exchange, route, server->notes);
}

/* The client of a job has gone. */
static void cancel(attn2c_exchange *exchange) {
  attn2c_job *job = exchange->owner;
  job->exchange = NULL;
  atomic_store(&job->is_cancelled, 1);
  attn2c_engine_look(job->server->engine);
}

/* The client of a job has read what there is. */
static void go_on(attn2c_exchange *exchange) {
  attn2c_job *job = exchange->owner;
  atomic_store(&job->is_behind, 0);
  attn2c_engine_look(job->server->engine);
}

void attn2c_serve_submit(attn2c_server *server, attn2c_exchange *exchange, attn2c_job *job) {
  attn2c_request_note_unread(exchange);
  job->server = server;
  job->exchange = exchange;
  exchange->gone = cancel, exchange->caught_up = go_on;
  if (!attn2c_http_stops(server->http) && attn2c_engine_submit(server->engine, job) == ATTN2C_OK) {
    exchange->owner = job;
    return;
  }
  exchange->gone = NULL;
  attn2c_http_add_header(exchange, "Retry-After", "1");
  attn2c_serve_refuse(exchange, 503, NULL, NULL,
                      attn2c_http_stops(server->http) ? "the server ends" : "too many requests wait");
  job->kind->free(job);
}
