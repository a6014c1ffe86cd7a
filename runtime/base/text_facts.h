/* text_facts.h - facts of a model that takes text: its tokenizer, the inputs for tokens, its answer. */
#pragma once

#include "base/descriptor.h"

/* Meaning of the numbers in the output that answers. */
typedef enum {
  ATTN2C_ANSWER_STATES,    /* [batch][rows][width]: a vector per token */
  ATTN2C_ANSWER_EMBEDDING, /* [batch][width] */
  ATTN2C_ANSWER_LABEL,     /* [batch][labels]: scores */
  ATTN2C_ANSWER_NUMBER,    /* [batch]: the index of a label */
  ATTN2C_ANSWER_TOKENS,    /* [batch][rows][labels]: scores, a label per token */
  ATTN2C_ANSWER_MASKED,    /* [batch][rows][tokens]: scores of replacements for a mask token */
  ATTN2C_ANSWER_NEXT,      /* [batch][tokens] or [batch][rows][tokens]: scores of the next token */
  ATTN2C_ANSWER_SPAN,      /* [batch][rows][1], twice: scores of where the answer begins and ends */
  ATTN2C_ANSWER_SPEECH,    /* [batch][rows][tokens]: scores of tokens and the blank of CTC */
  ATTN2C_ANSWER_LEXICAL, /* [batch][tokens]: a weight for each token of the vocabulary; or [batch][rows]: for
                            each token of the text */
  ATTN2C_ANSWER_VECTORS, /* [batch][rows][width]: unit vectors, of which a query's are compared with a text's
                          */
  ATTN2C_ANSWER_SPANS /* [batch][rows][width], three times: of first and last words, and of labels; or once:
                         scores of words for labels */
} attn2c_answer;

/* An answer that callers may choose. */
typedef struct attn2c_search_answer {
  attn2c_answer answer;
  int output; /* index of an entry's output */
} attn2c_search_answer;

/* How texts become vectors of tokens, and are compared (late interaction: Khattab and Zaharia 2020, ColBERT).
 */
typedef struct attn2c_late {
  int32_t query_marker, document_marker; /* the token after the first; -1: none */
  int32_t expansion;                     /* fills queries up to query_length; -1: none */
  int32_t query_length, document_length; /* most tokens; 0: a call's */
  int attends;                           /* 1: the other tokens see those that fill up */
  int first;                             /* rows at the beginning that have no vector */
  int mean;            /* 1: a score is the mean of the best cosines of a query's vectors, 0: their sum */
  const int32_t *skip; /* tokens of documents that have no vector */
  int skip_count;
} attn2c_late;

/* How spans of labels are found, which come with a text (Zaratiana et al. 2023, GLiNER). */
typedef struct attn2c_spans {
  int32_t label, separator; /* the tokens before each label, and after the last one */
  int width, words;         /* most words of a span, and of a text */
  int marks;                /* index of an entry's input: 1 for the first token of a word; -1: it has none */
  int labels;               /* index of an entry's output, after `output` and `second` */
  int most; /* labels of a text, whose words have three scores for each in one output: that a span begins,
               ends, and is there; 0: any number, and spans have scores of their own */
} attn2c_spans;

/* How much two embeddings are like each other: their cosine, the sum of products, or a distance with a minus.
 */
typedef enum { ATTN2C_COSINE, ATTN2C_DOT, ATTN2C_EUCLIDEAN, ATTN2C_MANHATTAN } attn2c_similarity;

typedef enum { ATTN2C_SOFTMAX, ATTN2C_SIGMOID, ATTN2C_AS_IT_IS } attn2c_label_function;

/* A text that callers may have in place of the model's prompt; "" means none. */
typedef struct attn2c_named_prompt {
  const char *name, *text;
} attn2c_named_prompt;

typedef struct attn2c_text_facts {
  const void *tables;
  size_t size;
  const void *written; /* tables of the texts that the model writes, if they are others; else NULL */
  size_t written_size;
  int ids, types, lengths, mask;      /* indices of an entry's inputs; -1: it has none */
  int boxes, image;                   /* indices, too: of places on a page, and of the page's picture */
  int32_t separator, separator_place; /* with boxes: the special token that has a box, and all of its sides;
                                         -1: none */
  int pool_mask; /* with a prompt or prompts: index of the input that says which rows pools take; else -1 */
  const char *prompt;                 /* put before each text; NULL: none */
  const attn2c_named_prompt *prompts; /* sorted by name */
  int prompt_count;
  int dimensions;               /* numbers of an embedding that are kept; 0: all */
  int is_unit;                  /* 1: an embedding is a unit vector, and so is one of fewer numbers */
  attn2c_similarity similarity; /* of embeddings */
  attn2c_answer answer;
  const attn2c_search_answer *answers; /* all that callers may choose, `answer` first */
  int answer_count;                    /* 0: only that one */
  const int32_t *unweighted;           /* tokens whose lexical weight in a text is 0 */
  int unweighted_count;
  const void *query_weights; /* a float for each token of the vocabulary: a query's weights, which the model
                                does not compute; NULL: the model computes them */
  const attn2c_late *late;   /* NULL: vectors of all tokens, compared by the sum */
  const attn2c_spans *spans; /* NULL: labels are not given with texts */
  int output, second;        /* indices of an entry's outputs; second: the end of a span */
  const char *const *labels; /* NULL: labels are numbers */
  int label_count;
  attn2c_label_function function;
  int32_t mask_token;                      /* -1: none */
  int32_t bos_token;                       /* begins a text without tokens; -1: none */
  int is_padded;                           /* 1: texts are filled up to a call's length with pad_token */
  int32_t pad_token;                       /* the model sees it as any other token */
  int32_t cls_token;                       /* for spans: its row's score means "no answer"; -1: none */
  const struct attn2c_chat_template *chat; /* the chat template (chat/chat_template.h); NULL: none */
  const attn2c_lengths *calls;             /* how a text of any length becomes a call */
} attn2c_text_facts;

/* The program's commands for text (program/commands.h). In the program of a model that takes text,
 * attn2c_the_text points to them; other programs contain neither. */
typedef struct attn2c_text_commands attn2c_text_commands;
extern const attn2c_text_commands attn2c_text_program;
extern const attn2c_text_commands *const attn2c_the_text __attribute__((weak));
