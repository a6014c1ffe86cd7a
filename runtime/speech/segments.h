/* segments.h - divides the answer to a window of sound into segments, and says where the next window
 * begins, as OpenAI's Whisper does. */
#pragma once

#include "base/speech_facts.h"

#include <stddef.h>

/* Tokens [first, first + count) of an answer, and when they are said, in rows of the window's features. */
typedef struct attn2c_segment {
  int32_t first, count;
  int32_t begin, end;
} attn2c_segment;

/* Writes the segments of the ids of an answer, without the token that ended it, to segments[count / 2 + 1].
 * Returns their number. rows: of the window's features, without padding. *next: rows from its beginning to
 * the next window's.
 *
 * A pair of timestamps ends a segment, and so does one at the end. Tokens after the last pair are left out,
 * and the next window begins at its time. Without a pair, all is one segment, up to the last timestamp. */
int32_t attn2c_segments(const attn2c_speech *speech, const int32_t *ids, int32_t count, int32_t rows,
                        attn2c_segment *segments, int32_t *next);

/* When the tokens of an answer are said, as OpenAI's Whisper finds it, and the same as Hugging Face's
 * transformers 5.24: tokens and rows of the source are aligned by the cross-attention of some heads. */

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
