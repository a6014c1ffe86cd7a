/* utf8.h - where one character of UTF-8 ends. The JSON reader asks it of every name in
 * a file, and messages ask it of every text that they did not make themselves. */
#ifndef ATTN2C_UTF8_H
#define ATTN2C_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the well-formed character at `text`, of which `available` bytes may be read; 0 where
 * there is none: a stray or missing continuation, an overlong form, a surrogate, or beyond U+10FFFF (Unicode
 * 15, table 3-7). */
size_t attn2c_utf8_width(const char *text, size_t available);

#endif
