/* text_facts.h - what a model that takes text says of itself beside its tensors: the tables of its tokenizer,
 * which of its inputs they fill, and what an answer is made of. */
#ifndef ATTN2C_TEXT_FACTS_H
#define ATTN2C_TEXT_FACTS_H

#include "base/descriptor.h"

/* What the numbers of the output that answers are. */
typedef enum {
  ATTN2C_ANSWER_STATES,    /* [batch][rows][width]: a vector a token */
  ATTN2C_ANSWER_EMBEDDING, /* [batch][width] */
  ATTN2C_ANSWER_LABEL,     /* [batch][labels]: scores */
  ATTN2C_ANSWER_NUMBER,    /* [batch]: the number of a label */
  ATTN2C_ANSWER_TOKENS,    /* [batch][rows][labels]: scores, a label a token */
  ATTN2C_ANSWER_MASKED,    /* [batch][rows][tokens]: scores of what may stand for a mask token */
  ATTN2C_ANSWER_NEXT,      /* [batch][tokens] or [batch][rows][tokens]: scores of the next token */
  ATTN2C_ANSWER_SPAN       /* [batch][rows][1], twice: scores of where the answer begins and ends */
} attn2c_answer;

typedef enum { ATTN2C_SOFTMAX, ATTN2C_SIGMOID, ATTN2C_AS_IT_IS } attn2c_label_function;

typedef struct attn2c_text_facts {
  const void *tables;
  size_t size;
  int ids, types, lengths, mask; /* which of an entry's inputs; -1: it has none */
  int pool_mask;                 /* with a prompt: the input that says which rows pools take, or -1 */
  const char *prompt;            /* put in front of each text; NULL: nothing is */
  attn2c_answer answer;
  int output, second;        /* which of an entry's outputs; second: where a span ends */
  const char *const *labels; /* NULL: they have numbers */
  int label_count;
  attn2c_label_function function;
  int32_t mask_token;          /* -1: there is none */
  int32_t bos_token;           /* what begins a text without tokens; -1: there is none */
  int32_t cls_token;           /* of a span: its row's score is that of no answer; -1: there is none */
  const attn2c_lengths *calls; /* how a text of any length becomes a call */
} attn2c_text_facts;

/* What the program does with text (program/text_command.h). The program of a model that takes text has
 * attn2c_the_text lead to it; other programs have neither. */
typedef struct attn2c_text_commands attn2c_text_commands;
extern const attn2c_text_commands attn2c_text_program;
extern const attn2c_text_commands *const attn2c_the_text __attribute__((weak));

#endif
