/* prompt.c - adds a model's prompt to texts, and removes it from the places of tokens. */
#include "model/text/reader.h"

int attn2c_prompt_open(attn2c_prompt *prompt, attn2c_text_work *work, const char *text) {
  *prompt = (attn2c_prompt){.text = text};
  if (!text) return ATTN2C_OK;
  attn2c_text_tokens tokens;
  attn2c_text_input input = {.text = text, .length = strlen(text)};
  input.limit.tokens = ATTN2C_TEXT_ANY_LENGTH;
  ATTN2C_TRY(attn2c_text_encode(work, &input, &tokens));
  prompt->length = input.length;
  for (size_t i = 0; i < input.length; i++) prompt->characters += ((unsigned char)text[i] & 0xc0) != 0x80;
  prompt->tokens = tokens.length;
  /* sentence-transformers does not count a special token at the end, since a text comes before it. */
  if (tokens.length > 0 && tokens.sources[tokens.length - 1] == 2) prompt->tokens--;
  return ATTN2C_OK;
}

void attn2c_prompt_close(attn2c_prompt *prompt) { ATTN2C_FREE(prompt->joined, prompt->places); }

int attn2c_prompt_add(attn2c_prompt *prompt, attn2c_text_input *input) {
  if (!prompt->text) return ATTN2C_OK;
  if (input->length > SIZE_MAX / 4 || attn2c_grow((void **)&prompt->joined, &prompt->joined_size,
                                                  prompt->length + input->length + 1, 1) != ATTN2C_OK)
    return ATTN2C_MEMORY;
  memcpy(prompt->joined, prompt->text, prompt->length);
  if (input->length) memcpy(prompt->joined + prompt->length, input->text, input->length);
  input->text = prompt->joined;
  input->length += prompt->length;
  return ATTN2C_OK;
}

static uint32_t less(uint32_t place, size_t by) { return place > by ? place - (uint32_t)by : 0; }

int attn2c_prompt_hide(attn2c_prompt *prompt, attn2c_text_tokens *tokens) {
  if (!prompt->text || tokens->length == 0) return ATTN2C_OK;
  const size_t bytes = tokens->length * sizeof *prompt->places;
  if (attn2c_grow((void **)&prompt->places, &prompt->places_size, bytes, 1) != ATTN2C_OK)
    return ATTN2C_MEMORY;
  memcpy(prompt->places, tokens->places, bytes);
  for (size_t i = 0; i < tokens->length; i++) {
    attn2c_text_place *place = &prompt->places[i];
    if (tokens->sources[i] != 0) continue;
    place->byte_begin = less(place->byte_begin, prompt->length);
    place->byte_end = less(place->byte_end, prompt->length);
    place->begin = less(place->begin, prompt->characters);
    place->end = less(place->end, prompt->characters);
  }
  tokens->places = prompt->places;
  return ATTN2C_OK;
}
