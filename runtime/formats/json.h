/* json.h - reads JSON strictly, one value after the other, for callers that know the schema. It allocates
 * nothing and never recurses, so a hostile text or a lack of memory cannot make it misread the text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct attn2c_json {
  char *text; /* strings are decoded in place */
  size_t size, at;
  const char *fault; /* NULL, or what is wrong at byte `at` */
} attn2c_json;

attn2c_json attn2c_json_make(char *text, size_t size);

/* Each function returns 1, or 0 with the fault set. After a fault every further call returns 0. */

/* Takes '{' or '['. */
int attn2c_json_enter(attn2c_json *json, char bracket);
/* Takes a string, decodes its escapes in place and terminates it. Control characters, broken UTF-8, lone
 * surrogates and NUL are refused (a name cut at a NUL would be another name). */
int attn2c_json_string(attn2c_json *json, const char **value);
/* Takes a string and the colon after it. */
int attn2c_json_key(attn2c_json *json, const char **value);
/* Takes an integer from 0 to 2^53, which all writers have; fractions, exponents and signs are refused. */
int attn2c_json_integer(attn2c_json *json, int64_t *value);
/* Takes any value of at most 100 nested objects and lists, and drops it. A number is any run of the
 * characters that numbers consist of. */
int attn2c_json_skip(attn2c_json *json);
/* True if only white space is left. */
int attn2c_json_end(attn2c_json *json);
/* Begins a member: returns 1 if one follows, 0 if `bracket` ('}' or ']') was taken or at a fault. *members
 * counts the members and starts at 0. */
int attn2c_json_member(attn2c_json *json, char bracket, int64_t *members);
