/* sound_constants.h - computes the constants of a model that takes sound: windowed sines and cosines, and
 * filters. They are in panels, so that they are read by rows. */
#pragma once

#include "base/descriptor.h"

/* Writes rows [first, first + count) of a constant and returns 1. If the formula is none of these, does not
 * parse or does not fit the tensor's shape, returns 0 and writes nothing. values may be NULL, to check the
 * formula only.
 *
 *   spectrum FFT WINDOW PREEMPHASIS MEAN SCALE FIRST
 *                  [2 bins][n]: what turns n samples of a frame, times SCALE, into the real parts of bins FIRST
 *                  on, then their imaginary ones, of a transform of FFT points. Before it the frame loses its
 *                  mean (MEAN 1), each sample PREEMPHASIS times the one before it (the first: itself), and
 *                  it is multiplied by a window: 0 none, 1 Hann, 2 Hann, periodic, 3 Hamming, 4 the same,
 *                  periodic, 5 Povey's
 *   mels SCALE NORM RATE FFT LOW HIGH FIRST
 *                  [filters][2 bins]: triangles from LOW to HIGH hertz, evenly spaced on a scale: 0 HTK's, 1
 *                  Slaney's, 2 Kaldi's, whose triangles are straight on the scale; NORM 1: of equal areas. Both
 *                  halves of a row are the same */
int attn2c_sound_constant(const char *formula, const attn2c_tensor *tensor, int64_t first, int64_t count,
                          float *values);
