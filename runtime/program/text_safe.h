/* text_safe.h - a stranger's text for a line of output: it stays one line, has no tab, and nothing in it is
 * obeyed by a terminal. */
#ifndef ATTN2C_TEXT_SAFE_H
#define ATTN2C_TEXT_SAFE_H

#include <stdint.h>
#include <stdio.h>

/* Writes the bytes as UTF-8: \n, \r, \t and \\ for themselves, \u{202E} for other controls and what is not
 * seen, U+FFFD for what is no UTF-8. */
void attn2c_safe_write(const char *text, size_t length, FILE *out);

/* Copies `length` bytes to `to`, which has room for three times as many, with U+FFFD for each maximal part of
 * what is no UTF-8; the bytes written. */
size_t attn2c_utf8_mend(const char *text, size_t length, char *to);

#endif
