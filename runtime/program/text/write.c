/* write.c - writes answers as text: one line a text, with tabs between its fields. Answers about each
 * token have one line a token, and an empty line after each text. */
#include "program/text/view.h"

static void write_tokens(const attn2c_view_of_text *view, const float *scores, attn2c_pick *picks,
                         FILE *out) {
  const int count = attn2c_best(scores, view->width, ATTN2C_SOFTMAX, view->top, picks);
  for (int i = 0; i < count; i++) {
    size_t length;
    const char *token = attn2c_view_token(view, picks[i].number, &length);
    if (i) fputc('\t', out);
    attn2c_pick_write(token, length, picks[i].score, out);
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
  attn2c_pick_write(view->line.pair + found->begin, found->end - found->begin, found->score, out);
  fprintf(out, "\t%" PRIu32 "\t%" PRIu32 "\n", found->begin, found->end);
}

/* Writes the weights of tokens, the largest first: all, or those that were asked for. */
static int write_lexical(const attn2c_view_of_text *view, FILE *out) {
  ATTN2C_ENDS_BY(attn2c_meaning_free) attn2c_meaning meaning = {.count = 0};
  ATTN2C_TRY(attn2c_meaning_make(view, &meaning));
  attn2c_meaning_sort(&meaning);
  for (int64_t i = 0; i < meaning.count && (!view->has_top || i < view->top); i++) {
    size_t length;
    const char *token = attn2c_text_token(view->reader->text, meaning.ids[i], &length);
    if (i) fputc('\t', out);
    attn2c_safe_write(token ? token : "", token ? length : 0, out);
    fprintf(out, " %.4f", (double)meaning.values[i]);
  }
  fputs(meaning.count ? "\n" : "-\n", out);
  return ATTN2C_OK;
}

int attn2c_write_text(const attn2c_view_of_text *view, attn2c_pick *picks, FILE *out) {
  const attn2c_answer answer = view->reader->facts->answer;
  const int is_each =
      answer == ATTN2C_ANSWER_TOKENS || answer == ATTN2C_ANSWER_STATES || answer == ATTN2C_ANSWER_VECTORS;
  const attn2c_labels labels = attn2c_view_labels(view);
  if (view->length == 0) {
    fputs(is_each ? "\n" : "-\n", out);
    return ATTN2C_OK;
  }
  switch (answer) {
  case ATTN2C_ANSWER_LABEL:
    attn2c_labels_write(&labels, view->values, picks, out);
    break;
  case ATTN2C_ANSWER_NUMBER:
    attn2c_label_write(&labels, view->values, out);
    break;
  case ATTN2C_ANSWER_EMBEDDING:
    attn2c_numbers_write(view->values, view->width, out);
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
  case ATTN2C_ANSWER_LEXICAL:
    return write_lexical(view, out);
  case ATTN2C_ANSWER_SPANS:
    return attn2c_spans_write(view, out);
  default:
    for (int64_t row = 0; row < view->length; row++) {
      if (!attn2c_view_has_row(view, row)) continue;
      write_place(view, row, out);
      if (answer == ATTN2C_ANSWER_TOKENS)
        attn2c_labels_write(&labels, view->values + row * view->width, picks, out);
      else
        attn2c_numbers_write(view->values + row * view->width, view->width, out);
    }
    fputc('\n', out);
  }
  return ATTN2C_OK;
}
