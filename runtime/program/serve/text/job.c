/* job.c - a request with texts: reads them, and has them computed together with texts of others. */
#include "program/serve/text/routes.h"

static void compute(attn2c_engine *engine, attn2c_job *const *jobs, int count) {
  attn2c_texts_work *works[ATTN2C_ENGINE_MOST];
  (void)engine;
  for (int i = 0; i < count; i++) works[i] = &((attn2c_text_job *)jobs[i])->work;
  attn2c_texts_step(jobs[0]->server->text->worker, works, (size_t)count);
}

static int is_ready(const attn2c_job *job) {
  return attn2c_texts_are_done(&((const attn2c_text_job *)job)->work);
}

/* Replies with the fault of a text. */
static void refuse(const attn2c_text_job *job) {
  const attn2c_texts_work *work = &job->work;
  const int is_tei = job->job.exchange->route->errors == ATTN2C_ERRORS_TEI;
  const int status = work->status == ATTN2C_MEMORY  ? 503
                     : work->status != ATTN2C_USAGE ? 500
                     : !is_tei                      ? 400
                     : work->is_too_long            ? 413
                                                    : 422;
  char more[80] = "", place[32] = "";
  if (work->is_too_long)
    snprintf(more, sizeof more, ", %zu; \"truncate\": true cuts it",
             job->job.server->text->worker->group.reader->longest);
  const char *field = work->field ? work->field : job->first && work->at == 0 ? job->first : job->field;
  const size_t each = job->label_count ? job->label_count : 1, at = work->at / each;
  if (work->count > each && field == job->field)
    snprintf(place, sizeof place, "[%zu]", at - (job->first != NULL));
  attn2c_serve_refuse(job->job.exchange, status, field, work->is_too_long ? "context_length_exceeded" : NULL,
                      "%s%s: %s%s", field, place, work->fault, more);
}

static void reply(attn2c_job *given) {
  attn2c_text_job *job = (attn2c_text_job *)given;
  attn2c_exchange *exchange = given->exchange;
  size_t length;
  if (!exchange) return;
  exchange->read_tokens = job->work.tokens;
  atomic_fetch_add(&given->server->metrics.prompt_tokens, (uint64_t)job->work.tokens);
  if (job->work.status != ATTN2C_OK) {
    refuse(job);
    return;
  }
  ATTN2C_OWN char *text = job->write(job, &length);
  if (text)
    attn2c_http_reply(exchange, 200, "application/json", text, length);
  else
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the reply");
}

void attn2c_text_job_free(attn2c_job *given) {
  attn2c_text_job *job = (attn2c_text_job *)given;
  attn2c_texts_free(&job->work);
  for (size_t i = 0; i < job->work.count && job->work.list; i++) free(job->work.list[i].picture);
  json_decref(job->given);
  ATTN2C_FREE(job->work.list, job->ids, job);
}

static const attn2c_job_kind kind = {.run = compute,
                                     .is_ready = is_ready,
                                     .most = ATTN2C_ENGINE_MOST,
                                     .most_weight = INT64_MAX,
                                     .done = reply,
                                     .free = attn2c_text_job_free};

/* Returns what texts of these forms look like. */
static const char *expected(int forms) {
  return forms & ATTN2C_MAY_BE_PAGE ? "a text, a pair of texts, an object with the fields text, boxes and "
                                      "image, or a list is allowed"
         : forms & ATTN2C_MAY_BE_PAIR
             ? "a text, a pair of texts, or a list of lists of one or two texts is allowed"
         : forms & ATTN2C_MAY_BE_IDS
             ? "a text, a list of texts, a list of ids, or a list of lists of ids is allowed"
         : forms & ATTN2C_TEXT_OBJECT ? "a list of texts is allowed"
                                      : "a text or a list of texts is allowed";
}

/* Reads a list of ids, which begin at `used` of the job's. */
static int read_ids(const attn2c_descriptor *model, attn2c_text_job *job, const json_t *list, size_t *used,
                    attn2c_asked_text *asked) {
  const attn2c_tensor *tensor = &model->tensors[attn2c_primary_entry(model)->inputs[model->text->ids]];
  asked->ids = job->ids + *used, asked->id_count = json_array_size(list);
  for (size_t i = 0; i < asked->id_count; i++) {
    const json_t *each = json_array_get(list, i);
    const json_int_t id = json_integer_value(each);
    if (!json_is_integer(each) || id < tensor->minimum || id >= tensor->limit) return 0;
    job->ids[(*used)++] = (int32_t)id;
  }
  return asked->id_count > 0;
}

