/* boxes.h - where the words of a text are on a page. Words are what white space divides. */
#pragma once

#include "program/text/view.h"

/* Returns the words of a line with boxes, the pair's if there is one, with one space between them: so they
 * become the tokens that they are one by one. The caller frees it. NULL: no memory. */
char *attn2c_boxes_join(const attn2c_line *line, size_t *length);

/* Reads the boxes of the words of the view that was added last, and gives them to the tokens of the joined
 * words. The places of a word's tokens become that of the whole word in the line. Returns
 * ATTN2C_OK, _FORMAT or _MEMORY; reader->fault says why. */
int attn2c_boxes_give(attn2c_view_of_text *view);
