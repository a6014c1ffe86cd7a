/* late.h - the tokens of texts whose vectors are compared one by one (late interaction). */
#pragma once

#include "base/text_facts.h"
#include "model/text/padded.h"

/* Returns the most tokens of a query or document that the tokenizer makes; a call takes `longest`. */
size_t attn2c_late_limit(const attn2c_late *late, int is_query, size_t longest);

/* Puts the marker after the first token, and fills a query up. *keys becomes the number of tokens that the
 * others see. Returns ATTN2C_OK or _MEMORY. */
int attn2c_late_complete(const attn2c_late *late, int is_query, attn2c_padded *padded, size_t longest,
                         attn2c_text_tokens *tokens, size_t *keys);

/* True if a token has a vector. late NULL: each has one. */
int attn2c_late_keeps(const attn2c_late *late, int is_query, int32_t id, int64_t row);