static int read_text(const json_t *value, const char **text, size_t *length) {
  *text = json_string_value(value), *length = json_string_length(value);
  return *text != NULL;
}

/* Reads the numbers of boxes, in lists of one box each or in one list. */
static int read_boxes(attn2c_text_job *job, const json_t *list, int is_of_one, size_t *used) {
  const json_t *each;
  size_t i;
  json_array_foreach(list, i, each) {
    const json_int_t side = json_integer_value(each);
    const int is_list = json_is_array(each) && !is_of_one;
    if (is_list ? json_array_size(each) != 4 || !read_boxes(job, each, 1, used)
                : !json_is_integer(each) || side < INT32_MIN || side > INT32_MAX)
      return 0;
    if (!is_list) job->ids[(*used)++] = (int32_t)side;
  }
  return json_is_array(list);
}

/* Reads the words of a page: their boxes, and its picture. */
static int read_page(attn2c_request *r, const attn2c_descriptor *model, attn2c_text_job *job,
                     const json_t *value, size_t *used, attn2c_asked_text *asked) {
  const json_t *boxes = json_object_get(value, "boxes"), *image = json_object_get(value, "image"), *each;
  const char *name;
  json_object_foreach((json_t *)value, name, each) {
    if (strcmp(name, "text") != 0 && strcmp(name, "boxes") != 0 && strcmp(name, "image") != 0)
      attn2c_request_fail(r, 400, job->field, NULL,
                          "%s: a field \"%.60s\", but only text, boxes and image are allowed", job->field,
                          name);
  }
  if (image && !json_is_null(image) && model->text->image < 0)
    attn2c_request_refuse(r, "image", image, "nothing is allowed: the model reads no picture");
  if (image && !json_is_null(image))
    asked->picture = attn2c_request_picture(r, "image", image, &asked->picture_size);
  if (!boxes || json_is_null(boxes)) return 1;
  asked->boxes = job->ids + *used;
  if (!read_boxes(job, boxes, 0, used))
    attn2c_request_refuse(r, "boxes", boxes, "a list of four whole numbers for each word is allowed");
  asked->box_count = (size_t)(job->ids + *used - asked->boxes);
  return 1;
}

/* Reads one text, in a form that it may have. */
static int read_one(attn2c_request *r, const attn2c_descriptor *model, attn2c_text_job *job,
                    const json_t *value, int forms, size_t *used, attn2c_asked_text *asked) {
  const size_t count = json_array_size(value);
  if (json_is_object(value) && (forms & ATTN2C_MAY_BE_PAGE))
    return read_one(r, model, job, json_object_get(value, "text"), ATTN2C_MAY_BE_PAIR, used, asked) &&
           read_page(r, model, job, value, used, asked);
  if (json_is_object(value) && (forms & ATTN2C_TEXT_OBJECT)) {
    attn2c_request_ignore_others(r->exchange, job->field, value, "text id");
    value = json_object_get(value, "text");
  }
  if (json_is_string(value)) return read_text(value, &asked->text, &asked->length);
  if ((forms & ATTN2C_MAY_BE_PAIR) && (count == 1 || count == 2))
    return read_text(json_array_get(value, 0), &asked->text, &asked->length) &&
           (count == 1 || read_text(json_array_get(value, 1), &asked->pair, &asked->pair_length));
  return (forms & ATTN2C_MAY_BE_IDS) && read_ids(model, job, value, used, asked);
}

/* True if a list is one text: ids, or a pair. */
static int is_one(const json_t *value, int forms) {
  const json_t *first = json_array_get(value, 0);
  return !json_is_array(value) || ((forms & ATTN2C_MAY_BE_IDS) && json_is_integer(first)) ||
         ((forms & ATTN2C_MAY_BE_PAIR) && json_is_string(first));
}

/* Reads all texts of a value. Returns 0 if one has a wrong form. */
static int read_all(attn2c_request *r, const attn2c_descriptor *model, attn2c_text_job *job,
                    const json_t *value, int forms, const char *first) {
  size_t used = 0;
  for (size_t i = 0; i < job->work.count; i++) {
    attn2c_asked_text *asked = &job->work.list[i];
    if (!read_one(r, model, job, job->is_single ? value : json_array_get(value, i), forms, &used, asked))
      return 0;
    if (!first) continue;
    asked->pair = asked->text, asked->pair_length = asked->length;
    asked->text = first, asked->length = strlen(first);
  }
  return 1;
}

/* Returns the most ids and numbers of boxes that a value may have. */
static size_t count_ids(const json_t *value) {
  size_t count = json_array_size(value);
  if (json_is_object(value)) return count_ids(json_object_get(value, "boxes"));
  for (size_t i = 0, all = count; i < all; i++) count += count_ids(json_array_get(value, i));
  return count;
}

