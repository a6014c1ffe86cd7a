#include "program/serve/media.h"

#include "program/generate/command.h"
#include "program/inputs.h"
#include "program/serve/generate/generate.h"
#include "program/serve/multipart.h"
#include "program/serve/numbers.h"
#include "program/output.h"
#include "program/commands.h"

enum { MOST_PARTS = 24 };

/* The job that is computed; of the engine's thread. */
static const attn2c_media_job *current;

static int stops(void) { return current && atomic_load(&current->job.is_cancelled); }

static int open_texts(const attn2c_arguments *arguments, struct attn2c_serve_media *media,
                      attn2c_message *message) {
  const char *weights = arguments->text_weights ? arguments->text_weights : arguments->weights;
  char why[1000] = "";
  if (!&attn2c_the_texts) return ATTN2C_OK;
  const int status = attn2c_the_texts->open(weights, arguments->threads, &media->texts, why, sizeof why);
  return status == ATTN2C_OK
             ? status
             : attn2c_fail(message, status, "serve: %s", *why ? why : attn2c_strerror(status));
}

int attn2c_media_open(attn2c_server *server, attn2c_message *message) {
  struct attn2c_serve_media *media = server->media = calloc(1, sizeof *media);
  if (!media) return ATTN2C_MEMORY;
  int status = ATTN2C_OK;
  if (server->model->continued)
    media->context = server->generate->context;
  else
    status = attn2c_program_context(server->opened, &media->context);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "serve: no memory for the arena");
  const int copy = attn2c_system_again(STDERR_FILENO);
  media->notes = copy < 0 ? NULL : fdopen(copy, "w");
  if (media->notes) {
    setvbuf(media->notes, NULL, _IOLBF, 0);
    server->notes = media->notes;
  }
  attn2c_signals_ask(stops);
  return open_texts(server->arguments, media, message);
}

void attn2c_media_close(attn2c_server *server) {
  if (!server->media) return;
  if (server->media->texts) attn2c_the_texts->close(server->media->texts);
  if (!server->model->continued) attn2c_context_destroy(server->media->context);
  if (server->media->notes) fclose(server->media->notes);
  server->notes = stderr;
  free(server->media);
}

/* Calls the command that answers pictures, sounds, or speech. */
static int answer(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
                  attn2c_message *message) {
  if (&attn2c_the_speech) return attn2c_the_speech->generate(model, arguments, out, notes, message);
  if (model->continued) return attn2c_the_generation->generate(model, arguments, out, notes, message);
  if (&attn2c_the_sounds && arguments->audio_count > 0)
    return attn2c_the_sounds->run(model, attn2c_the_sound_facts, arguments, out, notes, message);
  return attn2c_the_pictures->run(model, attn2c_the_picture_facts, arguments, out, notes, message);
}

/* Embeds the texts of a request. */
static int embed(attn2c_media_job *job, attn2c_message *message) {
  const size_t most = json_array_size(job->texts);
  const char **texts = calloc(most, sizeof *texts);
  size_t *lengths = calloc(most, sizeof *lengths), count = 0, i;
  char why[1000] = "";
  json_t *text;
  job->vectors.values = calloc(most * (size_t)attn2c_the_texts->width, sizeof *job->vectors.values);
  int status = texts && lengths && job->vectors.values ? ATTN2C_OK : ATTN2C_MEMORY;
  json_array_foreach(job->texts, i, text) if (status == ATTN2C_OK && json_is_string(text))
      texts[count] = json_string_value(text),
      lengths[count++] = json_string_length(text);
  if (status == ATTN2C_OK && count > 0) {
    status = attn2c_the_texts->embed(job->job.server->media->texts, texts, lengths, count, &job->vectors, why,
                                     sizeof why);
    if (status != ATTN2C_OK) attn2c_say(message, "input: %s", *why ? why : attn2c_strerror(status));
  }
  if (status == ATTN2C_OK && job->vectors.cut > 0 && !json_is_true(json_object_get(job->given, "truncate")))
    status = attn2c_fail(message, ATTN2C_FORMAT,
                         "input: %zu of the texts have more tokens than a call of the model takes, %lld; "
                         "\"truncate\": true cuts them",
                         job->vectors.cut, (long long)attn2c_the_texts->tokens);
  ATTN2C_FREE((void *)texts, lengths);
  return status;
}

