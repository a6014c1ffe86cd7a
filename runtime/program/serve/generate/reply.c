/* reply.c - the replies to requests for texts: one JSON object, or events while the texts come. */
#include <math.h>

#include "program/answers/answers.h"
#include "program/serve/generate/generate.h"

/* The news of an answer at one moment. */
typedef struct {
  const attn2c_asked *answer;
  json_t *text, *reasoning, *calls, *logs; /* NULL: nothing new */
  attn2c_end end;
} news;

static const char *reason_of(const news *n) {
  return n->end == ATTN2C_END_COUNT || n->end == ATTN2C_END_CONTEXT ? "length"
         : n->answer->read.calls > 0                                ? "tool_calls"
                                                                    : "stop";
}

/* The bytes that a token adds to a text, or the name of a special one. */
typedef struct {
  const char *bytes;
  size_t length;
  int is_special;
} token_text;

/* is_first: at the beginning of the text. */
static token_text text_of(const attn2c_serve_generate *g, int32_t id, int is_first) {
  const attn2c_tokenizer *tokenizer = g->written ? g->written : g->tokenizer;
  token_text t = {"", 0, 0};
  const int status = attn2c_text_pieces_of(tokenizer) != ATTN2C_TEXT_PIECES_NONE
                         ? attn2c_text_piece(g->showing, id, is_first, &t.bytes, &t.length)
                         : attn2c_text_decode(g->showing, &id, 1, 1, &t.bytes, &t.length);
  if (status == ATTN2C_OK && t.length > 0) return t;
  if (is_first && !text_of(g, id, 0).is_special) return (token_text){"", 0, 0}; /* a blank that is left out */
  const char *name = attn2c_text_token(tokenizer, id, &t.length);
  return (token_text){name ? name : "", name ? t.length : 0, 1};
}

static json_t *chat_token(const attn2c_serve_generate *g, int32_t id, float log_probability) {
  const token_text t = text_of(g, id, 0);
  json_t *bytes = json_array();
  for (size_t i = 0; i < t.length; i++) json_array_append_new(bytes, json_integer((unsigned char)t.bytes[i]));
  return json_pack("{s:o, s:o, s:o}", "token", attn2c_json_text(t.bytes, t.length), "logprob",
                   attn2c_json_number((double)log_probability), "bytes", bytes);
}

/* Returns the log-probabilities of tokens from number `first` on, in the form of chats. */
static json_t *chat_logs(const attn2c_serve_generate *g, const attn2c_asked *answer, size_t first) {
  json_t *list = json_array();
  for (size_t i = first; i < answer->token_count; i++) {
    const attn2c_asked_token *token = &answer->tokens[i];
    json_t *one = chat_token(g, token->id, token->log_probability), *tops = json_array();
    for (int32_t k = 0; k < token->tops; k++) {
      const attn2c_top_token *top = &answer->tops[token->first + k];
      json_array_append_new(tops, chat_token(g, top->id, top->log_probability));
    }
    json_object_set_new(one, "top_logprobs", tops);
    json_array_append_new(list, one);
  }
  return json_pack("{s:o, s:n}", "content", list, "refusal");
}

/* Returns the number of characters in `length` bytes. */
static json_int_t characters(const char *text, size_t length) {
  json_int_t count = 0;
  for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
  return count;
}

/* Returns the name of a token in the form of completions. A part of a character is "bytes:\\xe2". */
static json_t *name_of(token_text t) {
  static const char begin[] = "bytes:";
  json_t *name = json_stringn(t.bytes, t.length); /* NULL: no UTF-8 */
  ATTN2C_OWN char *shown = name ? NULL : malloc(sizeof begin + 4 * t.length);
  if (!shown) return name;
  char *at = shown + sprintf(shown, "%s", begin);
  for (size_t i = 0; i < t.length; i++) at += sprintf(at, "\\x%02x", (unsigned char)t.bytes[i]);
  return json_string(shown);
}

