/* request.c - what came is shown by the beginning of its JSON. */
#include "program/options.h"
#include "program/serve/request.h"

#include "program/serve/numbers.h"

#include <ctype.h>
#include <math.h>

const json_t *attn2c_request_field(const attn2c_request *r, const char *name) {
  const json_t *value = json_object_get(r->given, name);
  json_object_del(r->exchange->unread, name);
  return json_is_null(value) ? NULL : value;
}

void attn2c_request_fail(attn2c_request *r, int status, const char *param, const char *code,
                         const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (!r->failed) attn2c_serve_refuse_with(r->exchange, status, param, code, format, values);
  va_end(values);
  r->failed = 1;
}

void attn2c_request_no_memory(attn2c_request *r) {
  attn2c_request_fail(r, 503, NULL, NULL, "no memory for the request");
}

void attn2c_request_refuse(attn2c_request *r, const char *name, const json_t *value, const char *allowed,
                           ...) {
  char line[400];
  va_list values;
  va_start(values, allowed);
  vsnprintf(line, sizeof line, allowed, values);
  va_end(values);
  ATTN2C_OWN char *text = json_is_object(value) || json_is_array(value)
                              ? NULL
                              : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
  const char *came = text                    ? text
                     : json_is_object(value) ? "an object"
                     : json_is_array(value)  ? "a list"
                                             : "nothing";
  attn2c_request_fail(r, 400, name, NULL, "%s: %.60s%s, but %s", name, came, strlen(came) > 60 ? "..." : "",
                      line);
}

void attn2c_request_lacks(attn2c_request *r, const char *name, const char *why) {
  const attn2c_lacking list[] = {{name, NULL, why}, {.names = NULL}};
  attn2c_request_lacks_each(r, list);
}

int attn2c_request_says_nothing(const json_t *value) {
  return json_is_null(value) || json_is_false(value) ||
         (json_is_string(value) && !json_string_length(value)) ||
         (json_is_array(value) && !json_array_size(value)) ||
         (json_is_object(value) && !json_object_size(value));
}

static int is_usual(const json_t *value, const char *usual) {
  json_auto_t *other = json_loads(usual, JSON_DECODE_ANY, NULL);
  return json_is_number(value) && json_is_number(other) ? json_number_value(value) == json_number_value(other)
                                                        : json_equal(value, other);
}

/* Refuses a field of a row that is given and asks for something. In a form all values are texts. */
static void refuse_lacking(attn2c_request *r, const char *name, const attn2c_lacking *row) {
  const json_t *value = attn2c_request_field(r, name);
  const char *why = row->why ? row->why : "";
  json_auto_t *read =
      json_loads(json_is_string(value) ? json_string_value(value) : "", JSON_DECODE_ANY, NULL);
  const int asks = row->usual
                       ? !is_usual(value, row->usual) && !(read && is_usual(read, row->usual))
                       : !attn2c_request_says_nothing(value) && !(read && attn2c_request_says_nothing(read));
  if (value && asks)
    attn2c_request_fail(r, 400, name, "unsupported_parameter", "%s: is not supported%s%s", name,
                        *why ? ": " : "", why);
}

void attn2c_request_lacks_each(attn2c_request *r, const attn2c_lacking *list) {
  for (; list->names; list++)
    for (const char *at = list->names; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
      char name[64];
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
      if (!r->failed) refuse_lacking(r, name, list);
    }
}

/* True if a name is in a list with spaces between. */
static int is_listed(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " "))
    if (strcspn(at, " ") == length && memcmp(at, name, length) == 0) return 1;
  return 0;
}

void attn2c_request_ignore(attn2c_exchange *exchange, const char *name) {
  char shown[64];
  size_t used = strlen(exchange->ignored), length = 0;
  for (; name[length] && length < sizeof shown - 1; length++)
    shown[length] =
        (char)(isalnum((unsigned char)name[length]) || strchr("_.-", name[length]) ? name[length] : '?');
  shown[length] = '\0';
  if (used + length + sizeof "  ..." > sizeof exchange->ignored) memcpy(shown, "...", 4);
  if (used + strlen(shown) + 2 > sizeof exchange->ignored || is_listed(exchange->ignored, shown)) return;
  snprintf(exchange->ignored + used, sizeof exchange->ignored - used, "%s%s", used ? " " : "",
           *shown ? shown : "?");
}

