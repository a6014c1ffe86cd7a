/* multipart.h - the parts of a form with files, multipart/form-data (RFC 7578). They stay in the body. */
#pragma once

#include <stddef.h>

/* A part: its name, and the bytes that it has in the body. */
typedef struct {
  const char *name, *data;
  size_t name_length, length;
} attn2c_part;

/* Finds the parts of a body. content_type: the request's header, or NULL. Returns their number, at most
 * `most`; or -1, and sets *fault to the reason. */
int attn2c_multipart(const char *content_type, const char *body, size_t length, attn2c_part *parts, int most,
                     const char **fault);

/* Returns the first part of that name, or NULL. */
const attn2c_part *attn2c_part_of(const attn2c_part *parts, int count, const char *name);
