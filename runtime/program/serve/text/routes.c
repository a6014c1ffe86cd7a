/* routes.c - the routes of models that take texts and keep nothing of them: embeddings as OpenAI has
 * them, rerank as Jina and Cohere have it, and the routes of text-embeddings-inference. */
#include "program/serve/text/routes.h"

#include "program/inputs.h"
#include "program/serve/numbers.h"

static attn2c_answer answer_of(const attn2c_server *server) { return server->model->text->answer; }

static int is_called(const attn2c_server *server) { return server->text->context != NULL; }

static int embeds(const attn2c_server *server) {
  return is_called(server) && answer_of(server) == ATTN2C_ANSWER_EMBEDDING;
}

static int has_rows(const attn2c_server *server) { return is_called(server) && server->text->rows >= 0; }

static int has_labels(const attn2c_server *server) { return answer_of(server) == ATTN2C_ANSWER_LABEL; }

static int ranks(const attn2c_server *server) {
  return is_called(server) && has_labels(server) && server->text->width == 1;
}

static int is_sparse(const attn2c_server *server) {
  return is_called(server) && answer_of(server) == ATTN2C_ANSWER_LEXICAL;
}

static int predicts(const attn2c_server *server) {
  return is_called(server) && !embeds(server) && answer_of(server) != ATTN2C_ANSWER_STATES;
}

/* Reads `dimensions`. Returns 1 if embeddings lose numbers. */
static int read_dimensions(const attn2c_server *server, attn2c_request *r, attn2c_text_job *job) {
  const int64_t width = (int64_t)job->work.width;
  const int usual = server->model->text->dimensions;
  int64_t kept = usual ? usual : width;
  attn2c_request_integer(r, "dimensions", 1, width, &kept);
  job->work.width = (size_t)kept;
  return kept < width;
}

/* Reads `dimensions` and `normalize`: whether embeddings become unit vectors. Some models' always are. */
static void read_scaling(const attn2c_server *server, attn2c_request *r, attn2c_text_job *job,
                         int normalises) {
  static const attn2c_lacking lacking[] = {{.names = "add_special_tokens", .usual = "true"}, {.names = NULL}};
  const int is_unit = server->model->text->is_unit, is_cut = read_dimensions(server, r, job);
  attn2c_request_lacks_each(r, lacking);
  normalises |= is_unit;
  attn2c_request_flag(r, "normalize", &normalises);
  if (is_unit && !normalises)
    attn2c_request_refuse(r, "normalize", attn2c_request_field(r, "normalize"),
                          "true is allowed: all embeddings of this model are unit vectors");
  job->work.scales = normalises && (!is_unit || is_cut);
}

static void embeddings(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job =
      attn2c_text_job_of(server, &r, "input", ATTN2C_MAY_BE_IDS | ATTN2C_MAY_BE_PAGE, NULL);
  if (!job) return;
  attn2c_text_job_options(server, &r, job);
  attn2c_request_word(&r, "encoding_format", "float or base64", &job->is_base64);
  attn2c_request_word(&r, "embed_dtype", "float32", &(int){0});
  attn2c_request_word(&r, "endianness", "native or little", &(int){0});
  read_scaling(server, &r, job, 0);
  job->write = attn2c_reply_embeddings;
  attn2c_text_job_submit(server, &r, job);
}

/* Reads a request of TEI, whose reply is a list also for one text. Returns NULL if it has refused it. */
static attn2c_text_job *listed(attn2c_server *server, attn2c_request *r, int forms) {
  attn2c_text_job *job = attn2c_text_job_of(server, r, "inputs", forms, NULL);
  if (!job) return NULL;
  attn2c_text_job_options(server, r, job);
  attn2c_request_word(r, "encoding_format", "float", &(int){0});
  job->is_single = 0;
  job->write = attn2c_reply_lists;
  return job;
}

/* TEI's embeddings are unit vectors, unless `normalize` is false. */
static void embed(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job = listed(server, &r, ATTN2C_MAY_BE_IDS | ATTN2C_MAY_BE_PAGE);
  if (!job) return;
  read_scaling(server, &r, job, 1);
  attn2c_text_job_submit(server, &r, job);
}