/* True if an answer's first token begins its text: it is of the prompt, or after one without text. */
static int begins_text(const attn2c_serve_generate *g, const attn2c_asked *answer) {
  int is_first = 1;
  for (int32_t i = 0; i < answer->prompt_count && is_first && !answer->ask->echo; i++)
    is_first = text_of(g, answer->prompt[i], 1).is_special;
  return is_first;
}

/* Does the same in the form of completions. */
static json_t *completion_logs(const attn2c_serve_generate *g, const attn2c_asked *answer, size_t first) {
  json_t *tokens = json_array(), *numbers = json_array(), *lists = json_array(), *places = json_array();
  const attn2c_ask *ask = answer->ask;
  const char *prompt = ask->texts[answer->number / ask->n];
  const size_t of_prompt = ask->echo ? (size_t)answer->prompt_count : 0;
  const json_int_t before = ask->echo && prompt ? characters(prompt, strlen(prompt)) : 0;
  json_int_t place = 0;
  int is_first = first == 0 && begins_text(g, answer);
  for (size_t i = first; i < answer->token_count; i++) {
    const attn2c_asked_token *token = &answer->tokens[i];
    json_t *tops = isnan(token->log_probability) ? json_null() : json_object();
    for (int32_t k = 0; k < token->tops; k++) {
      const attn2c_top_token *top = &answer->tops[token->first + k];
      json_t *name = name_of(text_of(g, top->id, is_first));
      if (name)
        json_object_set_new(tops, json_string_value(name), attn2c_json_number((double)top->log_probability));
      json_decref(name);
    }
    const token_text text = text_of(g, token->id, is_first);
    const size_t at = token->at < answer->length ? token->at : answer->length;
    json_array_append_new(places,
                          json_integer(i < of_prompt ? place : before + characters(answer->text, at)));
    json_array_append_new(tokens, name_of(text));
    if (!text.is_special) is_first = 0, place += characters(text.bytes, text.length);
    json_array_append_new(numbers, attn2c_json_number((double)token->log_probability));
    json_array_append_new(lists, tops);
  }
  return json_pack("{s:o, s:o, s:o, s:o}", "tokens", tokens, "token_logprobs", numbers, "top_logprobs", lists,
                   "text_offset", places);
}

/* Takes the calls of an answer, and the text around them. */
static void take_calls(news *n, attn2c_asked *answer) {
  const attn2c_ask *ask = answer->ask;
  const size_t capacity = answer->length - answer->read.at + 1;
  ATTN2C_OWN char *both = malloc(2 * capacity);
  attn2c_tool_news new = {.content = both, .reasoning = both ? both + capacity : NULL, .calls = json_array()};
  if (both && new.calls)
    attn2c_tools_take(&ask->tools, ask->seed + (uint64_t)answer->number, answer->text, answer->length,
                      n->end != ATTN2C_END_NONE, &answer->read, &new);
  if (new.content_length > 0) n->text = attn2c_json_text(new.content, new.content_length);
  if (new.reasoning_length > 0) n->reasoning = attn2c_json_text(new.reasoning, new.reasoning_length);
  n->calls = json_array_size(new.calls) > 0 ? json_incref(new.calls) : NULL;
  json_decref(new.calls);
}

/* Takes what is new of an answer. Called with the engine's lock. */
static news take_news(const attn2c_serve_generate *g, attn2c_asked *answer) {
  const attn2c_ask *ask = answer->ask;
  news n = {.answer = answer, .end = answer->end};
  const char *prompt = ask->echo && !answer->is_begun ? ask->texts[answer->number / ask->n] : NULL;
  const size_t length = answer->length - answer->shown;
  if (prompt && (length > 0 || n.end != ATTN2C_END_NONE)) {
    const size_t before = strlen(prompt);
    char *both = malloc(before + length + 1);
    if (both) {
      memcpy(both, prompt, before);
      if (length) memcpy(both + before, answer->text + answer->shown, length);
      n.text = attn2c_json_text(both, before + length);
    }
    free(both);
    answer->is_begun = 1;
  } else if (ask->tools.form) {
    take_calls(&n, answer);
  } else if (length > 0) {
    n.text = attn2c_json_text(answer->text + answer->shown, length);
  }
  answer->shown = answer->length;
  if (ask->top >= 0 && answer->token_count > answer->shown_tokens &&
      (n.text || n.reasoning || n.calls || n.end != ATTN2C_END_NONE)) {
    n.logs = (ask->is_chat ? chat_logs : completion_logs)(g, answer, answer->shown_tokens);
    answer->shown_tokens = answer->token_count;
  }
  return n;
}

