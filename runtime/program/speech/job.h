/* job.h - what a run of `generate` of a model that writes down speech keeps. */
#pragma once

#include "generate/speech_segments.h"
#include "program/speech/window.h"

typedef struct attn2c_speech_job {
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  FILE *out;
  attn2c_message *message;
  const attn2c_speech *speech;
  attn2c_speech_options options;
  const attn2c_generation_text *text;
  attn2c_text_side *side;
  attn2c_continuing opened;
  attn2c_listener *listener;
  int64_t rows, width; /* of a window's features */
  float *window;       /* [rows][width], if a window needs rows of zeros */
  int32_t *before;     /* [capacity] the last tokens of what was said */
  size_t before_count, capacity;
  attn2c_segment *segments; /* of a window */
  const char *name;         /* of the sound */
  int has_names;            /* 1: there are several sounds, whose names are written */
  int is_by_line;           /* 1: each window has a line of its own */
  int32_t language;         /* index of the sound's; -1: it is not known yet */
  int64_t cues;             /* of the sound, that are written */
  size_t written;           /* bytes of the line */
} attn2c_speech_job;

/* Features of a sound, or of a part of it. */
typedef struct attn2c_speech_part attn2c_speech_part;
struct attn2c_speech_part {
  float *features; /* [room][width], from row `first` on; they may have more rows for the end */
  int64_t first, room;
  int64_t rows; /* of all of the part, as far as it is known */
  int64_t all;  /* the same, for the progress; 0: not known */
  int is_long;  /* 1: a window does not hold it */
  double begin; /* seconds of the sound before it */
  /* Makes the features from a row on the first ones; `rows` is at most the row if there are none. NULL: all
   * are there. */
  int (*read)(attn2c_speech_part *part, int64_t row);
  void *from;
};

/* Begins a sound, writes down parts of it, and ends it. */
int attn2c_speech_begin(attn2c_speech_job *job, const char *name);
int attn2c_speech_listen(attn2c_speech_job *job, attn2c_speech_part *part);
int attn2c_speech_end(attn2c_speech_job *job);

/* Writes a segment of what is heard in a window that begins at a row of a part. */
int attn2c_speech_write(attn2c_speech_job *job, const attn2c_speech_part *part, const attn2c_heard *heard,
                        const attn2c_segment *segment, int64_t row, const attn2c_shown *shown);
/* Ends a line of text. */
void attn2c_speech_end_line(attn2c_speech_job *job);
