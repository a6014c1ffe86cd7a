/* padded.c - fills texts up to the length of a call. */
#include "model/text/reader.h"

enum { SPECIAL = 2 }; /* the source of a token that is of no text */

static int make(attn2c_padded *padded, size_t length) {
  if (padded->ids) return ATTN2C_OK;
  padded->ids = calloc(length, sizeof *padded->ids);
  padded->types = calloc(length, sizeof *padded->types);
  padded->places = calloc(length, sizeof *padded->places);
  padded->sources = calloc(length, sizeof *padded->sources);
  return padded->ids && padded->types && padded->places && padded->sources ? ATTN2C_OK : ATTN2C_MEMORY;
}

int attn2c_padded_fill(attn2c_padded *padded, int32_t token, size_t length, attn2c_text_tokens *tokens) {
  const size_t own = tokens->length;
  if (own >= length) return ATTN2C_OK;
  if (make(padded, length) != ATTN2C_OK) {
    attn2c_padded_close(padded);
    return ATTN2C_MEMORY;
  }
  if (own > 0) {
    memcpy(padded->ids, tokens->ids, own * sizeof *padded->ids);
    memcpy(padded->types, tokens->types, own * sizeof *padded->types);
    memcpy(padded->places, tokens->places, own * sizeof *padded->places);
    memcpy(padded->sources, tokens->sources, own * sizeof *padded->sources);
  }
  for (size_t i = own; i < length; i++) {
    padded->ids[i] = token, padded->types[i] = 0, padded->sources[i] = SPECIAL;
    padded->places[i] = (attn2c_text_place){0};
  }
  tokens->ids = padded->ids, tokens->types = padded->types;
  tokens->places = padded->places, tokens->sources = padded->sources;
  tokens->length = length;
  return ATTN2C_OK;
}

void attn2c_padded_close(attn2c_padded *padded) {
  free(padded->ids);
  free(padded->types);
  free(padded->places);
  free(padded->sources);
  *padded = (attn2c_padded){0};
}
