/* json.c - writes answers as JSON, one object a line. */
#include "program/text/view.h"

static json_t *json_tokens(const attn2c_view_of_text *view, const float *scores, attn2c_pick *picks) {
  const int count = attn2c_best(scores, view->width, ATTN2C_SOFTMAX, view->top, picks);
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    size_t length;
    const char *token = attn2c_view_token(view, picks[i].number, &length);
    json_t *each = json_pack("{s:o, s:I, s:o}", "token", attn2c_json_text(token, length), "id",
                             (json_int_t)picks[i].number, "score", attn2c_json_number(picks[i].score));
    if (json_array_append_new(list, each) == 0) continue;
    json_decref(list);
    return NULL;
  }
  return list;
}

/* Returns the place of a token in its text. */
static json_t *json_place(const attn2c_view_of_text *view, int64_t row) {
  size_t length;
  const char *text = attn2c_view_source(view, row, &length);
  json_t *object = json_pack("{s:I, s:I, s:o}", "begin", (json_int_t)view->places[row].byte_begin, "end",
                             (json_int_t)view->places[row].byte_end, "text", attn2c_json_text(text, length));
  const char *of = view->sources[row] == 2 ? "special" : view->sources[row] ? "pair" : "text";
  if (object && (view->line.pair || view->sources[row] == 2) &&
      json_object_set_new(object, "of", json_string(of)) != 0) {
    json_decref(object);
    return NULL;
  }
  return object;
}

/* Returns a list of tokens, each with its labels, tokens or state. */
static json_t *json_rows(const attn2c_view_of_text *view, attn2c_pick *picks) {
  const attn2c_answer answer = view->reader->facts->answer;
  const attn2c_labels labels = attn2c_view_labels(view);
  json_t *list = json_array();
  int failed = 0;
  for (int64_t row = 0; row < view->length && !failed; row++) {
    const float *values = view->values + row * view->width;
    if (!attn2c_view_has_row(view, row)) continue;
    if (answer == ATTN2C_ANSWER_MASKED && view->ids[row] != view->reader->facts->mask_token) continue;
    json_t *object = json_place(view, row);
    if (answer == ATTN2C_ANSWER_TOKENS)
      failed |= !object || attn2c_labels_json(&labels, values, picks, object);
    if (answer == ATTN2C_ANSWER_MASKED)
      failed |= json_object_set_new(object, "tokens", json_tokens(view, values, picks)) != 0;
    if (answer == ATTN2C_ANSWER_VECTORS)
      failed |= json_object_set_new(object, "vector", attn2c_json_numbers(values, view->width)) != 0;
    if (answer == ATTN2C_ANSWER_STATES)
      failed |= json_object_set_new(object, "state", attn2c_json_numbers(values, view->width)) != 0;
    failed |= json_array_append_new(list, object) != 0;
  }
  return attn2c_json_made(list, failed);
}

static int add_span(const attn2c_view_of_text *view, json_t *object) {
  const attn2c_found *found = &view->found;
  if (!found->is_there) return json_object_set_new(object, "answer", json_null());
  return json_object_set_new(object, "answer",
                             attn2c_json_text(view->line.pair + found->begin, found->end - found->begin)) |
         json_object_set_new(object, "score", attn2c_json_number(found->score)) |
         json_object_set_new(object, "begin", json_integer(found->begin)) |
         json_object_set_new(object, "end", json_integer(found->end));
}

/* Adds the weights of tokens, the largest first. */
static int add_lexical(const attn2c_view_of_text *view, json_t *object) {
  ATTN2C_ENDS_BY(attn2c_meaning_free) attn2c_meaning meaning = {.count = 0};
  if (attn2c_meaning_make(view, &meaning) != ATTN2C_OK) return 1;
  attn2c_meaning_sort(&meaning);
  json_t *list = json_array();
  int failed = 0;
  for (int64_t i = 0; i < meaning.count && (!view->has_top || i < view->top) && !failed; i++) {
    size_t length = 0;
    const char *token = attn2c_text_token(view->reader->text, meaning.ids[i], &length);
    json_t *each =
        json_pack("{s:o, s:I, s:o}", "token", attn2c_json_text(token ? token : "", length), "id",
                  (json_int_t)meaning.ids[i], "weight", attn2c_json_number((double)meaning.values[i]));
    failed = json_array_append_new(list, each) != 0;
  }
  return json_object_set_new(object, "weights", list) != 0 || failed;
}

static int add_answer(const attn2c_view_of_text *view, attn2c_pick *picks, json_t *object) {
  const attn2c_labels labels = attn2c_view_labels(view);
  switch (view->reader->facts->answer) {
  case ATTN2C_ANSWER_LABEL:
    return attn2c_labels_json(&labels, view->values, picks, object);
  case ATTN2C_ANSWER_NUMBER:
    return attn2c_label_json(&labels, view->values, object);
  case ATTN2C_ANSWER_EMBEDDING:
    return json_object_set_new(object, "embedding", attn2c_json_numbers(view->values, view->width));
  case ATTN2C_ANSWER_NEXT:
    return json_object_set_new(object, "next", json_tokens(view, attn2c_view_next(view), picks));
  case ATTN2C_ANSWER_SPAN:
    return add_span(view, object);
  case ATTN2C_ANSWER_LEXICAL:
    return add_lexical(view, object);
  case ATTN2C_ANSWER_SPANS:
    return json_object_set_new(object, "spans", attn2c_spans_json(view));
  case ATTN2C_ANSWER_MASKED:
    return json_object_set_new(object, "masks", json_rows(view, picks));
  default:
    return json_object_set_new(object, "tokens", json_rows(view, picks));
  }
}

json_t *attn2c_view_json(const attn2c_view_of_text *view, attn2c_pick *picks) {
  json_t *object = json_object();
  int failed = view->length ? add_answer(view, picks, object) != 0
                            : json_object_set_new(object, "tokens", json_array()) != 0;
  if (view->removed) failed |= json_object_set_new(object, "truncated", json_true()) != 0;
  return attn2c_json_made(object, failed);
}

int attn2c_write_json(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out) {
  return attn2c_json_line(attn2c_view_json(view, picks), 0, out);
}
