/* pieces.c - a frame is loud by the loudest one of the sound. A file is read once to find it, and then again;
 * in a live sound it is the loudest so far. */
#include "program/sound/source.h"

int attn2c_sound_pieces_begin(attn2c_sound_pieces *p, attn2c_message *message) {
  p->loudest = 0.0, p->heard = 0;
  return attn2c_sound_next(p->source, &p->sound, message);
}

/* Adds frames that were read to what is known of the loudest one. */
static void hear(attn2c_sound_pieces *p) {
  const attn2c_sound *sound = &p->sound;
  const int64_t known = p->heard > sound->first ? p->heard - sound->first : 0, more = sound->count - known;
  if (more <= 0) return;
  p->loudest = attn2c_vad_loudest(sound->samples + known, more, p->rate, p->loudest);
  p->heard = sound->first + sound->count - more % attn2c_vad_frame(p->rate);
}

/* Hears all of a file, a part at a time, and begins it again. */
static int hear_all(attn2c_sound_pieces *p, attn2c_message *message) {
  int status = ATTN2C_OK;
  while (status == ATTN2C_OK && !p->sound.is_end) {
    status = attn2c_sound_fill(p->source, p->most + attn2c_vad_frame(p->rate), &p->sound, message);
    if (status != ATTN2C_OK) return status;
    hear(p);
    attn2c_sound_drop(p->source, p->heard - p->sound.first, &p->sound);
  }
  return attn2c_sound_again(p->source, &p->sound, message);
}

int attn2c_sound_pieces_next(attn2c_sound_pieces *p, attn2c_speech_piece *piece, attn2c_message *message) {
  const int rate = p->rate;
  const attn2c_sound *sound = &p->sound;
  int status = ATTN2C_OK;
  if (p->most > 0 && !sound->is_live && p->heard == 0) status = hear_all(p, message);
  for (int64_t wanted = p->most > 0 ? 1 : INT64_MAX; status == ATTN2C_OK;
       wanted = sound->count + (sound->is_live ? rate / 2 : p->most)) {
    status = attn2c_sound_fill(p->source, wanted, &p->sound, message);
    if (status != ATTN2C_OK) return status;
    hear(p);
    if (attn2c_vad_next(sound->samples, sound->count, rate, p->loudest, sound->is_end, piece)) break;
    if (sound->is_end) return ATTN2C_OK;
    attn2c_sound_drop(p->source, piece->begin, &p->sound);
    *piece = (attn2c_speech_piece){0, sound->count};
    if (p->most > 0 && sound->count > p->most) break;
  }
  if (status == ATTN2C_OK && p->most > 0)
    piece->end = piece->begin +
                 attn2c_vad_cut(sound->samples + piece->begin, piece->end - piece->begin, rate, p->most);
  return status;
}
