/* answer.c - writes answers to pictures. A line of text has the fields that a text's answer has; the
 * picture's name comes first where there are several. */
#include "program/picture/answer.h"

#include <inttypes.h>
#include <string.h>

#include "program/arguments.h"
#include "program/answers/json_line.h"
#include "program/answers/safe.h"

enum { LABEL_BYTES = 32 };

static const char *label_of(const attn2c_picture_facts *facts, int64_t number, char buffer[LABEL_BYTES]) {
  if (facts->labels && number >= 0 && number < facts->label_count) return facts->labels[number];
  snprintf(buffer, LABEL_BYTES, "LABEL_%" PRId64, number);
  return buffer;
}

/* True if each label is true or false by itself and no number of them is asked for. */
static int takes_any(const attn2c_picture_answer *answer) {
  return answer->facts->function == ATTN2C_SIGMOID && answer->width > 1 && answer->top == 0;
}

static int labels_of(const attn2c_picture_answer *answer, const float *scores, attn2c_pick *picks) {
  const int most = takes_any(answer) ? ATTN2C_MAX_TOP : answer->top > 0 ? answer->top : 1;
  int count = attn2c_best(scores, answer->width, answer->facts->function, most, picks);
  while (takes_any(answer) && count > 0 && !(picks[count - 1].score >= 0.5)) count--;
  return count;
}

static void write_labels(const attn2c_picture_answer *answer, const float *scores, attn2c_pick *picks,
                         FILE *out) {
  char buffer[LABEL_BYTES];
  const int count = labels_of(answer, scores, picks);
  for (int i = 0; i < count; i++) {
    const char *label = label_of(answer->facts, picks[i].number, buffer);
    if (i) fputc('\t', out);
    attn2c_safe_write(label, strlen(label), out);
    fprintf(out, "\t%.4f", picks[i].score);
  }
  fputs(count ? "\n" : "-\n", out);
}

/* Writes the picture's name if answers have one. */
static void write_name(const attn2c_picture_answer *answer, FILE *out) {
  if (!answer->name) return;
  attn2c_safe_write(answer->name, strlen(answer->name), out);
  fputc('\t', out);
}

int attn2c_picture_write_similar(const attn2c_picture_answer *answer, const attn2c_pick *picks, int count,
                                 FILE *out) {
  write_name(answer, out);
  for (int i = 0; i < count; i++)
    fprintf(out, "%s%" PRId64 "\t%.4f", i ? "\t" : "", picks[i].number + 1, picks[i].score);
  fputc('\n', out);
  return ATTN2C_OK;
}

static void write_numbers(const float *values, int64_t count, FILE *out) {
  for (int64_t i = 0; i < count; i++) fprintf(out, "%s%.6g", i ? "\t" : "", (double)values[i]);
  fputc('\n', out);
}

static int has_labels(attn2c_answer kind) {
  return kind == ATTN2C_ANSWER_LABEL || kind == ATTN2C_ANSWER_TOKENS;
}

int attn2c_picture_write_text(const attn2c_picture_answer *answer, attn2c_pick *picks, FILE *out) {
  const attn2c_answer kind = answer->facts->answer;
  char buffer[LABEL_BYTES];
  for (int64_t row = 0; row < answer->rows; row++) {
    const float *values = answer->values + row * answer->width;
    write_name(answer, out);
    if (kind == ATTN2C_ANSWER_NUMBER) {
      const char *label = label_of(answer->facts, *(const int32_t *)(const void *)values, buffer);
      attn2c_safe_write(label, strlen(label), out);
      fputc('\n', out);
    } else if (has_labels(kind)) {
      write_labels(answer, values, picks, out);
    } else {
      write_numbers(values, answer->width, out);
    }
  }
  if (answer->rows > 1) fputc('\n', out);
  return ATTN2C_OK;
}

static json_t *json_label(const attn2c_picture_answer *answer, const attn2c_pick *pick) {
  char buffer[LABEL_BYTES];
  const char *label = label_of(answer->facts, pick->number, buffer);
  return json_pack("{s:o, s:o}", "label", attn2c_json_text(label, strlen(label)), "score",
                   attn2c_json_number(pick->score));
}

/* Adds the best label, or the list of labels if there may be several. */
static int add_labels(const attn2c_picture_answer *answer, const float *scores, attn2c_pick *picks,
                      json_t *object) {
  const int count = labels_of(answer, scores, picks);
  int failed = 0;
  if (!takes_any(answer) && answer->top == 0) {
    json_t *only = count ? json_label(answer, picks) : NULL;
    failed |= !only || json_object_update(object, only) != 0;
    json_decref(only);
    return failed;
  }
  json_t *list = json_array();
  for (int i = 0; i < count; i++) failed |= json_array_append_new(list, json_label(answer, &picks[i])) != 0;
  return failed | (json_object_set_new(object, "labels", list) != 0);
}

