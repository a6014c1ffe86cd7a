/* golden_text.h - tokenizers of tests/text/goldens and of a test's own, compiled and opened. */
#ifndef ATTN2C_TEST_GOLDEN_TEXT_H
#define ATTN2C_TEST_GOLDEN_TEXT_H

#include "text/text.h"

typedef struct tokenizer {
  uint8_t *tables;
  size_t size;
  attn2c_tokenizer *text;
  attn2c_text_work *work;
} tokenizer;

/* The tables of a golden, by its name, or of a tokenizer.json, by its path; scratch.h's folder gets files. */
void read_tables(tokenizer *t, const char *name);
tokenizer open_golden(const char *name);
void close_golden(tokenizer *t);
/* A text without a limit. */
attn2c_text_input input_of(const char *text, size_t length);

#endif
