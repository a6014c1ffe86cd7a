/* ask.c - reads the fields of a request, as OpenAI's clients send them, with those that other
 * servers of open models have besides. Prompts become tokens here, before the request waits. */
#include "program/serve/generate/generate.h"

#include <math.h>
#include <time.h>

#include "generate/breakers.h"
#include "generate/dry.h"
#include "generate/stop.h"
#include "program/system.h"

enum { MOST_BIASES = 4096, MOST_BREAKERS = 64 };

void attn2c_ask_free(attn2c_ask *ask) {
  if (!ask) return;
  for (int32_t i = 0; i < ask->answer_count; i++) {
    ATTN2C_FREE(ask->answers[i].text, ask->answers[i].tokens, ask->answers[i].tops);
  }
  for (int i = 0; i < ask->stop_count; i++) free(ask->stops[i]);
  for (int i = 0; i < ATTN2C_ASK_PROMPTS; i++) free(ask->texts[i]);
  attn2c_grammar_use_free(ask->grammar);
  json_decref(ask->tools.list);
  ATTN2C_FREE(ask->stops, ask->answers, ask->ids, ask->bias_tokens, ask->biases, ask->breakers, ask->order,
              ask);
}

static void free_job(attn2c_job *job) { attn2c_ask_free((attn2c_ask *)job); }
void attn2c_ask_told(attn2c_job *job);
void attn2c_ask_done(attn2c_job *job);
const attn2c_job_kind attn2c_ask_kind = {.told = attn2c_ask_told, .done = attn2c_ask_done, .free = free_job};

