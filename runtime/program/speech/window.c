/* window.c - sequence 0 of the context reads the window and what an answer follows. All attempts go on from
 * there, the first with beams if there are any. */
#include "program/speech/window.h"

#include <math.h>
#include <zlib.h>

#include "generate/speech_rules.h"
#include "program/signals.h"

enum { AFTER_START = 3 }; /* the most tokens after the start */

struct attn2c_listener {
  attn2c_calls calls;
  const attn2c_speech *speech;
  const attn2c_speech_options *options;
  const attn2c_generation_text *text;
  attn2c_text_side *side;
  attn2c_timestamp_rule rule;
  attn2c_answers *searching; /* with beams; NULL: there are none */
  attn2c_answers *drawing;
  uint64_t windows; /* that were listened to */
  int32_t *prompt;  /* [calls.tokens] */
  int32_t *ids;     /* [calls.tokens] of the last answer */
  float *logits;    /* [2][vocabulary] */
  unsigned char *packed;
  size_t capacity; /* of packed */
};

static int create_answers(attn2c_listener *l, attn2c_message *message) {
  attn2c_sampling sampling = attn2c_sampling_defaults();
  attn2c_beam_options one = l->options->beam;
  sampling.greedy = 0;
  sampling.top_k = 0;
  sampling.repetition_penalty = one.repetition_penalty;
  sampling.stop_count = 1;
  sampling.stop_tokens = &l->speech->end;
  int status = ATTN2C_OK;
  if (one.beams > 1)
    status = attn2c_answers_create(&l->searching, &l->calls, &sampling, &one, l->options->tokens, message);
  one.beams = 1;
  attn2c_calls single = l->calls;
  single.sequences = 1;
  if (status == ATTN2C_OK)
    status = attn2c_answers_create(&l->drawing, &single, &sampling, &one, l->options->tokens, message);
  return status;
}

int attn2c_listener_create(attn2c_listener **made, const attn2c_calls *calls, const attn2c_speech *speech,
                           const attn2c_speech_options *options, const attn2c_generation_text *text,
                           attn2c_text_side *side, attn2c_message *message) {
  attn2c_listener *l = *made = calloc(1, sizeof *l);
  if (!l) return attn2c_fail(message, ATTN2C_MEMORY, "no memory to listen");
  l->calls = *calls;
  l->speech = speech;
  l->options = options;
  l->text = text;
  l->side = side;
  l->rule = attn2c_timestamp_rule_of(speech);
  l->calls.rule = &l->rule.rule;
  l->prompt = malloc((size_t)calls->tokens * sizeof *l->prompt);
  l->ids = malloc((size_t)(calls->tokens + 1) * sizeof *l->ids);
  l->logits = malloc(2 * (size_t)calls->vocabulary * sizeof *l->logits);
  if (!l->prompt || !l->ids || !l->logits) return attn2c_fail(message, ATTN2C_MEMORY, "no memory to listen");
  return create_answers(l, message);
}

void attn2c_listener_free(attn2c_listener *l) {
  if (!l) return;
  attn2c_answers_free(l->searching);
  attn2c_answers_free(l->drawing);
  free(l->prompt);
  free(l->ids);
  free(l->logits);
  free(l->packed);
  free(l);
}

/* Reads tokens into sequence 0. */
static int extend(attn2c_listener *l, const int32_t *ids, int32_t count, float *logits) {
  const int32_t sequence = 0;
  return l->calls.extend(l->calls.context, 1, &sequence, &count, ids, 0, logits);
}

/* Finds the language: the most probable one after the start. */
static int find_language(attn2c_listener *l, int32_t *language) {
  const attn2c_speech *speech = l->speech;
  if (*language >= 0 || speech->language_count == 0) return ATTN2C_OK;
  const int status = extend(l, &speech->start, 1, l->logits);
  if (status != ATTN2C_OK) return status;
  *language = 0;
  for (int32_t i = 1; i < speech->language_count; i++)
    if (l->logits[speech->languages[i].token] > l->logits[speech->languages[*language].token]) *language = i;
  return l->calls.rewind(l->calls.context, 0, 0);
}

/* Reads what the answer follows, and the probability of silence after the start. Writes the number of its
 * tokens. */
static int read_prompt(attn2c_listener *l, const int32_t *before, int32_t count, int is_timed,
                       int32_t language, int32_t *length, double *silence) {
  const attn2c_speech *speech = l->speech;
  const int32_t most = l->calls.tokens / 2 - 1, from = count > most ? count - most : 0;
  float *after_start = l->logits + l->calls.vocabulary;
  int32_t n = 0, start;
  if (count > 0) l->prompt[n++] = speech->previous;
  for (int32_t i = from; i < count; i++) l->prompt[n++] = before[i];
  l->prompt[n++] = speech->start;
  start = n;
  if (language >= 0) l->prompt[n++] = speech->languages[language].token;
  if (l->options->task >= 0) l->prompt[n++] = l->options->task;
  if (!is_timed) l->prompt[n++] = speech->no_timestamps;
  *length = n;
  int status = extend(l, l->prompt, start, after_start);
  if (status == ATTN2C_OK && n > start)
    status = extend(l, l->prompt + start, n - start, l->logits);
  else
    memcpy(l->logits, after_start, (size_t)l->calls.vocabulary * sizeof *after_start);
  l->calls.log_softmax(after_start, l->calls.vocabulary);
  *silence = exp((double)after_start[speech->no_speech]);
  return status;
}

