/* prompt.h - puts a model's prompt before each text that is encoded, like sentence-transformers. The
 * places of tokens stay as in the caller's own text. */
#pragma once

#include "text/text.h"

typedef struct {
  const char *text; /* NULL: the model has no prompt */
  size_t length;    /* in bytes */
  uint32_t characters;
  size_t tokens; /* tokens of only the prompt, with special tokens before it and without one after it */
  char *joined;  /* the prompt and the last text */
  attn2c_text_place *places;       /* places of the last tokens */
  size_t joined_size, places_size; /* bytes */
} attn2c_prompt;

/* Cuts the prompt into tokens; text may be NULL. Returns ATTN2C_OK, _FORMAT or _MEMORY. */
int attn2c_prompt_open(attn2c_prompt *prompt, attn2c_text_work *work, const char *text);
void attn2c_prompt_close(attn2c_prompt *prompt);

/* Puts the prompt before the input's text, in the prompt's memory. Returns ATTN2C_OK or _MEMORY. */
int attn2c_prompt_add(attn2c_prompt *prompt, attn2c_text_input *input);

/* Changes the places of an input's tokens to the places in its text without the prompt. A token of the prompt
 * is at 0. Returns ATTN2C_OK or _MEMORY. */
int attn2c_prompt_hide(attn2c_prompt *prompt, attn2c_text_tokens *tokens);
