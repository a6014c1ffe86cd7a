/* chat_calls.h - filters, tests and methods of chat templates, as Jinja and Python have them. Arguments are
 * in the order of gen/text/chat/numbers.lua; those that are not given are CHAT_MISSING. */
#pragma once

#include "chat/chat_values.h"

/* Applies filter number `filter` to values[0]; its arguments follow. inner: the filter of `map`, the test of
 * `select` and its like. */
int chat_filter(attn2c_chat_work *work, int filter, int inner, const chat_value *values, chat_value *made);
int chat_test(attn2c_chat_work *work, int test, const chat_value *values, int *result);
int chat_method(attn2c_chat_work *work, int method, const chat_value *values, chat_value *made);
/* Writes a date by a format of strftime, in English. date: that of the options. */
int chat_now(attn2c_chat_work *work, const chat_value *format, const char *date, chat_value *made);

/* Returns the number of arguments. */
int chat_filter_arguments(int filter, int inner);
int chat_test_arguments(int test);
int chat_method_arguments(int method);
