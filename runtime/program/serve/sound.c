/* sound.c - the routes of models of sound: OpenAI's transcriptions, labels and embeddings. */
#include "base/generation.h"
#include "base/sound_facts.h"
#include "base/speech_facts.h"
#include "program/options.h"
#include "program/serve/media.h"
#include "program/sound/source.h"
#include "text/unicode.h"

/* Numbers of forms. */
enum { JSON, TEXT, SRT, VTT, VERBOSE };

static int writes(const attn2c_server *server) {
  (void)server;
  return &attn2c_the_speech || attn2c_the_sound_facts->media->answer == ATTN2C_ANSWER_SPEECH;
}

static int translates(const attn2c_server *server) {
  return &attn2c_the_speech && server->model->continued->generation->speech->translate >= 0;
}

static int embeds(const attn2c_server *server) {
  return !writes(server) && attn2c_the_sound_facts->media->answer == ATTN2C_ANSWER_EMBEDDING;
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

/* Returns the text of all lines of JSON. Segments of a window go on from one another; pieces of speech do
 * not. */
static json_t *joined(const attn2c_media_job *job, const json_t *lines) {
  const int is_windows = &attn2c_the_speech && !job->arguments.vad &&
                         job->job.server->model->continued->generation->speech->no_timestamps >= 0;
  json_t *text = json_string("");
  for (size_t i = 0; i < json_array_size(lines) && text; i++) {
    const char *said = json_string_value(json_object_get(json_array_get(lines, i), "text"));
    if (said && (i == 0 || !is_windows)) said += strspn(said, " ");
    json_t *longer =
        json_sprintf("%s%s%s", json_string_value(text), i && !is_windows ? " " : "", said ? said : "");
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
  const json_t *first = json_array_get(lines, 0), *last = json_array_get(lines, json_array_size(lines) - 1);
  json_t *whole =
      json_pack("{s:s, s:o}", "task",
                job->arguments.generate.task == ATTN2C_TASK_TRANSLATE ? "translate" : "transcribe", "text",
                joined(job, lines));
  json_t *segments = json_array(), *words = json_array();
  json_object_set_new(
      whole, "duration",
      json_real(job->seconds > 0 ? job->seconds : json_number_value(json_object_get(last, "end"))));
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

/* Reads which times are wanted. Segments have theirs anyway. */
static void read_granularities(attn2c_request *r, attn2c_media_job *job) {
  static const char name[] = "timestamp_granularities";
  const json_t *given = attn2c_request_field(r, name);
  for (size_t i = 0; given && i < (json_is_array(given) ? json_array_size(given) : 1) && !r->failed; i++) {
    const json_t *each = json_is_array(given) ? json_array_get(given, i) : given;
    const int number = attn2c_number_of_word("segment or word", json_string_value(each));
    if (number < 0) attn2c_request_refuse(r, name, each, "segment or word is allowed");
    job->arguments.words |= number == 1;
  }
  if (given && (job->form == JSON || job->form == TEXT))
    attn2c_request_fail(r, 400, name, NULL, "%s: go with the response_format verbose_json, srt or vtt", name);
}

/* Fields of OpenAI, vLLM, Groq, speaches and whisper.cpp that are not supported and would change an answer.
 */
static const attn2c_lacking lacking[] = {
    {.names = "include known_speaker_names known_speaker_references diarize hotwords url"},
    {"chunking_strategy", "\"auto\"", "vad_filter is"},
    {"word_timestamps", NULL, "timestamp_granularities are"},
    {"translate", NULL, "task is"},
    {.names = "seed top_k min_p best_of beam_size patience temperature_inc max_tokens max_completion_tokens"},
    {.names = "no_speech_threshold logprob_threshold log_prob_threshold compression_ratio_threshold "
              "hallucination_silence_threshold clip_timestamps"},
    {.names = "frequency_penalty presence_penalty", .usual = "0"},
    {.names = "repetition_penalty top_p length_penalty", .usual = "1"},
    {.names = "to_language response_schema"},
    {.names = NULL}};
/* Besides, of models that know one language and hear no text. */
static const attn2c_lacking lacking_without_languages[] = {
    {.names = "language prompt task condition_on_previous_text carry_initial_prompt"},
    {"temperature", "0", NULL},
    {.names = NULL}};

static void listen_to(attn2c_server *server, attn2c_exchange *exchange, int task) {
  attn2c_request r;
  int streams, asked;
  attn2c_media_job *job = attn2c_media_job_of(server, exchange, NULL, &r);
  if (!job) return;
  attn2c_arguments *arguments = &job->arguments;
  attn2c_generate_arguments *generate = &arguments->generate;
  attn2c_request_word(&r, "response_format", "json, text, srt, vtt or verbose_json", &job->form);
  if (job->form == JSON || job->form == TEXT) arguments->answers = ATTN2C_ANSWERS_TEXT;
  if (job->form == SRT) arguments->answers = ATTN2C_ANSWERS_SRT;
  if (job->form == VTT) arguments->answers = ATTN2C_ANSWERS_VTT;
  attn2c_request_word(&r, "stream", "false", &streams);
  attn2c_request_lacks_each(&r, lacking);
  read_granularities(&r, job);
  attn2c_request_word(&r, "vad_filter", "false or true", &arguments->vad);
  if (!&attn2c_the_speech) {
    attn2c_request_lacks_each(&r, lacking_without_languages);
  } else {
    const char *prompt = "";
    read_temperature(&r, arguments);
    attn2c_request_text(&r, "prompt", &prompt);
    attn2c_request_text(&r, "language", &generate->language);
    if (generate->language && !*generate->language) generate->language = NULL;
    generate->task = task;
    if (attn2c_request_word(&r, "task", task ? "translate" : "transcribe or translate", &asked) && !task)
      generate->task = ATTN2C_TASK_TRANSCRIBE + asked;
    if (attn2c_request_word(&r, "condition_on_previous_text", "false or true", &asked))
      generate->goes_on = asked ? 1 : 2;
    attn2c_request_word(&r, "carry_initial_prompt", "false or true", &generate->carries);
    if (generate->carries && !*prompt)
      attn2c_request_fail(&r, 400, "carry_initial_prompt", NULL, "%s",
                          "carry_initial_prompt: goes with prompt, which each window then goes on from");
    generate->timestamps = job->form == VERBOSE;
    job->words[0] = (attn2c_text_word){ATTN2C_TEXT_STRING, prompt, "--prompt"};
    arguments->texts = job->words, arguments->text_count = *prompt != '\0';
  }
  job->reply = reply;
  if (job->form == VERBOSE) job->measure = attn2c_sound_seconds;
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
