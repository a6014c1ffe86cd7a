/* numbers.h - floats in answers: as JSON, and as base64 of their bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The most bytes of a float in JSON. */
enum { ATTN2C_FLOAT_BYTES = 16 };

/* Writes a float with 9 digits at most, of which the same float is read again; null if it is not finite.
 * There must be space for ATTN2C_FLOAT_BYTES. Returns the bytes written. */
size_t attn2c_float_text(float value, char *to);

/* Returns the most bytes of a list of floats, and writes it: a JSON array, or a string of base64 of
 * little-endian bytes (RFC 4648). */
size_t attn2c_floats_room(size_t count, int is_base64);
size_t attn2c_floats_text(const float *values, size_t count, int is_base64, char *to);

/* Returns OpenAI's reply of [count][width] floats of a model's embeddings, from malloc; NULL without memory.
 */
char *attn2c_embeddings_text(const char *model, const float *values, size_t count, size_t width,
                             int is_base64, int64_t tokens, size_t *length);

/* Decodes base64, with or without padding. `to` has space for 3 bytes for each 4 of the text. Returns the
 * bytes written, or -1 if the text is not base64. */
ptrdiff_t attn2c_base64_read(const char *text, size_t length, uint8_t *to);
