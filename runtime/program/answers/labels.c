/* labels.c - the labels of scores, with their names. */
#include "program/answers/answers.h"

/* Bytes of a buffer for a label's name that is made from its number. */
enum { LABEL_BYTES = 32 };

static const char *name_of(const attn2c_labels *labels, int64_t number, char buffer[LABEL_BYTES]) {
  if (labels->names && number >= 0 && number < labels->count) return labels->names[number];
  snprintf(buffer, LABEL_BYTES, "LABEL_%" PRId64, number);
  return buffer;
}

/* True if each label is true or false by itself and no number of them is asked for. */
static int takes_any(const attn2c_labels *labels) {
  return labels->function == ATTN2C_SIGMOID && labels->width > 1 && labels->top == 0;
}

/* Writes the labels to `picks`, best first, and returns their number. */
static int pick(const attn2c_labels *labels, const float *scores, attn2c_pick *picks) {
  const int any = takes_any(labels), most = any ? ATTN2C_MAX_TOP : labels->top > 0 ? labels->top : 1;
  int count = attn2c_best(scores, labels->width, labels->function, most, picks);
  while (any && count > 0 && !(picks[count - 1].score >= 0.5)) count--;
  return count;
}

void attn2c_pick_write(const char *text, size_t length, double score, FILE *out) {
  attn2c_safe_write(text, length, out);
  fprintf(out, "\t%.4f", score);
}

void attn2c_labels_write(const attn2c_labels *labels, const float *scores, attn2c_pick *picks, FILE *out) {
  char buffer[LABEL_BYTES];
  const int count = pick(labels, scores, picks);
  for (int i = 0; i < count; i++) {
    const char *name = name_of(labels, picks[i].number, buffer);
    if (i) fputc('\t', out);
    attn2c_pick_write(name, strlen(name), picks[i].score, out);
  }
  fputs(count ? "\n" : "-\n", out);
}

void attn2c_label_write(const attn2c_labels *labels, const float *index, FILE *out) {
  char buffer[LABEL_BYTES];
  const char *name = name_of(labels, *(const int32_t *)(const void *)index, buffer);
  attn2c_safe_write(name, strlen(name), out);
  fputc('\n', out);
}

void attn2c_numbers_write(const float *values, int64_t count, FILE *out) {
  for (int64_t i = 0; i < count; i++) fprintf(out, "%s%.6g", i ? "\t" : "", (double)values[i]);
  fputc('\n', out);
}

static json_t *json_label(const attn2c_labels *labels, const attn2c_pick *pick) {
  char buffer[LABEL_BYTES];
  const char *name = name_of(labels, pick->number, buffer);
  return json_pack("{s:o, s:o}", "label", attn2c_json_text(name, strlen(name)), "score",
                   attn2c_json_number(pick->score));
}

int attn2c_labels_json(const attn2c_labels *labels, const float *scores, attn2c_pick *picks, json_t *object) {
  const int count = pick(labels, scores, picks);
  int failed = 0;
  if (!takes_any(labels) && labels->top == 0) {
    json_t *only = count ? json_label(labels, picks) : NULL;
    failed |= !only || json_object_update(object, only) != 0;
    json_decref(only);
    return failed;
  }
  json_t *list = json_array();
  for (int i = 0; i < count; i++) failed |= json_array_append_new(list, json_label(labels, &picks[i])) != 0;
  return failed | (json_object_set_new(object, "labels", list) != 0);
}

int attn2c_label_json(const attn2c_labels *labels, const float *index, json_t *object) {
  char buffer[LABEL_BYTES];
  const char *name = name_of(labels, *(const int32_t *)(const void *)index, buffer);
  return json_object_set_new(object, "label", attn2c_json_text(name, strlen(name)));
}
