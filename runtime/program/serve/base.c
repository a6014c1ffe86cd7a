/* base.c - the routes that each model has: /health, /v1/models, /metrics. */
#include "program/serve/request.h"

static void health(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  (void)server, (void)given;
  attn2c_serve_reply(exchange, 200, json_pack("{s:s}", "status", "ok"), 0);
}

static void models(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  const attn2c_descriptor *model = server->model;
  json_t *list = json_array();
  (void)given;
  for (int i = 0; i == 0 || (model->adapters && model->adapters[i - 1]); i++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:s, s:s*}", "id", attn2c_served_name(server, i),
                                          "object", "model", "created", (json_int_t)server->started,
                                          "owned_by", "attn2c", "parent", i ? model->name : NULL));
  attn2c_serve_reply(exchange, 200, json_pack("{s:s, s:o}", "object", "list", "data", list), 0);
}

static void metrics(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  int waiting, running;
  size_t length;
  (void)given;
  attn2c_engine_counts(server->engine, &waiting, &running);
  char *text = attn2c_metrics_text(&server->metrics, waiting, running, attn2c_http_open(server->http),
                                   attn2c_http_bytes(), &length);
  if (text)
    attn2c_http_reply(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", text, length);
  else
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the metrics");
  free(text);
}

static const attn2c_route routes[] = {
    {ATTN2C_HTTP_GET, "/", attn2c_page_reply, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 1, NULL},
    {ATTN2C_HTTP_GET, "/routes", attn2c_page_routes, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 1, NULL},
    {ATTN2C_HTTP_GET, "/health", health, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 1, NULL},
    {ATTN2C_HTTP_GET, "/v1/models", models, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 0, NULL},
    {ATTN2C_HTTP_GET, "/metrics", metrics, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_NOTHING, 0, NULL},
    {0}};

const attn2c_server_part attn2c_server_base = {.routes = routes};
