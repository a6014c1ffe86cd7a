/* page.c - the page that tries the model in a browser, and the list of routes that it reads. */
#include "base/text_facts.h"
#include "program/serve/server.h"
#include "system/bytes.h"

/* The page as it is. */
ATTN2C_BYTES(attn2c_page, "program/serve/page.html");

/* The policy for a browser: it runs the page's script and style, of these hashes, and calls this server. */
static const char policy[] =
    "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; script-src 'sha256-uqP+yQOov9FYoAk+K9qki+8B4z+kwRtyDmvau2JwxgU='; style-src "
    "'sha256-sVdoB9FxvPcL7i3333lYTmeHsrVcxIi1/V9ea4+EYR0='";

void attn2c_page_reply(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  (void)server, (void)given;
  attn2c_http_add_header(exchange, "Content-Security-Policy", policy);
  attn2c_http_add_header(exchange, "X-Content-Type-Options", "nosniff");
  attn2c_http_add_header(exchange, "Referrer-Policy", "no-referrer");
  attn2c_http_add_header(exchange, "Cache-Control", "no-cache");
  attn2c_http_reply(exchange, 200, "text/html; charset=utf-8", attn2c_page,
                    (size_t)(attn2c_page_end - attn2c_page));
}

/* The server and the routes that it offers. */
typedef struct {
  const attn2c_server *server;
  json_t *routes;
} list;

static int add(const attn2c_server_part *part, void *given) {
  const list *of = given;
  for (const attn2c_route *route = part->routes; route->path; route++)
    if (!route->offers || route->offers(of->server))
      json_array_append_new(of->routes, json_string(route->path));
  return 0;
}

void attn2c_page_routes(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  list of = {server, json_array()};
  json_t *takes = json_array();
  (void)given;
  attn2c_server_each_part(add, &of);
  const attn2c_text_facts *facts = server->model->text;
  const int has_pages = facts && facts->image >= 0;
  if (facts) json_array_append_new(takes, json_string("text"));
  if (facts && facts->boxes >= 0) json_array_append_new(takes, json_string("boxes"));
  if (has_pages) json_array_append_new(takes, json_string("page"));
  if (&attn2c_server_sound) json_array_append_new(takes, json_string("sound"));
  if (&attn2c_server_picture && !has_pages) json_array_append_new(takes, json_string("picture"));
  attn2c_serve_reply(exchange, 200,
                     json_pack("{s:s, s:o, s:o, s:b}", "model", server->model->name, "routes", of.routes,
                               "takes", takes, "needs_key", server->key != NULL),
                     0);
}
