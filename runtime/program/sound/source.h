/* source.h - the samples of sounds, at a model's rate and of one channel: files of any rate and number of
 * channels, which libsndfile reads, and raw samples on the standard input. */
#pragma once

#include "program/media/command.h"
#include "sound/pieces.h"

extern const attn2c_path_kind attn2c_sound_paths;

typedef struct attn2c_sound_source attn2c_sound_source;

/* The sound that is read. Filling its samples returns ATTN2C_OK, _FORMAT, _IO or _MEMORY; or what
 * attn2c_signals_status returns if a signal comes while it waits. The standard input and pipes are live. */
typedef struct {
  const char *name;
  int number; /* of the file, from 0 */
  attn2c_samples samples;
} attn2c_sound;

/* Returns ATTN2C_OK or _MEMORY. The caller closes it in every case. */
int attn2c_sound_source_open(const attn2c_paths *paths, int rate, attn2c_sound_source **source,
                             attn2c_message *message);
void attn2c_sound_source_close(attn2c_sound_source *source);

/* Begins the next sound; its name is NULL after the last. Returns what filling returns. */
int attn2c_sound_next(attn2c_sound_source *source, attn2c_sound *sound, attn2c_message *message);

/* Returns the seconds of a file of sound; 0 if it cannot be read, or does not say. */
double attn2c_sound_seconds(const char *path);
