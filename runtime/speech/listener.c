/* listener.c - each place has a sequence of the context for each beam. The first one reads the window and the
 * tokens that an answer follows. All attempts go on from there, the first with beams if there are any. */
#include "speech/listener.h"

#include <math.h>
#include <zlib.h>

#include "base/text_facts.h"
#include "generate/answers.h"
#include "speech/rules.h"
#include "speech/segments.h"
#include "text/unicode.h"
#include "model/continue.h"
#include "model/sequences.h"

enum { AFTER_START = 3 }; /* the most tokens after the start */

/* A place. */
typedef struct {
  attn2c_heard heard;
  attn2c_answers *batch; /* that answers now; NULL: the answer has ended */
  int32_t in_batch;      /* its place there */
  int attempt;
  uint64_t number; /* of the window */
  int32_t rows;
  int32_t *prompt; /* [tokens] */
  int32_t length;  /* of the prompt */
  int32_t *ids;    /* [tokens + 1] of the last answer */
  int32_t *times;  /* [tokens + 1]; NULL: they are not wanted */
  float *logits;   /* [2][vocabulary] after the prompt, and after the start */
  float **keys;    /* [layers][rows][width] of the window, whose outputs are these; NULL as times */
} ear;

struct attn2c_listener {
  attn2c_context *context;
  const attn2c_descriptor *model;
  attn2c_calls calls;
  const attn2c_speech *speech;
  attn2c_speech_options options;
  attn2c_timestamp_rule rule;
  int32_t places;
  ear *ears;
  attn2c_answers *searching; /* with beams; NULL: there are none */
  attn2c_answers *drawing;   /* of the places' first sequences */
  attn2c_tokenizer *tokenizer;
  attn2c_text_work *text;
  int32_t *plain; /* [tokens + 1] tokens of a text */
  unsigned char *packed;
  size_t capacity;       /* of packed */
  float **queries;       /* outputs of the primary entry: the last ones are [tokens][width]; NULL: no times */
  float *aligning;       /* attn2c_speech_times_room() */
  int32_t width, source; /* numbers of a query; rows of the keys */
};

static int is_plain(const attn2c_listener *l) { return l->speech->no_timestamps < 0; }

attn2c_speech_options attn2c_speech_stated(const attn2c_descriptor *model) {
  const attn2c_speech *speech = model->continued->generation->speech;
  const int is_plain = speech->no_timestamps < 0;
  int32_t length;
  const int64_t limit = attn2c_answers_limit(model->continued->generation, 0, &length);
  attn2c_speech_options options = {.beam = attn2c_beam_stated(model->continued->generation),
                                   .attempts = is_plain ? 1 : ATTN2C_SPEECH_ATTEMPTS,
                                   .tokens = (int32_t)(is_plain ? limit : model->lengths->sizes[0].seq / 2),
                                   .language = speech->language,
                                   .task = speech->task,
                                   .goes_on = speech->goes_on,
                                   .most_compression = speech->most_compression,
                                   .least_score = speech->least_score,
                                   .least_silence = speech->least_silence,
                                   .by_pieces = is_plain,
                                   .is_whole = is_plain};
  for (int i = 0; i < options.attempts; i++) options.temperatures[i] = i / 5.0;
  return options;
}

void attn2c_speech_temperature(attn2c_speech_options *options, double temperature) {
  options->attempts = 1;
  options->temperatures[0] = temperature;
}

static int no_memory(attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "no memory to listen");
}

static int create_answers(attn2c_listener *l, attn2c_message *message) {
  attn2c_sampling sampling = attn2c_sampling_defaults();
  attn2c_beam_options one = l->options.beam;
  sampling.greedy = 0;
  sampling.top_k = 0;
  sampling.repetition_penalty = one.repetition_penalty;
  sampling.stop_count = 1;
  sampling.stop_tokens = &l->speech->end;
  attn2c_calls used = l->calls;
  used.sequences = l->places * one.beams;
  if (one.beams > 1)
    ATTN2C_TRY(attn2c_answers_create(&l->searching, &used, &sampling, &one, l->options.tokens, message));
  one.beams = 1;
  return attn2c_answers_create(&l->drawing, &used, &sampling, &one, l->options.tokens, message);
}

