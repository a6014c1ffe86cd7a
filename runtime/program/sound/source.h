/* source.h - the samples of sounds, at a model's rate and of one channel: files of any rate and number of
 * channels, which libsndfile reads, and raw samples on the standard input. */
#pragma once

#include "program/media/paths.h"
#include "sound/vad.h"

extern const attn2c_path_kind attn2c_sound_paths;

typedef struct attn2c_sound_source attn2c_sound_source;

/* The sound that is read: `count` samples of it from number `first` on. */
typedef struct {
  const char *name;
  int number; /* of the file, from 0 */
  const float *samples;
  int64_t first, count;
  int is_end;  /* 1: no more samples follow these */
  int is_live; /* 1: the standard input or a pipe, whose samples may be waited for and come once */
} attn2c_sound;

/* Returns ATTN2C_OK or _MEMORY. The caller closes it in every case. */
int attn2c_sound_source_open(const attn2c_paths *paths, int rate, attn2c_sound_source **source,
                             attn2c_message *message);
void attn2c_sound_source_close(attn2c_sound_source *source);

/* Begins the next sound; its name is NULL after the last. The functions return ATTN2C_OK, _FORMAT, _IO or
 * _MEMORY; or what attn2c_signals_status returns if a signal comes while they wait. */
int attn2c_sound_next(attn2c_sound_source *source, attn2c_sound *sound, attn2c_message *message);

/* Begins the sound again, which is not live. */
int attn2c_sound_again(attn2c_sound_source *source, attn2c_sound *sound, attn2c_message *message);

/* Reads until there are `wanted` samples, or the end. */
int attn2c_sound_fill(attn2c_sound_source *source, int64_t wanted, attn2c_sound *sound,
                      attn2c_message *message);

/* Forgets the first samples. */
void attn2c_sound_drop(attn2c_sound_source *source, int64_t count, attn2c_sound *sound);

/* The pieces of speech of a sound, found while it is read. */

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
