/* prompts.h - the prompts of `generate`, one after the other, from arrays of token ids or, in a
 * model that takes text, from words and files. */
#pragma once

#include "program/arguments.h"

enum { ATTN2C_PROMPT_PLACE = 400 };

typedef struct attn2c_prompt_ids {
  const int32_t *ids; /* [count], until the next prompt is read */
  int64_t count;
  const char *text; /* the prompt's text; NULL: only its ids are known */
  size_t length;
  int is_empty;                    /* 1: the text has no token of its own */
  char gap;                        /* between it and the next one, if that is of the same text; else 0 */
  char place[ATTN2C_PROMPT_PLACE]; /* "prompts.txt: line 3", for messages */
} attn2c_prompt_ids;

typedef enum {
  ATTN2C_PROMPT_END,
  ATTN2C_PROMPT_NONE, /* no prompt has come yet, and may_wait is 0 */
  ATTN2C_PROMPT_READ,
  ATTN2C_PROMPT_FAULT /* status and message say why */
} attn2c_prompt_state;

/* Prompts as arrays of ids. */
typedef struct attn2c_prompt_arrays attn2c_prompt_arrays;

/* Reads ids=X.npy, [prompts][tokens] or [tokens], and lengths=L.npy, [prompts]: the first tokens of each row,
 * or, for ids of one dimension, the tokens of each prompt, one after the other. ids_name: another name of the
 * input. Returns ATTN2C_OK, _USAGE, _FORMAT, _IO or _MEMORY, with a line. */
int attn2c_prompt_arrays_open(const char *const *words, int count, const char *ids_name,
                              attn2c_prompt_arrays **arrays, attn2c_message *message);
void attn2c_prompt_arrays_close(attn2c_prompt_arrays *arrays);
attn2c_prompt_state attn2c_prompt_arrays_next(attn2c_prompt_arrays *arrays, attn2c_prompt_ids *prompt);
