/* segments.c - timestamps are the only tokens that are looked at. */
#include "speech/segments.h"

static int32_t row_of(const attn2c_speech *speech, int32_t timestamp) {
  return (timestamp - speech->no_timestamps - 1) * ATTN2C_TIMESTAMP_ROWS;
}

int32_t attn2c_segments(const attn2c_speech *speech, const int32_t *ids, int32_t count, int32_t rows,
                        attn2c_segment *segments, int32_t *next) {
  const int32_t zero = speech->no_timestamps + 1;
  const int is_closed = count > 1 && ids[count - 1] >= zero && ids[count - 2] < zero;
  int32_t found = 0, first = 0, last = count - 1;
  *next = rows;
  for (int32_t i = 1; i <= count; i++) {
    const int is_pair = i < count && ids[i] >= zero && ids[i - 1] >= zero;
    if (!is_pair && !(i == count && found > 0 && is_closed)) continue;
    segments[found++] =
        (attn2c_segment){first, i - first, row_of(speech, ids[first]), row_of(speech, ids[i - 1])};
    first = i;
  }
  if (found > 0) {
    if (!is_closed) *next = segments[found - 1].end;
    return found;
  }
  while (last >= 0 && ids[last] < zero) last--;
  const int has_end = last >= 0 && ids[last] > zero;
  segments[0] = (attn2c_segment){0, count, 0, has_end ? row_of(speech, ids[last]) : rows};
  return 1;
}