static int add_rows(const attn2c_picture_answer *answer, attn2c_pick *picks, json_t *object) {
  json_t *list = json_array();
  int failed = 0;
  for (int64_t row = 0; row < answer->rows && !failed; row++) {
    const float *values = answer->values + row * answer->width;
    json_t *each =
        has_labels(answer->facts->answer) ? json_object() : attn2c_json_numbers(values, answer->width);
    if (each && has_labels(answer->facts->answer)) failed |= add_labels(answer, values, picks, each);
    failed |= json_array_append_new(list, each) != 0;
  }
  return failed | (json_object_set_new(object, "rows", list) != 0);
}

int attn2c_picture_write_json(const attn2c_picture_answer *answer, attn2c_pick *picks, FILE *out) {
  char buffer[LABEL_BYTES];
  json_t *object = json_object();
  int failed = 0;
  if (answer->name)
    failed |= json_object_set_new(object, "image", attn2c_json_text(answer->name, strlen(answer->name))) != 0;
  switch (answer->facts->answer) {
  case ATTN2C_ANSWER_LABEL:
    failed |= add_labels(answer, answer->values, picks, object);
    break;
  case ATTN2C_ANSWER_NUMBER: {
    const char *label = label_of(answer->facts, *(const int32_t *)(const void *)answer->values, buffer);
    failed |= json_object_set_new(object, "label", attn2c_json_text(label, strlen(label))) != 0;
    break;
  }
  case ATTN2C_ANSWER_EMBEDDING:
    failed |=
        json_object_set_new(object, "embedding", attn2c_json_numbers(answer->values, answer->width)) != 0;
    break;
  default:
    failed |= add_rows(answer, picks, object);
  }
  if (!failed) return attn2c_json_line(object, out);
  json_decref(object);
  return ATTN2C_MEMORY;
}

int attn2c_picture_write_json_similar(const attn2c_picture_answer *answer, const attn2c_pick *picks,
                                      int count, FILE *out) {
  json_t *object = json_object(), *list = json_array();
  int failed = 0;
  if (answer->name)
    failed |= json_object_set_new(object, "image", attn2c_json_text(answer->name, strlen(answer->name))) != 0;
  for (int i = 0; i < count; i++)
    failed |= json_array_append_new(list, json_pack("{s:I, s:o}", "number", (json_int_t)picks[i].number + 1,
                                                    "cosine", attn2c_json_number(picks[i].score))) != 0;
  failed |= json_object_set_new(object, "similar", list) != 0;
  if (!failed) return attn2c_json_line(object, out);
  json_decref(object);
  return ATTN2C_MEMORY;
}

int attn2c_picture_write_texts(const attn2c_picture_answer *answer, const attn2c_picture_texts *texts,
                               const attn2c_pick *picks, int count, FILE *out) {
  write_name(answer, out);
  for (int i = 0; i < count; i++) {
    if (i) fputc('\t', out);
    attn2c_safe_write(texts->texts[picks[i].number], texts->lengths[picks[i].number], out);
    fprintf(out, "\t%.4f", picks[i].score);
  }
  fputc('\n', out);
  return ATTN2C_OK;
}

int attn2c_picture_write_json_texts(const attn2c_picture_answer *answer, const attn2c_picture_texts *texts,
                                    const attn2c_pick *picks, int count, const float *logits, FILE *out) {
  json_t *object = json_object(), *list = json_array();
  int failed = 0;
  if (answer->name)
    failed |= json_object_set_new(object, "image", attn2c_json_text(answer->name, strlen(answer->name))) != 0;
  for (int i = 0; i < count; i++) {
    const int64_t number = picks[i].number;
    json_t *each =
        json_pack("{s:I, s:o, s:o, s:o}", "number", (json_int_t)number + 1, "text",
                  attn2c_json_text(texts->texts[number], texts->lengths[number]), "logit",
                  attn2c_json_number((double)logits[number]), "score", attn2c_json_number(picks[i].score));
    failed |= json_array_append_new(list, each) != 0;
  }
  failed |= json_object_set_new(object, "texts", list) != 0;
  if (!failed) return attn2c_json_line(object, out);
  json_decref(object);
  return ATTN2C_MEMORY;
}
