/* rows.h - the features of a sound, a window at a time: up to a window as transformers prepares one, a longer
 * one window by window, of which only the current one is kept. A longer sound is read twice, first for its
 * largest number, if that can be done. A plain model's windows have the rows of their samples, without
 * padding. */
#pragma once

#include "model/features.h"
#include "sound/pieces.h"

/* Features [rows][width] of a sound, or of a part of it, and where they come from. */
typedef struct attn2c_speech_rows {
  const attn2c_context *context;
  const attn2c_feature_facts *facts; /* NULL: the features are all given */
  attn2c_samples *samples;
  float *memory;         /* attn2c_speech_rows_room() */
  int64_t width, window; /* of a row; rows of a window */
  const float *features; /* from row `first` on, `room` rows, of which those after `count` are padding */
  int64_t first, room;
  int64_t count; /* rows of all, as far as it is known */
  int64_t all;   /* the same, for the progress; 0: not known */
  int is_long;   /* 1: a window does not hold it */
  float largest; /* number of the whole sound; -inf: each window's own counts */
} attn2c_speech_rows;

/* Returns the numbers of memory that windows need. */
int64_t attn2c_speech_rows_room(const attn2c_feature_facts *facts, int64_t window, int64_t width);

/* Begins a sound, or its samples [begin, end) of those that are there, which a window holds: end > 0.
 * Returns an attn2c_status, with a line after `name`. */
int attn2c_speech_rows_begin(attn2c_speech_rows *rows, int64_t begin, int64_t end, const char *name,
                             attn2c_message *message);

/* Makes the features from a row on the first ones; `count` is at most the row if there are none. */
int attn2c_speech_rows_read(attn2c_speech_rows *rows, int64_t row, const char *name, attn2c_message *message);