static void embed_sparse(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job = listed(server, &r, ATTN2C_MAY_BE_IDS);
  if (!job) return;
  job->work.gets = ATTN2C_GETS_ANSWER;
  job->write = attn2c_reply_sparse;
  attn2c_text_job_submit(server, &r, job);
}

/* Returns the numbers in the last axis of an output. */
static size_t width_of(const attn2c_descriptor *model, int output) {
  const attn2c_tensor *tensor = &model->tensors[attn2c_primary_entry(model)->outputs[output]];
  return tensor->rank > 1 ? (size_t)tensor->shape[tensor->rank - 1] : 1;
}

static void embed_all(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job = listed(server, &r, ATTN2C_MAY_BE_IDS | ATTN2C_MAY_BE_PAGE);
  if (!job) return;
  job->work.gets = ATTN2C_GETS_ROWS, job->work.output = server->text->rows;
  job->work.width = width_of(server->model, job->work.output);
  attn2c_text_job_submit(server, &r, job);
}

/* Reads `raw_scores`: scores as the model has them. */
static void read_function(attn2c_request *r, attn2c_text_job *job) {
  int is_raw = 0;
  if (attn2c_request_flag(r, "raw_scores", &is_raw) && is_raw) job->function = ATTN2C_AS_IT_IS;
}

/* Fields of vLLM and other servers that are not supported and would change a ranking. */
static const attn2c_lacking lacking_in_ranks[] = {{"activation apply_softmax softmax", NULL, "raw_scores is"},
                                                  {"use_activation", "true", "raw_scores is"},
                                                  {"normalize", "null", "raw_scores is"},
                                                  {.names = "score_threshold min_score"},
                                                  {.names = NULL}};

/* Reads a ranking of the texts in a field. The other fields may have the names of each API. */
static void rank(attn2c_server *server, attn2c_exchange *exchange, const json_t *given, const char *texts,
                 char *(*write)(const attn2c_text_job *, size_t *)) {
  attn2c_request r = {exchange, given, 0};
  const char *query = NULL;
  int64_t top = ATTN2C_MOST_ASKED;
  if (!attn2c_request_text(&r, "query", &query))
    attn2c_request_refuse(&r, "query", attn2c_request_field(&r, "query"), "a text is needed");
  attn2c_text_job *job = attn2c_text_job_of(server, &r, texts, ATTN2C_TEXT_OBJECT, query);
  if (!job) return;
  attn2c_text_job_options(server, &r, job);
  attn2c_request_integer(&r, attn2c_request_either(&r, "top_n", "top_k"), 1, INT32_MAX, &top);
  job->top = (size_t)top;
  read_function(&r, job);
  attn2c_request_lacks_each(&r, lacking_in_ranks);
  attn2c_request_flag(&r, attn2c_request_either(&r, "return_documents", "return_text"), &job->has_texts);
  job->write = write;
  attn2c_text_job_submit(server, &r, job);
}

static int has(const json_t *given, const char *name) {
  const json_t *value = json_object_get(given, name);
  return value && !json_is_null(value);
}

static void rerank_documents(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  const char *texts = has(given, "texts") && !has(given, "documents") ? "texts" : "documents";
  rank(server, exchange, given, texts, attn2c_reply_results);
}

/* Clients of vLLM and infinity ask here for documents. */
static void rerank(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  if (has(given, "documents"))
    rerank_documents(server, exchange, given);
  else
    rank(server, exchange, given, "texts", attn2c_reply_ranks);
}

static int take_label(void *context, const char *text, size_t length) {
  attn2c_texts_work *work = context;
  (void)length;
  work->labels[work->label_count++] = text;
  return ATTN2C_OK;
}

/* Reads the labels of spans, and which spans are given. */
static void read_labels(attn2c_request *r, attn2c_texts_work *work) {
  const json_t *given = attn2c_request_field(r, "labels");
  double threshold = 0.5;
  work->labels = calloc(json_array_size(given) + 1, sizeof *work->labels);
  if (!work->labels) {
    attn2c_serve_refuse(r->exchange, 503, NULL, NULL, "no memory for the labels");
    r->failed = 1;
    return;
  }
  if (attn2c_request_texts(r, "labels", ATTN2C_MOST_ASKED, take_label, work) == 0)
    attn2c_request_refuse(r, "labels", given, "a label or a list of labels is needed");
  attn2c_request_real(r, "threshold", 0, 1, &threshold);
  work->spans.threshold = (float)threshold;
  attn2c_request_flag(r, "nested", &work->spans.nested);
  attn2c_request_flag(r, "multi_label", &work->spans.several);
}

