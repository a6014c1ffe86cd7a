#include "model/text/padded.h"

enum { SPECIAL = 2 }; /* the source of a token that is of no text */

static int make(attn2c_padded *padded, size_t length) {
  if (padded->ids) return ATTN2C_OK;
  padded->ids = calloc(length, sizeof *padded->ids);
  padded->types = calloc(length, sizeof *padded->types);
  padded->places = calloc(length, sizeof *padded->places);
  padded->sources = calloc(length, sizeof *padded->sources);
  return padded->ids && padded->types && padded->places && padded->sources ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Copies `count` tokens from number `from` on to the place `to`. */
static void copy(attn2c_padded *padded, const attn2c_text_tokens *tokens, size_t from, size_t to,
                 size_t count) {
  if (count == 0 || tokens->ids == padded->ids) return;
  memcpy(padded->ids + to, tokens->ids + from, count * sizeof *padded->ids);
  memcpy(padded->types + to, tokens->types + from, count * sizeof *padded->types);
  memcpy(padded->places + to, tokens->places + from, count * sizeof *padded->places);
  memcpy(padded->sources + to, tokens->sources + from, count * sizeof *padded->sources);
}

/* Writes a special token to places [from, end), and gives all tokens to the caller. */
static void put(attn2c_padded *padded, int32_t token, size_t from, size_t end, size_t length,
                attn2c_text_tokens *tokens) {
  for (size_t i = from; i < end; i++) {
    padded->ids[i] = token, padded->types[i] = 0, padded->sources[i] = SPECIAL;
    padded->places[i] = (attn2c_text_place){0};
  }
  tokens->ids = padded->ids, tokens->types = padded->types;
  tokens->places = padded->places, tokens->sources = padded->sources;
  tokens->length = length;
}

int attn2c_padded_fill(attn2c_padded *padded, int32_t token, size_t length, size_t most,
                       attn2c_text_tokens *tokens) {
  const size_t own = tokens->length;
  if (own >= length) return ATTN2C_OK;
  if (make(padded, most) != ATTN2C_OK) {
    attn2c_padded_close(padded);
    return ATTN2C_MEMORY;
  }
  copy(padded, tokens, 0, 0, own);
  put(padded, token, own, length, length, tokens);
  return ATTN2C_OK;
}

int attn2c_padded_insert(attn2c_padded *padded, int32_t token, size_t most, attn2c_text_tokens *tokens) {
  if (make(padded, most) != ATTN2C_OK) {
    attn2c_padded_close(padded);
    return ATTN2C_MEMORY;
  }
  copy(padded, tokens, 0, 0, 1);
  copy(padded, tokens, 1, 2, tokens->length - 1);
  put(padded, token, 1, 2, tokens->length + 1, tokens);
  return ATTN2C_OK;
}

void attn2c_padded_close(attn2c_padded *padded) {
  ATTN2C_FREE(padded->ids, padded->types, padded->places, padded->sources);
  *padded = (attn2c_padded){0};
}
