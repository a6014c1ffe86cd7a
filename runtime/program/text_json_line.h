/* text_json_line.h - JSON of what a stranger wrote, an object a line. Texts are mended UTF-8; controls beyond
 * JSON's own are escaped too, so that a terminal may show it. */
#ifndef ATTN2C_TEXT_JSON_LINE_H
#define ATTN2C_TEXT_JSON_LINE_H

#include <jansson.h>
#include <stdio.h>

/* A string; NULL: no memory. */
json_t *attn2c_json_text(const char *text, size_t length);

/* A number, null where it is not finite. */
json_t *attn2c_json_number(double value);

/* Writes an object as a line and gives it back. NULL, or no memory: ATTN2C_MEMORY. */
int attn2c_json_line(json_t *object, FILE *out);

#endif
