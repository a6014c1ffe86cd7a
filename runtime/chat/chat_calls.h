/* chat_calls.h - what the steps of chat templates call, as Jinja and Python have it. Arguments of filters,
 * tests and methods are in the order of chat_numbers.h; those that are not given are CHAT_MISSING.
 */
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

/* Truth, equality and order of a chat template's values, as Python has them. */

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

/* Arithmetic, indices, slices and attributes of a chat template's values, as Jinja and Python have them. */

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

/* Python's functions on strings that templates use. Positions are in characters. */

typedef enum { CHAT_UPPER, CHAT_LOWER, CHAT_CAPITALIZE, CHAT_TITLE, CHAT_TITLE_FILTER } chat_case;

/* Returns the number of characters. */
size_t chat_count(const chat_value *text);
/* Returns the byte of character number `index`, up to the length. */
size_t chat_byte_of(const chat_value *text, size_t index);
/* Returns the first (or last) place of a text within bytes [from, end) of another, or -1. */
int64_t chat_find(const chat_value *text, size_t from, const chat_value *part);
int64_t chat_find_last(const chat_value *text, const chat_value *part);

/* Returns the steps that a search may take. */
static inline uint64_t chat_search_steps(const chat_value *text, const chat_value *part) {
  return ((uint64_t)text->length + 1) * (1 + part->length / 64);
}

/* Removes characters from both sides, or from one. chars: CHAT_MISSING or CHAT_NONE: white space. */
#define CHAT_LEFT  1
#define CHAT_RIGHT 2
int chat_strip(attn2c_chat_work *work, const chat_value *text, const chat_value *chars, int sides,
               chat_value *made);
int chat_change_case(attn2c_chat_work *work, const chat_value *text, chat_case how, chat_value *made);
/* Replaces at most `most` parts (negative: all). */
int chat_replace(attn2c_chat_work *work, const chat_value *text, const chat_value *old, const chat_value *by,
                 int64_t most, chat_value *made);
/* Splits at a text, or at white space (separator CHAT_NONE), at most `most` times (negative: always). */
int chat_split(attn2c_chat_work *work, const chat_value *text, const chat_value *separator, int64_t most,
               int from_right, chat_value *made);
int chat_split_lines(attn2c_chat_work *work, const chat_value *text, int keeps_ends, chat_value *made);
int chat_join_two(attn2c_chat_work *work, const chat_value *a, const chat_value *b, chat_value *made);
/* Reads a whole number or a real number as Python's int and float. Returns 0 if the text is none. */
int chat_read_integer(const chat_value *text, int base, int64_t *value);
int chat_read_real(const chat_value *text, double *value);

/* Makes the value by which another is sorted: a text in lower case, unless case matters. */
int chat_sort_key(attn2c_chat_work *work, const chat_value *value, int has_case, chat_value *key);
int chat_sort_list(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made);
int chat_sort_dict(attn2c_chat_work *work, int filter, const chat_value *values, chat_value *made);

/* Returns the bytes of the caller's texts; SIZE_MAX if they are too many. */
size_t chat_input_bytes(const attn2c_chat_message *messages, size_t count,
                        const attn2c_chat_options *options);
/* Makes work->inputs, what a template sees: messages and flags, special tokens, functions. Returns
 * ATTN2C_USAGE for a name that is not allowed. */
int chat_make_inputs(attn2c_chat_work *work, const attn2c_chat_message *messages, size_t count,
                     const attn2c_chat_options *options);
