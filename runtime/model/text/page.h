/* page.h - texts whose words have boxes: where they are on a page. Words are what white space of ASCII
 * divides; words of a question, which has no boxes, are what Python's str.split divides. */
#pragma once

#include "model/text/reader.h"

/* Gives the words of the text that is encoded next their boxes, [count / 4][4]: left, upper, right and lower
 * side. If there is a pair, its words have them, and the text is a question. Words become tokens one by one;
 * the places of a boxed word's tokens become that of the whole word in the caller's text. Texts have such
 * words until the next call; boxes NULL: they have none. It copies what it is given. Returns ATTN2C_OK;
 * _FORMAT: there are not four numbers for each word, or one is out of range, which reader->fault says;
 * _MEMORY. */
int attn2c_reader_page(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                       size_t pair_length, const int32_t *boxes, size_t count);

/* Returns the largest side of a box. */
int32_t attn2c_reader_most_side(const attn2c_reader *reader);

/* Puts the number of the text, from 1, before the reason of a failure. Returns the status. */
int attn2c_reader_blame(attn2c_reader *reader, size_t text, int status);
