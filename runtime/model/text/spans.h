/* spans.h - spans of labels that come with a text (Zaratiana et al. 2023, GLiNER): a text's tokens with its
 * labels in front, and the spans that a model finds. */
#pragma once

#include "model/text/reader.h"

/* A span of words with a label. */
typedef struct attn2c_found_span {
  attn2c_text_place place;
  int32_t label; /* its number among those that were given, from 0 */
  float score;
} attn2c_found_span;

#define ATTN2C_SPANS_USUAL                                                                                   \
  { 0.5f, 0, 0 }

/* True if an input of an entry is that of marks. */
static inline int attn2c_is_marks(const attn2c_text_facts *facts, int input) {
  return facts->spans && input == facts->spans->marks;
}

/* Gives later texts labels; one that is there twice counts once. Returns ATTN2C_OK, _MEMORY, or ATTN2C_USAGE
 * if there is none, if one is empty, or if they leave no place for a text; reader->fault says why. */
int attn2c_reader_labels(attn2c_reader *reader, const char *const *labels, size_t count);
void attn2c_spans_close(struct attn2c_span_work *work);

/* Returns the text of a label by its number. */
const char *attn2c_spans_label(const attn2c_reader *reader, int32_t number);

/* Encodes a text as attn2c_reader_encode does, with the reader's labels in front. A token's place is its
 * word's. */
int attn2c_spans_encode(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                        attn2c_text_tokens *tokens);

/* The tokens of a text, and the rows of the outputs that spans are made of. */
typedef struct attn2c_span_rows {
  const int32_t *ids;
  const attn2c_text_place *places;
  const uint8_t *sources;
  int64_t length;
  const float *starts, *ends, *labels; /* [length][width], the last one wider by 1; or all of them:
                                          [length][labels][3], scores of words */
  int64_t width;
} attn2c_span_rows;

/* Finds the spans of a text, in the order of their first words, in the reader's memory until its next call.
 * Returns ATTN2C_OK or _MEMORY. */
int attn2c_spans_find(attn2c_reader *reader, const attn2c_span_rows *rows, const attn2c_found_span **spans,
                      size_t *count);
