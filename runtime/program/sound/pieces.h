/* pieces.h - the pieces of speech of a sound, found while it is read. */
#pragma once

#include "program/sound/source.h"
#include "sound/vad.h"

typedef struct attn2c_sound_pieces {
  attn2c_sound_source *source;
  attn2c_sound sound; /* the one that is read */
  int rate;
  int64_t
      most; /* samples of a piece that is cut; 0: pieces are whole, and so is what is known of the sound */
  double loudest; /* energy of the loudest frame of its first `heard` samples */
  int64_t heard;
} attn2c_sound_pieces;

/* Begins the next sound; as attn2c_sound_next. */
int attn2c_sound_pieces_begin(attn2c_sound_pieces *pieces, attn2c_message *message);

/* Finds the next piece of speech, reading on until it has ended. It is empty if no speech is left. The caller
 * drops its samples. Returns what attn2c_sound_fill returns. */
int attn2c_sound_pieces_next(attn2c_sound_pieces *pieces, attn2c_speech_piece *piece,
                             attn2c_message *message);
