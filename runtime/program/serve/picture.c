/* picture.c - the routes of models of pictures: labels, embeddings, and what a model writes about a picture.
 */
#include "program/serve/generate/generate.h"
#include "program/serve/media.h"

#include <time.h>

static int is_embedding(void) { return attn2c_the_picture_facts->media->answer == ATTN2C_ANSWER_EMBEDDING; }

/* True if a picture is that of a text's page: the routes of texts take it. */
static int is_of_pages(const attn2c_server *server) {
  return server->model->text && server->model->text->image >= 0;
}

static int reads(const attn2c_server *server) { return !server->model->continued && !is_of_pages(server); }

static int embeds(const attn2c_server *server) { return reads(server) && is_embedding(); }

static int predicts(const attn2c_server *server) { return reads(server) && !is_embedding(); }

static int writes(const attn2c_server *server) { return server->model->continued && server->model->text; }

/* Reads the last message: a picture, and texts that the answer goes on from. */
static void read_messages(attn2c_request *r, attn2c_media_job *job) {
  const json_t *list = attn2c_request_field(r, "messages"),
               *last = json_array_get(list, json_array_size(list) - 1),
               *parts = json_object_get(last, "content");
  json_t *prompt = json_string(""), *part;
  size_t i;
  json_array_foreach(parts, i, part) {
    const char *text = json_string_value(json_object_get(part, "text"));
    if (!text && !r->failed) attn2c_media_add_picture(r, job, "messages.content", part);
    if (!text) continue;
    attn2c_request_ignore_others(r->exchange, "content", part, "type text cache_control");
    json_t *longer = json_sprintf("%s%s", json_string_value(prompt), text);
    json_decref(prompt);
    prompt = longer;
  }
  if (job->count != 1)
    attn2c_request_refuse(
        r, "messages", list,
        "a last message is needed with a list of parts, of which one is "
        "{\"type\": \"image_url\", \"image_url\": {\"url\": \"data:image/png;base64,...\"}}");
  json_object_set_new(job->given, "prompt", prompt);
}

/* Returns the reply to a chat, or the events of one that is streamed: its beginning, its text and its end. */
static json_t *chat_of(const attn2c_media_job *job, const char *member, json_t *message, const char *reason) {
  char id[48];
  const attn2c_server *server = job->job.server;
  snprintf(id, sizeof id, "chatcmpl-%llx-%llx", (unsigned long long)server->started,
           (unsigned long long)server->generate->asks);
  return json_pack("{s:s, s:s, s:I, s:s, s:[{s:i, s:o, s:n, s:s?}]}", "id", id, "object",
                   *member == 'd' ? "chat.completion.chunk" : "chat.completion", "created",
                   (json_int_t)time(NULL), "model", attn2c_served_name(server, job->adapter), "choices",
                   "index", 0, member, message, "logprobs", "finish_reason", reason);
}

static void reply(attn2c_media_job *job) {
  attn2c_exchange *exchange = job->job.exchange;
  json_t *lines = attn2c_media_lines(job), *said = json_array_get(lines, 0);
  json_t *text = json_object_get(said, "text");
  const json_int_t read = json_integer_value(json_object_get(said, "prompt_tokens")),
                   written = (json_int_t)json_array_size(json_object_get(said, "ids"));
  const char *end = json_string_value(json_object_get(said, "end"));
  const char *reason = end && (strcmp(end, "tokens") == 0 || strcmp(end, "context") == 0) ? "length" : "stop";
  job->job.server->generate->asks++;
  exchange->read_tokens = read, exchange->written_tokens = written;
  if (json_is_true(json_object_get(job->given, "stream"))) {
    attn2c_http_begin(exchange, 200, "text/event-stream");
    attn2c_serve_event(
        exchange, chat_of(job, "delta", json_pack("{s:s, s:O}", "role", "assistant", "content", text), NULL));
    attn2c_serve_event(exchange, chat_of(job, "delta", json_object(), reason));
    attn2c_http_write(exchange, "data: [DONE]\n\n", 14);
    attn2c_http_end(exchange);
  } else {
    json_t *whole =
        chat_of(job, "message", json_pack("{s:s, s:O, s:n}", "role", "assistant", "content", text, "refusal"),
                reason);
    const int failed =
        json_object_set_new(whole, "usage",
                            json_pack("{s:I, s:I, s:I}", "prompt_tokens", read, "completion_tokens", written,
                                      "total_tokens", read + written));
    attn2c_serve_reply(exchange, 200, whole, failed);
  }
  json_decref(lines);
}