/* Makes room for what times of tokens are found by. */
static int create_times(attn2c_listener *l, attn2c_message *message) {
  const attn2c_entry *entry = attn2c_primary_entry(l->model), *encode = attn2c_encode_entry(l->model);
  const int32_t layers = l->speech->layer_count, outputs = entry->output_count;
  if (!l->options.has_words) return ATTN2C_OK;
  if (layers == 0)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "words: this model was built without what times of words are found by; build it with "
                       "speech.words=true");
  const attn2c_tensor *keys = &l->model->tensors[encode->outputs[0]];
  l->source = (int32_t)keys->shape[1], l->width = (int32_t)keys->shape[2];
  l->queries = calloc((size_t)outputs, sizeof *l->queries);
  if (!l->queries) return no_memory(message);
  for (int32_t i = outputs - layers; i < outputs; i++) {
    l->queries[i] = malloc((size_t)l->calls.tokens * (size_t)l->width * sizeof **l->queries);
    if (!l->queries[i]) return no_memory(message);
  }
  l->aligning = malloc(attn2c_speech_times_room(l->calls.tokens, l->source) * sizeof *l->aligning);
  for (int32_t place = 0; place < l->places; place++) {
    ear *e = &l->ears[place];
    e->times = malloc((size_t)(l->calls.tokens + 1) * sizeof *e->times);
    e->keys = calloc((size_t)layers, sizeof *e->keys);
    for (int32_t i = 0; i < layers && e->keys; i++) {
      e->keys[i] = malloc((size_t)l->source * (size_t)l->width * sizeof **e->keys);
      if (!e->keys[i]) return no_memory(message);
    }
    if (!e->times || !e->keys) return no_memory(message);
  }
  return l->aligning ? ATTN2C_OK : no_memory(message);
}

static int create_places(attn2c_listener *l, int32_t most, attn2c_message *message) {
  const size_t tokens = (size_t)l->calls.tokens + 1;
  l->places = l->calls.sequences / l->options.beam.beams;
  if (l->places > most) l->places = most;
  l->ears = calloc((size_t)l->places, sizeof *l->ears);
  l->plain = malloc(tokens * sizeof *l->plain);
  if (!l->ears || !l->plain) return no_memory(message);
  for (int32_t i = 0; i < l->places; i++) {
    ear *e = &l->ears[i];
    e->prompt = malloc(tokens * sizeof *e->prompt);
    e->ids = malloc(tokens * sizeof *e->ids);
    e->logits = malloc(2 * (size_t)l->calls.vocabulary * sizeof *e->logits);
    if (!e->prompt || !e->ids || !e->logits) return no_memory(message);
  }
  return ATTN2C_OK;
}

int attn2c_listener_create(attn2c_listener **made, attn2c_context *context,
                           const attn2c_speech_options *options, int32_t most, attn2c_message *message) {
  const attn2c_calls calls = attn2c_continued_calls(context);
  attn2c_listener *l = *made = calloc(1, sizeof *l);
  if (!l) return no_memory(message);
  l->context = context;
  l->model = context->model->descriptor;
  l->calls = calls;
  l->speech = l->model->continued->generation->speech;
  l->options = *options;
  l->rule = attn2c_timestamp_rule_of(l->speech);
  l->calls.rule = &l->rule.rule;
  int status = attn2c_beam_check(&options->beam, calls.sequences, calls.vocabulary, message);
  if (status == ATTN2C_OK) status = create_places(l, most, message);
  if (status == ATTN2C_OK) status = create_answers(l, message);
  if (status == ATTN2C_OK) status = create_times(l, message);
  const attn2c_text_facts *facts = l->model->text;
  if (status == ATTN2C_OK)
    status = attn2c_text_open(facts->tables, facts->size, ATTN2C_TEXT_JIT, &l->tokenizer, message);
  if (status == ATTN2C_OK && attn2c_text_work_create(l->tokenizer, &l->text) != ATTN2C_OK)
    status = no_memory(message);
  if (status == ATTN2C_OK) return status;
  attn2c_listener_free(l);
  *made = NULL;
  return status;
}

