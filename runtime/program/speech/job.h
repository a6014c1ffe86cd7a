/* job.h - what a run of `generate` of a model that writes down speech keeps. */
#pragma once

#include "generate/speech_segments.h"
#include "program/speech/window.h"

typedef struct {
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
  int32_t *before;     /* [capacity] tokens of what was said */
  size_t before_count, capacity;
  attn2c_segment *segments; /* of a window */
  int has_names;            /* 1: there are several sounds, whose names are written */
  int64_t cues;             /* of a sound, that are written */
  size_t written;           /* bytes of its line */
} attn2c_speech_job;

/* Writes down a sound of `rows` rows of features. room: rows of the array, which may have more for the end.
 */
int attn2c_speech_sound(attn2c_speech_job *job, const char *name, const float *features, int64_t rows,
                        int64_t room);
/* Writes down the sounds of --audio, in a model that takes sound; NULL: it takes only features. */
int attn2c_speech_sounds(attn2c_speech_job *job) __attribute__((weak));

/* Writes a segment of what is heard in a window that begins at a row of the features of a sound. */
int attn2c_speech_write(attn2c_speech_job *job, const char *name, const attn2c_heard *heard,
                        const attn2c_segment *segment, int64_t row, const attn2c_shown *shown);
/* Ends the sound. */
void attn2c_speech_write_end(attn2c_speech_job *job, const char *name);
