/* chat.c - the messages of a chat, which the model's chat template makes a prompt. */
#include "program/serve/generate/generate.h"

#include "model/text/left_out.h"

enum { MOST_MESSAGES = 4096, MOST_VALUES = 1 << 16, MOST_KEYS = 256, MOST_DEPTH = 64 };

/* Values of lists and objects, which are freed together. */
typedef struct block {
  struct block *next;
  attn2c_chat_value values[];
} block;

/* A request's messages for the template. */
typedef struct {
  attn2c_chat_message *messages;
  char **joined; /* contents that were lists of parts */
  size_t count;
  block *blocks;
  json_t *parsed; /* arguments of functions, which came as texts */
  int keeps_text; /* the template takes them as texts */
  const attn2c_chat_template *template;
  size_t values;
} chat;

static void free_chat(chat *c) {
  while (c->blocks) {
    block *next = c->blocks->next;
    free(c->blocks);
    c->blocks = next;
  }
  json_decref(c->parsed);
  for (size_t i = 0; i < c->count && c->joined; i++) free(c->joined[i]);
  ATTN2C_FREE(c->joined, c->messages);
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
    /* Marks of caches change no answer. */
    attn2c_request_ignore_others(r->exchange, "content", part, "type text cache_control");
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

static void read_value(attn2c_request *r, chat *c, const char *field, const json_t *given, int depth,
                       attn2c_chat_value *value);

/* Reads the items of a list or an object. `without`: keys that are left out, or NULL. */
static const attn2c_chat_value *read_items(attn2c_request *r, chat *c, const char *field, const json_t *given,
                                           int depth, const char *const *without, size_t *length) {
  const int is_list = json_is_array(given);
  const size_t count = is_list ? json_array_size(given) : json_object_size(given);
  *length = 0;
  if (depth > MOST_DEPTH || count > (is_list ? MOST_VALUES : MOST_KEYS) || (c->values += count) > MOST_VALUES)
    attn2c_request_refuse(r, field, given,
                          "objects of 256 keys, 64 in each other, and 65536 values are allowed at most");
  block *made = r->failed ? NULL : malloc(sizeof *made + count * sizeof *made->values);
  if (!made) {
    attn2c_request_no_memory(r);
    return NULL;
  }
  made->next = c->blocks;
  c->blocks = made;
  for (size_t i = 0; is_list && i < count && !r->failed; i++)
    read_value(r, c, field, json_array_get(given, i), depth + 1, &made->values[(*length)++]);
  const char *name;
  json_t *item;
  if (!is_list) json_object_foreach((json_t *)given, name, item) {
      const char *const *left = without;
      while (left && *left && strcmp(*left, name) != 0) left++;
      if ((left && *left) || r->failed || (without && json_is_null(item))) continue;
      read_value(r, c, field, item, depth + 1, &made->values[*length]);
      made->values[(*length)++].name = name;
    }
  return made->values;
}

/* Returns the object that a text is; NULL if it is none. */
static const json_t *parsed(chat *c, const json_t *text) {
  json_t *object =
      json_loadb(json_string_value(text), json_string_length(text), JSON_REJECT_DUPLICATES, NULL);
  if (!c->parsed) c->parsed = json_array();
  const int is_kept = json_array_append_new(c->parsed, object) == 0;
  return is_kept && json_is_object(object) ? object : NULL;
}

static void read_value(attn2c_request *r, chat *c, const char *field, const json_t *given, int depth,
                       attn2c_chat_value *value) {
  const double real = json_real_value(given);
  *value = (attn2c_chat_value){.kind = ATTN2C_CHAT_NONE};
  if (json_is_string(given))
    *value = (attn2c_chat_value){.text = json_string_value(given), .length = json_string_length(given)};
  else if (json_is_boolean(given))
    *value = (attn2c_chat_value){.kind = ATTN2C_CHAT_FLAG, .number = json_is_true(given)};
  else if (json_is_integer(given))
    *value = (attn2c_chat_value){.kind = ATTN2C_CHAT_INTEGER, .number = json_integer_value(given)};
  else if (json_is_real(given))
    value->kind = ATTN2C_CHAT_REAL, memcpy(&value->number, &real, sizeof real);
  else if (json_is_array(given) || json_is_object(given)) {
    value->kind = json_is_array(given) ? ATTN2C_CHAT_LIST : ATTN2C_CHAT_DICT;
    value->text = read_items(r, c, field, given, depth, NULL, &value->length);
    /* Templates write the arguments of a call as JSON, and clients send them as text. */
    for (size_t i = 0; json_is_object(given) && i < value->length && !r->failed; i++) {
      attn2c_chat_value *item = &((attn2c_chat_value *)value->text)[i];
      const json_t *text = json_object_get(given, item->name);
      const json_t *object = !c->keeps_text && strcmp(item->name, "arguments") == 0 && json_is_string(text)
                                 ? parsed(c, text)
                                 : NULL;
      const char *name = item->name;
      if (object) read_value(r, c, field, object, depth + 1, item), item->name = name;
    }
  }
}

/* True if a template has a name in it. */
static int has_word(const attn2c_chat_template *template, const char *word) {
  for (int32_t i = 0; i < template->word_count; i++)
    if (template->words[i].length == strlen(word) && memcmp(template->words[i].text, word, strlen(word)) == 0)
      return 1;
  return 0;
}

/* Refuses fields of a message that change its meaning if the template does not know them; names others. */
static void check_fields(attn2c_request *r, const chat *c, const json_t *given) {
  /* prefix and partial: the answer goes on from the message, to Mistral's and Moonshot's clients. */
  static const char *const needed[] = {"tool_calls", "function_call", "prefix", "partial"};
  static const char *const usual[] = {"role", "content", "tool_call_id"};
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)given, name, value) {
    int is_known = attn2c_request_says_nothing(value) || has_word(c->template, name);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) is_known |= strcmp(name, usual[i]) == 0;
    if (is_known) continue;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
      if (strcmp(name, needed[i]) == 0)
        attn2c_request_fail(r, 400, "messages", "unsupported_parameter",
                            "messages: %s: is not supported: the model's chat template has none", name);
    attn2c_request_ignore(r->exchange, name);
  }
}