void attn2c_request_note_unread(attn2c_exchange *exchange) {
  /* They do not change an answer. */
  static const char plain[] =
      "user store metadata service_tier safety_identifier prompt_cache_key prediction "
      "prompt_cache_retention cache_prompt id_slot n_keep n_discard keep_alive "
      "priority request_id timings_per_token return_progress";
  const char *name;
  json_t *value;
  json_object_foreach(exchange->unread, name, value) {
    if (!attn2c_request_says_nothing(value) && !is_listed(plain, name)) attn2c_request_ignore(exchange, name);
  }
  exchange->unread = NULL;
  if (*exchange->ignored) attn2c_http_add_header(exchange, "Ignored-Fields", exchange->ignored);
}

void attn2c_request_ignore_others(attn2c_exchange *exchange, const char *of, const json_t *object,
                                  const char *known) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value) {
    char whole[64], usual[64];
    const char *text = json_string_value(value);
    snprintf(whole, sizeof whole, "%s.%s", of, name);
    snprintf(usual, sizeof usual, "%s=%s", name, text ? text : "");
    if (!attn2c_request_says_nothing(value) && !is_listed(known, name) && !(text && is_listed(known, usual)))
      attn2c_request_ignore(exchange, whole);
  }
}

int attn2c_request_spread(attn2c_exchange *exchange, json_t *given) {
  json_auto_t *parameters = json_incref(json_object_get(given, "parameters"));
  const char *name;
  json_t *value;
  if (!json_is_object(parameters)) return 1;
  json_object_del(given, "parameters");
  json_object_foreach(parameters, name, value) {
    const json_t *other = json_object_get(given, name);
    if (json_is_null(value)) continue;
    if (other && !json_is_null(other) && !json_equal(value, other)) {
      attn2c_serve_refuse(exchange, 400, "parameters", NULL,
                          "parameters: %.60s has another value than beside them, but one is allowed", name);
      return 0;
    }
    if (json_object_set(given, name, value) == 0) continue;
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the request");
    return 0;
  }
  return 1;
}

const char *attn2c_request_either(attn2c_request *r, const char *name, const char *other) {
  if (!attn2c_request_field(r, other)) return name;
  if (attn2c_request_field(r, name))
    attn2c_request_refuse(r, other, attn2c_request_field(r, other), "it is the same as %s", name);
  return other;
}

int attn2c_request_integer(attn2c_request *r, const char *name, int64_t least, int64_t most, int64_t *value) {
  const json_t *given = r->failed ? NULL : attn2c_request_field(r, name);
  if (!given) return 0;
  const double real = json_is_real(given) ? json_real_value(given) : 0;
  const int is_whole =
      json_is_integer(given) || (json_is_real(given) && real == floor(real) && fabs(real) < 1e15);
  const int64_t number = json_is_integer(given) ? (int64_t)json_integer_value(given)
                         : is_whole             ? (int64_t)real
                                                : 0;
  if (is_whole && number >= least && number <= most) {
    *value = number;
    return 1;
  }
  attn2c_request_refuse(r, name, given, "a whole number from %lld to %lld is allowed", (long long)least,
                        (long long)most);
  return 0;
}

int attn2c_request_real(attn2c_request *r, const char *name, double least, double most, double *value) {
  const json_t *given = r->failed ? NULL : attn2c_request_field(r, name);
  if (!given) return 0;
  const double number = json_number_value(given);
  if (json_is_number(given) && number >= least && number <= most) {
    *value = number;
    return 1;
  }
  attn2c_request_refuse(r, name, given, "a number from %g to %g is allowed", least, most);
  return 0;
}

int attn2c_request_flag(attn2c_request *r, const char *name, int *value) {
  const json_t *given = r->failed ? NULL : attn2c_request_field(r, name);
  if (!given) return 0;
  if (json_is_boolean(given)) {
    *value = json_is_true(given);
    return 1;
  }
  attn2c_request_refuse(r, name, given, "true or false is allowed");
  return 0;
}

int attn2c_request_word(attn2c_request *r, const char *name, const char *words, int *value) {
  const json_t *given = r->failed ? NULL : attn2c_request_field(r, name);
  if (!given) return 0;
  const int number = json_is_string(given) ? attn2c_number_of_word(words, json_string_value(given)) : -1;
  if (number >= 0) return *value = number, 1;
  attn2c_request_refuse(r, name, given, "%s is allowed", words);
  return 0;
}

