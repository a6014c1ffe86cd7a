/* zero_shot.c - labels that come with a request. A label's score is how much a sentence with the label
 * follows from the text, as a classifier says that was trained for it. Python's zero_shot has the same rules.
 */
#include "program/serve/text/routes.h"

#include <ctype.h>
#include <math.h>

int attn2c_entailing_label(const attn2c_text_facts *facts) {
  static const char word[] = "entail";
  for (int i = 0; i < facts->label_count && facts->labels; i++) {
    size_t n = 0;
    while (word[n] && tolower((unsigned char)facts->labels[i][n]) == word[n]) n++;
    if (!word[n]) return i;
  }
  return -1;
}

/* The labels and pairs that are made of the fields. */
typedef struct {
  json_t *names, *pairs;
  const char *before, *after; /* of a label in its sentence */
  int before_length;
  int has_commas; /* between names in one text */
} asked_labels;

static int append(json_t *list, const char *text, size_t length) {
  json_t *value = attn2c_json_text(text, length);
  return value && json_array_append_new(list, value) == 0 ? ATTN2C_OK : ATTN2C_MEMORY;
}

static int take_name(void *context, const char *text, size_t length) {
  const asked_labels *asked = context;
  if (!asked->has_commas) return append(asked->names, text, length);
  for (const char *at = text, *end = text + length, *comma; at <= end; at = comma + 1) {
    const char *to = comma = memchr(at, ',', (size_t)(end - at));
    if (!comma) to = comma = end;
    while (at < to && isspace((unsigned char)*at)) at++;
    while (to > at && isspace((unsigned char)to[-1])) to--;
    ATTN2C_TRY(append(asked->names, at, (size_t)(to - at)));
  }
  return ATTN2C_OK;
}

/* Adds the pairs of a text: with the sentence of each label. */
static int take_text(void *context, const char *text, size_t length) {
  const asked_labels *asked = context;
  const json_t *name;
  size_t i;
  json_array_foreach(asked->names, i, name) {
    json_t *pair = json_array();
    const int failed =
        !pair || append(pair, text, length) != ATTN2C_OK ||
        json_array_append_new(pair, json_sprintf("%.*s%s%s", asked->before_length, asked->before,
                                                 json_string_value(name), asked->after)) != 0;
    if (json_array_append_new(asked->pairs, attn2c_json_made(pair, failed)) != 0) return ATTN2C_MEMORY;
  }
  return ATTN2C_OK;
}

attn2c_text_job *attn2c_zero_shot_job(attn2c_server *server, attn2c_request *r) {
  const char *sentence = "This example is {}.";
  const json_t *given = r->given, *texts = attn2c_request_field(r, "inputs");
  json_auto_t *made = json_pack("{s:[], s:[]}", "inputs", "names");
  asked_labels asked = {.names = json_object_get(made, "names"), .pairs = json_object_get(made, "inputs")};
  asked.has_commas = json_is_string(attn2c_request_field(r, "candidate_labels"));
  attn2c_request_texts(r, "candidate_labels", ATTN2C_MOST_ASKED, take_name, &asked);
  attn2c_request_text(r, "hypothesis_template", &sentence);
  const char *place = strstr(sentence, "{}");
  if (!place || strstr(place + 2, "{}"))
    attn2c_request_refuse(r, "hypothesis_template", attn2c_request_field(r, "hypothesis_template"),
                          "a text with one {}, the label's place, is allowed");
  else
    asked.before = sentence, asked.before_length = (int)(place - sentence), asked.after = place + 2;
  const size_t count = json_array_size(asked.names), all = json_is_array(texts) ? json_array_size(texts) : 1;
  if (count * all > ATTN2C_MOST_ASKED)
    attn2c_request_refuse(r, "candidate_labels", attn2c_request_field(r, "candidate_labels"),
                          "at most %d are allowed, times the texts", ATTN2C_MOST_ASKED);
  if (attn2c_request_texts(r, "inputs", ATTN2C_MOST_ASKED, take_text, &asked) == 0)
    attn2c_request_refuse(r, "inputs", texts, "a text or a list of texts is needed");
  if (r->failed) return NULL;
  r->given = made;
  attn2c_text_job *job = attn2c_text_job_of(server, r, "inputs", ATTN2C_MAY_BE_PAIR, NULL);
  r->given = given;
  if (!job) return NULL;
  job->is_single = !json_is_array(texts);
  job->label_count = count;
  job->work.cuts_first = 1;
  job->write = attn2c_reply_zero_shot;
  return job;
}

/* A label and its score. */
typedef struct {
  size_t number;
  double score;
} share;

static int by_score(const void *a, const void *b) {
  const share *first = a, *second = b;
  if (first->score != second->score) return first->score > second->score ? -1 : 1;
  return first->number < second->number ? -1 : 1;
}

/* Computes the scores of a text's labels from the rows of the model's, and sorts them. */
static void score(const attn2c_text_job *job, const float *rows, share *shares) {
  const size_t width = job->work.width, count = job->label_count;
  const size_t entails = (size_t)attn2c_entailing_label(job->job.server->model->text);
  const size_t denies = entails == 0 ? width - 1 : 0;
  double largest = -INFINITY, sum = 0;
  for (size_t i = 0; i < count; i++) largest = fmax(largest, (double)rows[i * width + entails]);
  for (size_t i = 0; i < count; i++) {
    const double yes = (double)rows[i * width + entails], no = (double)rows[i * width + denies];
    const int is_alone = job->is_several || count == 1;
    shares[i] = (share){i, is_alone ? 1 / (1 + exp(no - yes)) : exp(yes - largest)};
    sum += is_alone ? 0 : shares[i].score;
  }
  for (size_t i = 0; i < count && sum > 0; i++) shares[i].score /= sum;
  qsort(shares, count, sizeof *shares, by_score);
}

char *attn2c_reply_zero_shot(const attn2c_text_job *job, size_t *length) {
  const attn2c_texts_work *work = &job->work;
  const size_t count = job->label_count;
  const json_t *names = json_object_get(job->given, "names");
  ATTN2C_OWN share *shares = malloc(count * sizeof *shares);
  json_t *list = json_array();
  int failed = !shares;
  for (size_t i = 0; i < work->count && !failed; i += count) {
    json_t *each = json_array();
    score(job, work->values + i * work->width, shares);
    for (size_t k = 0; k < count; k++)
      failed |=
          json_array_append_new(each, json_pack("{s:o, s:O}", "score", attn2c_json_number(shares[k].score),
                                                "label", json_array_get(names, shares[k].number))) != 0;
    failed |= json_array_append_new(list, each) != 0;
  }
  return attn2c_reply_of(list, job->is_single, failed, length);
}
