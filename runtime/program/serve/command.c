#include "program/serve/command.h"

#include <time.h>

#include "program/inputs.h"
#include "program/output.h"
#include "program/run.h"
#include "program/serve/server.h"

enum { USUAL_PORT = 8080, USUAL_WAITING = 512, USUAL_BODY = 5 << 20, END_SECONDS = 30 };

/* Data of the visits of the parts. */
typedef struct {
  attn2c_server *server;
  attn2c_message *message;
} visit;

static int open_part(const attn2c_server_part *part, void *given) {
  visit *v = given;
  if (part->most_body > v->server->most_body) v->server->most_body = part->most_body;
  return part->open ? part->open(v->server, v->message) : ATTN2C_OK;
}

static int close_part(const attn2c_server_part *part, void *given) {
  if (part->close) part->close(given);
  return 0;
}

static void collect(void *given) { attn2c_engine_collect(((attn2c_server *)given)->engine); }

static void wake(void *given) { attn2c_http_wake(((attn2c_server *)given)->http); }

/* Opens all that a server has. */
static int open_server(attn2c_server *server, FILE *out, attn2c_message *message) {
  const attn2c_arguments *arguments = server->arguments;
  const attn2c_serve_arguments *given = &arguments->serve;
  visit v = {.server = server, .message = message};
  server->most_body = USUAL_BODY;
  if (given->path && (given->host || given->port >= 0))
    return attn2c_fail(message, ATTN2C_USAGE, "--unix: does not go with --host and --port");
  if (attn2c_lacks_weights(server->model, arguments->weights, "serve", message)) return ATTN2C_USAGE;
  ATTN2C_TRY(given->key_file ? attn2c_route_read_key(given->key_file, &server->key, message) : ATTN2C_OK);
  ATTN2C_TRY(attn2c_engine_create(given->waiting, wake, server, &server->engine));
  ATTN2C_TRY(attn2c_run_open(server->model, arguments, server->notes, &server->opened, message));
  ATTN2C_TRY(attn2c_server_each_part(open_part, &v));
  if (given->sequences && !server->generate)
    return attn2c_fail(message, ATTN2C_USAGE, "--sequences: this model writes no answers to texts");
  if ((arguments->generate.guess || arguments->generate.draft) && !server->generate)
    return attn2c_fail(message, ATTN2C_USAGE, "--guess, --draft: this model writes no answers to texts");
  const attn2c_http_options options = {.host = given->host ? given->host : "127.0.0.1",
                                       .port = given->port >= 0 ? given->port : USUAL_PORT,
                                       .path = given->path,
                                       .most_body = server->most_body,
                                       .context = server,
                                       .handle = attn2c_route_handle,
                                       .refused = attn2c_route_refused,
                                       .ended = attn2c_route_ended,
                                       .woken = collect};
  ATTN2C_TRY(attn2c_http_create(&options, &server->http, message));
  ATTN2C_TRY(attn2c_engine_start(server->engine));
  fprintf(out, "%s serves at %s\n", server->model->name, attn2c_http_address(server->http));
  return attn2c_output_flush(out, message);
}

static int run(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
               attn2c_message *message) {
  attn2c_arguments own = *arguments;
  ATTN2C_OWN attn2c_server *server = calloc(1, sizeof *server);
  if (!server) return ATTN2C_MEMORY;
  if (!own.serve.log) own.serve.log = ATTN2C_LOG_TEXT;
  if (own.serve.waiting <= 0) own.serve.waiting = USUAL_WAITING;
  server->model = model, server->arguments = &own, server->notes = notes;
  server->started = (int64_t)time(NULL);
  const int status = open_server(server, out, message);
  if (status == ATTN2C_OK) attn2c_http_run(server->http, END_SECONDS);
  attn2c_http_free(server->http); /* it cancels requests that are left */
  attn2c_engine_free(server->engine);
  attn2c_server_each_part(close_part, server);
  attn2c_model_close(server->opened);
  free(server->key);
  return status;
}

static const attn2c_server_command command = {
    .name = "serve",
    .in_list = "  serve       answer over HTTP\n",
    .page = &attn2c_server_page,
    .options = attn2c_server_options,
    .run = run,
};
const attn2c_server_command *const ATTN2C_DEFINES(attn2c_the_server) = &command;