static json_t *usage_of(const attn2c_ask *ask) {
  json_int_t read = (json_int_t)ask->id_count, written = 0, kept = 0;
  for (int32_t i = 0; i < ask->answer_count; i++) {
    written += ask->answers[i].written;
    kept += i % ask->n ? 0 : ask->answers[i].kept;
  }
  return json_pack("{s:I, s:I, s:I, s:{s:I}}", "prompt_tokens", read, "completion_tokens", written,
                   "total_tokens", read + written, "prompt_tokens_details", "cached_tokens", kept);
}

/* Returns a reply or an event without its choices. */
static json_t *frame(const attn2c_ask *ask, json_t *choices) {
  const char *object = !ask->is_chat      ? "text_completion"
                       : ask->is_streamed ? "chat.completion.chunk"
                                          : "chat.completion";
  return json_pack("{s:s, s:s, s:I, s:s, s:o}", "id", ask->id, "object", object, "created",
                   (json_int_t)ask->created, "model", attn2c_served_name(ask->job.server, ask->adapter),
                   "choices", choices);
}

/* Returns what is new of a message that is streamed. */
static json_t *delta_of(const news *n, json_t *text) {
  json_t *delta = json_object(), *call;
  size_t i;
  if (text) json_object_set_new(delta, "content", text);
  if (n->reasoning) json_object_set_new(delta, "reasoning_content", n->reasoning);
  json_array_foreach(n->calls, i, call) json_object_set_new(
      call, "index", json_integer(n->answer->read.calls - (json_int_t)(json_array_size(n->calls) - i)));
  if (n->calls) json_object_set_new(delta, "tool_calls", n->calls);
  return delta;
}

/* Writes an event about an answer: a part of its text, or why it has ended. */
static void write_choice(attn2c_ask *ask, const news *n, json_t *text, json_t *logs, const char *reason,
                         int is_first) {
  json_t *part;
  if (!ask->is_chat)
    part =
        json_pack("{s:i, s:o, s:o, s:s?}", "index", n->answer->number, "text", text ? text : json_string(""),
                  "logprobs", logs ? logs : json_null(), "finish_reason", reason);
  else
    part =
        json_pack("{s:i, s:o, s:o, s:s?}", "index", n->answer->number, "delta",
                  is_first ? json_pack("{s:s, s:s}", "role", "assistant", "content", "") : delta_of(n, text),
                  "logprobs", logs ? logs : json_null(), "finish_reason", reason);
  json_t *event = frame(ask, json_pack("[o]", part));
  if (ask->with_usage && event) json_object_set_new(event, "usage", json_null());
  attn2c_serve_event(ask->job.exchange, event);
}

/* Writes an error as the last event. */
static void write_fault(attn2c_ask *ask, const char *fault) {
  ATTN2C_OWN char *text = attn2c_serve_error(ask->job.exchange, 500, NULL, NULL, fault);
  json_t *event = text ? json_loads(text, 0, NULL) : NULL;
  attn2c_serve_event(ask->job.exchange, event);
}

static void begin_stream(attn2c_ask *ask) {
  if (ask->job.exchange->status) return;
  attn2c_http_begin(ask->job.exchange, 200, "text/event-stream");
  for (int32_t i = 0; i < ask->answer_count && ask->is_chat && ask->job.exchange; i++) {
    const news first = {.answer = &ask->answers[i]};
    write_choice(ask, &first, NULL, NULL, NULL, 1);
  }
}

