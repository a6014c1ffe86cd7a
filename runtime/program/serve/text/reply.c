/* reply.c - writes the replies of requests with texts. */
#define _GNU_SOURCE
#include "program/serve/numbers.h"
#include "program/serve/text/routes.h"
#include "program/system.h"

char *attn2c_reply_embeddings(const attn2c_text_job *job, size_t *length) {
  const attn2c_texts_work *work = &job->work;
  return attn2c_embeddings_text(attn2c_served_name(job->job.server, job->work.adapter), work->values,
                                work->count, work->width, job->is_base64, work->tokens, length);
}

char *attn2c_reply_lists(const attn2c_text_job *job, size_t *length) {
  const attn2c_texts_work *work = &job->work;
  const size_t each = work->values ? attn2c_floats_room(work->width, 0) + 1 : 1;
  char *text = malloc(work->count * each + work->bytes + 3), *at = text;
  const int is_list = !job->is_single;
  if (!text) return NULL;
  if (is_list) *at++ = '[';
  for (size_t i = 0; i < work->count; i++) {
    if (i) *at++ = ',';
    if (work->values) {
      at += attn2c_floats_text(work->values + i * work->width, work->width, 0, at);
    } else {
      const size_t bytes = strlen(work->answers[i]);
      memcpy(at, work->answers[i], bytes);
      at += bytes;
    }
  }
  if (is_list) *at++ = ']';
  *length = (size_t)(at - text);
  return text;
}

/* Returns the text of an object, and releases it. */
static char *text_of(json_t *object, int failed, size_t *length) {
  char *text = object && !failed ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(object);
  *length = text ? strlen(text) : 0;
  return text;
}

char *attn2c_reply_of(json_t *list, int is_single, int failed, size_t *length) {
  json_t *whole = json_incref(is_single ? json_array_get(list, 0) : list);
  json_decref(list);
  return text_of(whole, failed, length);
}

/* A text of a ranking. */
typedef struct {
  size_t number;
  double score;
} place;

static int by_score(const void *a, const void *b) {
  const place *first = a, *second = b;
  if (first->score != second->score) return first->score > second->score ? -1 : 1;
  return first->number < second->number ? -1 : 1;
}

/* Returns the best texts, each as an object with its score under `key`. */
static json_t *ranked(const attn2c_text_job *job, const char *key) {
  const attn2c_texts_work *work = &job->work;
  place *places = malloc((work->count + 1) * sizeof *places);
  json_t *list = json_array();
  int failed = !places;
  for (size_t i = 0; i < work->count && !failed; i++) {
    attn2c_pick pick;
    attn2c_best(work->values + i, 1, job->function, 1, &pick);
    places[i] = (place){i, pick.score};
  }
  if (!failed) qsort(places, work->count, sizeof *places, by_score);
  for (size_t i = 0; i < work->count && i < job->top && !failed; i++) {
    const attn2c_asked_text *asked = &work->list[places[i].number];
    json_t *each = json_pack("{s:I, s:o}", "index", (json_int_t)places[i].number, key,
                             attn2c_json_number(places[i].score));
    json_t *text = job->has_texts ? json_stringn(asked->pair, asked->pair_length) : NULL;
    if (text && *key == 's') failed |= json_object_set_new(each, "text", text) != 0;
    if (text && *key != 's')
      failed |= json_object_set_new(each, "document", json_pack("{s:o}", "text", text)) != 0;
    failed |= json_array_append_new(list, each) != 0;
  }
  free(places);
  return attn2c_json_made(list, failed);
}

char *attn2c_reply_ranks(const attn2c_text_job *job, size_t *length) {
  return text_of(ranked(job, "score"), 0, length);
}

char *attn2c_reply_results(const attn2c_text_job *job, size_t *length) {
  const json_int_t tokens = job->work.tokens;
  const int is_version = strncmp(job->job.exchange->route->path, "/v", 2) == 0;
  json_t *object =
      json_pack("{s:s, s:s, s:o, s:{s:I, s:I}}", "object", is_version ? "list" : "rerank", "model",
                attn2c_served_name(job->job.server, job->work.adapter), "results",
                ranked(job, "relevance_score"), "usage", "prompt_tokens", tokens, "total_tokens", tokens);
  return text_of(object, 0, length);
}

