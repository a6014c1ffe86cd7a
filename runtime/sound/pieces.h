/* pieces.h - the samples of a sound while it is read, and the pieces of speech in them (vad.h). */
#pragma once

#include "base/attn2c.h"
#include "sound/vad.h"

/* The samples of a sound, of which `count` from number `first` on are there. */
typedef struct attn2c_samples attn2c_samples;
struct attn2c_samples {
  const float *samples;
  int64_t first, count;
  int is_end; /* 1: no more samples follow these */
  /* Reads until there are `wanted` samples, or the end; forgets the first ones; begins again. NULL: all
   * samples are there, the same, and the sound is live: it cannot be begun again, and may be waited for. */
  int (*fill)(attn2c_samples *samples, int64_t wanted, attn2c_message *message);
  void (*drop)(attn2c_samples *samples, int64_t count);
  int (*again)(attn2c_samples *samples, attn2c_message *message);
  void *from;
};

/* Returns samples that are all there. They can be begun again. */
attn2c_samples attn2c_samples_of(const float *samples, int64_t count);

/* Returns ATTN2C_OK, or a status of where the samples come from. */
int attn2c_samples_fill(attn2c_samples *samples, int64_t wanted, attn2c_message *message);

typedef struct attn2c_speech_pieces {
  attn2c_samples *samples;
  int rate;
  int64_t
      most; /* samples of a piece that is cut; 0: pieces are whole, and so is what is known of the sound */
  int64_t least;  /* samples that a piece keeps when it is cut, at most `most` */
  int is_whole;   /* 1: nothing is left out: a piece is cut where it is quiet if more than `most` are there */
  double loudest; /* energy of the loudest frame of its first `heard` samples */
  int64_t heard;
} attn2c_speech_pieces;

/* Finds the next piece, of speech or of the whole sound, reading on until it has ended. It is empty if no
 * speech is left. The caller drops its samples. Returns what attn2c_samples_fill returns. */
int attn2c_speech_next(attn2c_speech_pieces *pieces, attn2c_speech_piece *piece, attn2c_message *message);
