/* write.c - writes answers as text: one line a text, with tabs between its fields. Answers about each
 * token have one line a token, and an empty line after each text. */
#include "program/text/view.h"

#include <inttypes.h>
#include <string.h>

#include "program/answers/safe.h"

static void write_pick(const char *text, size_t length, double score, const char *before, FILE *out) {
  fputs(before, out);
  attn2c_safe_write(text, length, out);
  fprintf(out, "\t%.4f", score);
}

/* Writes the best labels with their scores, or "-" if there are none. */
static void write_labels(const attn2c_view_of_text *view, const float *scores, attn2c_pick *picks,
                         FILE *out) {
  const attn2c_text_facts *facts = view->reader->facts;
  const int count = attn2c_view_labels(view, scores, picks);
  char buffer[ATTN2C_LABEL_BYTES];
  for (int i = 0; i < count; i++) {
    const char *label = attn2c_label(facts, picks[i].number, buffer);
    write_pick(label, strlen(label), picks[i].score, i ? "\t" : "", out);
  }
  if (count == 0) fputc('-', out);
  fputc('\n', out);
}

static void write_tokens(const attn2c_view_of_text *view, const float *scores, attn2c_pick *picks,
                         FILE *out) {
  const int count = attn2c_best(scores, view->width, ATTN2C_SOFTMAX, view->top, picks);
  for (int i = 0; i < count; i++) {
    size_t length;
    const char *token = attn2c_view_token(view, picks[i].number, &length);
    write_pick(token, length, picks[i].score, i ? "\t" : "", out);
  }
}

/* Writes the place of a token, and its text. For pairs, it also says which of the two texts has it. */
static void write_place(const attn2c_view_of_text *view, int64_t row, FILE *out) {
  size_t length;
  const char *text = attn2c_view_source(view, row, &length);
  if (view->line.pair)
    fprintf(out, "%s\t", view->sources[row] == 2 ? "-" : view->sources[row] ? "pair" : "text");
  fprintf(out, "%" PRIu32 "\t%" PRIu32 "\t", view->places[row].byte_begin, view->places[row].byte_end);
  attn2c_safe_write(text, length, out);
  fputc('\t', out);
}

static void write_numbers(const float *values, int64_t count, FILE *out) {
  for (int64_t i = 0; i < count; i++) fprintf(out, "%s%.6g", i ? "\t" : "", (double)values[i]);
  fputc('\n', out);
}

static void write_masked(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out) {
  int found = 0;
  for (int64_t row = 0; row < view->length; row++) {
    if (view->ids[row] != view->reader->facts->mask_token) continue;
    if (found++) fputs("\t|\t", out);
    write_tokens(view, view->values + row * view->width, picks, out);
  }
  fputs(found ? "\n" : "-\n", out);
}

static void write_span(const attn2c_view_of_text *view, FILE *out) {
  const attn2c_found *found = &view->found;
  if (!found->is_there) {
    fputs("-\n", out);
    return;
  }
  write_pick(view->line.pair + found->begin, found->end - found->begin, found->score, "", out);
  fprintf(out, "\t%" PRIu32 "\t%" PRIu32 "\n", found->begin, found->end);
}

int attn2c_write_text(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out) {
  const attn2c_answer answer = view->reader->facts->answer;
  const int is_each = answer == ATTN2C_ANSWER_TOKENS || answer == ATTN2C_ANSWER_STATES;
  char buffer[ATTN2C_LABEL_BYTES];
  if (view->length == 0) {
    fputs(is_each ? "\n" : "-\n", out);
    return ATTN2C_OK;
  }
  switch (answer) {
  case ATTN2C_ANSWER_LABEL:
    write_labels(view, view->values, picks, out);
    break;
  case ATTN2C_ANSWER_NUMBER: {
    const char *label =
        attn2c_label(view->reader->facts, *(const int32_t *)(const void *)view->values, buffer);
    attn2c_safe_write(label, strlen(label), out);
    fputc('\n', out);
    break;
  }
  case ATTN2C_ANSWER_EMBEDDING:
    write_numbers(view->values, view->width, out);
    break;
  case ATTN2C_ANSWER_MASKED:
    write_masked(view, picks, out);
    break;
  case ATTN2C_ANSWER_NEXT:
    write_tokens(view, attn2c_view_next(view), picks, out);
    fputc('\n', out);
    break;
  case ATTN2C_ANSWER_SPAN:
    write_span(view, out);
    break;
  default:
    for (int64_t row = 0; row < view->length; row++) {
      if (answer == ATTN2C_ANSWER_TOKENS && view->sources[row] == 2) continue;
      write_place(view, row, out);
      if (answer == ATTN2C_ANSWER_TOKENS)
        write_labels(view, view->values + row * view->width, picks, out);
      else
        write_numbers(view->values + row * view->width, view->width, out);
    }
    fputc('\n', out);
  }
  return ATTN2C_OK;
}
