/* vad.h - finds speech by the energy of frames of 30 ms, and cuts long sounds where they are quiet.
 * A frame is loud if its energy, the mean square of its samples around their mean, is at least -60 dB of full
 * scale, and at least -35 dB of the loudest frame's. Loud frames that less than 300 ms part are one piece.
 * Pieces of less than 3 frames are dropped; the others begin 150 ms earlier and end 150 ms later. */
#pragma once

#include <stdint.h>

/* Rates are at least 1000 samples a second. */

typedef struct attn2c_speech_piece {
  int64_t begin, end; /* samples */
} attn2c_speech_piece;

/* Returns the samples of a frame. */
int64_t attn2c_vad_frame(int rate);

/* Returns the larger of `loudest` and the energy of the loudest frame of the samples. */
double attn2c_vad_loudest(const float *samples, int64_t count, int rate, double loudest);

/* Finds the first piece of speech. is_end: no samples come after these; else a piece counts only if 300 ms
 * after it are quiet. Returns 1 with the piece; or 0, and an empty *piece before which there is none. */
int attn2c_vad_next(const float *samples, int64_t count, int rate, double loudest, int is_end,
                    attn2c_speech_piece *piece);

/* Returns the place to cut samples of which at most `most` go together: the middle of the quietest frame,
 * or the last of several, in the second half of the first `most`, after the first `least`, at most `most`.
 * `count` if no more are there. */
int64_t attn2c_vad_cut(const float *samples, int64_t count, int rate, int64_t least, int64_t most);
