/* generate_encode.c - the tokens of whole texts, of languages and of breakers, for the commands that
 * generate. */
#include "generate/breakers.h"
#include "program/text/generate.h"

static int find_language(const attn2c_tokenizer *text, const char *option, const char *code, int32_t *id,
                         attn2c_message *message) {
  char why[4000];
  attn2c_message said = attn2c_message_make(why, sizeof why);
  const int status = code ? attn2c_text_find_language(text, code, id, &said) : ATTN2C_OK;
  return status == ATTN2C_OK ? status : attn2c_fail(message, status, "%s: %s", option, why);
}

int attn2c_find_languages(const attn2c_tokenizer *text, const attn2c_asked_languages *asked,
                          attn2c_language_tokens *tokens, attn2c_message *message) {
  const attn2c_text_target target = attn2c_text_target_of(text);
  int32_t *of_target = target == ATTN2C_TEXT_TARGET_SOURCE  ? &tokens->language
                       : target == ATTN2C_TEXT_TARGET_START ? &tokens->start
                                                            : &tokens->first;
  *tokens = (attn2c_language_tokens){0, -1, -1};
  if (asked->target && asked->needs && target == ATTN2C_TEXT_TARGET_SOURCE)
    return attn2c_fail(message, ATTN2C_USAGE, "%s: goes with %s, as its token is in front of the source",
                       asked->target_name, asked->needs);
  if (asked->source && target == ATTN2C_TEXT_TARGET_SOURCE)
    return attn2c_fail(message, ATTN2C_USAGE, "%s: this model finds it by itself; %s chooses the other",
                       asked->source_name, asked->target_name);
  ATTN2C_TRY(find_language(text, asked->source_name, asked->source, &tokens->language, message));
  return find_language(text, asked->target_name, asked->target, of_target, message);
}

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

int attn2c_generate_breakers(attn2c_text_work *work, const attn2c_generate_arguments *given,
                             int64_t vocabulary, attn2c_generate_options *options, attn2c_message *message) {
  static const char *const usual[] = {"\n", ":", "\"", "*"};
  const char *const *texts = given->dry_breaker_count > 0 ? given->dry_breakers : usual;
  int count = given->dry_breaker_count > 0 ? given->dry_breaker_count : 4;
  if (options->sampling.dry_multiplier <= 0) return ATTN2C_OK;
  if (count == 1 && strcmp(texts[0], "none") == 0) count = 0;
  const int status = attn2c_dry_breakers(work, (int32_t)vocabulary, texts, count, &options->breakers,
                                         &options->sampling.dry_breaker_count);
  options->sampling.dry_breakers = options->breakers;
  if (status == ATTN2C_OK) return status;
  return attn2c_fail(message, status, "--dry-breaker: %s",
                     status == ATTN2C_USAGE    ? "an empty text, but one with bytes is allowed"
                     : status == ATTN2C_MEMORY ? "no memory for the breakers"
                                               : attn2c_text_fault(work));
}
