/* pieces.c - a frame is loud by the loudest one of the sound. A sound that can be begun again is read once to
 * find it; in a live sound it is the loudest so far. */
#include "sound/pieces.h"

static void drop_there(attn2c_samples *samples, int64_t count) {
  samples->samples += count, samples->first += count, samples->count -= count;
}

static int begin_there(attn2c_samples *samples, attn2c_message *message) {
  (void)message;
  drop_there(samples, -samples->first);
  return ATTN2C_OK;
}

attn2c_samples attn2c_samples_of(const float *samples, int64_t count) {
  return (attn2c_samples){
      .samples = samples, .count = count, .is_end = 1, .drop = drop_there, .again = begin_there};
}

int attn2c_samples_fill(attn2c_samples *samples, int64_t wanted, attn2c_message *message) {
  return samples->fill ? samples->fill(samples, wanted, message) : ATTN2C_OK;
}

/* Adds frames that were read to what is known of the loudest one. */
static void hear(attn2c_speech_pieces *p) {
  const attn2c_samples *s = p->samples;
  const int64_t known = p->heard > s->first ? p->heard - s->first : 0, more = s->count - known;
  if (more <= 0) return;
  p->loudest = attn2c_vad_loudest(s->samples + known, more, p->rate, p->loudest);
  p->heard = s->first + s->count - more % attn2c_vad_frame(p->rate);
}

/* Hears all of a sound, a part at a time, and begins it again. */
static int hear_all(attn2c_speech_pieces *p, attn2c_message *message) {
  attn2c_samples *s = p->samples;
  do {
    ATTN2C_TRY(attn2c_samples_fill(s, p->most + attn2c_vad_frame(p->rate), message));
    hear(p);
    s->drop(s, p->heard - s->first);
  } while (!s->is_end);
  return s->again(s, message);
}

int attn2c_speech_next(attn2c_speech_pieces *p, attn2c_speech_piece *piece, attn2c_message *message) {
  const int rate = p->rate;
  attn2c_samples *s = p->samples;
  int status = ATTN2C_OK;
  if (p->is_whole) {
    status = attn2c_samples_fill(s, p->most + 1, message);
    *piece = (attn2c_speech_piece){0, attn2c_vad_cut(s->samples, s->count, rate, p->least, p->most)};
    return status;
  }
  int64_t wanted = p->most == 0 ? INT64_MAX : s->again ? p->most : 1;
  if (p->most > 0 && s->again && p->heard == 0) status = hear_all(p, message);
  while (status == ATTN2C_OK) {
    status = attn2c_samples_fill(s, wanted, message);
    if (status != ATTN2C_OK) return status;
    hear(p);
    const int64_t there = s->again && wanted < s->count ? wanted : s->count;
    const int is_end = s->is_end && there == s->count;
    if (attn2c_vad_next(s->samples, there, rate, p->loudest, is_end, piece)) break;
    if (is_end) return ATTN2C_OK;
    s->drop(s, piece->begin);
    *piece = (attn2c_speech_piece){0, there - piece->begin};
    if (p->most > 0 && piece->end > p->most) break;
    wanted = piece->end + (s->again ? p->most : rate / 2);
  }
  if (status == ATTN2C_OK && p->most > 0)
    piece->end = piece->begin + attn2c_vad_cut(s->samples + piece->begin, piece->end - piece->begin, rate,
                                               p->least, p->most);
  return status;
}