/* Keeps the first line of a message. Paths of files become the name of their field, and so do options. */
static void keep_fault(attn2c_media_job *job, char *text) {
  size_t used = 0;
  char name[80];
  text[strcspn(text, "\n")] = '\0';
  if (strncmp(text, "--", 2) == 0) text += 2;
  for (const char *at = text; *at && used + sizeof name < sizeof job->fault;) {
    size_t length = 0;
    int found = 0;
    for (int i = 0; i < job->count; i++) { /* a path may be the beginning of another */
      const size_t of_path = strlen(job->files[i].path);
      if (of_path > length && strncmp(at, job->files[i].path, of_path) == 0) length = of_path, found = i;
    }
    if (length == 0) {
      job->fault[used++] = *at++;
      continue;
    }
    snprintf(name, sizeof name, job->count > 1 ? "%s[%d]" : "%s", job->field, found);
    memcpy(job->fault + used, name, strlen(name));
    used += strlen(name), at += length;
  }
}

static void compute(attn2c_engine *engine, attn2c_job *const *jobs, int count) {
  attn2c_media_job *job = (attn2c_media_job *)jobs[0];
  char text[2000] = "";
  const char *words[ATTN2C_MOST_FILES];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_arguments *arguments = &job->arguments;
  (void)engine, (void)count;
  for (int i = 0; i < job->count; i++) words[i] = job->files[i].path;
  if (&attn2c_the_pictures)
    arguments->images = words, arguments->image_count = job->count;
  else
    arguments->audios = words, arguments->audio_count = job->count;
  arguments->context = job->job.server->media->context;
  FILE *out = attn2c_program_gather(&job->said, &job->length), *notes = fopen(ATTN2C_NULL_PATH, "w");
  current = job;
  job->status = ATTN2C_MEMORY;
  if (out && notes) job->status = ATTN2C_OK;
  if (job->status == ATTN2C_OK && job->count > 0)
    job->status = answer(job->job.server->model, arguments, out, notes, &message);
  if (job->measure && job->status == ATTN2C_OK) job->seconds = job->measure(words[0]);
  if (job->status == ATTN2C_OK && job->texts) job->status = embed(job, &message);
  current = NULL;
  if (out && attn2c_program_gathered(out, &job->said, &job->length) != 0) job->status = ATTN2C_MEMORY;
  if (notes) fclose(notes);
  keep_fault(job, text);
}

static void reply(attn2c_job *given) {
  attn2c_media_job *job = (attn2c_media_job *)given;
  if (!given->exchange) return;
  const int is_theirs = job->status == ATTN2C_FORMAT || job->status == ATTN2C_USAGE;
  char name[40] = "";
  const size_t length = strcspn(job->fault, "[: ");
  if (job->fault[length] != ' ' && length < sizeof name) memcpy(name, job->fault, length);
  if (job->status == ATTN2C_OK)
    job->reply(job);
  else
    attn2c_serve_refuse(given->exchange,
                        is_theirs                      ? 400
                        : job->status == ATTN2C_MEMORY ? 503
                                                       : 500,
                        *name ? name : NULL, NULL, "%s",
                        *job->fault ? job->fault : attn2c_strerror(job->status));
}

static void free_job(attn2c_job *given) {
  attn2c_media_job *job = (attn2c_media_job *)given;
  for (int i = 0; i < job->count; i++) attn2c_program_scratch_end(&job->files[i]);
  json_decref(job->given);
  json_decref(job->unread);
  json_decref(job->texts);
  ATTN2C_FREE(job->vectors.values, job->said, job);
}

static const attn2c_job_kind kind = {
    .run = compute, .most = 1, .most_weight = INT64_MAX, .done = reply, .free = free_job};

