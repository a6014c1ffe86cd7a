/* json.h - a strict reader of JSON whose schema the caller knows, one value after the
 * other. It allocates nothing and never recurses, so that neither a hostile text nor a
 * lack of memory can make it read anything but what the text says. */
#ifndef ATTN2C_JSON_H
#define ATTN2C_JSON_H

#include <stddef.h>
#include <stdint.h>

typedef struct attn2c_json {
  char *text; /* strings are decoded where they stand */
  size_t size, at;
  const char *fault; /* NULL until something is not as it must be; then what, and `at` says where */
} attn2c_json;

attn2c_json attn2c_json_make(char *text, size_t size);

/* Each returns 1, or 0 with the fault set. After a fault every further call returns 0. */

/* Takes '{' or '['. */
int attn2c_json_enter(attn2c_json *json, char bracket);
/* Takes a string, decodes its escapes in place and terminates it. Refused: control characters, broken UTF-8,
 * lone surrogates and NUL (a name that ends early would be another name). */
int attn2c_json_string(attn2c_json *json, const char **value);
/* Takes a string and the colon behind it. */
int attn2c_json_key(attn2c_json *json, const char **value);
/* Takes an integer from 0 to 2^53, which every writer can represent; fractions, exponents and signs are
 * refused. */
int attn2c_json_integer(attn2c_json *json, int64_t *value);
/* Takes any value, of at most 100 objects and lists within one another, and forgets it. Numbers are any run
 * of the characters that numbers have. */
int attn2c_json_skip(attn2c_json *json);
/* Nothing but white space is left. */
int attn2c_json_end(attn2c_json *json);
/* Before each member: 1 when one follows, 0 when `bracket` ('}' or ']') was taken or at a fault. *members,
 * which starts at 0, counts them. */
int attn2c_json_member(attn2c_json *json, char bracket, int64_t *members);

#endif
