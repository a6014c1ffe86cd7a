/* chat_cases.c - renders chats with compiled templates: chat_cases CASES.json COUNT DATE TABLES...
 * tests/chat/tables.lua writes the tables. For each of them and each of the first COUNT cases it prints a
 * line of JSON: the text, or the fault and its status. */
#include "chat/chat_template.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a file of tables, in order. */
typedef struct reader {
  const char *at, *end;
} reader;

static void fail(const char *what) {
  fprintf(stderr, "chat_cases: %s\n", what);
  exit(3);
}

static const char *take(reader *from, size_t bytes) {
  if ((size_t)(from->end - from->at) < bytes) fail("the tables end early");
  const char *at = from->at;
  from->at += bytes;
  return at;
}

static int32_t take_number(reader *from) {
  int32_t value;
  memcpy(&value, take(from, 4), 4);
  return value;
}

static void *make(int32_t count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  if (!memory) fail("no memory");
  return memory;
}

static attn2c_chat_word take_word(reader *from) {
  int32_t length = take_number(from);
  const char *bytes = take(from, (size_t)length);
  char *text = malloc((size_t)length + 1); /* its own block, so that reads past its end are found */
  if (!text) fail("no memory");
  memcpy(text, bytes, (size_t)length);
  text[length] = 0;
  return (attn2c_chat_word){text, (uint32_t)length};
}

static attn2c_chat_template read_tables(const char *bytes, size_t size) {
  reader from = {bytes, bytes + size};
  attn2c_chat_template made = {.render = attn2c_chat_render, .release = attn2c_chat_release};
  int32_t *const counts[] = {&made.step_count,  &made.word_count,  &made.real_count, &made.parameter_count,
                             &made.macro_count, &made.token_count, &made.slots};
  for (size_t i = 0; i < 7; i++) *counts[i] = take_number(&from);
  attn2c_chat_step *steps = make(made.step_count, sizeof *steps);
  for (int32_t i = 0; i < made.step_count; i++) {
    int32_t op = take_number(&from), line = take_number(&from), a = take_number(&from);
    steps[i] = (attn2c_chat_step){(uint16_t)op, (uint16_t)line, a, take_number(&from)};
  }
  attn2c_chat_word *words = make(made.word_count, sizeof *words);
  for (int32_t i = 0; i < made.word_count; i++) words[i] = take_word(&from);
  double *reals = make(made.real_count, sizeof *reals);
  for (int32_t i = 0; i < made.real_count; i++) memcpy(&reals[i], take(&from, 8), 8);
  int32_t *parameters = make(made.parameter_count, sizeof *parameters);
  for (int32_t i = 0; i < made.parameter_count; i++) parameters[i] = take_number(&from);
  attn2c_chat_macro *macros = make(made.macro_count, sizeof *macros);
  for (int32_t i = 0; i < made.macro_count; i++) {
    int32_t *const fields[] = {&macros[i].name, &macros[i].entry, &macros[i].first, &macros[i].count,
                               &macros[i].slots};
    for (size_t k = 0; k < 5; k++) *fields[k] = take_number(&from);
  }
  attn2c_chat_value *tokens = make(made.token_count, sizeof *tokens);
  for (int32_t i = 0; i < made.token_count; i++) {
    tokens[i].name = take_word(&from).text;
    attn2c_chat_word text = take_word(&from);
    tokens[i].text = text.text, tokens[i].length = text.length;
  }
  made.steps = steps, made.words = words, made.reals = reals, made.parameters = parameters;
  made.macros = macros, made.tokens = tokens;
  return made;
}

static void free_tables(attn2c_chat_template *made) {
  for (int32_t i = 0; i < made->word_count; i++) free((char *)made->words[i].text);
  for (int32_t i = 0; i < made->token_count; i++)
    free((char *)made->tokens[i].name), free((char *)made->tokens[i].text);
  free((void *)made->steps), free((void *)made->words), free((void *)made->reals);
  free((void *)made->parameters), free((void *)made->macros), free((void *)made->tokens);
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 24);
  if (!file || !bytes) fail(path);
  *size = fread(bytes, 1, 1 << 24, file);
  fclose(file);
  return bytes;
}

static attn2c_chat_value *values_of(json_t *from, const char *skip, const char *skip_too, size_t *count);