/* Options of Hugging Face's pipelines that are not supported and would change an answer. */
static const attn2c_lacking lacking_in_pipelines[] = {
    {"aggregation_strategy", "\"none\"", NULL},
    {"align_to_words", "false", "answers end where tokens do"},
    {.names = "targets stride ignore_labels doc_stride max_answer_len "
              "max_question_len max_seq_len handle_impossible_answer"},
    {.names = NULL}};

/* Reads the options of labels. Other answers have none. */
static void read_label_options(attn2c_request *r, attn2c_text_job *job) {
  static const attn2c_lacking lacking[] = {{.names = "raw_scores function_to_apply"}, {.names = NULL}};
  int64_t top = ATTN2C_MOST_ASKED;
  int function = job->function;
  if (!has_labels(job->job.server)) {
    job->work.gets = ATTN2C_GETS_ANSWER;
    attn2c_request_lacks_each(r, lacking);
    attn2c_request_lacks(r, "top_k", "answers of this model are whole");
    return;
  }
  attn2c_request_word(r, "function_to_apply", "softmax, sigmoid or none", &function);
  job->function = (attn2c_label_function)function;
  read_function(r, job);
  attn2c_request_integer(r, "top_k", 1, INT32_MAX, &top);
  job->top = (size_t)top;
}

static void predict(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  const int is_hub = !exchange->route->path[1];
  const json_t *inputs = attn2c_request_field(&r, "inputs");
  json_t *question = json_object_get(inputs, "question"), *about = json_object_get(inputs, "context");
  json_auto_t *pair = question && about ? json_pack("{s:[O, O]}", "inputs", question, about) : NULL;
  if (pair) r.given = pair;
  attn2c_text_job *job =
      attn2c_text_job_of(server, &r, "inputs", ATTN2C_MAY_BE_PAIR | ATTN2C_MAY_BE_PAGE, NULL);
  r.given = given;
  if (!job) return;
  attn2c_text_job_options(server, &r, job);
  if (is_hub) attn2c_request_lacks_each(&r, lacking_in_pipelines);
  if (is_hub) attn2c_request_lacks(&r, "candidate_labels", "no label of this model says that texts follow");
  if (is_hub) attn2c_request_lacks(&r, "hypothesis_template", "candidate_labels are needed with it");
  if (server->model->text->spans) read_labels(&r, &job->work);
  read_label_options(&r, job);
  /* Hugging Face's client takes the first of a list of texts, also of one text. */
  if (has_labels(server) && is_hub) job->is_single = 0;
  job->write = has_labels(server) ? attn2c_reply_labels : is_hub ? attn2c_reply_pipeline : attn2c_reply_lists;
  attn2c_text_job_submit(server, &r, job);
}

/* Labels come with the request: {"inputs", "parameters": {"candidate_labels"}}. */
static void zero_shot(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  static const attn2c_lacking lacking[] = {{.names = "raw_scores function_to_apply top_k"}, {.names = NULL}};
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job = attn2c_zero_shot_job(server, &r);
  if (!job) return;
  attn2c_text_job_options(server, &r, job);
  attn2c_request_lacks_each(&r, lacking_in_pipelines);
  attn2c_request_lacks_each(&r, lacking);
  attn2c_request_flag(&r, "multi_label", &job->is_several);
  attn2c_text_job_submit(server, &r, job);
}

/* A text is compared with others: {"inputs": {"source_sentence", "sentences"}}. */
static void similarity(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  const json_t *inputs = attn2c_request_field(&r, "inputs");
  const json_t *source = json_object_get(inputs, "source_sentence"),
               *others = json_object_get(inputs, "sentences");
  if (!json_is_string(source) || json_array_size(others) == 0) {
    attn2c_request_refuse(&r, "inputs", inputs,
                          "an object with the text source_sentence and the list sentences is needed");
    return;
  }
  json_t *list = json_pack("[O]", source);
  json_auto_t *joined =
      list && json_array_extend(list, (json_t *)others) == 0 ? json_pack("{s:O}", "sentences", list) : NULL;
  r.given = joined;
  attn2c_text_job *job = joined ? attn2c_text_job_of(server, &r, "sentences", 0, NULL) : NULL;
  r.given = given;
  attn2c_request_ignore_others(exchange, "inputs", inputs, "source_sentence sentences");
  if (!joined) attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the texts");
  attn2c_text_job_options(server, &r, job);
  if (job) {
    job->write = attn2c_reply_similarities, job->first = "source_sentence";
    attn2c_text_job_submit(server, &r, job);
  }
  json_decref(list);
}

