/* options.h - turns the options of a command line, and what the model's folder says, into options of
 * sampling. Faults of an option are one line each, which begins with its name. */
#pragma once

#include "generate/processors.h"
#include "generate/sampling.h"
#include "program/arguments.h"

typedef struct attn2c_generate_options {
  attn2c_sampling sampling;
  attn2c_beam_options beam; /* sampling has its penalty and stop tokens */
  const char *forced_bos;   /* a token that the caller looks up, as its text; NULL: none */
  int32_t n_best;           /* answers to a prompt */
  int64_t tokens;           /* the most of an answer */
  int32_t length;           /* the most of a prompt and its answer; 0: any */
  int32_t *tokens_of;       /* memory of the lists of `sampling` */
  float *biases;
  int32_t *breakers; /* the list of breakers of DRY; NULL: there is none */
} attn2c_generate_options;

/* Returns ATTN2C_OK, or ATTN2C_USAGE and a line if --draft cannot be used. */
int attn2c_generate_check_draft(const attn2c_generate_arguments *given, attn2c_message *message);

/* Reads the options, but for a word of --forced-bos that is no number. model: it continues its sequences.
 * Returns ATTN2C_OK, _USAGE or _MEMORY; the caller frees *options in every case. */
int attn2c_generate_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                                 attn2c_generate_options *options, attn2c_message *message);
/* Sets the options of a search and of processors. is_one: one token at a time, unless beams are asked for. */
void attn2c_generate_set_beam(const attn2c_generate_arguments *given, const attn2c_generation *stated,
                              int is_one, attn2c_beam_options *beam);
/* Writes a line with the numbers that tokens are drawn with, if neither the user nor the model says any. */
void attn2c_generate_options_note(const attn2c_generate_options *options, const attn2c_arguments *arguments,
                                  const attn2c_generation *stated, FILE *notes);
/* Says the faults that runtime/generate found, a line each, by the names of options: "top_k: ..." becomes
 * "--top-k: ...". It changes `lines`. */
void attn2c_generate_options_say(char *lines, attn2c_message *message);

void attn2c_generate_options_free(attn2c_generate_options *options);