static attn2c_chat_value value_of(const char *name, json_t *from) {
  const double real = json_real_value(from);
  attn2c_chat_value value = {.name = name, .kind = ATTN2C_CHAT_INTEGER, .number = json_integer_value(from)};
  if (json_is_string(from))
    value = (attn2c_chat_value){
        .name = name, .text = json_string_value(from), .length = json_string_length(from)};
  else if (json_is_boolean(from))
    value.kind = ATTN2C_CHAT_FLAG, value.number = json_is_true(from);
  else if (json_is_null(from))
    value.kind = ATTN2C_CHAT_NONE;
  else if (json_is_real(from))
    value.kind = ATTN2C_CHAT_REAL, memcpy(&value.number, &real, sizeof real);
  else if (json_is_array(from) || json_is_object(from))
    value.kind = json_is_array(from) ? ATTN2C_CHAT_LIST : ATTN2C_CHAT_DICT,
    value.text = values_of(from, NULL, NULL, &value.length);
  return value;
}

/* Returns the values of a list, or of an object without the members called `skip` and `skip_too`. */
static attn2c_chat_value *values_of(json_t *from, const char *skip, const char *skip_too, size_t *count) {
  const size_t most = json_is_array(from) ? json_array_size(from) : json_object_size(from);
  attn2c_chat_value *list = make((int32_t)most, sizeof *list);
  const char *name;
  json_t *value;
  size_t i;
  *count = 0;
  json_array_foreach(from, i, value) list[(*count)++] = value_of(NULL, value);
  json_object_foreach(from, name, value) if (!(skip && strcmp(name, skip) == 0) &&
                                             !(skip_too && strcmp(name, skip_too) == 0)) list[(*count)++] =
      value_of(name, value);
  return list;
}

static void free_values(const attn2c_chat_value *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (list[i].kind == ATTN2C_CHAT_LIST || list[i].kind == ATTN2C_CHAT_DICT)
      free_values((const attn2c_chat_value *)list[i].text, list[i].length);
  free((void *)list);
}

static void render(const attn2c_chat_template *template, attn2c_chat_work **work, json_t *given,
                   const char *date) {
  json_t *list = json_object_get(given, "messages"), *flags = json_object_get(given, "flags");
  size_t count = json_array_size(list), length;
  attn2c_chat_message *messages = make((int32_t)count, sizeof *messages);
  for (size_t i = 0; i < count; i++) {
    json_t *from = json_array_get(list, i), *role = json_object_get(from, "role"),
           *content = json_object_get(from, "content");
    messages[i].role = json_string_value(role), messages[i].role_length = json_string_length(role);
    messages[i].content = json_string_value(content),
    messages[i].content_length = json_string_length(content);
    messages[i].more = values_of(from, "role", "content", &messages[i].more_count);
  }
  attn2c_chat_options options = {
      .add_generation_prompt = json_is_true(json_object_get(given, "add_generation_prompt")), .date = date};
  options.flags = values_of(flags, NULL, NULL, &options.flag_count);
  const char *text;
  char fault[256];
  int status =
      template->render(template, work, messages, count, &options, &text, &length, fault, sizeof fault);
  json_t *result = status == ATTN2C_OK ? json_pack("{s:s%}", "text", text, length)
                                       : json_pack("{s:s, s:i}", "fault", fault, "status", status);
  if (!result) fail("a result is not UTF-8");
  json_dumpf(result, stdout, JSON_COMPACT);
  putchar('\n');
  json_decref(result);
  for (size_t i = 0; i < count; i++) free_values(messages[i].more, messages[i].more_count);
  free_values(options.flags, options.flag_count);
  free(messages);
}

int main(int count, char **words) {
  json_error_t error;
  json_t *cases = count > 4 ? json_load_file(words[1], JSON_ALLOW_NUL, &error) : NULL;
  if (!cases) fail("usage: chat_cases CASES.json COUNT DATE TABLES...");
  size_t most = (size_t)atoi(words[2]);
  for (int i = 4; i < count; i++) {
    size_t size;
    char *bytes = read_file(words[i], &size);
    attn2c_chat_template template = read_tables(bytes, size);
    attn2c_chat_work *work = NULL;
    for (size_t k = 0; k < json_array_size(cases) && k < most; k++)
      render(&template, &work, json_array_get(cases, k), words[3]);
    attn2c_chat_release(work);
    free_tables(&template);
    free(bytes);
  }
  json_decref(cases);
  return 0;
}
