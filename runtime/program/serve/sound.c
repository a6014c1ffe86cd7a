/* sound.c - the routes of models of sound: OpenAI's transcriptions, labels and embeddings. */
#include "base/generation.h"
#include "base/sound_facts.h"
#include "base/speech_facts.h"
#include "program/serve/media.h"
#include "text/unicode.h"

/* Numbers of forms. */
enum { JSON, TEXT, SRT, VTT, VERBOSE };

static int writes(const attn2c_server *server) {
  (void)server;
  return &attn2c_the_speech || attn2c_the_sound_facts->answer == ATTN2C_ANSWER_SPEECH;
}

static int translates(const attn2c_server *server) {
  return &attn2c_the_speech && server->model->continued->generation->speech->translate >= 0;
}

static int embeds(const attn2c_server *server) {
  return !writes(server) && attn2c_the_sound_facts->answer == ATTN2C_ANSWER_EMBEDDING;
}

static int predicts(const attn2c_server *server) { return !writes(server) && !embeds(server); }

/* Returns what the command wrote as lines of text (answers.h), as said: one line, without escapes. */
static json_t *text_of(const attn2c_media_job *job) {
  const char *at = job->said, *end = job->said + job->length;
  ATTN2C_OWN char *text = malloc(job->length + 1);
  size_t used = 0;
  while (text && at < end) {
    const char *letter = *at == '\\' && at + 1 < end ? strchr("n\nt\tr\r\\\\", at[1]) : NULL;
    if (letter) {
      text[used++] = letter[1], at += 2;
    } else if (*at == '\\' && end - at > 3 && at[1] == 'u') {
      used += text_write((uint8_t *)text + used, (uint32_t)strtoul(at + 3, (char **)&at, 16));
      at++;
    } else {
      text[used++] = (char)(*at == '\n' ? ' ' : *at), at++;
    }
  }
  while (used > 0 && text[used - 1] == ' ') used--;
  return text ? json_stringn(text, used) : NULL;
}

/* Returns the text of all lines of JSON. */
static json_t *joined(const json_t *lines) {
  json_t *text = json_string("");
  for (size_t i = 0; i < json_array_size(lines) && text; i++) {
    const char *said = json_string_value(json_object_get(json_array_get(lines, i), "text"));
    json_t *longer = json_sprintf("%s%s%s", json_string_value(text), i ? " " : "", said ? said : "");
    json_decref(text);
    text = longer;
  }
  return text;
}

/* Moves a member to another object under a name. */
static void move(json_t *to, const char *name, const json_t *from, const char *member) {
  json_t *value = json_object_get(from, member);
  if (value) json_object_set(to, name, value);
}

/* Returns OpenAI's verbose form of lines. */
static json_t *verbose(const attn2c_media_job *job, const json_t *lines) {
  const json_t *last = json_array_get(lines, json_array_size(lines) - 1);
  const json_t *first = json_array_get(lines, 0);
  json_t *whole =
      json_pack("{s:s, s:o}", "task",
                job->arguments.generate.task == ATTN2C_TASK_TRANSLATE ? "translate" : "transcribe", "text",
                joined(lines));
  json_t *segments = json_array(), *words = json_array();
  json_object_set_new(whole, "duration", json_real(json_number_value(json_object_get(last, "end"))));
  json_object_set_new(whole, "language", json_null());
  move(whole, "language", first, "language");
  for (size_t i = 0; i < json_array_size(lines); i++) {
    const json_t *line = json_array_get(lines, i), *said = json_object_get(line, "words");
    json_t *segment = json_pack("{s:I, s:i}", "id", (json_int_t)i, "seek", 0);
    move(segment, "start", line, "begin");
    move(segment, "end", line, "end");
    move(segment, "text", line, "text");
    move(segment, "tokens", line, "ids");
    move(segment, "temperature", line, "temperature");
    move(segment, "avg_logprob", line, "score");
    move(segment, "compression_ratio", line, "compression");
    move(segment, "no_speech_prob", line, "silence");
    json_array_append_new(segments, segment);
    for (size_t w = 0; w < json_array_size(said); w++) {
      json_t *word = json_object();
      move(word, "word", json_array_get(said, w), "word");
      move(word, "start", json_array_get(said, w), "begin");
      move(word, "end", json_array_get(said, w), "end");
      json_array_append_new(words, word);
    }
  }
  json_object_set_new(whole, "segments", segments);
  if (job->arguments.words) json_object_set(whole, "words", words);
  json_decref(words);
  return whole;
}

