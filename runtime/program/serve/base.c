/* base.c - the routes that each model has: /health, /v1/models, /metrics. */
#include "program/serve/request.h"

static void health(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  (void)server, (void)given;
  attn2c_serve_reply(exchange, 200, json_pack("{s:s}", "status", "ok"), 0);
}

/* Describes the model, or one of its adapters. */
static json_t *described(const attn2c_server *server, int32_t adapter) {
  return json_pack("{s:s, s:s, s:I, s:s, s:s*}", "id", attn2c_served_name(server, adapter), "object", "model",
                   "created", (json_int_t)server->started, "owned_by", "attn2c", "parent",
                   adapter ? server->model->name : NULL);
}

static void models(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  const attn2c_descriptor *model = server->model;
  json_t *list = json_array();
  (void)given;
  for (int i = 0; i == 0 || (model->adapters && model->adapters[i - 1]); i++)
    json_array_append_new(list, described(server, i));
  attn2c_serve_reply(exchange, 200, json_pack("{s:s, s:o}", "object", "list", "data", list), 0);
}

/* Describes the model that the rest of the path names: any, unless there are adapters. */
static void one_model(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  static const char before[] = "/models/";
  json_auto_t *named = json_pack("{s:s}", "model", strstr(exchange->path, before) + strlen(before));
  attn2c_request r = {exchange, named, 0};
  int32_t adapter;
  (void)given;
  if (!named) attn2c_request_refuse(&r, "model", NULL, "a name of UTF-8 is needed");
  attn2c_request_model(&r, server, &adapter);
  if (!r.failed) attn2c_serve_reply(exchange, 200, described(server, adapter), 0);
}

static void metrics(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  int waiting, running;
  size_t length;
  (void)given;
  attn2c_engine_counts(server->engine, &waiting, &running);
  ATTN2C_OWN char *text = attn2c_metrics_text(&server->metrics, waiting, running,
                                              attn2c_http_open(server->http), attn2c_http_bytes(), &length);
  if (text)
    attn2c_http_reply(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", text, length);
  else
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the metrics");
}

static const attn2c_route routes[] = {
    {ATTN2C_HTTP_GET, "/", attn2c_page_reply, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 1, NULL},
    {ATTN2C_HTTP_GET, "/routes", attn2c_page_routes, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 1, NULL},
    {ATTN2C_HTTP_GET, "/health", health, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 1, NULL},
    {ATTN2C_HTTP_GET, "/v1/models", models, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 0, NULL},
    {ATTN2C_HTTP_GET, "/v1/models/", one_model, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 0, NULL},
    {ATTN2C_HTTP_GET, "/metrics", metrics, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 0, NULL},
    {0}};

const attn2c_server_part attn2c_server_base = {.routes = routes};
