/* words.h - the words of tokens of speech, as OpenAI's Whisper divides them, and the same as Hugging
 * Face's transformers 5.24: a word begins with a space, or is punctuation; languages that are written without
 * spaces have a word for each character that ends with a token. Quotes and brackets then go with the word
 * after them, other punctuation with the one before. */
#pragma once

#include "text/text.h"

typedef struct attn2c_spoken {
  int32_t first, count; /* of the tokens */
  size_t begin, end;    /* bytes of the text; a word may begin with a space */
} attn2c_spoken;

/* Words and their text, which the caller frees. All 0: there are none yet. */
typedef struct attn2c_spoken_words {
  attn2c_spoken *list;
  int32_t count, room;
  char *text;
  size_t length, capacity;
} attn2c_spoken_words;

/* True if a language, by its code, is written without spaces. */
int attn2c_speech_is_dense(const char *code);

/* Finds the words of ids[count], which are tokens of text, in place of those that are there. Returns
 * ATTN2C_MEMORY, or the status of decoding. */
int attn2c_speech_words(attn2c_text_work *work, const int32_t *ids, int32_t count, int is_dense,
                        attn2c_spoken_words *words);
void attn2c_spoken_words_free(attn2c_spoken_words *words);
