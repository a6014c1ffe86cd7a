/* job.h - what a run of `generate` of a model that writes down speech keeps. */
#pragma once

#include "program/generate/command.h"
#include "program/media/command.h"
#include "base/sound_facts.h"
#include "speech/transcribe.h"

/* The sound of a file or of the standard input, at a place of the listener. */
typedef struct attn2c_speech_place {
  attn2c_transcriber *transcriber;
  int number; /* of the sound, from 0; -1: none */
  int is_ended;
  const char *name;
  int is_by_line; /* 1: each window has a line of its own */
  FILE *out;      /* NULL: none yet; the job's, or what is written before it is the sound's turn */
  char *kept;     /* [size] that */
  size_t size;
  int64_t cues;                      /* that are written */
  size_t written;                    /* bytes of the line */
  int status;                        /* of what ended it */
  char fault[600];                   /* why */
  float *features;                   /* of --features */
  struct attn2c_speech_sound *sound; /* of --audio */
} attn2c_speech_place;

typedef struct attn2c_speech_job {
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  FILE *out;
  attn2c_message *message;
  attn2c_speech_options options;
  attn2c_answer_format format;
  attn2c_continuing opened;
  attn2c_listener *listener;
  attn2c_paths paths;  /* of --audio */
  int sounds;          /* of --features and --audio */
  int has_names;       /* 1: there are several sounds, whose names are written */
  int64_t rows, width; /* of a window's features */
  attn2c_speech_place *places;
  int32_t place_count;
} attn2c_speech_job;

/* Reads sounds, in a program whose model takes any. The functions return any attn2c_status, with a line. */
struct attn2c_speech_sounds {
  const attn2c_path_kind *kind;
  const attn2c_sound_facts *(*facts)(void);
  int (*open_paths)(const attn2c_arguments *arguments, attn2c_paths *paths, attn2c_message *message);
  void (*close_paths)(attn2c_paths *paths);
  int (*are_several)(const attn2c_paths *paths);
  /* Opens file `number` of the paths. */
  int (*open)(attn2c_speech_job *job, attn2c_speech_place *place, int number, attn2c_message *message);
  /* Gives its samples to the place's transcriber. */
  int (*begin)(attn2c_speech_place *place, attn2c_message *message);
  void (*close)(attn2c_speech_place *place);
};

/* Writes a segment. */
int attn2c_speech_write(const attn2c_speech_job *job, attn2c_speech_place *place, const attn2c_said *said,
                        attn2c_message *message);
/* Ends a line of text. */
void attn2c_speech_end_line(const attn2c_speech_job *job, attn2c_speech_place *place);

/* The options of writing down speech, of the command line. */

/* True if the model's tokens say times, or if it is known how long a row of features is. */
int attn2c_speech_knows_times(const attn2c_descriptor *model);

/* Reads the options. Returns ATTN2C_OK, or ATTN2C_USAGE and a line for each fault. */
int attn2c_speech_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                               attn2c_speech_options *options, attn2c_answer_format *format,
                               attn2c_message *message);
