/* sound_facts.h - facts of a model of sound: its samples, how they become its input, and its answer. */
#pragma once

#include "base/media_facts.h"

struct attn2c_context; /* model/model.h */

/* How rows of scores become text (sound/ctc.h). */
typedef struct attn2c_ctc {
  const char *const *tokens; /* their texts */
  int32_t count;             /* of tokens, which is the width of a row */
  int32_t blank;             /* the token that is not written, and parts equal tokens */
  const char *delimiter;     /* a token with this text is written as `space`; NULL: there is none */
  const char *space;         /* parts words */
  int lowers;                /* 1: capitals of ASCII become small letters */
  int cleans;                /* 1: spaces before punctuation and within contractions are left out */
  int64_t longest;           /* bytes that a token takes at most */
} attn2c_ctc;

typedef struct attn2c_sound_facts {
  int rate;            /* samples of a second */
  int64_t least, most; /* samples of a call; more may be cut off, so that rows() has no more for them */
  int64_t hop;         /* samples between two rows of the output that answers; 0: it has no rows */
  /* Returns the rows of the input that samples become; 0: they are too few. */
  int64_t (*rows)(int64_t samples);
  /* Turns `count` samples into `rows` rows of the input. Returns an attn2c_status. */
  int (*features)(struct attn2c_context *context, const float *samples, int64_t count, float *features,
                  int64_t rows);
  const struct attn2c_feature_facts *made; /* of a model that writes down speech, else NULL */
  const attn2c_ctc *ctc;                   /* of ATTN2C_ANSWER_SPEECH; NULL: another */
  const attn2c_media_facts *media;
} attn2c_sound_facts;

/* The program's commands for sound (program/commands.h). In the program of a model that takes sound,
 * attn2c_the_sounds points to them, and attn2c_the_sound_facts to the model's facts; others have neither. */
typedef struct attn2c_sound_commands attn2c_sound_commands;
extern const attn2c_sound_commands attn2c_sound_program;
extern const attn2c_sound_commands *const attn2c_the_sounds __attribute__((weak));
extern const attn2c_sound_facts *const attn2c_the_sound_facts __attribute__((weak));