void attn2c_listener_free(attn2c_listener *l) {
  if (!l) return;
  attn2c_answers_free(l->searching);
  attn2c_answers_free(l->drawing);
  attn2c_text_work_destroy(l->text);
  attn2c_text_close(l->tokenizer);
  for (int32_t i = 0; i < l->places && l->ears; i++) {
    for (int32_t layer = 0; l->ears[i].keys && layer < l->speech->layer_count; layer++)
      free(l->ears[i].keys[layer]);
    ATTN2C_FREE(l->ears[i].keys, l->ears[i].times, l->ears[i].prompt, l->ears[i].ids, l->ears[i].logits);
  }
  for (int i = 0; l->queries && i < attn2c_primary_entry(l->model)->output_count; i++) free(l->queries[i]);
  ATTN2C_FREE(l->queries, l->aligning, l->ears, l->plain, l->packed, l);
}

int32_t attn2c_listener_places(const attn2c_listener *l) { return l->places; }
const attn2c_speech_options *attn2c_listener_options(const attn2c_listener *l) { return &l->options; }
const attn2c_descriptor *attn2c_listener_model(const attn2c_listener *l) { return l->model; }
attn2c_context *attn2c_listener_context(const attn2c_listener *l) { return l->context; }

const attn2c_heard *attn2c_listener_heard(const attn2c_listener *l, int32_t place) {
  return l->ears[place].batch ? NULL : &l->ears[place].heard;
}

/* Returns the first sequence of a place. */
static int32_t sequence_of(const attn2c_listener *l, const ear *e) {
  return (int32_t)(e - l->ears) * l->options.beam.beams;
}

static int extend(attn2c_listener *l, const ear *e, const int32_t *ids, int32_t count, float *logits) {
  const int32_t sequence = sequence_of(l, e);
  return attn2c_extend(l->context, 1, &sequence, &count, ids, ATTN2C_LOGITS_LAST, logits);
}

/* Finds the language: the most probable one after the start. */
static int find_language(attn2c_listener *l, ear *e) {
  const attn2c_speech *speech = l->speech;
  int32_t *language = &e->heard.language;
  if (*language >= 0 || speech->language_count == 0) return ATTN2C_OK;
  ATTN2C_TRY(extend(l, e, &speech->start, 1, e->logits));
  *language = 0;
  for (int32_t i = 1; i < speech->language_count; i++)
    if (e->logits[speech->languages[i].token] > e->logits[speech->languages[*language].token]) *language = i;
  return attn2c_rewind(l->context, sequence_of(l, e), 0);
}

/* Reads what the answer follows, and the probability of silence after the start. */
static int read_prompt(attn2c_listener *l, ear *e, const attn2c_window *window) {
  const attn2c_speech *speech = l->speech;
  const int32_t most = l->calls.tokens / 2 - 1, count = window->count, from = count > most ? count - most : 0;
  float *after_start = e->logits + l->calls.vocabulary;
  int32_t n = 0, start;
  if (count > 0) e->prompt[n++] = speech->previous;
  for (int32_t i = from; i < count; i++) e->prompt[n++] = window->before[i];
  e->prompt[n++] = speech->start;
  start = n;
  if (e->heard.language >= 0) e->prompt[n++] = speech->languages[e->heard.language].token;
  if (l->options.task >= 0) e->prompt[n++] = l->options.task;
  if (!window->is_timed && !is_plain(l)) e->prompt[n++] = speech->no_timestamps;
  e->length = n;
  int status = extend(l, e, e->prompt, start, after_start);
  if (status == ATTN2C_OK && n > start)
    status = extend(l, e, e->prompt + start, n - start, e->logits);
  else
    memcpy(e->logits, after_start, (size_t)l->calls.vocabulary * sizeof *after_start);
  if (is_plain(l)) return status;
  l->calls.log_softmax(after_start, l->calls.vocabulary);
  e->heard.silence = exp((double)after_start[speech->no_speech]);
  return status;
}

