/* answer.c - writes answers to pictures and sounds. A line of text has the fields that a text's answer has;
 * the picture's name comes first where there are several. */
#include "program/media/command.h"

static attn2c_labels labels_of(const attn2c_media_answer *answer) {
  return (attn2c_labels){.names = answer->media->facts->labels,
                         .count = answer->media->facts->label_count,
                         .function = answer->media->facts->function,
                         .width = answer->width,
                         .top = answer->top};
}

void attn2c_media_write_name(const attn2c_media_answer *answer, FILE *out) {
  if (!answer->name) return;
  attn2c_safe_write(answer->name, strlen(answer->name), out);
  fputc('\t', out);
}

int attn2c_media_write_similar(const attn2c_media_answer *answer, const attn2c_pick *picks, int count,
                               FILE *out) {
  attn2c_media_write_name(answer, out);
  for (int i = 0; i < count; i++)
    fprintf(out, "%s%" PRId64 "\t%.4f", i ? "\t" : "", picks[i].number + 1, picks[i].score);
  fputc('\n', out);
  return ATTN2C_OK;
}

static int has_labels(attn2c_answer kind) {
  return kind == ATTN2C_ANSWER_LABEL || kind == ATTN2C_ANSWER_TOKENS;
}

int attn2c_media_write_text(const attn2c_media_answer *answer, attn2c_pick *picks, FILE *out) {
  const attn2c_answer kind = answer->media->facts->answer;
  const attn2c_labels labels = labels_of(answer);
  for (int64_t row = 0; row < answer->rows; row++) {
    const float *values = answer->values + row * answer->width;
    attn2c_media_write_name(answer, out);
    if (kind == ATTN2C_ANSWER_NUMBER)
      attn2c_label_write(&labels, values, out);
    else if (has_labels(kind))
      attn2c_labels_write(&labels, values, picks, out);
    else
      attn2c_numbers_write(values, answer->width, out);
  }
  if (answer->rows > 1) fputc('\n', out);
  return ATTN2C_OK;
}

static int add_rows(const attn2c_media_answer *answer, attn2c_pick *picks, json_t *object) {
  const attn2c_labels labels = labels_of(answer);
  json_t *list = json_array();
  int failed = 0;
  for (int64_t row = 0; row < answer->rows && !failed; row++) {
    const float *values = answer->values + row * answer->width;
    json_t *each =
        has_labels(answer->media->facts->answer) ? json_object() : attn2c_json_numbers(values, answer->width);
    if (each && has_labels(answer->media->facts->answer))
      failed |= attn2c_labels_json(&labels, values, picks, each);
    failed |= json_array_append_new(list, each) != 0;
  }
  return failed | (json_object_set_new(object, "rows", list) != 0);
}

/* Begins an object with the picture's name. */
static json_t *begin_object(const attn2c_media_answer *answer, int *failed) {
  json_t *object = json_object();
  if (!answer->name) return object;
  json_t *name = attn2c_json_text(answer->name, strlen(answer->name));
  *failed |= json_object_set_new(object, answer->media->member, name) != 0;
  return object;
}

int attn2c_media_write_json(const attn2c_media_answer *answer, attn2c_pick *picks, FILE *out) {
  const attn2c_labels labels = labels_of(answer);
  int failed = 0;
  json_t *object = begin_object(answer, &failed);
  switch (answer->media->facts->answer) {
  case ATTN2C_ANSWER_LABEL:
    failed |= attn2c_labels_json(&labels, answer->values, picks, object);
    break;
  case ATTN2C_ANSWER_NUMBER:
    failed |= attn2c_label_json(&labels, answer->values, object);
    break;
  case ATTN2C_ANSWER_EMBEDDING:
    failed |=
        json_object_set_new(object, "embedding", attn2c_json_numbers(answer->values, answer->width)) != 0;
    break;
  default:
    failed |= add_rows(answer, picks, object);
  }
  return attn2c_json_line(object, failed, out);
}

int attn2c_media_write_json_similar(const attn2c_media_answer *answer, const attn2c_pick *picks, int count,
                                    FILE *out) {
  int failed = 0;
  json_t *object = begin_object(answer, &failed), *list = json_array();
  for (int i = 0; i < count; i++)
    failed |= json_array_append_new(list, json_pack("{s:I, s:o}", "number", (json_int_t)picks[i].number + 1,
                                                    "cosine", attn2c_json_number(picks[i].score))) != 0;
  failed |= json_object_set_new(object, "similar", list) != 0;
  return attn2c_json_line(object, failed, out);
}

int attn2c_media_write_texts(const attn2c_media_answer *answer, const attn2c_picture_texts *texts,
                             const attn2c_pick *picks, int count, FILE *out) {
  attn2c_media_write_name(answer, out);
  for (int i = 0; i < count; i++) {
    if (i) fputc('\t', out);
    attn2c_pick_write(texts->texts[picks[i].number], texts->lengths[picks[i].number], picks[i].score, out);
  }
  fputc('\n', out);
  return ATTN2C_OK;
}

int attn2c_media_write_json_texts(const attn2c_media_answer *answer, const attn2c_picture_texts *texts,
                                  const attn2c_pick *picks, int count, const float *logits, FILE *out) {
  int failed = 0;
  json_t *object = begin_object(answer, &failed), *list = json_array();
  for (int i = 0; i < count; i++) {
    const int64_t number = picks[i].number;
    json_t *each =
        json_pack("{s:I, s:o, s:o, s:o}", "number", (json_int_t)number + 1, "text",
                  attn2c_json_text(texts->texts[number], texts->lengths[number]), "logit",
                  attn2c_json_number((double)logits[number]), "score", attn2c_json_number(picks[i].score));
    failed |= json_array_append_new(list, each) != 0;
  }
  failed |= json_object_set_new(object, "texts", list) != 0;
  return attn2c_json_line(object, failed, out);
}
