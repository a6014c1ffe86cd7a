#include "program/text/view.h"

#include <math.h>

#include "model/text/late.h"

/* Most tokens of an answer to a question, as in transformers' pipeline. */
#define LONGEST_ANSWER 15

attn2c_labels attn2c_view_labels(const attn2c_view_of_text *view) {
  const attn2c_text_facts *facts = view->reader->facts;
  return (attn2c_labels){.names = facts->labels,
                         .count = facts->label_count,
                         .function = facts->function,
                         .width = view->width,
                         .top = view->has_top ? view->top : 0};
}

int attn2c_view_has_row(const attn2c_view_of_text *view, int64_t row) {
  const attn2c_text_facts *facts = view->reader->facts;
  /* the tokens of a word with a box have its place, and the first one answers for the word */
  const int is_in_word = view->has_words && row > 0 && view->sources[row] == view->sources[row - 1] &&
                         view->places[row].byte_end == view->places[row - 1].byte_end;
  if (facts->answer == ATTN2C_ANSWER_TOKENS) return view->sources[row] != 2 && !is_in_word;
  return facts->answer != ATTN2C_ANSWER_VECTORS ||
         attn2c_late_keeps(facts->late, view->is_query, view->ids[row], row);
}

const char *attn2c_view_token(const attn2c_view_of_text *view, int64_t id, size_t *length) {
  const int32_t number = (int32_t)id;
  const char *text;
  if (attn2c_reader_decode(view->reader, &number, 1, 0, &text, length) == ATTN2C_OK && *length) return text;
  text = attn2c_text_token(view->reader->text, number, length);
  return text ? text : "";
}

const char *attn2c_view_source(const attn2c_view_of_text *view, int64_t row, size_t *length) {
  const attn2c_text_place *place = &view->places[row];
  const char *text = view->sources[row] == 0 ? view->line.text : view->line.pair;
  if (view->sources[row] == 2 || !text) {
    text = attn2c_text_token(view->reader->text, view->ids[row], length);
    return text ? text : "";
  }
  *length = place->byte_end - place->byte_begin;
  return text + place->byte_begin;
}

const float *attn2c_view_next(const attn2c_view_of_text *view) {
  return view->rank == 3 ? view->values + (view->length - 1) * view->width : view->values;
}

int attn2c_answer_reads(const attn2c_text_facts *facts, int output) {
  const int is_span = facts->answer == ATTN2C_ANSWER_SPAN || facts->answer == ATTN2C_ANSWER_SPANS;
  return output == facts->output || (is_span && output == facts->second) ||
         (facts->answer == ATTN2C_ANSWER_SPANS && output == facts->spans->labels);
}

/* Probabilities are within each window, and its token for no answer counts, as in transformers'
 * pipeline. */
void attn2c_view_find(const attn2c_view_of_text *view, attn2c_found *best) {
  int64_t none = 0;
  while (none < view->length &&
         (view->sources[none] != 2 || view->ids[none] != view->reader->facts->cls_token))
    none++;
  const attn2c_span span =
      attn2c_best_span(view->values, view->second, view->length, view->sources, none, LONGEST_ANSWER);
  if (span.first < 0 || (best->is_there && !(span.score > best->score) && !isnan(best->score))) return;
  *best = (attn2c_found){.is_there = 1,
                         .begin = view->places[span.first].byte_begin,
                         .end = view->places[span.last].byte_end,
                         .score = span.score};
}
