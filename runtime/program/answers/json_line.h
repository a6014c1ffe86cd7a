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

/* Writes an object as a line and releases it. Returns ATTN2C_MEMORY if the object is NULL or memory is
 * missing; failed: it was while the object was made. */
int attn2c_json_line(json_t *object, int failed, FILE *out);
