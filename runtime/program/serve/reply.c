/* reply.c - replies of JSON, and errors in the forms of OpenAI and of text-embeddings-inference. */
#include "program/serve/server.h"

void attn2c_serve_reply(attn2c_exchange *exchange, int status, json_t *body, int failed) {
  ATTN2C_OWN char *text = body && !failed ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(body);
  if (text)
    attn2c_http_reply(exchange, status, "application/json", text, strlen(text));
  else
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the reply");
}

void attn2c_serve_event(attn2c_exchange *exchange, json_t *event) {
  ATTN2C_OWN char *text = event ? json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  const size_t length = text ? strlen(text) : 0;
  ATTN2C_OWN char *line = text ? malloc(length + 9) : NULL;
  json_decref(event);
  if (line) attn2c_http_write(exchange, line, (size_t)sprintf(line, "data: %s\n\n", text));
}

/* The words that clients know for a status: OpenAI's type, and TEI's. */
static const struct {
  int status;
  const char *openai, *tei;
} kinds[] = {{400, "invalid_request_error", "Validation"}, {401, "authentication_error", "Unauthorized"},
             {404, "not_found_error", "NotFound"},         {405, "invalid_request_error", "Validation"},
             {413, "invalid_request_error", "Validation"}, {417, "invalid_request_error", "Validation"},
             {422, "invalid_request_error", "Tokenizer"},  {429, "rate_limit_error", "Overloaded"},
             {503, "overloaded_error", "Overloaded"},      {500, "server_error", "Backend"}};

char *attn2c_serve_error(const attn2c_exchange *exchange, int status, const char *param, const char *code,
                         const char *message) {
  size_t kind = 0;
  while (kind + 1 < sizeof kinds / sizeof *kinds && kinds[kind].status != status) kind++;
  json_t *body;
  if (exchange->route->errors == ATTN2C_ERRORS_TEI)
    body = json_pack("{s:s, s:s}", "error", message, "error_type", kinds[kind].tei);
  else
    body = json_pack("{s:{s:s, s:s, s:s?, s:s?}}", "error", "message", message, "type", kinds[kind].openai,
                     "param", param, "code", code);
  char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
  json_decref(body);
  return text;
}

void attn2c_serve_refuse(attn2c_exchange *exchange, int status, const char *param, const char *code,
                         const char *format, ...) {
  va_list values;
  va_start(values, format);
  attn2c_serve_refuse_with(exchange, status, param, code, format, values);
  va_end(values);
}

void attn2c_serve_refuse_with(attn2c_exchange *exchange, int status, const char *param, const char *code,
                              const char *format, va_list values) {
  char line[600];
  vsnprintf(line, sizeof line, format, values);
  attn2c_printable(line);
  char *text = attn2c_serve_error(exchange, status, param, code, line);
  const char *body = text ? text : "{\"error\":{\"message\":\"no memory\",\"type\":\"server_error\"}}";
  attn2c_http_reply(exchange, status, "application/json", body, strlen(body));
  free(text);
}
