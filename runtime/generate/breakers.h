/* breakers.h - the breakers of DRY that texts stand for, as sequences of tokens (dry.h). A token that has the
 * text in it is a breaker by itself. A token that ends with the beginning of the text is one with the tokens
 * after it that the rest of the text has. This is llama.cpp's rule. */
#pragma once

#include "text/text.h"

/* The most bytes of a text, and the most tokens of its rest; the others do not count. */
enum { ATTN2C_BREAKER_BYTES = 40, ATTN2C_BREAKER_TOKENS = 20 };

/* Makes the list of the breakers for `count` texts: (*list)[*size], the tokens of each after their number.
 * The caller frees it with free. vocabulary: tokens that the model writes. Returns ATTN2C_OK; ATTN2C_USAGE
 * for an empty text; ATTN2C_MEMORY, or ATTN2C_FORMAT for a text that cannot be encoded. *list is then NULL.
 */
int attn2c_dry_breakers(attn2c_text_work *work, int32_t vocabulary, const char *const *texts, int count,
                        int32_t **list, int32_t *size);
