/* job.h - what a run of the command `generate` keeps: its options, and the answers that are not written yet.
 */
#pragma once

#include "program/generate/command.h"
#include "program/commands.h"

/* Places of records that have none in the batch. */
enum { ATTN2C_RECORD_ENDED = -1, ATTN2C_RECORD_WAITING = -2 };

/* An answer that is not written yet. A prompt has --n-best of them, one after the other. */
typedef struct attn2c_generate_record {
  struct attn2c_generate_record *next;
  int32_t place;  /* in the batch, or ATTN2C_RECORD_ENDED or _WAITING */
  int is_missing; /* 1: the search has found fewer answers */
  int32_t seen;   /* tokens that the writer has */
  attn2c_end end; /* why it has ended */
  int32_t *ids;   /* [count]; a copy once it has ended, NULL before */
  int32_t count;
  double score;        /* of beams */
  int32_t *prompt_ids; /* [prompt_tokens] of a record that waits for a place */
  int64_t prompt_tokens;
  uint64_t number; /* of the prompt, from 0 */
  char gap;        /* as in attn2c_prompt_ids */
  char *prompt;    /* NULL: only ids are known */
  size_t prompt_length;
  char *text;         /* a copy once it has ended */
  attn2c_shown shown; /* the text so far */
  size_t written;     /* bytes of it, or tokens, that are written */
  int is_begun;       /* 1: the name of its picture is written */
  int status;         /* of ATTN2C_END_FAULT */
  char fault[ATTN2C_PROMPT_PLACE + 1200];
  char at[ATTN2C_PROMPT_PLACE];
} attn2c_generate_record;

/* A run of the command. */
typedef struct {
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  FILE *out, *notes;
  attn2c_message *message;
  attn2c_generate_options options;
  attn2c_continuing model_calls;
  int32_t start;   /* the token of a language that answers are written after; -1: none was chosen */
  int32_t *begins; /* the tokens that answers about pictures go on from; NULL: without --prompt */
  int32_t begin_count;
  attn2c_answers *batch;
  const attn2c_generation_text *text; /* NULL: the model takes no text */
  attn2c_text_side *side;
  attn2c_prompt_arrays *arrays;                      /* NULL: prompts are texts, or pictures */
  attn2c_pictures *pictures;                         /* NULL: the model reads none */
  attn2c_generate_record *first, *last;              /* in the order of prompts */
  attn2c_generate_record *at[ATTN2C_MOST_SEQUENCES]; /* by place */
  attn2c_generate_record *whole; /* joins answers to sentences until the text's last; NULL: none */
  uint64_t prompts;              /* that were read */
  int is_noted;                  /* 1: the numbers of the first answer were */
  int is_ended;                  /* 1: no more prompts are read */
  int status;                    /* of the prompt that ended them */
  char fault[ATTN2C_PROMPT_PLACE + 1200];
  int prints, is_line;
  attn2c_answer_format format;
  const char *path;   /* of --output; NULL: none */
  int64_t *generated; /* [rows][options.tokens] */
  int64_t rows;
  size_t capacity; /* rows */
} attn2c_generate_job;

/* Report options that do not go together, one line each, and find the file of --output. Return ATTN2C_OK,
 * _USAGE, or what the file's check returns. */
int attn2c_generate_check_usage(attn2c_generate_job *job);
int attn2c_generate_read_output(attn2c_generate_job *job);
