/* generation.h - facts of a model that continues: what its folder says about generating. */
#pragma once

#include "base/descriptor.h"

struct attn2c_calls;

/* The options of a beam search, and of the processors that change a token's logits or log-probabilities for
 * it and for answers without beams. They mean what they mean in Hugging Face's transformers 5.23
 * (generate/processors.h, generate/beam.h). */
typedef struct attn2c_beam_options {
  int32_t beams;          /* 1, no search, to the number of sequences */
  double length_penalty;  /* -8 to 8: a score is the sum of log-probabilities / (tokens ^ this) */
  int32_t early_stopping; /* the end: 0: running beams are worse than all answers; 1: each beam has an answer;
                             2: no running beam can become better */
  int32_t renormalize;    /* 1: log-probabilities are normalised again */
  double repetition_penalty; /* more than 0, finite; 1: none */
  int32_t no_repeat_ngram;   /* no sequence of this many tokens occurs twice; 0: any may */
  int32_t min_length;        /* no stop token before prompt and answer have this many tokens; 0: any time */
  int32_t min_tokens;        /* the same for the answer */
  int32_t forced_bos;        /* the first token of the answer to a prompt of one token; -1: any */
  int32_t forced_eos_count;  /* if not 0, the last token of an answer with the most tokens is one of these */
  const int32_t *forced_eos;
  int32_t suppressed_count; /* tokens that are never chosen */
  const int32_t *suppressed;
  int32_t begin_suppressed_count; /* the same for the first token of an answer */
  const int32_t *begin_suppressed;
  int32_t bad_words_count;  /* numbers of the next list */
  const int32_t *bad_words; /* sequences that are never written: the tokens of each, after their number */
  int32_t stop_count;
  const int32_t *stop_tokens;
} attn2c_beam_options;

/* A search ends when the running beams cannot become better than its worst answer, judged by their present
 * length; or when it has an answer for each beam; or by the length that is best for them. */
typedef enum attn2c_early_stopping {
  ATTN2C_STOP_FALSE,
  ATTN2C_STOP_TRUE,
  ATTN2C_STOP_NEVER
} attn2c_early_stopping;

/* The defaults of generation, as the model's folder or description states them. */
typedef struct attn2c_generation {
  int is_drawn; /* 1: tokens are drawn; 0: the most probable one is taken */
  int is_usual; /* 1: the numbers are attn2c's, as nobody states any; a greedy choice has no penalty then */
  double temperature;
  int64_t top_k;
  double top_p, min_p, repetition_penalty;
  int64_t tokens;             /* the most of an answer; 0: not stated */
  int32_t length;             /* without tokens: the most of a prompt and its answer; 0: not stated */
  const int32_t *stop_tokens; /* [stop_count] */
  int32_t stop_count;
  const int32_t *start_tokens;        /* [start_count], with which an answer to a source begins: its prompt */
  int32_t start_count;                /* 0: the model has no encoder */
  const struct attn2c_speech *speech; /* of a model that writes down speech (speech_facts.h); else NULL */
  const attn2c_beam_options *beam;    /* NULL: nothing is stated; penalty and stop tokens are those above */
} attn2c_generation;

/* A smaller model with the same tokens, whose library is linked into the program, where it guesses. Only such
 * a program has attn2c_the_draft. */
typedef struct attn2c_draft {
  /* Opens weights, and gives the calls of a context. The caller closes in every case. */
  int (*open)(const char *weights, int threads, void **model, struct attn2c_calls *calls, char *message,
              size_t size);
  void (*close)(void *model, void *context);
} attn2c_draft;
extern const attn2c_draft *const attn2c_the_draft __attribute__((weak));

/* The program's commands for generation (program/generate/command.h). In the program of a model that
 * continues its sequences, attn2c_the_generation points to them, and attn2c_the_generation_text to those for
 * text, if it takes text; other programs contain neither. */
typedef struct attn2c_generation_commands attn2c_generation_commands;
extern const attn2c_generation_commands attn2c_generation_program;
extern const attn2c_generation_commands *const attn2c_the_generation __attribute__((weak));
typedef struct attn2c_generation_text attn2c_generation_text;
extern const attn2c_generation_text attn2c_generation_text_program;
extern const attn2c_generation_text *const attn2c_the_generation_text __attribute__((weak));
