/* speech_segments.h - divides the answer to a window of sound into segments, and says where the next window
 * begins, as OpenAI's Whisper does. */
#pragma once

#include "base/speech_facts.h"

/* Tokens [first, first + count) of an answer, and when they are said, in timestamps from the window's
 * beginning. */
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
