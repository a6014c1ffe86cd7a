/* text_generate_turns.c - keeps the turns of a chat as messages for the template. */
#include "program/text_generate_turns.h"

#include <stdlib.h>
#include <string.h>

#include "chat/chat_template.h"

struct attn2c_turns {
  const attn2c_chat_template *template;
  attn2c_chat_work *work;
  attn2c_chat_message *messages; /* contents are owned */
  size_t count, capacity;
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
  free(turns->messages);
  free(turns);
}

int attn2c_turns_add(attn2c_turns *turns, const char *role, const char *text, size_t length) {
  if (turns->count == turns->capacity) {
    const size_t capacity = 2 * turns->capacity + 16;
    attn2c_chat_message *moved = realloc(turns->messages, capacity * sizeof *moved);
    if (!moved) return ATTN2C_MEMORY;
    turns->messages = moved;
    turns->capacity = capacity;
  }
  char *copy = malloc(length + 1);
  if (!copy) return ATTN2C_MEMORY;
  if (length) memcpy(copy, text, length);
  turns->messages[turns->count++] = (attn2c_chat_message){
      .role = role, .role_length = strlen(role), .content = copy, .content_length = length};
  return ATTN2C_OK;
}

/* Returns 1 if the first message is the system's. */
static size_t has_system(const attn2c_turns *turns) {
  return turns->count > 0 && strcmp(turns->messages[0].role, "system") == 0;
}

void attn2c_turns_drop(attn2c_turns *turns) { free((void *)turns->messages[--turns->count].content); }

int attn2c_turns_forget(attn2c_turns *turns) {
  const size_t first = has_system(turns);
  if (turns->count < first + 3) return 0;
  free((void *)turns->messages[first].content);
  free((void *)turns->messages[first + 1].content);
  turns->count -= 2;
  memmove(turns->messages + first, turns->messages + first + 2,
          (turns->count - first) * sizeof *turns->messages);
  return 1;
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
  return turns->template->render(turns->template, &turns->work, alone ? last : turns->messages,
                                 alone ? first + 1 : turns->count, &options, text, length, fault, size);
}