static int take_stop(void *given, const char *text, size_t length) {
  attn2c_ask *ask = given;
  ATTN2C_TRY(ATTN2C_MORE(ask->stops, ask->stop_count));
  if (length == 0) return ATTN2C_OK; /* clients send it for none */
  ask->stops[ask->stop_count] = attn2c_copied(text, length);
  return ask->stops[ask->stop_count++] ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Reads {"ID": number}. */
static void read_biases(attn2c_request *r, attn2c_ask *ask, int32_t vocabulary) {
  json_t *given = r->failed ? NULL : (json_t *)attn2c_request_field(r, "logit_bias"), *value;
  const char *name;
  if (!given || (json_is_array(given) && json_array_size(given) == 0)) return; /* llama.cpp's for none */
  const size_t count = json_object_size(given);
  if (!json_is_object(given) || count > MOST_BIASES) {
    attn2c_request_refuse(r, "logit_bias", given, "an object of at most 4096 tokens and numbers is allowed");
    return;
  }
  ask->bias_tokens = calloc(count + 1, sizeof *ask->bias_tokens);
  ask->biases = calloc(count + 1, sizeof *ask->biases);
  if (!ask->bias_tokens || !ask->biases) {
    attn2c_request_no_memory(r);
    return;
  }
  json_object_foreach(given, name, value) {
    char *rest;
    const long id = *name >= '0' && *name <= '9' ? strtol(name, &rest, 10) : -1;
    const double bias = json_number_value(value);
    if (id < 0 || *rest || id >= vocabulary || !json_is_number(value) || fabs(bias) > 100) {
      attn2c_request_refuse(r, "logit_bias", value,
                            "a token's number in quotes with a number from -100 to 100 is allowed");
      return;
    }
    ask->bias_tokens[ask->sampling.bias_count] = (int32_t)id;
    ask->biases[ask->sampling.bias_count++] = bias == -100 ? -INFINITY : (float)bias;
  }
}

/* Adds a name to an order of samplers. */
static int take_sampler(void *given, const char *text, size_t length) {
  attn2c_ask *ask = given;
  const size_t before = ask->order ? strlen(ask->order) + 1 : 0;
  char *moved = realloc(ask->order, before + length + 1);
  if (!moved) return ATTN2C_MEMORY;
  if (before) moved[before - 1] = ';';
  memcpy(moved + before, text, length);
  moved[before + length] = '\0';
  ask->order = moved;
  return ATTN2C_OK;
}

/* The texts of dry_sequence_breakers. */
typedef struct {
  char *texts[MOST_BREAKERS];
  int count;
} breaker_texts;

static int take_breaker(void *given, const char *text, size_t length) {
  breaker_texts *b = given;
  if (length == 0) return ATTN2C_OK;
  b->texts[b->count] = attn2c_copied(text, length);
  return b->texts[b->count++] ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Reads DRY, by llama.cpp's names. */
static void read_dry(attn2c_request *r, attn2c_ask *ask, const attn2c_serve_generate *g) {
  static const char *const usual[] = {"\n", ":", "\"", "*"};
  attn2c_sampling *s = &ask->sampling;
  breaker_texts own = {.count = 0};
  int64_t allowed = s->dry_allowed_length, last = s->dry_last_n;
  attn2c_request_real(r, "dry_multiplier", 0, 1000, &s->dry_multiplier);
  attn2c_request_real(r, "dry_base", 1, 1000, &s->dry_base);
  attn2c_request_integer(r, "dry_allowed_length", 0, INT32_MAX, &allowed);
  attn2c_request_integer(r, "dry_penalty_last_n", -1, ATTN2C_DRY_MOST, &last);
  s->dry_allowed_length = (int32_t)allowed, s->dry_last_n = (int32_t)last;
  const int is_given = attn2c_request_field(r, "dry_sequence_breakers") != NULL;
  attn2c_request_texts(r, "dry_sequence_breakers", MOST_BREAKERS, take_breaker, &own);
  if (!r->failed && s->dry_multiplier > 0) {
    const int status = attn2c_dry_breakers(g->showing, g->calls.vocabulary,
                                           is_given ? (const char *const *)own.texts : usual,
                                           is_given ? own.count : 4, &ask->breakers, &s->dry_breaker_count);
    if (status == ATTN2C_MEMORY) attn2c_request_no_memory(r);
    if (status == ATTN2C_FORMAT)
      attn2c_request_refuse(r, "dry_sequence_breakers", attn2c_request_field(r, "dry_sequence_breakers"),
                            "texts that the tokenizer can encode are allowed");
    s->dry_breakers = ask->breakers;
  }
  for (int i = 0; i < own.count; i++) free(own.texts[i]);
}

/* Reads llama.cpp's other options. Returns 1 if one is given that draws. */
static int read_chain(attn2c_request *r, attn2c_ask *ask) {
  attn2c_sampling *s = &ask->sampling;
  int64_t mirostat = 0;
  int asks = attn2c_request_real(r, "top_n_sigma", -1, 1000, &s->top_n_sigma);
  if (s->top_n_sigma < 0) s->top_n_sigma = 0; /* llama.cpp's default */
  asks |= attn2c_request_real(r, "typical_p", 0, 1, &s->typical_p);
  asks |= attn2c_request_real(r, "xtc_probability", 0, 1, &s->xtc_probability);
  attn2c_request_real(r, "xtc_threshold", 0, 1, &s->xtc_threshold);
  asks |= attn2c_request_real(r, "dynatemp_range", 0, 100, &s->dynatemp_range);
  attn2c_request_real(r, "dynatemp_exponent", 0, 100, &s->dynatemp_exponent);
  asks |= attn2c_request_integer(r, "mirostat", 0, 2, &mirostat);
  attn2c_request_real(r, "mirostat_tau", 0, 1000, &s->mirostat_tau);
  attn2c_request_real(r, "mirostat_eta", 0, 1000, &s->mirostat_eta);
  s->mirostat = (int32_t)mirostat;
  asks |= attn2c_request_texts(r, "samplers", ATTN2C_STEPS, take_sampler, ask) > 0;
  s->sampler_order = ask->order;
  return asks;
}

/* Reads how tokens are chosen. Other options are as the model's folder says, as for the command generate.
 */
static void read_sampling(attn2c_request *r, attn2c_ask *ask, const attn2c_generation *stated,
                          const attn2c_serve_generate *g) {
  attn2c_sampling *s = &ask->sampling;
  double temperature = stated->temperature, top_p = stated->top_p, min_p = stated->min_p;
  int64_t top_k = stated->top_k, seed = 0;
  int ignores_end = 0;
  const int has_temperature = attn2c_request_real(r, "temperature", 0, 100, &temperature);
  const int has_seed = attn2c_request_integer(r, "seed", INT64_MIN, INT64_MAX, &seed) && seed != -1;
  int asks = has_seed;
  asks |= attn2c_request_real(r, "top_p", 0, 1, &top_p);
  asks |= attn2c_request_real(r, "min_p", 0, 1, &min_p);
  asks |= attn2c_request_integer(r, "top_k", -1, INT32_MAX, &top_k);
  *s = attn2c_sampling_defaults();
  asks |= read_chain(r, ask);
  const int is_drawn = has_temperature ? temperature > 0 : asks || stated->is_drawn;
  read_dry(r, ask, g);
  s->greedy = !is_drawn;
  s->repetition_penalty = is_drawn || !stated->is_usual ? stated->repetition_penalty : 1;
  attn2c_request_real(r, attn2c_request_either(r, "repetition_penalty", "repeat_penalty"), 0.01, 100,
                      &s->repetition_penalty);
  attn2c_request_real(r, "presence_penalty", -100, 100, &s->presence_penalty);
  attn2c_request_real(r, "frequency_penalty", -100, 100, &s->frequency_penalty);
  const attn2c_lacking window[] = {{"repeat_last_n", "-1", "penalties look at all tokens, as -1 says"},
                                   {.names = NULL}};
  if (s->repetition_penalty != 1 || s->presence_penalty != 0 || s->frequency_penalty != 0)
    attn2c_request_lacks_each(r, window);
  attn2c_request_flag(r, "ignore_eos", &ignores_end);
  if (!ignores_end) s->stop_tokens = stated->stop_tokens, s->stop_count = stated->stop_count;
  if (!is_drawn) {
    const attn2c_sampling usual = attn2c_sampling_defaults();
    s->top_n_sigma = usual.top_n_sigma, s->typical_p = usual.typical_p, s->mirostat = usual.mirostat;
    s->xtc_probability = usual.xtc_probability, s->dynatemp_range = usual.dynatemp_range;
    s->sampler_order = NULL;
    return;
  }
  if (s->mirostat && !attn2c_request_field(r, "top_p")) top_p = 1;
  if (s->mirostat && !attn2c_request_field(r, "min_p")) min_p = 0;
  s->temperature = temperature, s->top_p = top_p, s->min_p = min_p, s->top_k = top_k < 0 ? 0 : top_k;
  s->seed = (uint64_t)seed;
  if (!has_seed && !attn2c_program_random(&s->seed, sizeof s->seed)) s->seed = (uint64_t)ask->created;
}

/* Reads how many tokens an answer may have: from 1, or -1 for no limit. */
static void read_limit(attn2c_request *r, const char *name, int64_t *tokens) {
  if (attn2c_request_integer(r, name, -1, INT32_MAX, tokens) && *tokens == 0)
    attn2c_request_fail(r, 400, name, NULL,
                        "%s: 0, but a whole number from 1, or -1 for no limit, is allowed", name);
}

/* Replies with a fault "OPTION: ..." under the name of the option's field. */
static void fail_by_name(attn2c_request *r, int status, char *fault) {
  static const char *const others[][2] = {{"sampler_order", "samplers"},
                                          {"dry_breakers", "dry_sequence_breakers"}};
  char *rest = strchr(fault, ':');
  const char *name = rest ? fault : NULL;
  if (rest) *rest = '\0';
  for (size_t i = 0; i < sizeof others / sizeof *others && name; i++)
    if (strcmp(name, others[i][0]) == 0) name = others[i][1];
  attn2c_request_fail(r, status == ATTN2C_MEMORY ? 503 : 400, name, NULL, "%s%s%s", name ? name : fault,
                      rest ? ":" : "", rest ? rest + 1 : "");
}

/* Fields of OpenAI, vLLM, llama.cpp and others that are not supported and would change an answer. */
static const attn2c_lacking lacking[] = {
    {"functions", NULL, "tools are"},
    {"function_call", "\"none\"", "tool_choice is"},
    {.names = "suffix audio"},
    {.names = "verbosity", .usual = "\"medium\""},
    {.names = "web_search_options"},
    {"guided_json", NULL, "response_format is"},
    {"guided_regex guided_choice guided_grammar", NULL, "grammar is"},
    {"structured_outputs", NULL, "response_format is"},
    {"regex ebnf", NULL, "grammar is"},
    {.names = "stop_token_ids allowed_token_ids bad_words logits_processors"},
    {.names = "min_tokens", .usual = "0"},
    {.names = "length_penalty", .usual = "1"},
    {.names =
         "use_beam_search prompt_embeds prompt_logprobs truncate_prompt_tokens include_stop_str_in_output"},
    {.names = "skip_special_tokens spaces_between_special_tokens", .usual = "true"},
    {.names = "return_token_ids return_tokens return_tokens_as_token_ids response_fields"},
    {"n_probs", "0", "logprobs are"},
    {.names = "post_sampling_probs"},
    {.names = "min_keep n_indent t_max_predict_ms", .usual = "0"},
    {.names = "adaptive_target", .usual = "-1"},
    {.names = "tfs tfs_z typical num_beams n_cmpl", .usual = "1"},
    {.names = "top_a epsilon_cutoff eta_cutoff penalty_alpha smoothing_factor no_repeat_ngram_size",
     .usual = "0"},
    {.names = "lora lora_path image_data images input_ids input_embeds prefix prefill"},
    {"max_new_tokens max_length num_predict", NULL, "max_tokens is"},
    {"do_sample", "null", "temperature is"},
    {"random_seed", NULL, "seed is"},
    {.names = "safe_prompt prompt_mode tool_prompt penalize_nl return_full_text transforms"},
    {"context_length_exceeded_behavior", "\"error\"", NULL},
    {"mirostat_target mirostat_lr", NULL, "mirostat_tau and mirostat_eta are"},
    {"format json_mode", NULL, "response_format is"},
    {.names = "system template raw stop_regex no_stop_trim custom_logit_processor vllm_xargs watermark"},
    {.names = "return_hidden_states details decoder_input_details repetition_detection moderation"},
    {.names = "separate_reasoning include_reasoning parse_tool_calls", .usual = "true"},
    {"thinking_budget thinking_token_budget thinking_budget_tokens reasoning_budget", "-1",
     "enable_thinking is"},
    {"options", NULL, "its members are, as fields of the request"},
    {"think", "true", "enable_thinking is"},
    {"thinking", NULL, "enable_thinking is"},
    {"reasoning", NULL, "reasoning_effort is"},
    {.names = NULL}};
/* Besides, in a chat; and in a completion. */
static const attn2c_lacking lacking_in_chats[] = {
    {"prompt", NULL, "messages are"},
    {.names = "echo add_special_tokens chat_template continue_final_message documents"},
    {.names = NULL}};
static const attn2c_lacking lacking_in_completions[] = {{"messages", NULL, "prompt is"},
                                                        {.names = "tools"},
                                                        {"top_logprobs", NULL, "logprobs are, with a number"},
                                                        {.names = "add_special_tokens", .usual = "true"},
                                                        {.names = NULL}};

/* Refuses what is asked for and not there, by its name. */
static void refuse_others(attn2c_request *r, int is_chat) {
  attn2c_request_lacks_each(r, lacking);
  attn2c_request_lacks_each(r, is_chat ? lacking_in_chats : lacking_in_completions);
  const json_t *kinds = attn2c_request_field(r, "modalities");
  for (size_t i = 0; i < json_array_size(kinds); i++) {
    const char *kind = json_string_value(json_array_get(kinds, i));
    if (!kind || strcmp(kind, "text") != 0)
      attn2c_request_refuse(r, "modalities", kinds, "[\"text\"] is allowed");
  }
}

/* The form of answers that a request asks for: GBNF, or a JSON schema. */
typedef struct {
  const char *name; /* of the field; NULL: none is given */
  const char *text;
  const json_t *schema;
} asked_form;

/* Reads response_format, and the fields grammar and json_schema of llama.cpp. */
static asked_form read_form(attn2c_request *r, json_t *any_object) {
  const json_t *format = attn2c_request_field(r, "response_format"),
               *of = json_object_get(format, "json_schema");
  const json_t *grammar = attn2c_request_field(r, "grammar"),
               *schema = attn2c_request_field(r, "json_schema");
  const char *type = json_string_value(json_object_get(format, "type"));
  asked_form form = {.name = NULL};
  int count = 0;
  if (format &&
      (!type || (strcmp(type, "text") && strcmp(type, "json_object") && strcmp(type, "json_schema"))))
    attn2c_request_refuse(r, "response_format", format,
                          "a type of text, json_object or json_schema is allowed");
  if (type && strcmp(type, "json_object") == 0) {
    const json_t *given = json_object_get(format, "schema");
    form = (asked_form){"response_format.schema", NULL, given ? given : any_object};
    count++;
  } else if (type && strcmp(type, "json_schema") == 0) {
    form = (asked_form){"response_format.json_schema.schema", NULL, json_object_get(of, "schema")};
    if (!form.schema)
      attn2c_request_refuse(r, "response_format", format, "json_schema with a schema is expected");
    count++;
  }
  if (grammar && json_is_string(grammar) && json_string_length(grammar) == 0) grammar = NULL; /* for none */
  if (grammar && !json_is_string(grammar))
    attn2c_request_refuse(r, "grammar", grammar, "a text in GBNF is allowed");
  if (grammar) form = (asked_form){"grammar", json_string_value(grammar), NULL}, count++;
  if (schema) form = (asked_form){"json_schema", NULL, schema}, count++;
  attn2c_request_ignore_others(r->exchange, "response_format", format,
                               type && strcmp(type, "json_object") == 0   ? "type schema"
                               : type && strcmp(type, "json_schema") == 0 ? "type json_schema"
                                                                          : "type");
  attn2c_request_ignore_others(r->exchange, "json_schema", of, "name description schema strict");
  if (count > 1)
    attn2c_request_refuse(r, grammar ? "grammar" : "json_schema", grammar ? grammar : schema,
                          "one of response_format, grammar and json_schema is allowed");
  return form;
}

/* Makes the form of an answer that must be calls; *text: to free. */
static int read_calls(attn2c_request *r, const attn2c_ask *ask, asked_form *form, char **text,
                      attn2c_message *message) {
  if (r->failed || !ask->tools.is_forced) return ATTN2C_OK;
  if (form->name)
    attn2c_request_refuse(r, "tool_choice", attn2c_request_field(r, "tool_choice"),
                          "response_format, grammar and json_schema do not go with required calls");
  char why[500] = "";
  attn2c_message said = attn2c_message_make(why, sizeof why);
  const int status = r->failed ? ATTN2C_OK : attn2c_tools_grammar(&ask->tools, text, &said);
  *form = (asked_form){"tools", *text, NULL};
  return status == ATTN2C_OK ? status : attn2c_fail(message, status, "tools: %s", why);
}

/* Finds or makes the grammar of a form, whose text it takes. */
static int find_grammar(attn2c_server *server, const asked_form *form, char *text, attn2c_grammar_use **use,
                        attn2c_message *message) {
  attn2c_serve_generate *g = server->generate;
  attn2c_known_grammar *oldest = &g->known[0];
  for (int i = 0; i < ATTN2C_KNOWN_GRAMMARS; i++) {
    attn2c_known_grammar *k = &g->known[i];
    if (k->used < oldest->used) oldest = k;
    if (!k->text || k->is_schema != (form->schema != NULL) || strcmp(k->text, text) != 0) continue;
    k->used = g->asks;
    *use = attn2c_grammar_use_share(k->use);
    free(text);
    return ATTN2C_OK;
  }
  const attn2c_grammar_place place = {g->vocabulary, server->model->continued->generation, g->calls.sequences,
                                      g->calls.tokens};
  const int status = attn2c_grammar_use_create(form->text, form->schema, form->name, &place, use, message);
  if (status != ATTN2C_OK) {
    free(text);
    return status;
  }
  attn2c_grammar_use_free(oldest->use);
  free(oldest->text);
  *oldest = (attn2c_known_grammar){text, form->schema != NULL, attn2c_grammar_use_share(*use), g->asks};
  return ATTN2C_OK;
}

/* Reads the grammar of a request's answers. */
static void read_grammar(attn2c_server *server, attn2c_request *r, attn2c_ask *ask) {
  attn2c_serve_generate *g = server->generate;
  json_auto_t *any_object = json_pack("{s:s}", "type", "object");
  asked_form form = read_form(r, any_object);
  char faults[600] = "", *text = NULL, *calls = NULL;
  attn2c_message said = attn2c_message_make(faults, sizeof faults);
  int status = any_object ? ATTN2C_OK : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = read_calls(r, ask, &form, &calls, &said);
  if (form.name && !r->failed) {
    if (status == ATTN2C_OK)
      text = form.schema ? json_dumps(form.schema, JSON_ENCODE_ANY | JSON_COMPACT)
                         : attn2c_copied(form.text, strlen(form.text));
    if (status == ATTN2C_OK && !text) status = ATTN2C_MEMORY;
    if (status == ATTN2C_OK && !g->vocabulary)
      status = attn2c_vocabulary_create(g->written ? g->written : g->tokenizer, g->calls.vocabulary,
                                        form.name, &g->vocabulary, &said);
    if (status == ATTN2C_OK)
      status = find_grammar(server, &form, text, &ask->grammar, &said);
    else
      free(text);
    if (status == ATTN2C_MEMORY) attn2c_request_no_memory(r);
    faults[strcspn(faults, "\n")] = '\0';
    if (status != ATTN2C_OK) attn2c_request_fail(r, 400, form.name, NULL, "%s", faults);
  }
  free(calls);
}

/* Reads the languages of a source and its answer. */
static void read_languages(attn2c_server *server, attn2c_request *r, attn2c_ask *ask) {
  const json_t *prompt = attn2c_request_field(r, "prompt");
  const json_t *first = json_is_array(prompt) ? json_array_get(prompt, 0) : prompt;
  attn2c_asked_languages asked = {NULL, NULL, "source_language", "target_language",
                                  json_is_string(first) ? NULL : "prompts that are texts"};
  char why[4000] = "";
  attn2c_message said = attn2c_message_make(why, sizeof why);
  attn2c_request_text(r, asked.source_name, &asked.source);
  attn2c_request_text(r, asked.target_name, &asked.target);
  if (!server->generate->calls.encode) {
    attn2c_request_lacks(r, asked.source_name, "the model has no sources");
    attn2c_request_lacks(r, asked.target_name, "the model has no sources");
  }
  if (r->failed ||
      attn2c_find_languages(server->generate->tokenizer, &asked, &ask->languages, &said) == ATTN2C_OK)
    return;
  const int is_of_source = strncmp(why, asked.source_name, strlen(asked.source_name)) == 0;
  attn2c_request_fail(r, 400, is_of_source ? asked.source_name : asked.target_name, NULL, "%s", why);
}

/* Reads which log-probabilities are asked for. */
static void read_top(attn2c_request *r, attn2c_ask *ask) {
  int64_t top = -1;
  int is_asked = 0;
  ask->top = -1;
  if (!ask->is_chat) {
    if (json_is_false(attn2c_request_field(r, "logprobs"))) return;
    if (attn2c_request_integer(r, "logprobs", 0, ATTN2C_ASK_TOP, &top)) ask->top = (int)top;
    return;
  }
  attn2c_request_flag(r, "logprobs", &is_asked);
  const int has_top = attn2c_request_integer(r, "top_logprobs", 0, ATTN2C_ASK_TOP, &top);
  if (has_top && top > 0 && !is_asked)
    attn2c_request_refuse(r, "top_logprobs", attn2c_request_field(r, "top_logprobs"),
                          "it goes with \"logprobs\": true");
  if (is_asked) ask->top = has_top ? (int)top : 0;
}

/* Reads stream and stream_options. */
static void read_stream(attn2c_request *r, attn2c_ask *ask) {
  const json_t *options = attn2c_request_field(r, "stream_options");
  attn2c_request_flag(r, "stream", &ask->is_streamed);
  if (options && !json_is_object(options))
    attn2c_request_refuse(r, "stream_options", options, "an object is allowed");
  attn2c_request inner = {.exchange = r->exchange, .given = options, .failed = r->failed};
  if (options) attn2c_request_flag(&inner, "include_usage", &ask->with_usage);
  attn2c_request_ignore_others(r->exchange, "stream_options", options, "include_usage include_obfuscation");
  r->failed = inner.failed;
}

attn2c_ask *attn2c_ask_read(attn2c_server *server, attn2c_request *r, const attn2c_tools *tools) {
  const attn2c_generation *stated = server->model->continued->generation;
  const int is_chat = tools != NULL;
  attn2c_ask *ask = calloc(1, sizeof *ask);
  int64_t tokens = 0, n = 1, best = 1;
  if (!ask) {
    if (tools) json_decref(tools->list);
    attn2c_request_no_memory(r);
    return NULL;
  }
  if (tools) ask->tools = *tools;
  ask->job.kind = &attn2c_ask_kind;
  ask->is_chat = is_chat;
  ask->created = (int64_t)time(NULL);
  attn2c_request_model(r, server, &ask->adapter);
  refuse_others(r, is_chat);
  read_sampling(r, ask, stated, server->generate);
  read_biases(r, ask, server->generate->calls.vocabulary);
  ask->sampling.bias_tokens = ask->bias_tokens, ask->sampling.biases = ask->biases;
  const json_t *stop_list = attn2c_request_field(r, "stop");
  if (!json_is_array(stop_list) || json_array_size(stop_list) > 0) /* clients send [] for none */
    attn2c_request_texts(r, "stop", ATTN2C_STOP_STRINGS, take_stop, ask);
  read_limit(r, attn2c_request_either(r, "max_tokens", "n_predict"), &tokens);
  read_limit(r, "max_completion_tokens", &tokens);
  if (tokens < 0) tokens = 0;
  attn2c_request_integer(r, "n", 1, ATTN2C_ASK_ANSWERS, &n);
  if (attn2c_request_integer(r, "best_of", 1, ATTN2C_ASK_ANSWERS, &best) && best != n)
    attn2c_request_refuse(r, "best_of", attn2c_request_field(r, "best_of"), "the same as n is allowed");
  ask->n = (int32_t)n;
  ask->tokens = attn2c_answers_limit(stated, tokens, &ask->length);
  /* Without any statement a chat's answer may have all that the context leaves. */
  if (is_chat && tokens == 0 && stated->tokens == 0 && stated->length == 0) ask->tokens = INT32_MAX;
  read_grammar(server, r, ask);
  read_languages(server, r, ask);
  read_top(r, ask);
  read_stream(r, ask);
  if (!is_chat) attn2c_request_flag(r, "echo", &ask->echo);
  if (ask->echo && server->generate->calls.encode)
    attn2c_request_lacks(r, "echo", "an answer does not go on from its source");
  char faults[600] = "";
  attn2c_message said = attn2c_message_make(faults, sizeof faults);
  attn2c_stop *stop = NULL;
  int status = r->failed ? ATTN2C_OK
                         : attn2c_sampling_check(&ask->sampling, server->generate->calls.vocabulary, &said);
  if (status == ATTN2C_OK && !r->failed)
    status = attn2c_stop_create(&stop, (const char *const *)ask->stops, ask->stop_count, &said);
  attn2c_stop_free(stop);
  faults[strcspn(faults, "\n")] = '\0';
  if (status != ATTN2C_OK) fail_by_name(r, status, faults);
  if (!r->failed) return ask;
  attn2c_ask_free(ask);
  return NULL;
}

/* Adds the tokens of a prompt, and checks them. */
static int add_prompt(attn2c_server *server, attn2c_request *r, attn2c_ask *ask, const char *name,
                      const int32_t *ids, size_t count) {
  const attn2c_calls *calls = &server->generate->calls;
  const attn2c_entry *encode = attn2c_encode_entry(server->model);
  const attn2c_entry *reads = encode ? encode : attn2c_primary_entry(server->model);
  const attn2c_tensor *tensor = &server->model->tensors[reads->inputs[0]];
  const int64_t limit = encode || tensor->limit < calls->vocabulary ? tensor->limit : calls->vocabulary;
  const int32_t room = ask->length && ask->length <= calls->tokens ? ask->length - 1 : calls->tokens;
  const int32_t most = calls->encode ? calls->source : room;
  if (count < 1 || count > (size_t)most)
    attn2c_request_fail(r, 400, name, count ? "context_length_exceeded" : NULL,
                        "%s: has %zu tokens, but 1 to %d are allowed: the model's %s", name, count, most,
                        calls->encode ? "source" : "context");
  for (size_t i = 0; i < count && !r->failed; i++)
    if (ids[i] < tensor->minimum || ids[i] >= limit)
      attn2c_request_fail(r, 400, name, NULL, "%s: token %d, but %lld to %lld is allowed", name, ids[i],
                          (long long)tensor->minimum, (long long)limit - 1);
  if (r->failed) return 0;
  int32_t *moved = realloc(ask->ids, (ask->id_count + count) * sizeof *moved);
  if (!moved) return attn2c_request_no_memory(r), 0;
  ask->ids = moved;
  memcpy(ask->ids + ask->id_count, ids, count * sizeof *ids);
  ask->id_count += count;
  ask->ends[ask->prompt_count++] = ask->id_count;
  return 1;
}

int attn2c_ask_add_text(attn2c_server *server, attn2c_request *r, attn2c_ask *ask, const char *name,
                        const char *text, size_t length) {
  attn2c_serve_generate *g = server->generate;
  attn2c_text_tokens tokens;
  const char *fault;
  const int status = attn2c_encode_all(g->reading, g->facts, text, length, ask->is_chat,
                                       ask->languages.language, &tokens, &fault);
  if (status != ATTN2C_OK)
    attn2c_request_fail(r, status == ATTN2C_MEMORY ? 503 : 400, name, NULL, "%s: %s", name, fault);
  else if (ask->echo && !(ask->texts[ask->prompt_count] = attn2c_copied(text, length)))
    attn2c_request_no_memory(r);
  return !r->failed && add_prompt(server, r, ask, name, tokens.ids, tokens.length);
}

/* Adds a prompt of tokens. */
static int add_ids(attn2c_server *server, attn2c_request *r, attn2c_ask *ask, const char *name,
                   const json_t *list) {
  const size_t count = json_array_size(list);
  ATTN2C_OWN int32_t *ids = malloc((count + 1) * sizeof *ids);
  if (!ids) return attn2c_request_no_memory(r), 0;
  for (size_t i = 0; i < count && !r->failed; i++) {
    const json_t *id = json_array_get(list, i);
    const json_int_t number = json_integer_value(id);
    ids[i] = (int32_t)number;
    if (!json_is_integer(id) || number != ids[i])
      attn2c_request_refuse(r, name, id,
                            "a text, tokens, or a list of texts or of lists of tokens is allowed");
  }
  if (!r->failed && ask->echo) {
    const char *text;
    size_t length;
    if (attn2c_text_decode(server->generate->showing, ids, count, 1, &text, &length) != ATTN2C_OK ||
        !(ask->texts[ask->prompt_count] = attn2c_copied(text, length)))
      attn2c_request_no_memory(r);
  }
  if (!r->failed) add_prompt(server, r, ask, name, ids, count);
  return !r->failed;
}

void attn2c_ask_submit(attn2c_server *server, attn2c_request *r, attn2c_ask *ask) {
  const int64_t count = (int64_t)ask->prompt_count * ask->n;
  if (count > ATTN2C_ASK_ANSWERS)
    attn2c_request_fail(r, 400, "n", NULL, "n: %lld answers in all, but at most %d are allowed",
                        (long long)count, ATTN2C_ASK_ANSWERS);
  ask->answers = r->failed ? NULL : calloc((size_t)count, sizeof *ask->answers);
  if (!r->failed && !ask->answers) attn2c_request_no_memory(r);
  if (r->failed) {
    attn2c_ask_free(ask);
    return;
  }
  ask->answer_count = (int32_t)count;
  for (int32_t i = 0; i < ask->answer_count; i++) {
    const int prompt = i / ask->n;
    const size_t begin = prompt ? ask->ends[prompt - 1] : 0;
    ask->answers[i] = (attn2c_asked){.ask = ask,
                                     .number = i,
                                     .prompt = ask->ids + begin,
                                     .prompt_count = (int32_t)(ask->ends[prompt] - begin)};
  }
  snprintf(ask->id, sizeof ask->id, "%s-%llx-%llx", ask->is_chat ? "chatcmpl" : "cmpl",
           (unsigned long long)server->started, (unsigned long long)server->generate->asks++);
  ask->seed = (uint64_t)server->started * 1000003 + server->generate->asks * ATTN2C_ASK_ANSWERS;
  ask->job.bytes = ask->id_count * sizeof *ask->ids + (size_t)count * sizeof *ask->answers;
  r->exchange->read_tokens = (int64_t)ask->id_count;
  attn2c_serve_submit(server, r->exchange, &ask->job);
}

/* Adds the prompts of a completion: a text, tokens, or a list of either. */
static void add_prompts(attn2c_server *server, attn2c_request *r, attn2c_ask *ask) {
  static const char allowed[] = "a text, tokens, or a list of 1 to 64 texts or of lists of tokens is allowed";
  const json_t *given = attn2c_request_field(r, "prompt");
  const int is_list = json_is_array(given) && !json_is_integer(json_array_get(given, 0));
  const size_t count = is_list ? json_array_size(given) : 1;
  if (!given || count < 1 || count > ATTN2C_ASK_PROMPTS) {
    attn2c_request_refuse(r, "prompt", given, allowed);
    return;
  }
  for (size_t i = 0; i < count && !r->failed; i++) {
    const json_t *prompt = is_list ? json_array_get(given, i) : given;
    if (json_is_string(prompt))
      attn2c_ask_add_text(server, r, ask, "prompt", json_string_value(prompt), json_string_length(prompt));
    else if (json_is_array(prompt))
      add_ids(server, r, ask, "prompt", prompt);
    else
      attn2c_request_refuse(r, "prompt", prompt, allowed);
  }
}

void attn2c_serve_completions(attn2c_server *server, attn2c_exchange *exchange, const json_t *given) {
  attn2c_request request = {.exchange = exchange, .given = given};
  attn2c_ask *ask = attn2c_ask_read(server, &request, NULL);
  if (!ask) return;
  add_prompts(server, &request, ask);
  attn2c_ask_submit(server, &request, ask);
}