int attn2c_listener_text(attn2c_listener *l, const int32_t *ids, int32_t count, attn2c_shown *shown) {
  int status = l->text->begin(l->side, 0, NULL, 0);
  for (int32_t i = 0; i < count && status == ATTN2C_OK; i++)
    if (ids[i] < l->speech->end) status = l->text->add(l->side, 0, ids[i], shown);
  return status == ATTN2C_OK ? l->text->end(l->side, 0, shown) : status;
}

/* Finds how well zlib packs the text of the answer. */
static int compress_text(attn2c_listener *l, int32_t count, double *compression) {
  attn2c_shown shown;
  const int status = attn2c_listener_text(l, l->ids, count, &shown);
  if (status != ATTN2C_OK) return status;
  uLongf size = compressBound((uLong)shown.length);
  if (size > l->capacity) {
    unsigned char *moved = realloc(l->packed, size);
    if (!moved) return ATTN2C_MEMORY;
    l->packed = moved, l->capacity = size;
  }
  if (compress(l->packed, &size, (const Bytef *)shown.text, (uLong)shown.length) != Z_OK)
    return ATTN2C_MEMORY;
  *compression = (double)shown.length / (double)size;
  return ATTN2C_OK;
}

/* Answers at a temperature after the prompt of `length` tokens. */
static int attempt(attn2c_listener *l, int number, int32_t length, attn2c_heard *heard,
                   attn2c_message *message) {
  const double temperature = l->options->temperatures[number];
  attn2c_answers *batch = temperature == 0 && l->searching ? l->searching : l->drawing;
  const uint64_t seed = l->options->seed + l->windows * ATTN2C_SPEECH_ATTEMPTS + (uint64_t)number;
  if (batch == l->drawing) attn2c_answers_temperature(batch, temperature);
  int status = number == 0 ? ATTN2C_OK : l->calls.rewind(l->calls.context, 0, length);
  if (status == ATTN2C_OK)
    status = attn2c_answers_go_on(batch, 0, l->prompt, length, seed, l->logits, message);
  if (status != ATTN2C_OK) return status;
  const attn2c_answer_ids *answer = attn2c_answers_at(batch, 0);
  while (status == ATTN2C_OK && answer->end == ATTN2C_END_NONE)
    status = attn2c_signal() ? attn2c_signals_status(message) : attn2c_answers_step(batch, message);
  if (status == ATTN2C_OK && answer->end == ATTN2C_END_FAULT)
    status = attn2c_fail(message, answer->status, "%s", answer->fault);
  if (status == ATTN2C_OK) {
    heard->count = answer->count - (answer->end == ATTN2C_END_TOKEN);
    heard->temperature = temperature;
    heard->score = batch == l->drawing
                       ? answer->score / answer->count
                       : answer->score * pow(answer->count, l->options->beam.length_penalty - 1);
    memcpy(l->ids, answer->ids, (size_t)answer->count * sizeof *l->ids);
    status = compress_text(l, heard->count, &heard->compression);
  }
  attn2c_answers_release(batch, 0);
  return status;
}

int attn2c_listen(attn2c_listener *l, const float *features, const int32_t *before, int32_t count,
                  int is_timed, int32_t language, attn2c_heard *heard, attn2c_message *message) {
  const attn2c_calls *calls = &l->calls;
  const attn2c_speech *limits = l->speech;
  const int32_t sequence = 0;
  int32_t length = 0;
  *heard = (attn2c_heard){.ids = l->ids, .language = language};
  l->rule.is_off = !is_timed;
  int status =
      calls->encode(calls->context, 1, &sequence, &calls->source, (const int32_t *)(const void *)features);
  if (status == ATTN2C_OK) status = find_language(l, &heard->language);
  if (status == ATTN2C_OK)
    status = read_prompt(l, before, count, is_timed, heard->language, &length, &heard->silence);
  for (int i = 0; status == ATTN2C_OK && i < l->options->attempts; i++) {
    status = attempt(l, i, length, heard, message);
    heard->is_silent = heard->silence > limits->least_silence && !(heard->score > limits->least_score);
    if (heard->is_silent) break;
    if (heard->compression <= limits->most_compression && heard->score >= limits->least_score) break;
  }
  l->windows++;
  return status;
}
