/* boxes.h - reads the boxes of a text's words from text: whole numbers, four for each word. */
#pragma once

#include "program/text/view.h"

/* Gives the words of a line its boxes; a line without boxes has no such words. Returns ATTN2C_OK, _FORMAT or
 * _MEMORY; reader->fault says why. */
int attn2c_boxes_read(attn2c_reader *reader, const attn2c_line *line);