/* Sets *text to the text of the tokens below a limit. skips: special tokens have no text. */
static int decode(attn2c_listener *l, const int32_t *ids, int32_t count, int32_t limit, int skips,
                  const char **text, size_t *length) {
  size_t n = 0;
  for (int32_t i = 0; i < count; i++)
    if (ids[i] < limit || is_plain(l)) l->plain[n++] = ids[i];
  return attn2c_text_decode(l->text, l->plain, n, skips, text, length);
}

int attn2c_listener_text(attn2c_listener *l, const int32_t *ids, int32_t count, const char **text,
                         size_t *length) {
  return decode(l, ids, count, l->speech->end, 1, text, length);
}

int attn2c_listener_words(attn2c_listener *l, const int32_t *ids, int32_t count, int32_t language,
                          attn2c_spoken_words *words) {
  const int is_dense = language >= 0 && attn2c_speech_is_dense(l->speech->languages[language].code);
  return attn2c_speech_words(l->text, ids, count, is_dense, words);
}

int attn2c_listener_tokens(attn2c_listener *l, const char *text, const int32_t **ids, int64_t *count,
                           attn2c_message *message) {
  const attn2c_text_input input = {.text = text,
                                   .length = strlen(text),
                                   .plain = 1,
                                   .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
  attn2c_text_tokens tokens;
  const int status = attn2c_text_encode(l->text, &input, &tokens);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "%s", attn2c_text_fault(l->text));
  *ids = tokens.ids, *count = (int64_t)tokens.length;
  return status;
}

/* Finds how well zlib packs the text of the answer. To OpenAI's Whisper languages in it are text, too. */
static int compress_text(attn2c_listener *l, ear *e) {
  const char *text;
  size_t length;
  ATTN2C_TRY(decode(l, e->ids, e->heard.count, l->speech->no_timestamps + 1, is_plain(l), &text, &length));
  text_trim(&text, &length);
  uLongf size = compressBound((uLong)length);
  if (size > l->capacity) {
    unsigned char *moved = realloc(l->packed, size);
    if (!moved) return ATTN2C_MEMORY;
    l->packed = moved, l->capacity = size;
  }
  if (compress(l->packed, &size, (const Bytef *)text, (uLong)length) != Z_OK) return ATTN2C_MEMORY;
  e->heard.compression = (double)length / (double)size;
  return ATTN2C_OK;
}

/* Begins the next attempt at a window. */
static int begin_attempt(attn2c_listener *l, ear *e, attn2c_message *message) {
  const double temperature = l->options.temperatures[e->attempt];
  const uint64_t seed = l->options.seed + e->number * ATTN2C_SPEECH_ATTEMPTS + (uint64_t)e->attempt;
  const int searches = temperature == 0 && l->searching;
  e->batch = searches ? l->searching : l->drawing;
  e->in_batch = searches ? (int32_t)(e - l->ears) : sequence_of(l, e);
  if (!searches) attn2c_answers_temperature(l->drawing, e->in_batch, temperature);
  ATTN2C_TRY(e->attempt == 0 ? ATTN2C_OK : attn2c_rewind(l->context, sequence_of(l, e), e->length));
  return attn2c_answers_go_on(e->batch, e->in_batch, e->prompt, e->length, seed, e->logits, message);
}

/* Finds when the tokens of an answer end. The last one of an answer that was cut is taken to end with the one
 * before it, as the model has not read it. */
static int find_times(attn2c_listener *l, ear *e, int is_cut) {
  const int32_t sequence = sequence_of(l, e), count = e->heard.count - (is_cut ? 1 : 0);
  const int first = attn2c_primary_entry(l->model)->output_count - l->speech->layer_count;
  if (!e->times || e->heard.count == 0) return ATTN2C_OK;
  e->heard.times = e->times;
  if (count > 0) {
    ATTN2C_TRY(attn2c_rewind(l->context, sequence, e->length));
    ATTN2C_TRY(attn2c_extend_outputs(l->context, 1, &sequence, &count, e->ids, (void *const *)l->queries));
    int32_t heard = e->rows / ATTN2C_TIMESTAMP_ROWS;
    heard = heard < 1 ? 1 : heard > l->source ? l->source : heard;
    const attn2c_attended attended = {(const float *const *)l->queries + first,
                                      (const float *const *)e->keys,
                                      l->width,
                                      count,
                                      l->source,
                                      heard};
    attn2c_speech_times(l->speech, &attended, l->aligning, e->times);
  }
  for (int32_t i = 0; i < count; i++) e->times[i] *= ATTN2C_TIMESTAMP_ROWS;
  if (is_cut) e->times[count] = count > 0 ? e->times[count - 1] : 0;
  return ATTN2C_OK;
}

