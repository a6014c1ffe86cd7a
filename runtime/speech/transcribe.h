/* transcribe.h - writes down a sound, a window after the other: segments of text with their times. The text
 * before a window goes with it, unless a drawn answer may have spoilt it. */
#pragma once

#include "speech/segments.h"
#include "speech/listener.h"
#include "speech/rows.h"

/* Options as callers give them. */
typedef struct attn2c_transcribe_options {
  const char *language; /* the code of the one that is spoken, or "auto"; NULL: the folder's, else the most
                           probable one */
  const char *task;     /* "transcribe" or "translate"; NULL: the folder's */
  const char *prompt;   /* text that is said before, such as names that occur; NULL: none */
  int timestamps;       /* 1: segments have times also in a sound that a window holds */
  int words;            /* 1: words have times, in a model that was built with speech.words=true */
  int32_t beams;        /* 1 to the number of sequences; 0: the folder's */
  int32_t tokens;       /* the most of a window; 0: half of the context, or what the folder states */
  double temperature;   /* of the only attempt at a window, 0 or 0.001 to 1000; less than 0: 0, 0.2 .. 1 until
                           it is good */
  uint64_t seed;
  int vad; /* 1: silence is left out; each piece of speech, up to a window, is written down by itself */
  int condition_on_previous_text;     /* 1: a window goes on from the text before it; 0: it does not; -1: as
                                         the folder says */
  int carry_initial_prompt;           /* 1: each window goes on from the prompt, not only the first one */
  double compression_ratio_threshold; /* of a good answer: the most, 0 to 1000; NaN: the folder's; infinite:
                                         none */
  double logprob_threshold;           /* the least, -1000 to 0; NaN: the folder's; -infinite: none */
  double no_speech_threshold;         /* of silence: 0 to 1; NaN: the folder's; infinite: none */
} attn2c_transcribe_options;

attn2c_transcribe_options attn2c_transcribe_defaults(void);

/* Reads options. prefix: of their names in messages, "--" or "". Returns a status; a line a fault. */
int attn2c_transcribe_read(const attn2c_descriptor *model, const attn2c_transcribe_options *given,
                           const char *prefix, attn2c_speech_options *options, attn2c_message *message);

typedef struct attn2c_said_word {
  const char *text;
  size_t length;
  double begin, end;
} attn2c_said_word;

/* A segment, until the next call. */
typedef struct attn2c_said {
  const char *text; /* UTF-8 of `length` bytes; NULL: the sound has ended */
  size_t length;
  double begin, end;   /* seconds from the beginning of the sound */
  const int32_t *ids;  /* [count], with timestamps */
  const double *times; /* [count] seconds at which each token ends, if words are wanted; else NULL */
  int32_t count;
  const char *language;          /* its code; NULL: the model knows one */
  double temperature;            /* of its window's answer */
  double score;                  /* the mean log-probability of that */
  double compression;            /* how well zlib packs it */
  double silence;                /* the probability that nothing is said */
  const attn2c_said_word *words; /* [word_count] */
  int32_t word_count;
} attn2c_said;

typedef enum {
  ATTN2C_SAID_LATER,   /* the listener has not heard a window: attn2c_listener_step */
  ATTN2C_SAID_SEGMENT, /* a segment */
  ATTN2C_SAID_WINDOW,  /* a window has ended, after its segments */
  ATTN2C_SAID_ALL      /* so has the sound */
} attn2c_said_state;

typedef struct attn2c_transcriber attn2c_transcriber;

/* Makes a transcriber for a place of a listener. facts: NULL: it takes only features. rate: samples a second.
 * Returns ATTN2C_MEMORY; *made is then NULL. */
int attn2c_transcriber_create(attn2c_transcriber **made, attn2c_listener *listener, int32_t place,
                              const attn2c_feature_facts *facts, int rate, attn2c_message *message);
void attn2c_transcriber_free(attn2c_transcriber *transcriber);

/* Begins a sound. Name and prompt must stay. */
int attn2c_transcriber_begin(attn2c_transcriber *transcriber, const char *name, const char *prompt,
                             attn2c_message *message);

/* Gives the sound: features [rows][width], or samples from where they begin on. */
void attn2c_transcriber_features(attn2c_transcriber *transcriber, const float *features, int64_t rows);
int attn2c_transcriber_samples(attn2c_transcriber *transcriber, attn2c_samples *samples,
                               attn2c_message *message);

/* Goes on until something is said, or until the listener must step. Returns any attn2c_status, with a line.
 */
int attn2c_transcriber_next(attn2c_transcriber *transcriber, attn2c_said_state *state, attn2c_said *said,
                            attn2c_message *message);

/* Returns the first row of the window; all: of the sound or its piece, 0 if that is not known. */
int64_t attn2c_transcriber_row(const attn2c_transcriber *transcriber, int64_t *all);

/* A whole sound in memory. It has a listener and a transcriber of its own. */
typedef struct attn2c_transcription attn2c_transcription;

int attn2c_transcription_create(attn2c_transcription **made, attn2c_context *context,
                                const attn2c_feature_facts *facts, int rate,
                                const attn2c_transcribe_options *options, attn2c_message *message);
void attn2c_transcription_free(attn2c_transcription *transcription);

/* Begins with samples, which must stay until the last segment. ATTN2C_USAGE: there is none. ATTN2C_FORMAT:
 * one is larger than ATTN2C_LARGEST_SAMPLE, or no number. */
int attn2c_transcription_begin(attn2c_transcription *transcription, const float *samples, int64_t count,
                               attn2c_message *message);

/* Finds the next segment. */
int attn2c_transcription_next(attn2c_transcription *transcription, attn2c_said *said,
                              attn2c_message *message);