static void read_message(attn2c_request *r, chat *c, const json_t *given) {
  const json_t *role = json_object_get(given, "role"), *content = json_object_get(given, "content");
  attn2c_chat_message *message = &c->messages[c->count];
  if (!json_is_object(given) || !json_is_string(role)) {
    attn2c_request_refuse(r, "messages", given, "messages {\"role\": TEXT, \"content\": TEXT} are allowed");
    return;
  }
  message->role = json_string_value(role), message->role_length = json_string_length(role);
  /* Clients of newer models send it for the system's. */
  if (strcmp(message->role, "developer") == 0 && !has_word(c->template, "developer"))
    message->role = "system", message->role_length = 6;
  if (json_is_string(content)) {
    message->content = json_string_value(content), message->content_length = json_string_length(content);
  } else if (json_is_array(content)) {
    message->content = c->joined[c->count] = join_parts(r, content, &message->content_length);
    if (!message->content) attn2c_request_no_memory(r);
  } else if (content && !json_is_null(content)) {
    attn2c_request_refuse(r, "messages.content", content, "a text or a list of parts is allowed");
  } else if (json_object_get(given, "tool_calls")) {
    message->content = ""; /* templates append it to a text */
  }
  c->count++;
  static const char *const own[] = {"role", "content", NULL};
  if (json_object_size(given) > (content ? 2 : 1) && !r->failed)
    message->more = read_items(r, c, "messages", given, 0, own, &message->more_count);
  if (!r->failed) check_fields(r, c, given);
}

