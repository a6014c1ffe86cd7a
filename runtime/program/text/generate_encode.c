/* generate_encode.c - the tokens of a whole text, for the commands that generate. */
#include "program/text/generate.h"

int attn2c_encode_all(attn2c_text_work *work, const attn2c_text_facts *facts, const char *text, size_t length,
                      int plain, int32_t language, attn2c_text_tokens *tokens, const char **fault) {
  const attn2c_text_input input = {.text = text,
                                   .length = length,
                                   .plain = plain,
                                   .language = language,
                                   .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
  *fault = "";
  const int status = attn2c_text_encode(work, &input, tokens);
  if (status != ATTN2C_OK) {
    *fault = status == ATTN2C_MEMORY ? attn2c_strerror(status) : attn2c_text_fault(work);
    return status;
  }
  if (tokens->length > 0) return ATTN2C_OK;
  if (facts->bos_token < 0) {
    *fault = "has no tokens, and the tokenizer has no BOS token to begin with";
    return ATTN2C_FORMAT;
  }
  *tokens = (attn2c_text_tokens){.length = 1, .ids = &facts->bos_token};
  return ATTN2C_OK;
}
