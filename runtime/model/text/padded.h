/* padded.h - fills texts up to the length of a call with the tokenizer's padding token, for models that
 * see it as any other token. */
#pragma once

#include "text/text.h"

/* The memory of a filled text. */
typedef struct attn2c_padded {
  int32_t *ids, *types;
  attn2c_text_place *places;
  uint8_t *sources;
} attn2c_padded;

/* Replaces *tokens by the same tokens with `token` after them, `length` in all. They are in the memory of
 * `padded` until the next call, and have no place in the text. Returns ATTN2C_OK or _MEMORY. */
int attn2c_padded_fill(attn2c_padded *padded, int32_t token, size_t length, attn2c_text_tokens *tokens);
void attn2c_padded_close(attn2c_padded *padded);
