/* chat_template.h - declares a compiled chat template: the constant tables that a model's C has, and what a
 * caller gives and gets. gen/text/chat/ makes the tables from Jinja; chat_run.c interprets them. */
#pragma once

#include "base/attn2c.h"

/* A text of UTF-8, which may have NUL. */
typedef struct attn2c_chat_word {
  const char *text;
  uint32_t length;
} attn2c_chat_word;

/* A step; chat_numbers.h says what a and b mean. */
typedef struct attn2c_chat_step {
  uint16_t op, line; /* line of the template, 65535: that or a later one */
  int32_t a, b;
} attn2c_chat_step;

/* A macro: the word of its name, its first step, its parameters (`count` of the list), and its slots. */
typedef struct attn2c_chat_macro {
  int32_t name, entry, first, count, slots;
} attn2c_chat_macro;

/* A value by name. From ATTN2C_CHAT_REAL on they are for programs, not in the library's interface. */
typedef enum {
  ATTN2C_CHAT_TEXT,
  ATTN2C_CHAT_FLAG,
  ATTN2C_CHAT_INTEGER,
  ATTN2C_CHAT_NONE,
  ATTN2C_CHAT_REAL,
  ATTN2C_CHAT_LIST,
  ATTN2C_CHAT_DICT
} attn2c_chat_kind;

typedef struct attn2c_chat_value {
  const char *name; /* ends with NUL; not of an item of a list */
  attn2c_chat_kind kind;
  const void *text; /* of ATTN2C_CHAT_TEXT, `length` bytes; of a list or dictionary: `length` values */
  size_t length;
  int64_t number; /* of a flag, 0 or 1, and of an integer; of ATTN2C_CHAT_REAL its bits */
} attn2c_chat_value;

typedef struct attn2c_chat_message {
  const char *role;
  size_t role_length;
  const char *content; /* NULL: none */
  size_t content_length;
  const attn2c_chat_value *more; /* other fields, such as reasoning_content */
  size_t more_count;
} attn2c_chat_message;

typedef struct attn2c_chat_options {
  int add_generation_prompt;
  const char *date; /* for strftime_now: "2026-11-23" or "2026-11-23T18:05:00"; NULL: this machine's time */
  const attn2c_chat_value *flags;
  size_t flag_count;
} attn2c_chat_options;

/* The memory of a caller, which serves one call at a time. */
typedef struct attn2c_chat_work attn2c_chat_work;

typedef struct attn2c_chat_template {
  const attn2c_chat_step *steps;
  const attn2c_chat_word *words;
  const double *reals;
  const int32_t *parameters; /* words */
  const attn2c_chat_macro *macros;
  const attn2c_chat_value *tokens; /* special tokens by name */
  int32_t step_count, word_count, real_count, parameter_count, macro_count, token_count, slots;
  /* attn2c_chat_render and attn2c_chat_release, so that only a model with a template links them. */
  int (*render)(const struct attn2c_chat_template *template, attn2c_chat_work **work,
                const attn2c_chat_message *messages, size_t count, const attn2c_chat_options *options,
                const char **text, size_t *length, char *fault, size_t fault_size);
  void (*release)(attn2c_chat_work *work);
} attn2c_chat_template;

/* Writes the messages of a chat as the template says. `*work` is NULL before the first call; it keeps the
 * text until the next call. options NULL: none. Malformed UTF-8 counts as U+FFFD. Returns ATTN2C_OK;
 * ATTN2C_USAGE: no message, or a name of a value that is not
 * allowed; ATTN2C_FORMAT: the template refuses the messages
 * (raise_exception) or fails, or takes more than its budget of steps, memory or output; ATTN2C_MEMORY.
 * `fault` receives the reason: one line, with control characters escaped. */
int attn2c_chat_render(const attn2c_chat_template *template, attn2c_chat_work **work,
                       const attn2c_chat_message *messages, size_t count, const attn2c_chat_options *options,
                       const char **text, size_t *length, char *fault, size_t fault_size);
void attn2c_chat_release(attn2c_chat_work *work);
