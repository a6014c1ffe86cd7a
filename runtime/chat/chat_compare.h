/* chat_compare.h - truth, equality and order of a chat template's values, as Python has them. */
#pragma once

#include "chat/chat_values.h"

int chat_is_true(const chat_value *value);
/* Sets *equal. Values within each other beyond a depth are refused. */
int chat_equal(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int *equal);
/* Sets *order to -1, 0 or 1, or to 2 if one of them is NaN. Values of different types are refused. */
int chat_order(attn2c_chat_work *work, const chat_value *a, const chat_value *b, int *order);
/* Sets *found if `item` is in `holder`. */
int chat_contains(attn2c_chat_work *work, const chat_value *holder, const chat_value *item, int *found);
/* Applies comparison number `how` of chat_numbers.h. */
int chat_compare(attn2c_chat_work *work, int how, const chat_value *a, const chat_value *b, int *result);

static inline double chat_number(const chat_value *value) {
  return value->kind == CHAT_REAL ? value->as.real : (double)value->as.integer;
}