/* Writes what is new of all answers as events. */
static void write_news(attn2c_ask *ask) {
  const attn2c_serve_generate *g = ask->job.server->generate;
  for (int32_t i = 0; i < ask->answer_count; i++) {
    attn2c_asked *answer = &ask->answers[i];
    if (answer->is_ended) continue;
    attn2c_engine_lock(ask->job.server->engine);
    news n = take_news(g, answer);
    attn2c_engine_unlock(ask->job.server->engine);
    if (n.text || n.reasoning || n.calls || n.logs) write_choice(ask, &n, n.text, n.logs, NULL, 0);
    n.calls = n.reasoning = NULL;
    if (n.end == ATTN2C_END_NONE) continue;
    answer->is_ended = 1;
    if (n.end == ATTN2C_END_FAULT)
      write_fault(ask, answer->fault);
    else
      write_choice(ask, &n, NULL, NULL, reason_of(&n), 0);
  }
}

void attn2c_ask_told(attn2c_job *job) {
  attn2c_ask *ask = (attn2c_ask *)job;
  if (!job->exchange || !ask->is_streamed) return;
  begin_stream(ask);
  write_news(ask);
  atomic_store(&job->is_behind, attn2c_http_is_behind(job->exchange));
}

static void end_stream(attn2c_ask *ask) {
  begin_stream(ask);
  write_news(ask);
  if (ask->with_usage) {
    json_t *event = frame(ask, json_array());
    json_object_set_new(event, "usage", usage_of(ask));
    attn2c_serve_event(ask->job.exchange, event);
  }
  attn2c_http_write(ask->job.exchange, "data: [DONE]\n\n", 14);
  attn2c_http_end(ask->job.exchange);
}

/* Returns an answer of a whole reply. */
static json_t *choice_of(const attn2c_ask *ask, const news *n) {
  json_t *text = n->text    ? n->text
                 : n->calls ? json_null()
                            : json_string(""),
         *logs = n->logs ? n->logs : json_null();
  if (!ask->is_chat)
    return json_pack("{s:i, s:o, s:o, s:s}", "index", n->answer->number, "text", text, "logprobs", logs,
                     "finish_reason", reason_of(n));
  json_t *message = json_pack("{s:s, s:o, s:n}", "role", "assistant", "content", text, "refusal");
  if (n->reasoning) json_object_set_new(message, "reasoning_content", n->reasoning);
  if (n->calls) json_object_set_new(message, "tool_calls", n->calls);
  return json_pack("{s:i, s:o, s:o, s:s}", "index", n->answer->number, "message", message, "logprobs", logs,
                   "finish_reason", reason_of(n));
}

void attn2c_ask_done(attn2c_job *job) {
  attn2c_ask *ask = (attn2c_ask *)job;
  const char *fault = NULL;
  if (!job->exchange) return;
  for (int32_t i = 0; i < ask->answer_count; i++) {
    job->exchange->written_tokens += ask->answers[i].written;
    if (ask->answers[i].end == ATTN2C_END_FAULT) fault = ask->answers[i].fault;
  }
  if (ask->is_streamed) {
    end_stream(ask);
    return;
  }
  if (fault) {
    attn2c_serve_refuse(job->exchange, 500, NULL, NULL, "%s", fault);
    return;
  }
  json_t *choices = json_array();
  for (int32_t i = 0; i < ask->answer_count; i++) {
    const news n = take_news(job->server->generate, &ask->answers[i]);
    json_array_append_new(choices, choice_of(ask, &n));
  }
  const int failed = json_array_size(choices) < (size_t)ask->answer_count;
  json_t *reply = frame(ask, choices);
  attn2c_serve_reply(job->exchange, 200, reply, json_object_set_new(reply, "usage", usage_of(ask)) || failed);
}