static int answers(const attn2c_server *server) { return embeds(server) || predicts(server); }

/* Hugging Face's client knows one address, and one field, of all models. */
static void answer_any(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  const int compares = json_object_get(json_object_get(given, "inputs"), "source_sentence") != NULL;
  const int gives_labels = has(given, "candidate_labels") && has_labels(server) && server->text->width > 1 &&
                           attn2c_entailing_label(server->model->text) >= 0;
  (gives_labels      ? zero_shot
   : !embeds(server) ? predict
   : compares        ? similarity
                     : embed)(server, exchange, given);
}

static void tokenize(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job = listed(server, &r, 0);
  if (!job) return;
  job->work.gets = ATTN2C_GETS_TOKENS;
  int is_whole = 1;
  attn2c_request_flag(&r, "add_special_tokens", &is_whole);
  job->work.is_plain = !is_whole;
  attn2c_text_job_submit(server, &r, job);
}

static void decode(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r = {exchange, given, 0};
  attn2c_text_job *job = attn2c_text_job_of(server, &r, "ids", ATTN2C_MAY_BE_IDS, NULL);
  if (!job) return;
  for (size_t i = 0; i < job->work.count; i++)
    if (!job->work.list[i].ids)
      attn2c_request_refuse(&r, "ids", json_object_get(given, "ids"),
                            "a list of ids, or a list of such lists is allowed");
  job->work.gets = ATTN2C_GETS_TEXT;
  job->work.is_plain = 1;
  attn2c_request_flag(&r, "skip_special_tokens", &job->work.is_plain);
  job->is_single = 0;
  job->write = attn2c_reply_lists;
  attn2c_text_job_submit(server, &r, job);
}

/* Returns what TEI says of the model's kind. */
static json_t *kind_of(const attn2c_server *server) {
  const attn2c_text_facts *facts = server->model->text;
  json_t *names = json_object(), *numbers = json_object();
  for (int i = 0; i < facts->label_count && facts->labels; i++) {
    char number[16];
    snprintf(number, sizeof number, "%d", i);
    json_object_set_new(names, number, json_string(facts->labels[i]));
    json_object_set_new(numbers, facts->labels[i], json_integer(i));
  }
  const char *name = ranks(server)      ? "reranker"
                     : predicts(server) ? "classifier"
                     : embeds(server)   ? "embedding"
                                        : "other";
  if (predicts(server)) return json_pack("{s:{s:o, s:o}}", name, "id2label", names, "label2id", numbers);
  json_decref(names);
  json_decref(numbers);
  return json_pack("{s:{}}", name);
}

static void info(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  const attn2c_descriptor *model = server->model;
  const json_int_t tokens = (json_int_t)model->text->calls->sizes->seq;
  (void)given;
  attn2c_serve_reply(exchange, 200,
                     json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:i, s:b, s:s}", "model_id", model->name,
                               "model_sha", model->description_hash, "model_dtype", "float32", "model_type",
                               kind_of(server), "max_input_length", tokens, "max_batch_tokens", tokens,
                               "max_client_batch_size", (int)ATTN2C_MOST_ASKED, "auto_truncate", 0, "version",
                               model->generator),
                     0);
}

static int is_lexical(const attn2c_text_facts *facts, int output) {
  for (int i = 0; i < facts->answer_count; i++)
    if (facts->answers[i].output == output && facts->answers[i].answer == ATTN2C_ANSWER_LEXICAL) return 1;
  return 0;
}

