/* generate_chat.c - the messages of a chat, which the model's chat template makes a prompt. */
#include "chat/chat_template.h"
#include "program/serve/generate.h"

enum { MOST_MESSAGES = 4096 };

/* What a request's JSON becomes for the template. */
typedef struct {
  attn2c_chat_message *messages;
  char **joined; /* contents that were lists of parts */
  size_t count;
} chat;

static void free_chat(chat *c) {
  for (size_t i = 0; i < c->count && c->joined; i++) free(c->joined[i]);
  free(c->joined);
  free(c->messages);
}

/* Joins the parts {"type": "text", "text": TEXT} of a content. Returns NULL after a fault. */
static char *join_parts(attn2c_request *r, const json_t *parts, size_t *length) {
  size_t all = 0;
  for (size_t i = 0; i < json_array_size(parts); i++) {
    const json_t *part = json_array_get(parts, i), *text = json_object_get(part, "text");
    const char *type = json_string_value(json_object_get(part, "type"));
    if (!type || strcmp(type, "text") != 0 || !json_is_string(text)) {
      attn2c_request_refuse(r, "messages.content", part,
                            "parts {\"type\": \"text\", \"text\": TEXT} are allowed");
      return NULL;
    }
    all += json_string_length(text);
  }
  char *joined = malloc(all + 1);
  *length = 0;
  for (size_t i = 0; i < json_array_size(parts) && joined; i++) {
    const json_t *text = json_object_get(json_array_get(parts, i), "text");
    memcpy(joined + *length, json_string_value(text), json_string_length(text));
    *length += json_string_length(text);
  }
  return joined;
}

static void read_message(attn2c_request *r, chat *c, const json_t *given) {
  const json_t *role = json_object_get(given, "role"), *content = json_object_get(given, "content");
  attn2c_chat_message *message = &c->messages[c->count];
  if (!json_is_object(given) || !json_is_string(role)) {
    attn2c_request_refuse(r, "messages", given, "messages {\"role\": TEXT, \"content\": TEXT} are allowed");
    return;
  }
  message->role = json_string_value(role), message->role_length = json_string_length(role);
  if (json_is_string(content)) {
    message->content = json_string_value(content), message->content_length = json_string_length(content);
  } else if (json_is_array(content)) {
    message->content = c->joined[c->count] = join_parts(r, content, &message->content_length);
    if (!message->content && !r->failed) {
      attn2c_serve_refuse(r->exchange, 503, NULL, NULL, "no memory for the request");
      r->failed = 1;
    }
  } else if (content && !json_is_null(content)) {
    attn2c_request_refuse(r, "messages.content", content, "a text or a list of parts is allowed");
  }
  c->count++;
}

void attn2c_serve_chat(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request request = {.exchange = exchange, .given = given}, *r = &request;
  attn2c_serve_generate *g = server->generate;
  const attn2c_chat_template *template = g->facts->chat;
  attn2c_ask *ask = attn2c_ask_read(server, r, 1);
  if (!ask) return;
  const json_t *list = attn2c_request_field(r, "messages");
  const size_t count = json_array_size(list);
  chat c = {.count = 0};
  if (count < 1 || count > MOST_MESSAGES) {
    attn2c_request_refuse(r, "messages", list, "a list of 1 to 4096 messages is allowed");
  } else {
    c.messages = calloc(count, sizeof *c.messages);
    c.joined = calloc(count, sizeof *c.joined);
  }
  if (!r->failed && (!c.messages || !c.joined)) {
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the request");
    r->failed = 1;
  }
  for (size_t i = 0; i < count && !r->failed; i++) read_message(r, &c, json_array_get(list, i));
  const attn2c_chat_options options = {.add_generation_prompt = 1};
  const char *text;
  size_t length;
  char fault[300] = "";
  const int status = r->failed ? ATTN2C_OK
                               : template->render(template, &g->chat, c.messages, c.count, &options, &text,
                                                  &length, fault, sizeof fault);
  if (!r->failed && status != ATTN2C_OK) {
    attn2c_serve_refuse(exchange, status == ATTN2C_MEMORY ? 503 : 400, "messages", NULL, "messages: %s",
                        *fault ? fault : attn2c_strerror(status));
    r->failed = 1;
  }
  if (!r->failed) attn2c_ask_add_text(server, r, ask, "messages", text, length);
  free_chat(&c);
  attn2c_ask_submit(server, r, ask);
}
