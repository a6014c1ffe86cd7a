/* chat_operators.h - arithmetic, indices, slices and attributes of a chat template's values, as Jinja and
 * Python have them. */
#pragma once

#include "chat/chat_values.h"

/* Applies a step from CHAT_STEP_ADD to CHAT_STEP_POWER. */
int chat_calculate(attn2c_chat_work *work, int step, const chat_value *a, const chat_value *b,
                   chat_value *made);
/* Applies CHAT_STEP_NEGATIVE or CHAT_STEP_POSITIVE. */
int chat_sign(attn2c_chat_work *work, int step, const chat_value *value, chat_value *made);
/* Joins values as text. */
int chat_concatenate(attn2c_chat_work *work, const chat_value *values, size_t count, chat_value *made);

/* object[key], which is undefined if there is none. */
int chat_item(attn2c_chat_work *work, const chat_value *object, const chat_value *key, chat_value *made);
/* object.name */
int chat_attribute(attn2c_chat_work *work, const chat_value *object, const chat_value *name,
                   chat_value *made);
/* object[start:stop:step]; each is CHAT_NONE or an integer. */
int chat_slice(attn2c_chat_work *work, const chat_value *object, const chat_value parts[3], chat_value *made);

/* Returns the number of items, or -1 if the value has none. */
int64_t chat_length(const chat_value *value);