static void check_tools(attn2c_request *r, const json_t *list) {
  size_t i;
  json_t *tool;
  json_array_foreach(list, i, tool) {
    const json_t *type = json_object_get(tool, "type");
    const char *name = json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
    if (!name || !attn2c_tool_name(name) ||
        strcmp(json_string_value(type) ? json_string_value(type) : "", "function"))
      attn2c_request_refuse(
          r, "tools", tool,
          "{\"type\": \"function\", \"function\": {\"name\": NAME}} is allowed, with a name of "
          "1 to 64 letters, digits, _, - and .");
  }
}

/* Reads tool_choice. Returns 1 if the model may call. */
static int read_choice(attn2c_request *r, attn2c_tools *tools) {
  const json_t *choice = attn2c_request_field(r, "tool_choice");
  int number = 0;
  if (!json_is_object(choice)) {
    attn2c_request_word(r, "tool_choice", "auto, none or required", &number);
  } else {
    const char *type = json_string_value(json_object_get(choice, "type"));
    tools->only = json_string_value(json_object_get(json_object_get(choice, "function"), "name"));
    if (!type || strcmp(type, "function") != 0 || !tools->only || !attn2c_tools_find(tools, tools->only))
      attn2c_request_refuse(
          r, "tool_choice", choice,
          "auto, none, required or {\"type\": \"function\", \"function\": {\"name\": NAME}} with "
          "the name of one of the tools is allowed");
  }
  tools->is_forced = tools->only || number == 2;
  if (tools->is_forced && !tools->form)
    attn2c_request_refuse(
        r, "tool_choice", choice,
        "only auto or none is allowed: the form of calls of the model's template is not known");
  return number != 1;
}

/* Reads the tools. The list is a reference of its own if the model may call them. Answers that have channels
 * are read without tools, too. */
static attn2c_tools read_tools(attn2c_request *r, const attn2c_chat_template *template) {
  json_t *given = (json_t *)attn2c_request_field(r, "tools");
  attn2c_tools tools = {.form = attn2c_tool_form_of(template), .list = given, .is_parallel = 1};
  const attn2c_tools none = {.form = tools.form && tools.form->has_channels ? tools.form : NULL,
                             .is_parallel = 1};
  if (given && !json_is_array(given))
    attn2c_request_refuse(r, "tools", given, "a list of tools is allowed");
  else if (json_array_size(given) > 0 && !has_word(template, "tools"))
    attn2c_request_lacks(r, "tools", "the model's chat template has none");
  check_tools(r, given);
  attn2c_request_flag(r, "parallel_tool_calls", &tools.is_parallel);
  const int calls = read_choice(r, &tools);
  if (tools.is_forced && json_array_size(given) == 0)
    attn2c_request_refuse(r, "tool_choice", attn2c_request_field(r, "tool_choice"), "it goes with tools");
  if (r->failed || !calls || json_array_size(given) == 0) return none;
  json_incref(given);
  return tools;
}

/* Adds a chat's text as the prompt, with what a call begins with if one must follow. */
static void add_prompt(attn2c_server *server, attn2c_request *r, attn2c_ask *ask, const char *text,
                       size_t length) {
  char opening[200];
  const size_t more = strlen(attn2c_tools_opening(&ask->tools, opening, sizeof opening));
  ATTN2C_OWN char *whole = malloc(length + more + 1);
  if (whole) {
    memcpy(whole, text, length);
    memcpy(whole + length, opening, more);
    attn2c_ask_add_text(server, r, ask, "messages", whole, length + more);
  } else {
    attn2c_request_no_memory(r);
  }
}

/* Returns what the template is given by name: tools, chat_template_kwargs, and names that clients send beside
 * them. It is NULL after a fault. */
