/* listener.h - what is said in windows of sound, several side by side: tokens, found by OpenAI's rules. After
 * a text that repeats itself, or is improbable, one is drawn at a higher temperature. */
#pragma once

#include "base/generation.h"
#include "speech/words.h"
#include "model/model.h"

/* Temperatures of the attempts at a window, one after the other. */
enum { ATTN2C_SPEECH_ATTEMPTS = 6 };

typedef struct attn2c_speech_options {
  attn2c_beam_options beam;
  double temperatures[ATTN2C_SPEECH_ATTEMPTS];
  int attempts;
  uint64_t seed;
  int32_t tokens;                                      /* the most of an answer to a window */
  int32_t language;                                    /* index; -1: it is found, or the model has none */
  int32_t task;                                        /* token; -1: the model has none */
  int is_timed;                                        /* 1: answers have timestamps */
  int has_words;                                       /* 1: tokens have times */
  int goes_on;                                         /* 1: a window goes on from the text before it */
  int carries;                                         /* 1: each window goes on from the prompt, too */
  double most_compression, least_score, least_silence; /* as of attn2c_speech; infinite: there is none */
  int by_pieces;                                       /* 1: each piece of a sound is a sound by itself */
  int is_whole; /* 1: pieces are what a call holds, with silence; 0: silence is left out */
} attn2c_speech_options;

/* Returns the options that a model states: its beams, language and task; and all attempts. */
attn2c_speech_options attn2c_speech_stated(const attn2c_descriptor *model);

/* Sets attempts to the one of a temperature. */
void attn2c_speech_temperature(attn2c_speech_options *options, double temperature);

/* The window that is listened to at a place. */
typedef struct attn2c_window {
  const float *features; /* all rows of a call */
  int32_t rows;          /* of sound, from 1; further ones are padding */
  const int32_t *before; /* [count] tokens of what was said before it */
  int32_t count;
  int is_timed;     /* 1: the answer has timestamps */
  int32_t language; /* index, or -1 to find it */
  uint64_t number;  /* of the sound's windows: its random numbers */
} attn2c_window;

/* The answer to a window, until the next window at its place begins. */
typedef struct attn2c_heard {
  const int32_t *ids;   /* [count], without the token that ends an answer */
  const int32_t *times; /* [count] when each ends, in rows from the window's beginning; NULL: no */
  int32_t count;
  int32_t language;   /* index; -1: the model has none */
  double temperature; /* of the attempt */
  double score;       /* the mean of the tokens' log-probabilities */
  double compression; /* bytes of the text, as a multiple of those that zlib makes of it */
  double silence;     /* the probability that nothing is said */
  int is_silent;      /* 1: that is so */
} attn2c_heard;

typedef struct attn2c_listener attn2c_listener;

/* Makes a listener of at most `most` places, for a prepared context, whose sequences it uses, of a model that
 * writes down speech. It copies the options. After that only texts allocate memory. Returns ATTN2C_USAGE with
 * a line for each wrong option, or ATTN2C_MEMORY; *made is then NULL. */
int attn2c_listener_create(attn2c_listener **made, attn2c_context *context,
                           const attn2c_speech_options *options, int32_t most, attn2c_message *message);
void attn2c_listener_free(attn2c_listener *listener);

int32_t attn2c_listener_places(const attn2c_listener *listener);
const attn2c_speech_options *attn2c_listener_options(const attn2c_listener *listener);
const attn2c_descriptor *attn2c_listener_model(const attn2c_listener *listener);
attn2c_context *attn2c_listener_context(const attn2c_listener *listener);

/* Begins to listen to a window at a place. Returns any attn2c_status, with a line. */
int attn2c_listener_begin(attn2c_listener *listener, int32_t place, const attn2c_window *window,
                          attn2c_message *message);

/* Gives each answer that goes on its next token; one call for all of them. */
int attn2c_listener_step(attn2c_listener *listener, attn2c_message *message);

/* Returns the answer at a place, or NULL while it goes on. */
const attn2c_heard *attn2c_listener_heard(const attn2c_listener *listener, int32_t place);

/* Sets *text to the text of ids, without special tokens and timestamps, until the next call of the listener.
 */
int attn2c_listener_text(attn2c_listener *listener, const int32_t *ids, int32_t count, const char **text,
                         size_t *length);

/* Finds the words of ids, which are tokens of text. */
int attn2c_listener_words(attn2c_listener *listener, const int32_t *ids, int32_t count, int32_t language,
                          attn2c_spoken_words *words);

/* Returns the tokens of a text, without special ones, until the next call of the listener. */
int attn2c_listener_tokens(attn2c_listener *listener, const char *text, const int32_t **ids, int64_t *count,
                           attn2c_message *message);
