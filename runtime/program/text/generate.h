/* generate.h - parts for text of the commands that generate. */
#pragma once

#include "base/text_facts.h"
#include "program/generate/options.h"
#include "text/text.h"

/* Encodes a whole text. An empty one becomes a BOS token, so that the model has a token to go on from, as in
 * transformers. plain: no special tokens are added. language: as in attn2c_text_input. On failure *fault is
 * the reason. */
int attn2c_encode_all(attn2c_text_work *work, const attn2c_text_facts *facts, const char *text, size_t length,
                      int plain, int32_t language, attn2c_text_tokens *tokens, const char **fault);

/* Makes the list of the breakers of DRY, if the options have it. Returns ATTN2C_OK, or another status and a
 * line. */
int attn2c_generate_breakers(attn2c_text_work *work, const attn2c_generate_arguments *given,
                             int64_t vocabulary, attn2c_generate_options *options, attn2c_message *message);

/* The command `chat` (generate_chat.c). */
int attn2c_chat_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        FILE *notes, attn2c_message *message);
