/* safe.h - escapes a text for a line of output. The text stays one line, has no tab, and a terminal
 * interprets nothing in it. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Writes the bytes as UTF-8. Escapes are \n, \r, \t and
 * for those characters, \u{202E} for other control and invisible characters; malformed bytes become
 * U+FFFD. */
void attn2c_safe_write(const char *text, size_t length, FILE *out);
/* The same for a text of lines: line ends, tabs and backslashes stay as they are. */
void attn2c_safe_write_lines(const char *text, size_t length, FILE *out);

/* Copies `length` bytes to `to`, with U+FFFD for each maximal part that is malformed UTF-8. The capacity of
 * `to` is 3 * length. Returns the bytes written. */
size_t attn2c_utf8_mend(const char *text, size_t length, char *to);
