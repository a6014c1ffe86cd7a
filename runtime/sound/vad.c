#include "sound/vad.h"

/* The rule, in frames of FRAME_MS. */
enum { FRAME_MS = 30, FEWEST_LOUD = 3, FEWEST_QUIET = 10, BESIDE = 5 };
#define FLOOR    1e-6                   /* -60 dB */
#define RELATIVE 3.1622776601683794e-04 /* -35 dB */

int64_t attn2c_vad_frame(int rate) { return (int64_t)rate * FRAME_MS / 1000; }

static double energy(const float *samples, int64_t count) {
  double sum = 0.0, squares = 0.0;
  for (int64_t i = 0; i < count; i++) sum += (double)samples[i];
  const double mean = sum / (double)count;
  for (int64_t i = 0; i < count; i++) squares += ((double)samples[i] - mean) * ((double)samples[i] - mean);
  return squares / (double)count;
}

double attn2c_vad_loudest(const float *samples, int64_t count, int rate, double loudest) {
  const int64_t frame = attn2c_vad_frame(rate);
  for (int64_t at = 0; at + frame <= count; at += frame) {
    const double here = energy(samples + at, frame);
    if (here > loudest) loudest = here;
  }
  return loudest;
}

int attn2c_vad_next(const float *samples, int64_t count, int rate, double loudest, int is_end,
                    attn2c_speech_piece *piece) {
  const int64_t frame = attn2c_vad_frame(rate), frames = count / frame;
  const double threshold = loudest * RELATIVE > FLOOR ? loudest * RELATIVE : FLOOR;
  int64_t first = -1, last = -1; /* loud frames */
  for (int64_t f = 0; f <= frames; f++) {
    const int is_loud = f < frames && energy(samples + f * frame, frame) >= threshold;
    const int is_over = first >= 0 && (f == frames ? is_end : !is_loud && f - last >= FEWEST_QUIET);
    if (is_over && last - first + 1 >= FEWEST_LOUD) {
      piece->begin = first > BESIDE ? (first - BESIDE) * frame : 0;
      piece->end = (last + 1 + BESIDE) * frame < count ? (last + 1 + BESIDE) * frame : count;
      return 1;
    }
    if (is_over) first = -1;
    if (is_loud) last = f;
    if (is_loud && first < 0) first = f;
  }
  const int64_t quiet = (first >= 0 ? first : frames) - BESIDE;
  piece->begin = piece->end = is_end ? count : quiet > 0 ? quiet * frame : 0;
  return 0;
}

int64_t attn2c_vad_cut(const float *samples, int64_t count, int rate, int64_t least, int64_t most) {
  const int64_t frame = attn2c_vad_frame(rate);
  int64_t best = most;
  double quietest = 0.0;
  if (count <= most) return count;
  for (int64_t at = most / 2 > least ? most / 2 : least; at + frame <= most; at += frame) {
    const double here = energy(samples + at, frame);
    if (best < most && here > quietest) continue;
    quietest = here, best = at + frame / 2;
  }
  return best;
}
