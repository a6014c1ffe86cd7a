/* command.h - the commands of models that continue their sequences: generate, and for models that
 * take text chat and perplexity. */
#pragma once

#include <jansson.h>

#include "base/text_facts.h"
#include "generate/answers.h"
#include "model/model.h"
#include "program/generate/options.h"
#include "program/generate/prompts.h"
#include "program/options.h"

struct attn2c_generation_commands {
  const attn2c_option *options; /* ATTN2C_GENERATION_OPTIONS */
  attn2c_model_command *generate, *chat, *perplexity;
};
attn2c_model_command attn2c_perplexity;

extern const attn2c_option attn2c_generation_options[ATTN2C_GENERATION_OPTIONS];

/* A model with its weights and one caller's state. */
typedef struct attn2c_continuing {
  attn2c_model *opened;
  attn2c_context *context;
  attn2c_calls calls;
  void *draft_model; /* that guesses; NULL: there is none */
  attn2c_calls draft;
  int is_given; /* 1: the context is that of the arguments */
} attn2c_continuing;

/* Opens the weights of the arguments, or takes their context. The caller closes in every case. */
int attn2c_continuing_open(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                           attn2c_continuing *made, attn2c_message *message);
void attn2c_continuing_close(attn2c_continuing *made);

/* Lets a batch guess as the arguments ask for. */
int attn2c_continuing_guess(attn2c_continuing *made, const attn2c_arguments *arguments, attn2c_answers *batch,
                            attn2c_message *message);

/* Words for attn2c_end: why an answer ended. */
extern const char *const attn2c_end_names[];

/* The text of an answer so far; see attn2c_writer. */
typedef struct attn2c_shown {
  const char *text;
  size_t length;  /* bytes that may be shown */
  int is_stopped; /* 1: a stop string ended it */
} attn2c_shown;

/* The part for text (program/text/generate.c). A side has tokenizer, prompts, and a writer for each place. */
typedef struct attn2c_text_side attn2c_text_side;
struct attn2c_generation_text {
  int (*open)(const attn2c_text_facts *facts, const attn2c_arguments *arguments, int32_t places,
              attn2c_text_side **side, attn2c_message *message);
  void (*close)(attn2c_text_side *side);
  /* Opens the prompts of the arguments, and reads them. */
  int (*open_prompts)(attn2c_text_side *side, const attn2c_arguments *arguments, FILE *notes,
                      attn2c_message *message);
  attn2c_prompt_state (*next)(attn2c_text_side *side, int may_wait, attn2c_prompt_ids *prompt, int *status,
                              attn2c_message *message);
  /* The text of the answer at a place: it begins, gets a token, ends. */
  int (*begin)(attn2c_text_side *side, int32_t place, const int32_t *ids, int64_t count);
  int (*add)(attn2c_text_side *side, int32_t place, int32_t id, attn2c_shown *shown);
  int (*end)(attn2c_text_side *side, int32_t place, attn2c_shown *shown);
  /* Writes text: as one line of escapes; or as it is, and for a terminal with its controls escaped. */
  void (*write)(const char *text, size_t length, int is_line, FILE *out);
  /* Finds the id of a token by its text. Returns ATTN2C_OK, or ATTN2C_USAGE and a line. */
  int (*token)(attn2c_text_side *side, const char *option, const char *word, int32_t *id,
               attn2c_message *message);
  /* Takes the languages of the arguments. Sets *first to the token that an answer begins with, or *start to
   * the one before it; both stay if there is none. Returns ATTN2C_OK, or ATTN2C_USAGE and a line. */
  int (*languages)(attn2c_text_side *side, const attn2c_arguments *arguments, int32_t *first, int32_t *start,
                   attn2c_message *message);
  /* Makes the list of the breakers of DRY, if options have it. */
  int (*breakers)(attn2c_text_side *side, const attn2c_generate_arguments *given, int64_t vocabulary,
                  attn2c_generate_options *options, attn2c_message *message);
  /* Returns the ids of a text without special tokens, until the next prompt is read. */
  int (*plain)(attn2c_text_side *side, const char *text, const int32_t **ids, int64_t *count,
               attn2c_message *message);
  /* Makes the rule of --grammar or --json-schema, which is the side's; NULL if neither is given. size: of the
   * logits; most: tokens of an answer. Returns ATTN2C_OK, or another status and a line. */
  int (*grammar)(attn2c_text_side *side, const attn2c_arguments *arguments, const attn2c_generation *stated,
                 int32_t size, int64_t most, const attn2c_rule **rule, attn2c_message *message);
  json_t *(*json_text)(const char *text, size_t length);
  int (*json_line)(json_t *object, int failed, FILE *out);
  attn2c_model_command *chat;
  /* Returns the ids of a whole file, which the caller frees. */
  int (*read_file)(const attn2c_text_facts *facts, const char *path, int32_t **ids, int64_t *count,
                   attn2c_message *message);
};
