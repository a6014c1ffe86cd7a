/* text_view.h - a text, or a window of it, with its tokens and what the model gave for it, as those who write
 * answers see it.
 */
#ifndef ATTN2C_TEXT_VIEW_H
#define ATTN2C_TEXT_VIEW_H

#include "model/text_calls.h"
#include "program/text_answer.h"
#include "program/text_source.h"

/* The answer to a question: bytes [begin, end) of its pair. */
typedef struct attn2c_found {
  int is_there;
  uint32_t begin, end;
  double score;
} attn2c_found;

typedef struct attn2c_view_of_text {
  attn2c_reader *reader;
  attn2c_line line;
  int64_t length; /* tokens; 0: there is nothing to say of it */
  int32_t *ids;
  attn2c_text_place *places;
  uint8_t *sources;
  size_t removed;
  int is_last;                  /* the only window of its text, or the last one */
  attn2c_found found;           /* of a question, in all windows */
  const float *values, *second; /* of the answer's outputs */
  int64_t width;                /* numbers of a row */
  int rank;                     /* of the answer's output */
  int top;                      /* how many of the best are wanted */
  int has_top;                  /* the user said so */
} attn2c_view_of_text;

/* Room for a label's name that is made of its number. */
#define ATTN2C_LABEL_ROOM 32
/* What label number `number` is called. */
const char *attn2c_label(const attn2c_text_facts *facts, int64_t number, char room[ATTN2C_LABEL_ROOM]);

/* The labels of a text or a token, best first: `top` of them, or, where each is true or not by itself and no
 * number was asked for, those of at least 0.5. */
int attn2c_view_labels(const attn2c_view_of_text *view, const float *scores, attn2c_pick *picks);

/* The text of a token id by itself, as decoding gives it; "" where it has none. */
const char *attn2c_view_token(const attn2c_view_of_text *view, int64_t id, size_t *length);

/* The bytes that token number `row` comes from; of special tokens their own text. */
const char *attn2c_view_source(const attn2c_view_of_text *view, int64_t row, size_t *length);

/* The scores of the token that comes next. */
const float *attn2c_view_next(const attn2c_view_of_text *view);

/* Puts the best span of a window in place of one that is not as good, or of none. */
void attn2c_view_find(const attn2c_view_of_text *view, attn2c_found *best);

/* Writes an answer: lines for people and for cut(1), or one of JSON. `picks` has room for as many as can be
 * asked for. Where it cannot be written, `out` has its error. ATTN2C_OK or _MEMORY. */
int attn2c_write_text(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out);
int attn2c_write_json(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out);

#endif