/* Writes a file of a request to memory. Returns 0 after a refusal. */
static int add_file(attn2c_request *r, attn2c_media_job *job, const void *bytes, size_t length) {
  attn2c_scratch *file = &job->files[job->count];
  const int is_made = attn2c_program_scratch(file) == 0;
  job->count += is_made;
  job->job.bytes += length;
  if (is_made && attn2c_write_whole(file->descriptor, bytes, length) == 0) return 1;
  attn2c_http_add_header(r->exchange, "Retry-After", "1");
  attn2c_request_fail(r, 503, NULL, NULL, "no memory for the file");
  return 0;
}

/* Reads a part of a form as a text. Clients name lists `NAME[]` or `NAME[0]`, or repeat the name: parts of
 * one name are a list. */
static void read_part(attn2c_request *r, attn2c_media_job *job, const attn2c_part *part, int number) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)part->name_length, part->name);
  const int is_list = strchr(name, '[') != NULL;
  name[strcspn(name, "[")] = '\0';
  json_t *text = memchr(part->data, 0, part->length) ? NULL : json_stringn(part->data, part->length);
  json_t *there = json_object_get(job->given, name);
  int failed = !text || strcmp(name, "file") == 0;
  if (failed)
    json_decref(text);
  else if (json_is_array(there))
    failed = json_array_append_new(there, text) != 0;
  else if (there || is_list)
    failed = json_object_set_new(job->given, name,
                                 there ? json_pack("[O, o]", there, text) : json_pack("[o]", text)) != 0;
  else
    failed = json_object_set_new(job->given, name, text) != 0;
  if (failed)
    attn2c_request_fail(r, 400, NULL, NULL, "part %d of the form: a text of UTF-8 is allowed", number);
}

/* Notes which fields are there, before any is asked for. */
static void note_fields(attn2c_request *r, attn2c_media_job *job) {
  r->exchange->unread = job->unread = json_copy(job->given);
}

/* Reads a form: its file, and its other parts as texts. */
static void read_form(attn2c_request *r, attn2c_media_job *job) {
  const attn2c_exchange *exchange = r->exchange;
  attn2c_part parts[MOST_PARTS];
  const char *fault;
  const int count = attn2c_multipart(attn2c_http_header(exchange, "Content-Type"), exchange->body,
                                     exchange->length, parts, MOST_PARTS, &fault);
  const attn2c_part *file = count < 0 ? NULL : attn2c_part_of(parts, count, "file");
  if (count < 0)
    attn2c_request_fail(r, 400, NULL, NULL, "the body: %s", fault);
  else if (!file || file->length == 0)
    attn2c_request_fail(r, 400, "file", NULL, "file: %s, but a part with a file is needed",
                        file ? "an empty part" : "nothing");
  for (int i = 0; i < count && !r->failed; i++)
    if (&parts[i] != file) read_part(r, job, &parts[i], i + 1);
  if (!r->failed) note_fields(r, job);
  if (!r->failed) add_file(r, job, file->data, file->length);
}

void attn2c_media_add_picture(attn2c_request *r, attn2c_media_job *job, const char *field,
                              const json_t *value) {
  job->field = field;
  if (job->count == ATTN2C_MOST_FILES) attn2c_request_refuse(r, field, value, "1 to 16 pictures are allowed");
  size_t count;
  ATTN2C_OWN uint8_t *bytes = attn2c_request_picture(r, field, value, &count);
  if (bytes) add_file(r, job, bytes, count);
}

/* Returns a text of a request with pictures: one that is no data URL, or {"text": TEXT}. */
static const json_t *text_of(const json_t *value) {
  if (json_is_object(value)) return json_object_get(value, "text");
  const char *text = json_string_value(value);
  return text && strncmp(text, "data:image/", 11) != 0 ? value : NULL;
}

