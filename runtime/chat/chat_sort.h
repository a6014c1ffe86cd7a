/* chat_sort.h - the filters sort and dictsort, and the keys by which values are sorted. */
#pragma once

#include "chat/chat_values.h"

/* Makes the value by which another is sorted: a text in lower case, unless case matters. */
int chat_sort_key(attn2c_chat_work *work, const chat_value *value, int has_case, chat_value *key);
int chat_sort_list(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made);
int chat_sort_dict(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made);