/* Gives a member of an object another name. */
static int rename_member(json_t *object, const char *name, const char *other) {
  json_t *value = json_object_get(object, name);
  return value && (json_object_set(object, other, value) != 0 || json_object_del(object, name) != 0);
}

char *attn2c_reply_sparse(const attn2c_text_job *job, size_t *length) {
  const attn2c_texts_work *work = &job->work;
  json_t *list = json_array(), *each;
  int failed = 0;
  for (size_t i = 0; i < work->count && !failed; i++) {
    json_auto_t *answer = json_loads(work->answers[i], JSON_DECODE_ANY, NULL);
    json_t *weights = json_object_get(answer, "weights");
    size_t t;
    json_array_foreach(weights, t, each) failed |= json_object_del(each, "token") != 0 ||
                                                   rename_member(each, "id", "index") ||
                                                   rename_member(each, "weight", "value");
    failed |= json_array_append_new(list, weights ? json_incref(weights) : json_array()) != 0;
  }
  return text_of(list, failed, length);
}

char *attn2c_reply_pipeline(const attn2c_text_job *job, size_t *length) {
  static const char *const names[][2] = {{"begin", "start"}, {"text", "word"}, {"label", "entity"}};
  const attn2c_texts_work *work = &job->work;
  json_t *list = json_array(), *each;
  int failed = 0;
  for (size_t i = 0; i < work->count && !failed; i++) {
    json_t *answer = json_loads(work->answers[i], JSON_DECODE_ANY, NULL);
    json_t *tokens = json_object_get(answer, "tokens"), *kept = tokens ? json_array() : json_incref(answer);
    size_t t;
    if (json_object_get(answer, "answer")) failed |= rename_member(answer, "begin", "start");
    json_array_foreach(tokens, t, each) {
      const char *label = json_string_value(json_object_get(each, "label"));
      if (label && strcmp(label, "O") == 0) continue; /* as the pipeline leaves them out */
      for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        failed |= rename_member(each, names[n][0], names[n][1]);
      failed |= json_array_append(kept, each) != 0;
    }
    json_decref(answer);
    failed |= json_array_append_new(list, kept) != 0;
  }
  return attn2c_reply_of(list, job->is_single, failed, length);
}

char *attn2c_reply_labels(const attn2c_text_job *job, size_t *length) {
  const attn2c_texts_work *work = &job->work;
  const struct attn2c_serve_text *text = job->job.server->text;
  const int most = job->top && job->top < ATTN2C_MAX_TOP ? (int)job->top : ATTN2C_MAX_TOP;
  ATTN2C_OWN attn2c_pick *picks = malloc(ATTN2C_MAX_TOP * sizeof *picks);
  char *whole = picks ? malloc(work->count * (text->label_bytes + 3) + 3) : NULL, *at = whole;
  if (whole && !job->is_single) *at++ = '[';
  for (size_t i = 0; i < work->count && whole; i++) {
    const float *scores = work->values + i * work->width;
    const int count = attn2c_best(scores, (int64_t)work->width, job->function, most, picks);
    if (i) *at++ = ',';
    *at++ = '[';
    for (int p = 0; p < count; p++) {
      at = stpcpy(at, p ? ",{\"score\":" : "{\"score\":");
      at += attn2c_float_text((float)picks[p].score, at);
      at = stpcpy(stpcpy(stpcpy(at, ",\"label\":"), text->labels[picks[p].number]), "}");
    }
    *at++ = ']';
  }
  if (whole && !job->is_single) *at++ = ']';
  *length = (size_t)(at - whole);
  return whole;
}

char *attn2c_reply_similarities(const attn2c_text_job *job, size_t *length) {
  const attn2c_texts_work *work = &job->work;
  json_t *list = json_array();
  int failed = 0;
  for (size_t i = 1; i < work->count; i++) {
    const double likeness = attn2c_similarity_of(job->job.server->model->text->similarity, work->values,
                                                 work->values + i * work->width, (int64_t)work->width);
    failed |= json_array_append_new(list, attn2c_json_number(likeness)) != 0;
  }
  return text_of(list, failed, length);
}
