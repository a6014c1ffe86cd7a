/* speech_facts.h - facts of a model that writes down speech: its special tokens. An answer has text tokens,
 * which are below `end`, and timestamps, which follow no_timestamps: number n stands for n * 0.02 seconds. A
 * plain model has neither: all tokens are text, and it reads a sound of any length up to its longest. */
#pragma once

#include <stdint.h>

/* Rows of features in a second, and between two timestamps. */
enum { ATTN2C_SPEECH_ROWS_A_SECOND = 100, ATTN2C_TIMESTAMP_ROWS = 2 };

typedef struct attn2c_speech_language {
  const char *code; /* "en" */
  int32_t token;
} attn2c_speech_language;

/* A head of a cross-attention, by whose weights the times of words are found. */
typedef struct attn2c_speech_head {
  int32_t layer; /* number of its layer among those that have such heads */
  int32_t head;
} attn2c_speech_head;

typedef struct attn2c_speech {
  int32_t start, end;            /* what an answer follows, and ends with */
  int32_t no_timestamps;         /* -1: the model is plain, and has none of the other tokens */
  int32_t previous;              /* what the text before a window follows */
  int32_t no_speech;             /* its probability after `start` is that of silence */
  int32_t transcribe, translate; /* -1: there is no such task */
  int32_t most_initial;          /* number of the last timestamp that an answer may begin with; -1: any */
  double most_compression;       /* of the text of a good answer, as a multiple of what zlib makes of it */
  double least_score;            /* of a good answer: the mean of its tokens' log-probabilities */
  double least_silence;          /* the probability from which a window with a bad score is silence */
  int32_t goes_on;               /* 1: a window usually goes on from the text before it */
  int32_t language;              /* index of the usual one; -1: it is found */
  int32_t task;                  /* the usual one, as a token; -1: the model has none */
  int32_t language_count;        /* 0: the model knows one language, which has no token */
  const attn2c_speech_language *languages; /* sorted by code */
  /* A model that finds the times of words has these. Its queries are the last layer_count outputs of the
   * primary entry, its keys the outputs of the entry `encode`. */
  const attn2c_speech_head *heads;
  int32_t head_count, layer_count; /* 0: it finds none */
  int32_t head_width, median;      /* numbers of a head's query; rows of the median */
  double head_scale;               /* factor of scores */
} attn2c_speech;

/* The program's commands for speech (program/commands.h). In the program of a model that writes down
 * speech, attn2c_the_speech points to them; other programs contain neither. */
typedef struct attn2c_speech_commands attn2c_speech_commands;
extern const attn2c_speech_commands attn2c_speech_program;
extern const attn2c_speech_commands *const attn2c_the_speech __attribute__((weak));
/* Reads the sounds of --audio (program/speech/sounds.c). attn2c_the_speech_sounds points to it in the program
 * of a model that takes sound, too. */
typedef struct attn2c_speech_sounds attn2c_speech_sounds;
extern const attn2c_speech_sounds attn2c_speech_sounds_program;
extern const attn2c_speech_sounds *const attn2c_the_speech_sounds __attribute__((weak));