static void describe(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  static const char why[] = "a model of pictures writes by itself";
  static const attn2c_lacking lacking[] = {
      {"stop tools", NULL, why},
      {"tool_choice", "\"none\"", why},
      {"response_format", "{\"type\": \"text\"}", why},
      {"grammar json_schema logprobs", NULL, why},
      {"top_logprobs", "0", why},
      {"logit_bias", NULL, why},
      {"frequency_penalty presence_penalty", "0", why},
      {"repetition_penalty repeat_penalty", "1", why},
      {"dry_multiplier xtc_probability dynatemp_range mirostat", "0", why},
      {"typical_p", "1", why},
      {"samplers ignore_eos", NULL, why},
      {"top_k min_p", "0", why},
      {.names = NULL}};
  attn2c_request r;
  attn2c_media_job *job = attn2c_media_job_of(server, exchange, read_messages, &r);
  int64_t tokens = -1, one = 1, seed = 0;
  int streams;
  (void)given;
  if (!job) return;
  attn2c_generate_arguments *generate = &job->arguments.generate;
  const char *prompt = json_string_value(json_object_get(job->given, "prompt"));
  attn2c_request_lacks_each(&r, lacking);
  attn2c_request_integer(&r, "n", 1, 1, &one);
  attn2c_request_flag(&r, "stream", &streams);
  attn2c_request_integer(&r, "max_tokens", 1, INT32_MAX, &tokens);
  attn2c_request_integer(&r, "max_completion_tokens", 1, INT32_MAX, &tokens);
  generate->tokens = tokens;
  generate->temperature.is_given =
      attn2c_request_real(&r, "temperature", 0, 100, &generate->temperature.value);
  generate->greedy = generate->temperature.is_given && generate->temperature.value == 0;
  if (generate->greedy) generate->temperature.is_given = 0;
  generate->top_p.is_given =
      attn2c_request_real(&r, "top_p", 0, 1, &generate->top_p.value) && !generate->greedy;
  generate->has_seed =
      attn2c_request_integer(&r, "seed", INT64_MIN, INT64_MAX, &seed) && seed != -1 && !generate->greedy;
  generate->seed = (uint64_t)seed;
  job->words[0] = (attn2c_text_word){ATTN2C_TEXT_STRING, prompt, "--prompt"};
  job->arguments.texts = job->words, job->arguments.text_count = prompt && *prompt != '\0';
  job->reply = reply;
  attn2c_media_job_submit(server, &r, job);
}

static const attn2c_route routes[] = {
    {ATTN2C_HTTP_POST, "/v1/embeddings", attn2c_media_embed, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_BYTES, 0,
     embeds},
    {ATTN2C_HTTP_POST, "/predict", attn2c_media_predict, ATTN2C_ERRORS_TEI, ATTN2C_TAKES_BYTES, 0, predicts},
    {ATTN2C_HTTP_POST, "/v1/chat/completions", describe, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_BYTES, 0, writes},
    {0}};

static int open_part(attn2c_server *server, attn2c_message *message) {
  return is_of_pages(server) ? ATTN2C_OK : attn2c_media_open(server, message);
}

const attn2c_server_part ATTN2C_DEFINES(attn2c_server_picture) = {
    .open = open_part, .close = attn2c_media_close, .routes = routes, .most_body = (size_t)26 << 20};
