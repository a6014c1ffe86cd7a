/* utf8.h - where one character of UTF-8 ends, and whether a line of text has a use for it. The JSON reader
 * asks the first of every name in a file; messages ask both of every text that they did not make. */
#ifndef ATTN2C_UTF8_H
#define ATTN2C_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes (1 to 4) of the well-formed character at `text`, of which `available` bytes may be read; 0 where
 * there is none: a stray or missing continuation, an overlong form, a surrogate, or beyond U+10FFFF (Unicode
 * 15, table 3-7). */
size_t attn2c_utf8_width(const char *text, size_t available);

/* The code point of the well-formed character at `text`, whose width is known. */
uint32_t attn2c_utf8_point(const char *text, size_t width);

/* 0 for a control, a mark of direction, a tag or a character without width. gen/common/terminal.lua has the
 * same list. */
int attn2c_is_seen(uint32_t point);

#endif
