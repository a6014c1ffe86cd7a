/* generation.h - declares the facts of a model that continues its sequences: what its folder says about
 * generating text. */
#pragma once

#include "base/descriptor.h"

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
} attn2c_generation;

/* The program's commands for generation (program/generate/command.h). In the program of a model that
 * continues its sequences, attn2c_the_generation points to them, and attn2c_the_generation_text to those for
 * text, if it takes text; other programs contain neither. */
typedef struct attn2c_generation_commands attn2c_generation_commands;
extern const attn2c_generation_commands attn2c_generation_program;
extern const attn2c_generation_commands *const attn2c_the_generation __attribute__((weak));
typedef struct attn2c_generation_text attn2c_generation_text;
extern const attn2c_generation_text attn2c_generation_text_program;
extern const attn2c_generation_text *const attn2c_the_generation_text __attribute__((weak));