/* Takes an answer that has ended. If it is no good, the next attempt begins. */
static int end_attempt(attn2c_listener *l, ear *e, attn2c_message *message) {
  const attn2c_answer_ids *answer = attn2c_answers_at(e->batch, e->in_batch);
  const attn2c_speech_options *limits = &l->options;
  attn2c_heard *heard = &e->heard;
  if (answer->end == ATTN2C_END_FAULT) return attn2c_fail(message, answer->status, "%s", answer->fault);
  const int is_cut = answer->end != ATTN2C_END_TOKEN;
  heard->count = answer->count - !is_cut;
  heard->temperature = l->options.temperatures[e->attempt];
  /* An answer that was cut counts a token for its end, as OpenAI's Whisper does. */
  const double sum = e->batch == l->drawing
                         ? answer->score
                         : answer->score * pow(answer->count, l->options.beam.length_penalty);
  heard->score = sum / (heard->count + 1);
  memcpy(e->ids, answer->ids, (size_t)answer->count * sizeof *e->ids);
  attn2c_answers_release(e->batch, e->in_batch);
  e->batch = NULL;
  int status = compress_text(l, e);
  if (status != ATTN2C_OK) return attn2c_fail(message, status, "no text: %s", attn2c_strerror(status));
  /* Without a least score, silence is left out whatever its answer is, but only after all attempts. */
  const int has_least = isfinite(limits->least_score);
  heard->is_silent =
      heard->silence > limits->least_silence && !(has_least && heard->score > limits->least_score);
  if (heard->is_silent && has_least) return ATTN2C_OK;
  const int is_good = heard->compression <= limits->most_compression && heard->score >= limits->least_score;
  if (is_good || ++e->attempt == l->options.attempts) return find_times(l, e, is_cut);
  return begin_attempt(l, e, message);
}

/* Ends the attempts whose answers have ended; a new one may end at once. */
static int end_attempts(attn2c_listener *l, attn2c_message *message) {
  for (int32_t place = 0; place < l->places; place++) {
    ear *e = &l->ears[place];
    while (e->batch && attn2c_answers_at(e->batch, e->in_batch)->end != ATTN2C_END_NONE)
      ATTN2C_TRY(end_attempt(l, e, message));
  }
  return ATTN2C_OK;
}

int attn2c_listener_begin(attn2c_listener *l, int32_t place, const attn2c_window *window,
                          attn2c_message *message) {
  ear *e = &l->ears[place];
  const int32_t sequence = sequence_of(l, e);
  const void *const inputs[] = {window->features, NULL}; /* the place has its adapter */
  e->heard = (attn2c_heard){.ids = e->ids, .language = window->language};
  e->attempt = 0, e->number = window->number, e->rows = window->rows;
  const int32_t *length = is_plain(l) ? &window->rows : NULL;
  int status = attn2c_encode_outputs(l->context, 1, &sequence, length, inputs, (void *const *)e->keys);
  if (status == ATTN2C_OK) status = find_language(l, e);
  if (status == ATTN2C_OK) status = read_prompt(l, e, window);
  if (status != ATTN2C_OK)
    return attn2c_fail(message, status, "a window is not read: %s", attn2c_strerror(status));
  status = begin_attempt(l, e, message);
  return status == ATTN2C_OK ? end_attempts(l, message) : status;
}

int attn2c_listener_step(attn2c_listener *l, attn2c_message *message) {
  ATTN2C_TRY(l->searching ? attn2c_answers_step(l->searching, message) : ATTN2C_OK);
  ATTN2C_TRY(attn2c_answers_step(l->drawing, message));
  return end_attempts(l, message);
}