attn2c_text_job *attn2c_text_job_of(attn2c_server *server, attn2c_request *r, const char *name, int forms,
                                    const char *first) {
  const json_t *value = attn2c_request_field(r, name);
  if (server->model->text->boxes < 0) forms &= ~ATTN2C_MAY_BE_PAGE;
  const int is_single = is_one(value, forms);
  const size_t count = is_single ? 1 : json_array_size(value);
  if (r->failed) return NULL;
  if (!value || count == 0 || (is_single && (forms & ATTN2C_TEXT_OBJECT))) {
    attn2c_request_refuse(r, name, value, "%s", expected(forms));
    return NULL;
  }
  if (count > ATTN2C_MOST_ASKED) {
    attn2c_request_refuse(r, name, value, "at most %d texts are allowed", ATTN2C_MOST_ASKED);
    return NULL;
  }
  attn2c_text_job *job = calloc(1, sizeof *job);
  if (job) {
    job->job = (attn2c_job){.kind = &kind};
    job->job.server = server;
    job->is_single = is_single, job->field = name;
    job->function = server->model->text->function;
    job->work.count = count;
    job->work.output = server->model->text->output, job->work.width = server->text->width;
    job->work.list = calloc(count, sizeof *job->work.list);
    job->ids = malloc((count_ids(value) + 1) * sizeof *job->ids);
    job->given = json_incref((json_t *)r->given);
  }
  if (!job || !job->work.list || !job->ids)
    attn2c_request_fail(r, 503, NULL, NULL, "no memory for the texts");
  else if (!read_all(r, server->model, job, value, forms, first))
    attn2c_request_refuse(r, name, value, "%s", expected(forms));
  if (!r->failed) return job;
  if (job) attn2c_text_job_free(&job->job);
  return NULL;
}

/* Fields of other servers that are not supported and would change an answer. */
static const attn2c_lacking lacking[] = {
    {.names = "parameters"},
    {"prompt instruction instruct task task_type", NULL, "prompt_name is"},
    {.names = "late_chunking pooling return_multivector sparse"},
    {"normalized normalize_embeddings", "null", "normalize is"},
    {"embd_normalize", NULL, "normalize is"},
    {"truncate_dim output_dimension", NULL, "dimensions are"},
    {"output_dtype embedding_type", "\"float\"", "encoding_format is"},
    {"embedding_types", "[\"float\"]", "encoding_format is"},
    {"truncate_prompt_tokens", NULL, "truncate is"},
    {"truncation auto_truncate max_length", NULL, "truncate is"},
    {.names = "rank_fields max_chunks_per_doc"},
    {"max_tokens_per_doc", NULL, "truncate is"},
    {.names = NULL}};

void attn2c_text_job_options(attn2c_server *server, attn2c_request *r, attn2c_text_job *job) {
  const attn2c_text_facts *facts = server->model->text;
  const char *prompt = NULL;
  char names[200] = "no prompt";
  size_t length = 0;
  if (!job) return;
  attn2c_request_lacks_each(r, lacking);
  attn2c_request_model(r, server, &job->work.adapter);
  attn2c_request_flag(r, "truncate", &job->work.cuts);
  attn2c_request_word(r, "truncation_direction", "right or Right", &(int){0});
  /* A model without prompts is the same for all types of inputs. */
  const char *name =
      facts->prompt_count ? attn2c_request_either(r, "prompt_name", "input_type") : "prompt_name";
  attn2c_request_text(r, name, &prompt);
  for (int i = 0; prompt && i < facts->prompt_count; i++) {
    if (strcmp(facts->prompts[i].name, prompt) == 0) job->work.prompt = facts->prompts[i].name;
    if (length < sizeof names)
      length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? " or " : "",
                                 facts->prompts[i].name);
  }
  if (!prompt || job->work.prompt) return;
  attn2c_request_refuse(r, name, attn2c_request_field(r, name), "%s is allowed", names);
}

void attn2c_text_job_submit(attn2c_server *server, attn2c_request *r, attn2c_text_job *job) {
  if (!job) return;
  job->job.bytes =
      3 * r->exchange->length + job->work.count * (job->work.width * sizeof(float) + sizeof *job->work.list);
  if (!r->failed && attn2c_texts_reserve(&job->work) == ATTN2C_OK) {
    attn2c_serve_submit(server, r->exchange, &job->job);
    return;
  }
  if (!r->failed) attn2c_serve_refuse(r->exchange, 503, NULL, NULL, "no memory for the answers");
  attn2c_text_job_free(&job->job);
}
