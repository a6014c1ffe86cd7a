/* arguments.h - the command line of a program: its command, its options, their help. Nothing is opened here.
 * Wrong usage (exit 2) is reported with one line a fault, which names the option and what is allowed. */
#pragma once

#include "base/descriptor.h"

typedef enum {
  ATTN2C_COMMAND_NONE, /* only --help or --version is given */
  ATTN2C_COMMAND_INFO,
  ATTN2C_COMMAND_RUN,
  ATTN2C_COMMAND_CHECK,
  ATTN2C_COMMAND_BENCH,
  ATTN2C_COMMAND_PACK,
  ATTN2C_COMMAND_GENERATE, /* from here on: of models that continue their sequences */
  ATTN2C_COMMAND_CHAT,
  ATTN2C_COMMAND_PERPLEXITY,
  ATTN2C_COMMAND_SERVE /* of programs that are built with it */
} attn2c_command;

typedef enum { ATTN2C_FORMAT_MD, ATTN2C_FORMAT_JSON, ATTN2C_FORMAT_CSV } attn2c_report_format;

/* The format that a run's answers are written in. */
typedef enum {
  ATTN2C_ANSWERS_NONE, /* not given */
  ATTN2C_ANSWERS_TEXT,
  ATTN2C_ANSWERS_JSONL,
  ATTN2C_ANSWERS_NPY,
  ATTN2C_ANSWERS_SRT, /* cues of SubRip and WebVTT: of sounds */
  ATTN2C_ANSWERS_VTT
} attn2c_answer_format;

/* The kind of a word that gives texts. */
typedef enum {
  ATTN2C_TEXT_ANY,   /* "-", a file if there is one of that name, else a text */
  ATTN2C_TEXT_FILE,  /* a file with one text a line */
  ATTN2C_TEXT_STRING /* a text */
} attn2c_text_kind;

typedef struct {
  attn2c_text_kind kind;
  const char *word;
  const char *option; /* the option that gave it, for messages */
} attn2c_text_word;

#define ATTN2C_MAX_REPETITIONS 1000000
#define ATTN2C_MAX_TOP         1000

/* The values of --task. */
enum { ATTN2C_TASK_TRANSCRIBE = 1, ATTN2C_TASK_TRANSLATE };

/* A number that may be given. */
typedef struct {
  int is_given;
  double value;
} attn2c_real;

/* The options of generation, as they are given (program/generate/options.h reads them). */
typedef struct {
  int greedy;
  int64_t tokens, top_k;              /* -1: not given */
  int beams, no_repeat_ngram, n_best; /* -1: not given */
  int early_stopping;                 /* attn2c_early_stopping; -1: not given */
  int64_t min_tokens;                 /* -1: not given */
  const char *forced_bos;             /* NULL: not given */
  attn2c_real temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty,
      length_penalty;
  attn2c_real top_n_sigma, typical_p, xtc_probability, xtc_threshold, dynatemp_range, dynatemp_exponent,
      mirostat_tau, mirostat_eta, dry_multiplier, dry_base;
  int mirostat, dry_allowed_length, dry_last_n; /* -1: not given */
  const char **dry_breakers;                    /* in the order given */
  int dry_breaker_count;
  const char *sampler_order; /* NULL: not given */
  int has_seed;
  uint64_t seed;
  const char **stops, **biases, **allowed; /* in the order given */
  int stop_count, bias_count, allowed_count;
  const char *grammar, *json_schema;                      /* files; NULL: not given */
  const char *system;                                     /* NULL: not given */
  const char *source_language, *target_language, *prefix; /* NULL: not given */
  int split;                                              /* 1: into sentences */
  const char *draft;                                      /* weights of a model that guesses; NULL: none */
  int guess;                                              /* 1: by repetitions of the text; 0: not given */
  const char **features;                                  /* arrays of sounds, in the order given */
  int feature_count;
  const char *language; /* that is spoken; NULL: not given */
  int task;             /* ATTN2C_TASK_; 0: not given */
  int timestamps;       /* 1 with --timestamps */
  int goes_on;          /* with --condition-on-previous-text 1: yes, 2: no */
  int carries;          /* 1 with --carry-initial-prompt */
  const char *compression, *score,
      *silence;                /* limits of a window's answer: a number or none; NULL: not given */
  const char *perplexity_file; /* NULL: not given */
  const char *logits;          /* a file that perplexity writes; NULL: not given */
} attn2c_generate_arguments;

