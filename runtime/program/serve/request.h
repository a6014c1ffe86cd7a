/* request.h - reads the fields of a request's JSON. The first fault is replied with status 400: the field,
 * what came, what is allowed. A field that is null counts as not given. */
#pragma once

#include "program/serve/server.h"

typedef struct attn2c_request {
  attn2c_exchange *exchange;
  const json_t *given;
  int failed; /* 1: a fault was replied; the functions below do nothing then */
} attn2c_request;

/* Returns a field, or NULL if it is not given. */
const json_t *attn2c_request_field(const attn2c_request *r, const char *name);

/* Replies with an error as attn2c_serve_refuse does, if no fault was replied before. */
void attn2c_request_fail(attn2c_request *r, int status, const char *param, const char *code,
                         const char *format, ...) __attribute__((format(ATTN2C_PRINTF, 5, 6)));
/* Replies that there is no memory. */
void attn2c_request_no_memory(attn2c_request *r);
/* Replies that a field is wrong, and what is allowed. */
void attn2c_request_refuse(attn2c_request *r, const char *name, const json_t *value, const char *allowed, ...)
    __attribute__((format(ATTN2C_PRINTF, 4, 5)));
/* Replies that a field of this name is not supported, if it is given and asks for something. */
void attn2c_request_lacks(attn2c_request *r, const char *name, const char *why);
/* Fields that are not supported, with spaces between their names. `usual`: in JSON, the value by which
 * clients ask for nothing; NULL: false, or what is empty. `why`: as above, or NULL. */
typedef struct {
  const char *names, *usual, *why;
} attn2c_lacking;
/* Refuses the fields of a list, which ends with a row without names. */
void attn2c_request_lacks_each(attn2c_request *r, const attn2c_lacking *list);
/* True if a value asks for nothing: null, false, or empty. */
int attn2c_request_says_nothing(const json_t *value);
/* Notes a field that the request has and nothing reads; it is named in the log and in a header of the reply.
 */
void attn2c_request_ignore(attn2c_exchange *exchange, const char *name);
/* Does so for fields that were not asked for, unless they ask for nothing. */
void attn2c_request_note_unread(attn2c_exchange *exchange);
/* Notes the fields of an object as `OF.NAME`, but for a list of known names with spaces between, or of
 * NAME=TEXT for a text that asks for nothing. */
void attn2c_request_ignore_others(attn2c_exchange *exchange, const char *of, const json_t *object,
                                  const char *known);
/* Makes the members of `parameters`, which clients of TEI and Hugging Face send, fields of the request.
 * Returns 0 if it has refused the request. */
int attn2c_request_spread(attn2c_exchange *exchange, json_t *given);
/* Returns the one of two names of a field that is given; refuses both. */
const char *attn2c_request_either(attn2c_request *r, const char *name, const char *other);

/* Read a field into *value, which stays if it is not given. Return 1 if it was given and right. */
int attn2c_request_integer(attn2c_request *r, const char *name, int64_t least, int64_t most, int64_t *value);
int attn2c_request_real(attn2c_request *r, const char *name, double least, double most, double *value);
int attn2c_request_flag(attn2c_request *r, const char *name, int *value);
/* One of the words "a, b or c"; *value: its number from 0. */
int attn2c_request_word(attn2c_request *r, const char *name, const char *words, int *value);
/* Reads a text, which belongs to the JSON. */
int attn2c_request_text(attn2c_request *r, const char *name, const char **value);
/* Reads `model`: which adapter is asked for, by its name or MODEL:NAME. Any other name stands for the model,
 * if it has no adapters. */
void attn2c_request_model(attn2c_request *r, const attn2c_server *server, int32_t *adapter);
/* Returns the name of the model, or of one of its adapters, in replies. */
const char *attn2c_served_name(const attn2c_server *server, int32_t adapter);
/* A text, or a list of at most `most` texts. Calls take(context, text, length) for each; it returns a status.
 * Returns the number of texts. */
int attn2c_request_texts(attn2c_request *r, const char *name, int most,
                         int (*take)(void *context, const char *text, size_t length), void *context);
/* Returns the bytes of a picture's file, from malloc: of a data URL, or of an object with one in a form that
 * clients send. NULL after a refusal. */
uint8_t *attn2c_request_picture(attn2c_request *r, const char *field, const json_t *value, size_t *length);
