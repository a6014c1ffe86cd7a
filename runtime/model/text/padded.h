/* padded.h - fills texts up to a length with a token that the model sees as any other, such as the
 * tokenizer's padding token; and inserts tokens. */
#pragma once

#include "text/text.h"

/* The memory of a filled text. */
typedef struct attn2c_padded {
  int32_t *ids, *types;
  attn2c_text_place *places;
  uint8_t *sources;
} attn2c_padded;

/* Replaces *tokens by the same tokens with `token` after them, `length` in all. They are in the memory of
 * `padded` until the next call, and have no place in the text. most: the tokens of any text. Returns
 * ATTN2C_OK or _MEMORY. */
int attn2c_padded_fill(attn2c_padded *padded, int32_t token, size_t length, size_t most,
                       attn2c_text_tokens *tokens);
/* Does the same with `token` after the first of the tokens, of which there is one at least. */
int attn2c_padded_insert(attn2c_padded *padded, int32_t token, size_t most, attn2c_text_tokens *tokens);
void attn2c_padded_close(attn2c_padded *padded);
