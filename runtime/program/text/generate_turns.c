#include "program/text/generate_turns.h"

#include <jansson.h>

#include "model/text/left_out.h"

struct attn2c_turns {
  const attn2c_chat_template *template;
  attn2c_chat_work *work;
  attn2c_chat_message *messages; /* contents are owned */
  size_t count;
};

attn2c_turns *attn2c_turns_create(const attn2c_text_facts *facts) {
  attn2c_turns *turns = calloc(1, sizeof *turns);
  if (turns) turns->template = facts->chat;
  return turns;
}

void attn2c_turns_free(attn2c_turns *turns) {
  if (!turns) return;
  if (turns->work) turns->template->release(turns->work);
  for (size_t i = 0; i < turns->count; i++) free((void *)turns->messages[i].content);
  ATTN2C_FREE(turns->messages, turns);
}

int attn2c_turns_add(attn2c_turns *turns, const char *role, const char *text, size_t length) {
  ATTN2C_TRY(ATTN2C_MORE(turns->messages, turns->count));
  const size_t role_length = strlen(role);
  char *copy = malloc(length + role_length + 1); /* of the text, and of the role after it */
  if (!copy) return ATTN2C_MEMORY;
  if (length) memcpy(copy, text, length);
  memcpy(copy + length, role, role_length + 1);
  turns->messages[turns->count++] = (attn2c_chat_message){
      .role = copy + length, .role_length = role_length, .content = copy, .content_length = length};
  return ATTN2C_OK;
}

/* Returns 1 if the first message is the system's. */
static size_t has_system(const attn2c_turns *turns) {
  return turns->count > 0 && strcmp(turns->messages[0].role, "system") == 0;
}

void attn2c_turns_drop(attn2c_turns *turns) { free((void *)turns->messages[--turns->count].content); }

int attn2c_turns_forget(attn2c_turns *turns) {
  const size_t first = has_system(turns);
  size_t next = first + 1;
  while (next < turns->count && strcmp(turns->messages[next].role, "user") != 0) next++;
  if (next >= turns->count) return 0;
  for (size_t i = first; i < next; i++) free((void *)turns->messages[i].content);
  memmove(turns->messages + first, turns->messages + next, (turns->count - next) * sizeof *turns->messages);
  turns->count -= next - first;
  return 1;
}

static int add_message(attn2c_turns *turns, const json_t *message, const char **fault) {
  const json_t *content = json_object_get(message, "content");
  const char *role = json_string_value(json_object_get(message, "role")), *text = json_string_value(content);
  if (role && text && json_object_size(message) == 2)
    return attn2c_turns_add(turns, role, text, json_string_length(content));
  *fault = "a message is {\"role\": TEXT, \"content\": TEXT}; other fields and values are not supported";
  return ATTN2C_FORMAT;
}

/* Begins anew with a list of messages. */
static int begin_messages(attn2c_turns *turns, const json_t *list, const char *system, const char **fault) {
  const char *role = json_string_value(json_object_get(json_array_get(list, 0), "role"));
  int status = ATTN2C_OK;
  while (turns->count) attn2c_turns_drop(turns);
  if (json_array_size(list) == 0) *fault = "\"messages\" is a list of messages", status = ATTN2C_FORMAT;
  if (status == ATTN2C_OK && system && (!role || strcmp(role, "system") != 0))
    status = attn2c_turns_add(turns, "system", system, strlen(system));
  for (size_t i = 0; i < json_array_size(list) && status == ATTN2C_OK; i++)
    status = add_message(turns, json_array_get(list, i), fault);
  return status;
}

int attn2c_turns_read(attn2c_turns *turns, const char *line, size_t length, const char *system, int *is_asked,
                      const char **fault) {
  json_error_t error;
  json_auto_t *given = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
  const json_t *list = json_object_get(given, "messages");
  int status;
  *fault = "a message or {\"messages\": [...]} in JSON is expected";
  if (!given && json_error_code(&error) == json_error_null_character)
    *fault = "\\u0000 in a text is not supported";
  if (!given)
    status = json_error_code(&error) == json_error_out_of_memory ? ATTN2C_MEMORY : ATTN2C_FORMAT;
  else if (list && json_object_size(given) == 1)
    status = begin_messages(turns, list, system, fault);
  else
    status = add_message(turns, given, fault);
  if (status != ATTN2C_OK) return status;
  const char *role = turns->messages[turns->count - 1].role;
  *is_asked = strcmp(role, "system") != 0 && strcmp(role, "developer") != 0 && strcmp(role, "assistant") != 0;
  return ATTN2C_OK;
}

int attn2c_turns_render(attn2c_turns *turns, int alone, const char **text, size_t *length, char *fault,
                        size_t size) {
  const attn2c_chat_options options = {.add_generation_prompt = 1};
  const size_t first = has_system(turns);
  attn2c_chat_message last[2];
  if (alone && turns->count > first) {
    if (first) last[0] = turns->messages[0];
    last[first] = turns->messages[turns->count - 1];
  } else {
    alone = 0;
  }
  const attn2c_chat_message *messages = alone ? last : turns->messages;
  const size_t count = alone ? first + 1 : turns->count;
  ATTN2C_TRY(turns->template->render(turns->template, &turns->work, messages, count, &options, text, length,
                                     fault, size));
  size_t found;
  ATTN2C_TRY(attn2c_chat_left_out(turns->template, messages, count, &options, *text, *length, &found));
  if (found == count) return ATTN2C_OK;
  snprintf(fault, size, "the chat template leaves out messages of the role %s", messages[found].role);
  attn2c_printable(fault);
  return ATTN2C_FORMAT;
}