/* The options of serving. */
typedef struct {
  const char *host, *path, *key_file; /* NULL: not given */
  int port;                           /* -1: not given */
  int sequences, waiting, log;        /* 0: not given; log: attn2c_log_form */
} attn2c_serve_arguments;

typedef struct {
  const char *path;  /* argv[0] unchanged */
  char program[256]; /* the last part of argv[0], escaped for printing */
  attn2c_command command;
  int help, version, json, licenses, verbose, nan, profile, bound, brief;
  const char *weights, *compare, *entry; /* NULL: not given */
  const char *text_weights;              /* of the model of texts; NULL: not given */
  const char *packed, *verify;           /* files of the command pack; NULL: not given */
  const char **inputs, **outputs;        /* [NAME=]PATH, in the order given; outputs of check: expected */
  int input_count, output_count;
  attn2c_real tolerance;
  int threads;        /* 0: not given */
  uint64_t seed;      /* 1 if not given */
  int repetitions;    /* 0: not given */
  int cold_megabytes; /* read before each profiled call; 0: none */
  int64_t length;     /* tokens of a timed call; 0: not given */
  const char *part;   /* the rank whose part is timed, or "all"; NULL: not given */
  attn2c_report_format format;
  attn2c_text_word *texts, *pairs, *boxes, *queries; /* in the order given */
  int text_count, pair_count, box_count, query_count;
  const char **images; /* files and folders of pictures, in the order given */
  int image_count;
  const char **audios; /* files and folders of sounds, in the order given */
  int audio_count;
  int vad, words;      /* 1 with --vad, --words */
  const char *against; /* file of embeddings that the answers' are compared with; NULL: not given */
  attn2c_answer_format answers;
  int top;                             /* 0: not given */
  int similar;                         /* 1 with --similar */
  int rank;                            /* 1 with --rank */
  const char *cache, *prompt, *answer; /* NULL: not given */
  const char *adapter;                 /* NULL: not given */
  const char **labels;                 /* words with commas between labels, in the order given */
  int label_count;                     /* of these words */
  attn2c_real threshold;               /* of scores of spans */
  int nested, multi_label;             /* 1 with --nested, --multi-label */
  int dimensions;                      /* 0: not given */
  int64_t stride;                      /* tokens that neighbouring windows share; -1: not given */
  attn2c_generate_arguments generate;
  struct attn2c_context *context; /* of a server, which a command calls; NULL: it opens the model itself */
  attn2c_serve_arguments serve;
} attn2c_arguments;

/* A command of a model. Writes its results to `out` and notes to `notes`. Returns any attn2c_status, with one
 * line a fault, or 128 and the number of a signal that ended it. */
typedef int attn2c_model_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                                 FILE *notes, attn2c_message *message);

/* The program of the model, or of the first target of several. */
extern const attn2c_program attn2c_the_program;

/* Reads argv into *arguments, which points into argv. Returns ATTN2C_OK, _USAGE or _MEMORY; the caller frees
 * *arguments in every case. */
int attn2c_arguments_parse(int argc, char **argv, attn2c_arguments *arguments, attn2c_message *message);
void attn2c_arguments_free(attn2c_arguments *arguments);

/* True if a run takes texts. */
int attn2c_asks_text(const attn2c_arguments *arguments);

/* Writes the help of the command, or of the program if no command is given. */
void attn2c_arguments_help(const attn2c_arguments *arguments, const attn2c_descriptor *model, FILE *out);

/* Writes the text of `--version`: the model's name, the generator's version, the description, the target. */
void attn2c_arguments_version(const attn2c_descriptor *model, FILE *out);
