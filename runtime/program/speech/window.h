/* window.h - what is said in one window of sound: tokens, found by OpenAI's rules. An attempt whose text
 * repeats itself, or is improbable, is followed by one that is drawn at a higher temperature. */
#pragma once

#include "program/generate/command.h"
#include "program/speech/options.h"

/* The words of a window. */
typedef struct attn2c_heard {
  const int32_t *ids; /* [count], without the token that ends an answer, until the next window */
  int32_t count;
  int32_t language;   /* index; -1: the model has none */
  double temperature; /* of the attempt */
  double score;       /* the mean of the tokens' log-probabilities */
  double compression; /* bytes of the text, as a multiple of those that zlib makes of it */
  double silence;     /* the probability that nothing is said */
  int is_silent;      /* 1: that is so */
} attn2c_heard;

typedef struct attn2c_listener attn2c_listener;

/* Makes a listener. calls and options must stay. side: of a model's text, with a writer for place 0. */
int attn2c_listener_create(attn2c_listener **made, const attn2c_calls *calls, const attn2c_speech *speech,
                           const attn2c_speech_options *options, const attn2c_generation_text *text,
                           attn2c_text_side *side, attn2c_message *message);
void attn2c_listener_free(attn2c_listener *listener);

/* Listens to a window. features: all rows of a call; before: [count] tokens of what was said before it.
 * is_timed: 1: with timestamps. language: index, or -1 to find it. Returns any attn2c_status, with a line. */
int attn2c_listen(attn2c_listener *listener, const float *features, const int32_t *before, int32_t count,
                  int is_timed, int32_t language, attn2c_heard *heard, attn2c_message *message);

/* Sets *shown to the text of ids, without special tokens and timestamps, until the next call. */
int attn2c_listener_text(attn2c_listener *listener, const int32_t *ids, int32_t count, attn2c_shown *shown);
