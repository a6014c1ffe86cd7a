/* languages.c - the languages of a model that translates: their codes, and the tokens that stand for them. */
#include "text/stages.h"

/* Bytes of all codes in a message: NLLB has 202 of 10 bytes. */
#define LONGEST_LIST 4096

attn2c_text_target attn2c_text_target_of(const attn2c_tokenizer *text) {
  const uint32_t target = text->tables.settings[SETTING_TARGET];
  return target <= TARGET_SOURCE ? (attn2c_text_target)target : ATTN2C_TEXT_TARGET_NONE;
}

const char *attn2c_text_language(const attn2c_tokenizer *text, size_t index, size_t *length, int32_t *id) {
  text_added language;
  *length = 0;
  if (!text_language_at(&text->tables, index, &language)) return NULL;
  *length = language.text.length;
  *id = (int32_t)language.id;
  return (const char *)language.text.bytes;
}

int attn2c_text_find_language(const attn2c_tokenizer *text, const char *code, int32_t *id,
                              attn2c_message *message) {
  char list[LONGEST_LIST];
  size_t used = 0, length;
  const char *each;
  for (size_t i = 0; (each = attn2c_text_language(text, i, &length, id)); i++) {
    if (length == strlen(code) && memcmp(each, code, length) == 0) return ATTN2C_OK;
    if (length + 3 > sizeof list - used) continue;
    memcpy(list + used, ", ", 2);
    memcpy(list + used + 2, each, length);
    used += length + 2;
  }
  list[used] = '\0';
  if (used)
    attn2c_say(message, "no language is called %s; languages: %s", code, list + 2);
  else
    attn2c_say(message, "no language is called %s: the tokenizer has no languages", code);
  return ATTN2C_USAGE;
}