/* Reads the inputs of a field: pictures, and texts if the job takes them. */
static void read_field(attn2c_request *r, attn2c_media_job *job, const char *field) {
  const json_t *value = attn2c_request_field(r, field);
  job->is_single = !json_is_array(value);
  const size_t count = job->is_single ? 1 : json_array_size(value),
               most = job->texts ? ATTN2C_MOST_MEDIA_TEXTS : ATTN2C_MOST_FILES;
  if (count < 1 || count > most)
    attn2c_request_refuse(r, field, value,
                          job->texts ? "1 to 2048 texts and pictures are allowed"
                                     : "1 to 16 pictures are allowed");
  for (size_t i = 0; i < count && !r->failed; i++) {
    const json_t *each = job->is_single ? value : json_array_get(value, i),
                 *text = job->texts ? text_of(each) : NULL;
    if (!json_is_string(text)) attn2c_media_add_picture(r, job, field, each);
    if (job->texts)
      json_array_append_new(job->texts, json_is_string(text) ? json_copy((json_t *)text) : json_null());
  }
}

static void read_inputs(attn2c_request *r, attn2c_media_job *job) { read_field(r, job, "inputs"); }

static void read_embedded(attn2c_request *r, attn2c_media_job *job) {
  if (&attn2c_the_texts) job->texts = json_array();
  read_field(r, job, "input");
}

static void read_json(attn2c_request *r, attn2c_media_job *job,
                      void (*read)(attn2c_request *r, attn2c_media_job *job)) {
  json_error_t error;
  json_t *given = json_loadb(r->exchange->body, r->exchange->length, JSON_REJECT_DUPLICATES, &error);
  if (!json_is_object(given)) {
    attn2c_request_fail(r, 400, NULL, NULL, "the body: a form with a file, or an object in JSON is allowed");
    json_decref(given);
    return;
  }
  json_decref(job->given);
  r->given = job->given = given;
  if (r->exchange->route->errors == ATTN2C_ERRORS_TEI && !attn2c_request_spread(r->exchange, given)) {
    r->failed = 1;
    return;
  }
  note_fields(r, job);
  read(r, job);
}

attn2c_media_job *attn2c_media_job_of(attn2c_server *server, attn2c_exchange *exchange,
                                      void (*read)(attn2c_request *r, attn2c_media_job *job),
                                      attn2c_request *r) {
  const char *type = attn2c_http_header(exchange, "Content-Type");
  const int is_form = !&attn2c_the_pictures || (type && strncasecmp(type, "multipart/", 10) == 0);
  attn2c_media_job *job = calloc(1, sizeof *job);
  *r = (attn2c_request){.exchange = exchange};
  if (job) job->given = json_object();
  if (!job || !job->given) {
    attn2c_serve_refuse(exchange, 503, NULL, NULL, "no memory for the request");
    free(job);
    return NULL;
  }
  job->job = (attn2c_job){.kind = &kind, .server = server};
  job->arguments = *server->arguments;
  job->arguments.answers = ATTN2C_ANSWERS_JSONL;
  job->is_single = 1, job->field = "file";
  r->given = job->given;
  if (is_form)
    read_form(r, job);
  else
    read_json(r, job, read);
  attn2c_request_model(r, server, &job->adapter);
  if (job->adapter > 0) job->arguments.adapter = server->model->adapters[job->adapter - 1];
  if (!r->failed) return job;
  free_job(&job->job);
  return NULL;
}

void attn2c_media_job_submit(attn2c_server *server, attn2c_request *r, attn2c_media_job *job) {
  if (r->failed)
    free_job(&job->job);
  else
    attn2c_serve_submit(server, r->exchange, &job->job);
}

json_t *attn2c_media_lines(const attn2c_media_job *job) {
  json_t *list = json_array();
  const char *at = job->said, *end = job->said + job->length;
  while (list && at < end) {
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line) line = end;
    if (json_array_append_new(list, json_loadb(at, (size_t)(line - at), 0, NULL)) != 0) {
      json_decref(list);
      return NULL;
    }
    at = line + 1;
  }
  return list;
}

