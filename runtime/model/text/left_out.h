/* left_out.h - finds messages that do not reach the model. */
#pragma once

#include "chat/chat_template.h"

/* Finds a message that a template leaves out of the text that it made of all, so that its content changes
 * nothing. Looks at the system's messages and the last one of each other role but user and assistant: at 8 at
 * most, from the end. *found: its number, or `count`. Returns ATTN2C_OK or ATTN2C_MEMORY. */
int attn2c_chat_left_out(const attn2c_chat_template *template, const attn2c_chat_message *messages,
                         size_t count, const attn2c_chat_options *options, const char *text, size_t length,
                         size_t *found);
