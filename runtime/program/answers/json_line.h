/* json_line.h - JSON of texts from users, one object a line. Malformed UTF-8 is replaced, and control
 * characters that JSON allows are escaped, too, so that a terminal may show the line. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Returns a string; NULL without memory. */
json_t *attn2c_json_text(const char *text, size_t length);

/* Returns a number, or null if it is not finite. */
json_t *attn2c_json_number(double value);

/* Returns a list of such numbers; NULL without memory. */
json_t *attn2c_json_numbers(const float *values, int64_t count);

/* Returns the text of a value, whose numbers have the fewest digits that stand for them; NULL without memory.
 */
char *attn2c_json_shortest(const json_t *value);

/* Writes an object as a line and releases it. Returns ATTN2C_MEMORY if the object is NULL or memory is
 * missing; failed: it was while the object was made. */
int attn2c_json_line(json_t *object, int failed, FILE *out);

/* Escapes a text for a line of output. It stays one line, has no tab, and nothing for a terminal. */

/* Writes the bytes as UTF-8. Escapes are \n, \r, \t and
 * for those characters, \u{202E} for other control and invisible characters; malformed bytes become
 * U+FFFD. */
void attn2c_safe_write(const char *text, size_t length, FILE *out);
/* The same for a text of lines: line ends, tabs and backslashes stay as they are. */
void attn2c_safe_write_lines(const char *text, size_t length, FILE *out);

/* Copies `length` bytes to `to`, with U+FFFD for each maximal part that is malformed UTF-8. The capacity of
 * `to` is 3 * length. Returns the bytes written. */
size_t attn2c_utf8_mend(const char *text, size_t length, char *to);
