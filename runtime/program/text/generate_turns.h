/* generate_turns.h - the turns of a chat, and the text that a model's chat template makes of them. */
#pragma once

#include "base/text_facts.h"

typedef struct attn2c_turns attn2c_turns;

/* Returns no turns; NULL without memory. The model must have a chat template. */
attn2c_turns *attn2c_turns_create(const attn2c_text_facts *facts);
void attn2c_turns_free(attn2c_turns *turns);

/* Adds a turn; text and role are copied. Returns ATTN2C_OK or _MEMORY. */
int attn2c_turns_add(attn2c_turns *turns, const char *role, const char *text, size_t length);

/* Adds the message of a line of JSON, or begins with the messages of one. system: the text of a system
 * message for those that have none, or NULL. *is_asked: 1 if the last message is to be answered. Returns
 * ATTN2C_OK, _MEMORY, or _FORMAT, for which *fault says what is wrong. */
int attn2c_turns_read(attn2c_turns *turns, const char *line, size_t length, const char *system, int *is_asked,
                      const char **fault);

/* Removes a user's oldest turn and what follows before the next. Returns 0 if only the last is left. */
int attn2c_turns_forget(attn2c_turns *turns);

/* Removes the last turn. */
void attn2c_turns_drop(attn2c_turns *turns);

/* Writes all turns, or with `alone` the last one and the system message, and the beginning of an answer.
 * *text is valid until the next call. Returns the status of attn2c_chat_render, whose reason goes to `fault`.
 */
int attn2c_turns_render(attn2c_turns *turns, int alone, const char **text, size_t *length, char *fault,
                        size_t size);
