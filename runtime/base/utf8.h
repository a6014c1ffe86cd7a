/* utf8.h - measures and decodes one UTF-8 character, and tells whether a terminal shows it. The JSON reader
 * checks every string of a file; messages check every text that they did not make. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes (1 to 4) of the well-formed character at `text`, of which `available` bytes may be read.
 * Returns 0 if there is none: a stray or missing continuation, an overlong form, a surrogate, or a code
 * beyond U+10FFFF (Unicode 15, table 3-7). */
size_t attn2c_utf8_width(const char *text, size_t available);

/* Returns the bytes of the character at `text`, or, if `valid` is set to 0, of one maximal malformed part. At
 * least one byte must be available. */
size_t attn2c_utf8_part(const char *text, size_t available, int *valid);

/* Returns the code point of the well-formed character at `text`, whose width is known. */
uint32_t attn2c_utf8_point(const char *text, size_t width);

/* Returns the bytes of the byte order mark that a text begins with, 3, or 0 without one; -1: it is UTF-16's.
 */
int attn2c_utf8_mark(const char *text, size_t length);

/* False for a control, a mark of direction, a tag or a character without width. gen/common/terminal.lua has
 * the same list. */
int attn2c_is_seen(uint32_t point);