/* Replies with the labels of each file, as TEI has them, or with its other answers. */
static void reply_labels(attn2c_media_job *job) {
  json_t *lines = attn2c_media_lines(job), *replies = json_array();
  int failed = !lines || !replies;
  for (size_t i = 0; i < json_array_size(lines); i++) {
    json_t *line = json_array_get(lines, i), *labels = json_object_get(line, "labels");
    json_object_del(line, &attn2c_the_pictures ? "image" : "audio");
    failed |= json_array_append(replies, labels ? labels : line) != 0;
  }
  json_decref(lines);
  if (job->is_single) {
    json_t *only = json_incref(json_array_get(replies, 0));
    json_decref(replies);
    replies = only;
  }
  attn2c_serve_reply(job->job.exchange, 200, replies, failed);
}

/* Fields of other servers that are not supported and would change an answer. */
static const attn2c_lacking lacking_in_labels[] = {{.names = "raw_scores function_to_apply candidate_labels"},
                                                   {.names = NULL}};
static const attn2c_lacking lacking_in_embeddings[] = {
    {"dimensions", NULL, "embeddings are whole"},
    {"normalize normalized normalize_embeddings", "null", "embeddings are as the model has them"},
    {.names = "instruction task task_type prompt prompt_name"},
    {.names = NULL}};

void attn2c_media_predict(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r;
  attn2c_media_job *job = attn2c_media_job_of(server, exchange, read_inputs, &r);
  const attn2c_answer answers =
      &attn2c_the_pictures ? attn2c_the_picture_facts->media->answer : attn2c_the_sound_facts->media->answer;
  (void)given;
  if (!job) return;
  int64_t top = ATTN2C_MAX_TOP;
  if (answers == ATTN2C_ANSWER_LABEL) {
    attn2c_request_integer(&r, "top_k", 1, ATTN2C_MAX_TOP, &top);
    job->arguments.top = (int)top;
  } else {
    attn2c_request_lacks(&r, "top_k", "answers of this model are whole");
  }
  attn2c_request_lacks_each(&r, lacking_in_labels);
  job->reply = reply_labels;
  attn2c_media_job_submit(server, &r, job);
}

static void reply_embeddings(attn2c_media_job *job) {
  json_auto_t *lines = attn2c_media_lines(job);
  const size_t count = job->texts ? json_array_size(job->texts) : json_array_size(lines);
  const size_t width = job->texts ? (size_t)attn2c_the_texts->width
                                  : json_array_size(json_object_get(json_array_get(lines, 0), "embedding"));
  ATTN2C_OWN float *values = malloc(count * width * sizeof *values + 1);
  const float *of_texts = job->vectors.values;
  for (size_t i = 0, line = 0; i < count && values; i++) {
    if (json_is_string(json_array_get(job->texts, i))) {
      memcpy(values + i * width, of_texts, width * sizeof *values);
      of_texts += width;
      continue;
    }
    const json_t *numbers = json_object_get(json_array_get(lines, line++), "embedding");
    for (size_t n = 0; n < width; n++)
      values[i * width + n] = (float)json_number_value(json_array_get(numbers, n));
  }
  size_t length = 0;
  ATTN2C_OWN char *text =
      values ? attn2c_embeddings_text(attn2c_served_name(job->job.server, job->adapter), values, count, width,
                                      job->is_base64, (int64_t)job->vectors.tokens, &length)
             : NULL;
  if (text)
    attn2c_http_reply(job->job.exchange, 200, "application/json", text, length);
  else
    attn2c_serve_refuse(job->job.exchange, 503, NULL, NULL, "no memory for the reply");
}

void attn2c_media_embed(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request r;
  attn2c_media_job *job = attn2c_media_job_of(server, exchange, read_embedded, &r);
  (void)given;
  if (!job) return;
  attn2c_request_word(&r, "encoding_format", "float or base64", &job->is_base64);
  attn2c_request_lacks_each(&r, lacking_in_embeddings);
  job->reply = reply_embeddings;
  attn2c_media_job_submit(server, &r, job);
}
