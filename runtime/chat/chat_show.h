/* chat_show.h - writes a chat template's values as text: Python's str and repr, and json.dumps. */
#pragma once

#include "chat/chat_values.h"

/* Appends str(value) to the text that is written. */
int chat_print(attn2c_chat_work *work, const chat_value *value);
/* Returns str(value) as a string. */
int chat_text_of(attn2c_chat_work *work, const chat_value *value, chat_value *text);

/* How json.dumps writes. indent NULL: in one line. */
typedef struct chat_json {
  int is_ascii, sorts;
  chat_value indent;    /* CHAT_NONE, or the text of one level */
  chat_value item, key; /* what separates items, and follows keys */
} chat_json;

int chat_to_json(attn2c_chat_work *work, const chat_value *value, const chat_json *how, chat_value *text);
