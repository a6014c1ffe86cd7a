/* view.h - a text, or a window of it, with its tokens and the model's outputs, for the writers of answers;
 * its spans; and what a search compares of it: an embedding, lexical weights, or vectors of tokens. */
#pragma once

#include "model/text/calls.h"
#include "program/answers/answers.h"
#include "program/text/source.h"

/* The answer to a question: bytes [begin, end) of its pair. */
typedef struct attn2c_found {
  int is_there;
  uint32_t begin, end;
  double score;
} attn2c_found;

typedef struct attn2c_view_of_text {
  attn2c_reader *reader;
  attn2c_line line;
  int64_t length; /* number of tokens; 0: the text has no answer */
  size_t slot;    /* number of the text in the reader's call */
  const float
      *cached; /* the embedding, if it is known already: the reader does not have the text; else NULL */
  int32_t *ids;
  attn2c_text_place *places;
  uint8_t *sources;
  float *image;  /* of its page; NULL: it has none */
  int has_words; /* 1: its words have boxes, and answers are about them */
  size_t removed;
  int is_last;                          /* 1: the last window of its text, or its only one */
  attn2c_found found;                   /* the best answer to a question, over all windows */
  const float *values, *second, *third; /* of the answer's outputs */
  int is_query;                         /* 1: a query of late interaction */
  int has_rows;                         /* 1: the answer has a row for each token */
  int64_t width;                        /* numbers in a row */
  int rank;                             /* rank of the answer's output */
  int top;                              /* number of best labels or tokens that are wanted */
  int has_top;                          /* 1: the user gave --top */
} attn2c_view_of_text;

/* Returns the labels of a text or a token, without their scores. */
attn2c_labels attn2c_view_labels(const attn2c_view_of_text *view);

/* True if an answer about each token has one about this row. */
int attn2c_view_has_row(const attn2c_view_of_text *view, int64_t row);

/* Returns the text of a single token id, as decoding gives it; "" if it has none. */
const char *attn2c_view_token(const attn2c_view_of_text *view, int64_t id, size_t *length);

/* Returns the bytes that token number `row` comes from; for a special token, its own text. */
const char *attn2c_view_source(const attn2c_view_of_text *view, int64_t row, size_t *length);

/* Returns the scores of the next token. */
const float *attn2c_view_next(const attn2c_view_of_text *view);

/* True if an answer is made from this output. */
int attn2c_answer_reads(const attn2c_text_facts *facts, int output);

/* Replaces *best by the best span of a window if that one is better, or if *best has none. */
void attn2c_view_find(const attn2c_view_of_text *view, attn2c_found *best);

/* Returns an answer as an object; NULL without memory. `picks` has a capacity of ATTN2C_MAX_TOP. */
json_t *attn2c_view_json(const attn2c_view_of_text *view, attn2c_pick *picks);

/* Write an answer as lines for people and for cut(1), or as one line of JSON. Return ATTN2C_OK or _MEMORY;
 * errors of writing are in `out`. */
int attn2c_write_text(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out);
int attn2c_write_json(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out);

/* Gives the reader the labels and options that were asked for. Reports a fault in one line. */
int attn2c_spans_asked(attn2c_reader *reader, const attn2c_arguments *arguments, attn2c_message *message);

/* Writes a line for each span, and an empty one. Returns ATTN2C_OK or _MEMORY. */
int attn2c_spans_write(const attn2c_view_of_text *view, FILE *out);

/* Returns the spans as a list of objects; NULL without memory. */
json_t *attn2c_spans_json(const attn2c_view_of_text *view);

typedef struct attn2c_meaning {
  attn2c_answer kind;   /* EMBEDDING, LEXICAL or VECTORS */
  int64_t count, width; /* EMBEDDING: one row; LEXICAL: tokens, of width 1; VECTORS: rows */
  float *values;        /* [count][width] */
  int32_t *ids;         /* LEXICAL: the tokens, ascending; else NULL */
} attn2c_meaning;

/* True for the kinds of answers above. */
static inline int attn2c_is_of_search(attn2c_answer answer) {
  return answer == ATTN2C_ANSWER_EMBEDDING || answer == ATTN2C_ANSWER_LEXICAL ||
         answer == ATTN2C_ANSWER_VECTORS;
}

/* Copies what a view's answer means. A text without tokens has no rows. Returns ATTN2C_OK or _MEMORY. */
int attn2c_meaning_make(const attn2c_view_of_text *view, attn2c_meaning *meaning);
void attn2c_meaning_free(attn2c_meaning *meaning);

/* Returns how much a text is like a query: facts->similarity of embeddings; the sum over tokens of the
 * products of weights; or the sum over a query's vectors of their largest product with a vector of the text,
 * or the mean if facts->late says so. NaN if one has no tokens. */
double attn2c_likeness(const attn2c_meaning *query, const attn2c_meaning *text,
                       const attn2c_text_facts *facts);

/* Sorts lexical weights, the largest first. */
void attn2c_meaning_sort(attn2c_meaning *lexical);
