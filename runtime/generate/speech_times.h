/* speech_times.h - when the tokens of an answer are said, as OpenAI's Whisper finds it, and the same as
 * Hugging Face's transformers 5.24: tokens and rows of the source are aligned by the cross-attention of some
 * heads. */
#pragma once

#include "base/speech_facts.h"

#include <stddef.h>

/* Queries and keys of an answer, of each layer that has heads for this. */
typedef struct attn2c_attended {
  const float *const *queries; /* [tokens][width] */
  const float *const *keys;    /* [rows][width] */
  int32_t width, tokens, rows;
  int32_t heard; /* the first rows, from 1, which are of sound; the others are of padding */
} attn2c_attended;

/* Returns the numbers that `work` holds; tokens, rows: the most of an answer. */
size_t attn2c_speech_times_room(int32_t tokens, int32_t rows);

/* Writes when each token ends, times[tokens], in rows. They never fall.
 *
 * Each head's weights, a softmax over all rows, lose their mean over the tokens and are divided by their
 * deviation; a median over neighbouring rows follows. The mean of the heads is what a pair of token and row
 * is worth. Among the ways from the first pair to the last one, each step of which is to the next token, the
 * next row or both, the one that is worth most is taken (dynamic time warping). */
void attn2c_speech_times(const attn2c_speech *speech, const attn2c_attended *attended, float *work,
                         int32_t *times);