/* Finds the output that has a row for each token: the answer, or another one. */
static int find_rows(const attn2c_descriptor *model) {
  const attn2c_text_facts *facts = model->text;
  const attn2c_entry *entry = attn2c_primary_entry(model);
  int found = -1;
  for (int o = entry->output_count - 1; o >= 0; o--) {
    const attn2c_axes *axes = &facts->calls->outputs[o];
    const attn2c_tensor *tensor = &model->tensors[entry->outputs[o]];
    if (is_lexical(facts, o)) continue;
    if (tensor->type == ATTN2C_F32 && tensor->rank == 3 && axes->rows == 1 && axes->keys < 0) found = o;
  }
  if (facts->answer == ATTN2C_ANSWER_STATES) return facts->output;
  return facts->answer == ATTN2C_ANSWER_EMBEDDING ? found : -1;
}

/* Writes the names of labels as JSON, once for all replies. */
static int name_labels(struct attn2c_serve_text *text, const attn2c_text_facts *facts) {
  text->labels = calloc(text->width + 1, sizeof *text->labels);
  for (size_t i = 0; i < text->width && text->labels; i++) {
    const char *known = facts->labels && i < (size_t)facts->label_count ? facts->labels[i] : NULL;
    json_t *name = known ? attn2c_json_text(known, strlen(known)) : json_sprintf("LABEL_%d", (int)i);
    text->labels[i] = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
    json_decref(name);
    if (!text->labels[i]) return ATTN2C_MEMORY;
    text->label_bytes += strlen(text->labels[i]) + ATTN2C_FLOAT_BYTES + sizeof ",{\"score\":,\"label\":}";
  }
  return text->labels ? ATTN2C_OK : ATTN2C_MEMORY;
}

static int open_text(attn2c_server *server, attn2c_message *message) {
  struct attn2c_serve_text *text = server->text = calloc(1, sizeof *text);
  if (!text) return ATTN2C_MEMORY;
  text->rows = find_rows(server->model);
  text->width = width_of(server->model, server->model->text->output);
  if (has_labels(server) && name_labels(text, server->model->text) != ATTN2C_OK) return ATTN2C_MEMORY;
  int status = server->model->continued ? ATTN2C_OK : attn2c_program_context(server->opened, &text->context);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "serve: no memory for the arena");
  return attn2c_text_worker_open(&text->worker, server->model, text->context, message);
}

static void close_text(attn2c_server *server) {
  if (!server->text) return;
  attn2c_text_worker_close(server->text->worker);
  attn2c_context_destroy(server->text->context);
  for (size_t i = 0; i < server->text->width && server->text->labels; i++) free(server->text->labels[i]);
  ATTN2C_FREE(server->text->labels, server->text);
}

#define JSON_OF(errors) errors, ATTN2C_TAKES_JSON, 0
#define OPENAI          JSON_OF(ATTN2C_ERRORS_OPENAI)
#define TEI             JSON_OF(ATTN2C_ERRORS_TEI)

static const attn2c_route routes[] = {
    {ATTN2C_HTTP_POST, "/v1/embeddings", embeddings, OPENAI, embeds},
    {ATTN2C_HTTP_POST, "/v1/rerank", rerank_documents, OPENAI, ranks},
    {ATTN2C_HTTP_POST, "/v2/rerank", rerank_documents, OPENAI, ranks},
    {ATTN2C_HTTP_POST, "/embed", embed, TEI, embeds},
    {ATTN2C_HTTP_POST, "/embed_all", embed_all, TEI, has_rows},
    {ATTN2C_HTTP_POST, "/embed_sparse", embed_sparse, TEI, is_sparse},
    {ATTN2C_HTTP_POST, "/rerank", rerank, TEI, ranks},
    {ATTN2C_HTTP_POST, "/predict", predict, TEI, predicts},
    {ATTN2C_HTTP_POST, "/similarity", similarity, TEI, embeds},
    {ATTN2C_HTTP_POST, "/", answer_any, TEI, answers},
    {ATTN2C_HTTP_POST, "/tokenize", tokenize, TEI, NULL},
    {ATTN2C_HTTP_POST, "/decode", decode, TEI, NULL},
    {ATTN2C_HTTP_GET, "/info", info, ATTN2C_ERRORS_TEI, ATTN2C_TAKES_NOTHING, 0, NULL},
    {0}};

const attn2c_server_part ATTN2C_DEFINES(attn2c_server_text) = {
    .open = open_text, .close = close_text, .routes = routes};