int attn2c_request_text(attn2c_request *r, const char *name, const char **value) {
  const json_t *given = r->failed ? NULL : attn2c_request_field(r, name);
  if (!given) return 0;
  if (json_is_string(given)) return *value = json_string_value(given), 1;
  attn2c_request_refuse(r, name, given, "a text is allowed");
  return 0;
}

int attn2c_request_texts(attn2c_request *r, const char *name, int most,
                         int (*take)(void *context, const char *text, size_t length), void *context) {
  const json_t *given = r->failed ? NULL : attn2c_request_field(r, name);
  if (!given) return 0;
  const int is_list = json_is_array(given);
  const size_t count = is_list ? json_array_size(given) : 1;
  static const char allowed[] = "a text, or a list of 1 to %d texts is allowed";
  if (count < 1 || count > (size_t)most) attn2c_request_refuse(r, name, given, allowed, most);
  for (size_t i = 0; i < count && !r->failed; i++) {
    const json_t *text = is_list ? json_array_get(given, i) : given;
    if (!json_is_string(text))
      attn2c_request_refuse(r, name, text, allowed, most);
    else if (take(context, json_string_value(text), json_string_length(text)) != ATTN2C_OK)
      attn2c_request_fail(r, 503, name, NULL, "no memory for the request");
  }
  return r->failed ? 0 : (int)count;
}

const char *attn2c_served_name(const attn2c_server *server, int32_t adapter) {
  return adapter > 0 ? server->model->adapters[adapter - 1] : server->model->name;
}

void attn2c_request_model(attn2c_request *r, const attn2c_server *server, int32_t *adapter) {
  const attn2c_descriptor *model = server->model;
  const char *name = NULL;
  *adapter = 0;
  if (!attn2c_request_text(r, "model", &name) || !model->adapters || strcmp(name, model->name) == 0) return;
  const size_t length = strlen(model->name);
  const int has_model = strncmp(name, model->name, length) == 0 && name[length] == ':';
  *adapter = attn2c_adapter_number(model, has_model ? name + length + 1 : name);
  if (*adapter > 0 || (*adapter == 0 && has_model)) return;
  char known[600];
  size_t used = (size_t)snprintf(known, sizeof known, "%s", model->name);
  for (int i = 0; model->adapters[i] && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, " or %s", model->adapters[i]);
  attn2c_request_fail(r, 404, "model", "model_not_found", "model: \"%.100s\", but %s is allowed", name,
                      known);
}

/* Returns the URL of a picture in one of the forms that clients send. */
static const char *url_of(const json_t *value) {
  const json_t *image = json_object_get(value, "image");
  if (!image) image = json_object_get(value, "image_url");
  if (json_is_object(image)) image = json_object_get(image, "url");
  return json_string_value(image ? image : value);
}

/* Names what nothing reads beside the URL, such as a detail. */
static void note_others(attn2c_exchange *exchange, const json_t *value) {
  attn2c_request_ignore_others(exchange, "image_url", json_object_get(value, "image_url"), "url detail=auto");
  attn2c_request_ignore_others(exchange, "content", value, "type image image_url");
}

uint8_t *attn2c_request_picture(attn2c_request *r, const char *field, const json_t *value, size_t *length) {
  const char *url = url_of(value), *comma = url ? strchr(url, ',') : NULL;
  if (r->failed) return NULL;
  if (url && strncmp(url, "http", 4) == 0) {
    attn2c_request_fail(
        r, 400, field, NULL,
        "%s: an address, but this server opens no connections; send the picture in a data URL", field);
    return NULL;
  }
  if (!url || strncmp(url, "data:image/", 11) != 0 || !comma || comma - url < 7 ||
      strncmp(comma - 7, ";base64", 7) != 0) {
    attn2c_request_refuse(r, field, value, "a picture as data:image/png;base64,... is allowed");
    return NULL;
  }
  const size_t bytes = strlen(comma + 1);
  uint8_t *read = malloc(bytes / 4 * 3 + 4);
  const ptrdiff_t count = read ? attn2c_base64_read(comma + 1, bytes, read) : -1;
  *length = count > 0 ? (size_t)count : 0;
  if (count > 0) note_others(r->exchange, value);
  if (count > 0) return read;
  attn2c_request_refuse(r, field, value, "base64 is needed after the comma of its data URL");
  free(read);
  return NULL;
}
