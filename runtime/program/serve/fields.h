/* fields.h - reads the fields of a request's JSON. The first field that is wrong is refused with a line that
 * names it, says what came, and what is allowed; later ones then have their usual values. A field that is
 * null counts as missing. */
#pragma once

#include "program/serve/server.h"

typedef struct {
  attn2c_exchange *exchange;
  const json_t *given;
  int is_refused; /* 1: a reply was written */
} attn2c_fields;

/* Returns a field; NULL: it is missing. */
const json_t *attn2c_field(const attn2c_fields *fields, const char *name);

/* Return a field's value, or the usual one if it is missing or wrong. */
int attn2c_field_flag(attn2c_fields *fields, const char *name, int usual);
int64_t attn2c_field_count(attn2c_fields *fields, const char *name, int64_t least, int64_t most,
                           int64_t usual);
const char *attn2c_field_text(attn2c_fields *fields, const char *name, const char *usual);
/* Returns the number of a field's text in a list that NULL ends; usual if it is missing or wrong. */
int attn2c_field_word(attn2c_fields *fields, const char *name, const char *const *words, int usual);

/* Refuses a value. expected: "a text or a list of texts". */
void attn2c_field_refuse(attn2c_fields *fields, const char *name, const json_t *value, const char *expected);
