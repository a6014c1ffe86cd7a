/* options.h - the options of writing down speech: of the command line, and what the model's folder states. */
#pragma once

#include "base/generation.h"
#include "base/speech_facts.h"
#include "program/arguments.h"

/* Temperatures of the attempts at a window, one after the other. */
enum { ATTN2C_SPEECH_ATTEMPTS = 6 };

typedef struct attn2c_speech_options {
  attn2c_beam_options beam;
  double temperatures[ATTN2C_SPEECH_ATTEMPTS];
  int attempts;
  uint64_t seed;
  int32_t tokens;   /* the most of an answer to a window */
  int32_t language; /* index; -1: it is found, or the model has none */
  int32_t task;     /* token; -1: the model has none */
  int is_timed;     /* 1: answers have timestamps */
  attn2c_answer_format format;
} attn2c_speech_options;

/* Reads the options. Returns ATTN2C_OK, or ATTN2C_USAGE and a line for each fault. */
int attn2c_speech_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                               attn2c_speech_options *options, attn2c_message *message);
