/* chat_strings.h - Python's functions on strings that templates use. Positions are in characters. */
#pragma once

#include "chat/chat_values.h"

typedef enum { CHAT_UPPER, CHAT_LOWER, CHAT_CAPITALIZE, CHAT_TITLE, CHAT_TITLE_FILTER } chat_case;

/* True for white space as Python's str.isspace. */
int chat_is_space(uint32_t point);
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