static void reply(attn2c_media_job *job) {
  attn2c_exchange *exchange = job->job.exchange;
  if (job->form == SRT || job->form == VTT) {
    attn2c_http_reply(exchange, 200,
                      job->form == VTT ? "text/vtt; charset=utf-8" : "text/plain; charset=utf-8", job->said,
                      job->length);
    return;
  }
  if (job->form == VERBOSE) {
    json_t *lines = attn2c_media_lines(job);
    attn2c_serve_reply(exchange, 200, lines ? verbose(job, lines) : NULL, 0);
    json_decref(lines);
    return;
  }
  json_t *text = text_of(job);
  const char *said = json_string_value(text);
  if (job->form == TEXT && said)
    attn2c_http_reply(exchange, 200, "text/plain; charset=utf-8", said, strlen(said));
  else
    attn2c_serve_reply(exchange, 200, json_pack("{s:O}", "text", text), 0);
  json_decref(text);
}

/* Reads `temperature`, a number or the text of one. 0 means what the model usually does. */
static void read_temperature(attn2c_request *r, attn2c_arguments *arguments) {
  const json_t *value = attn2c_request_field(r, "temperature");
  char *end = NULL;
  double number = json_number_value(value);
  if (json_is_string(value)) number = strtod(json_string_value(value), &end);
  if (!value || (end && end == json_string_value(value) && !*end)) return;
  if ((!json_is_number(value) && !end) || (end && *end) || !(number >= 0 && number <= 1))
    attn2c_request_refuse(r, "temperature", value, "a number from 0 to 1 is allowed");
  else if (number > 0)
    arguments->generate.temperature = (attn2c_real){1, number};
}

static void listen_to(attn2c_server *server, attn2c_exchange *exchange, int task) {
  attn2c_request r;
  int streams;
  attn2c_media_job *job = attn2c_media_job_of(server, exchange, NULL, &r);
  if (!job) return;
  attn2c_arguments *arguments = &job->arguments;
  attn2c_generate_arguments *generate = &arguments->generate;
  attn2c_request_word(&r, "response_format", "json, text, srt, vtt or verbose_json", &job->form);
  if (job->form == JSON || job->form == TEXT) arguments->answers = ATTN2C_ANSWERS_TEXT;
  if (job->form == SRT) arguments->answers = ATTN2C_ANSWERS_SRT;
  if (job->form == VTT) arguments->answers = ATTN2C_ANSWERS_VTT;
  attn2c_request_word(&r, "stream", "false", &streams);
  attn2c_request_word(&r, "timestamp_granularities[]", "segment or word", &arguments->words);
  read_temperature(&r, arguments);
  if (&attn2c_the_speech) { /* others know one language, and hear no text */
    const char *prompt = "";
    attn2c_request_text(&r, "prompt", &prompt);
    attn2c_request_text(&r, "language", &generate->language);
    if (generate->language && !*generate->language) generate->language = NULL;
    generate->task = task;
    generate->timestamps = job->form == VERBOSE;
    job->words[0] = (attn2c_text_word){ATTN2C_TEXT_STRING, prompt, "--prompt"};
    arguments->texts = job->words, arguments->text_count = *prompt != '\0';
  }
  job->reply = reply;
  attn2c_media_job_submit(server, &r, job);
}

static void transcribe(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  (void)given;
  listen_to(server, exchange, 0);
}

static void translate(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  (void)given;
  listen_to(server, exchange, ATTN2C_TASK_TRANSLATE);
}

#define BYTES(errors) errors, ATTN2C_TAKES_BYTES, 0
#define OPENAI        BYTES(ATTN2C_ERRORS_OPENAI)

static const attn2c_route routes[] = {
    {ATTN2C_HTTP_POST, "/v1/audio/transcriptions", transcribe, OPENAI, writes},
    {ATTN2C_HTTP_POST, "/v1/audio/translations", translate, OPENAI, translates},
    {ATTN2C_HTTP_POST, "/v1/embeddings", attn2c_media_embed, OPENAI, embeds},
    {ATTN2C_HTTP_POST, "/predict", attn2c_media_predict, BYTES(ATTN2C_ERRORS_TEI), predicts},
    {0}};

const attn2c_server_part ATTN2C_DEFINES(attn2c_server_sound) = {
    .open = attn2c_media_open, .close = attn2c_media_close, .routes = routes, .most_body = (size_t)26 << 20};