static json_t *named_of(attn2c_request *r, const attn2c_tools *tools) {
  static const char *const beside[] = {"enable_thinking", "reasoning_effort"};
  const json_t *given = attn2c_request_field(r, "chat_template_kwargs");
  if (given && !json_is_object(given))
    attn2c_request_refuse(r, "chat_template_kwargs", given, "an object is allowed");
  attn2c_request_flag(r, beside[0], &(int){0});
  attn2c_request_text(r, beside[1], &(const char *){NULL});
  json_t *all = r->failed ? NULL : json_object();
  int failed = !all || (tools->list && json_object_set(all, "tools", tools->list) != 0) ||
               (given && json_object_update_missing(all, (json_t *)given) != 0);
  for (int i = 0; i < 2; i++) {
    const json_t *value = attn2c_request_field(r, beside[i]);
    if (value && !failed && !json_object_get(all, beside[i]))
      failed = json_object_set(all, beside[i], (json_t *)value) != 0;
  }
  if (failed) attn2c_request_no_memory(r);
  return all;
}

/* Refuses messages that would not reach the model. */
static void refuse_left_out(attn2c_request *r, const attn2c_chat_template *template, const chat *c,
                            const attn2c_chat_options *options, const char *text, size_t length) {
  size_t found;
  if (attn2c_chat_left_out(template, c->messages, c->count, options, text, length, &found) != ATTN2C_OK)
    attn2c_request_no_memory(r);
  else if (found < c->count)
    attn2c_request_fail(r, 400, "messages", "unsupported_parameter",
                        "messages[%zu]: the model's chat template leaves out messages of the role %.60s",
                        found, c->messages[found].role);
}

void attn2c_serve_chat(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request request = {.exchange = exchange, .given = given}, *r = &request;
  attn2c_serve_generate *g = server->generate;
  const attn2c_chat_template *template = g->facts->chat;
  const attn2c_tools asked = read_tools(r, template);
  attn2c_ask *ask = r->failed ? NULL : attn2c_ask_read(server, r, &asked);
  if (!ask) return;
  const json_t *list = attn2c_request_field(r, "messages");
  const size_t count = json_array_size(list);
  chat c = {.keeps_text = asked.form && asked.form->takes_text, .template = template};
  if (count < 1 || count > MOST_MESSAGES) {
    attn2c_request_refuse(r, "messages", list, "a list of 1 to 4096 messages is allowed");
  } else {
    c.messages = calloc(count, sizeof *c.messages);
    c.joined = calloc(count, sizeof *c.joined);
  }
  if (!r->failed && (!c.messages || !c.joined)) attn2c_request_no_memory(r);
  for (size_t i = 0; i < count && !r->failed; i++) read_message(r, &c, json_array_get(list, i));
  attn2c_chat_options options = {.add_generation_prompt = 1};
  attn2c_request_flag(r, "add_generation_prompt", &options.add_generation_prompt);
  json_auto_t *named = named_of(r, &asked);
  if (!r->failed)
    options.flags = read_items(r, &c, asked.list ? "tools" : "chat_template_kwargs", named, -1, NULL,
                               &options.flag_count);
  for (size_t i = 0; i < options.flag_count && !r->failed; i++)
    if (!has_word(template, options.flags[i].name)) attn2c_request_ignore(exchange, options.flags[i].name);
  const char *text;
  size_t length;
  char fault[300] = "";
  const int status = r->failed ? ATTN2C_OK
                               : template->render(template, &g->chat, c.messages, c.count, &options, &text,
                                                  &length, fault, sizeof fault);
  if (status != ATTN2C_OK)
    attn2c_request_fail(r, status == ATTN2C_MEMORY ? 503 : 400, "messages", NULL, "messages: %s",
                        *fault ? fault : attn2c_strerror(status));
  if (!r->failed) refuse_left_out(r, template, &c, &options, text, length);
  if (!r->failed) add_prompt(server, r, ask, text, length);
  free_chat(&c);
  attn2c_ask_submit(server, r, ask);
}
