/* answers.c - a sequence of the context for each answer. The last token of an answer is drawn and not yet
 * read by the model: the next step reads it. */
#include "generate/answers.h"

#include "generate/kept_ids.h"

#include <string.h>

struct attn2c_answers {
  const attn2c_calls *calls;
  attn2c_kept_ids *kept;
  int32_t most;
  attn2c_answer_ids *answers; /* [sequences] */
  attn2c_sampler **samplers;  /* [sequences] */
  int32_t *ids;               /* [sequences][most] */
  int32_t *numbers, *lasts;   /* [sequences] of a decode call */
  float *logits;              /* [sequences][vocabulary] */
};

int attn2c_answers_create(attn2c_answers **batch, const attn2c_calls *calls, const attn2c_sampling *sampling,
                          int32_t most, attn2c_message *message) {
  attn2c_answers *b = *batch = attn2c_allocate(sizeof *b);
  const size_t sequences = (size_t)calls->sequences;
  int status = b ? attn2c_kept_ids_create(calls, &b->kept) : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) {
    b->calls = calls;
    b->most = most < attn2c_calls_room(calls) ? most : attn2c_calls_room(calls);
    b->answers = attn2c_allocate(sequences * sizeof *b->answers);
    b->samplers = attn2c_allocate(sequences * sizeof *b->samplers);
    b->ids = attn2c_reserve(sequences * (size_t)b->most * sizeof *b->ids);
    b->numbers = attn2c_reserve(sequences * sizeof *b->numbers);
    b->lasts = attn2c_reserve(sequences * sizeof *b->lasts);
    b->logits = attn2c_reserve(sequences * (size_t)calls->vocabulary * sizeof *b->logits);
    if (!b->answers || !b->samplers || !b->ids || !b->numbers || !b->lasts || !b->logits)
      status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_MEMORY) attn2c_say(message, "no memory for %d answers", (int)calls->sequences);
  for (size_t i = 0; i < sequences && status == ATTN2C_OK; i++) {
    b->answers[i].ids = b->ids + i * (size_t)b->most;
    status = attn2c_sampler_create(&b->samplers[i], sampling, calls->vocabulary, message);
  }
  if (status == ATTN2C_OK) return status;
  attn2c_answers_free(b);
  *batch = NULL;
  return status;
}

void attn2c_answers_free(attn2c_answers *b) {
  if (!b) return;
  for (int32_t i = 0; b->samplers && i < b->calls->sequences; i++) attn2c_sampler_free(b->samplers[i]);
  attn2c_kept_ids_free(b->kept);
  attn2c_free(b->answers);
  attn2c_free(b->samplers);
  attn2c_free(b->ids);
  attn2c_free(b->numbers);
  attn2c_free(b->lasts);
  attn2c_free(b->logits);
  attn2c_free(b);
}

int32_t attn2c_answers_place(const attn2c_answers *b) {
  for (int32_t i = 0; i < b->calls->sequences; i++)
    if (!b->answers[i].is_used) return i;
  return -1;
}

/* Draws the next token of an answer, and finds whether it is the last. */
static void draw(attn2c_answers *b, int32_t place, const float *logits) {
  attn2c_answer_ids *answer = &b->answers[place];
  attn2c_sampler *sampler = b->samplers[place];
  attn2c_message message = attn2c_message_make(answer->fault, sizeof answer->fault);
  int32_t *token = &answer->ids[answer->count];
  answer->status = attn2c_sampler_sample(sampler, logits, token, &message);
  if (answer->status != ATTN2C_OK) {
    answer->end = ATTN2C_END_FAULT;
    return;
  }
  attn2c_sampler_feed(sampler, token, 1, ATTN2C_FED_GENERATED, &message);
  answer->count++;
  if (attn2c_sampler_stops(sampler, *token))
    answer->end = ATTN2C_END_TOKEN;
  else if (attn2c_kept_ids_count(b->kept, place) == attn2c_calls_room(b->calls))
    answer->end = attn2c_calls_are_shorter(b->calls) ? ATTN2C_END_COUNT : ATTN2C_END_CONTEXT;
  else if (answer->count == b->most)
    answer->end = ATTN2C_END_COUNT;
}

int attn2c_answers_begin(attn2c_answers *b, int32_t place, const int32_t *ids, int64_t count, uint64_t seed,
                         int (*stops)(void), attn2c_message *message) {
  attn2c_answer_ids *answer = &b->answers[place];
  if (count < 1 || count > attn2c_calls_room(b->calls)) {
    attn2c_say(message, "the prompt has %lld tokens, but 1 to %d are allowed, %s", (long long)count,
               (int)attn2c_calls_room(b->calls),
               attn2c_calls_are_shorter(b->calls)
                   ? "by the folder's max_length of prompt and answer; --tokens N takes its place"
                   : "the model's context");
    return ATTN2C_FORMAT;
  }
  attn2c_sampler_reset(b->samplers[place], seed);
  int status = attn2c_sampler_feed(b->samplers[place], ids, count, ATTN2C_FED_PROMPT, message);
  if (status == ATTN2C_OK)
    status = attn2c_kept_ids_read(b->kept, place, ids, (int32_t)count, b->logits, stops);
  if (status != ATTN2C_OK) return status;
  answer->is_used = 1;
  answer->end = ATTN2C_END_NONE;
  answer->count = 0;
  draw(b, place, b->logits);
  return ATTN2C_OK;
}

int attn2c_answers_step(attn2c_answers *b, attn2c_message *message) {
  int32_t count = 0;
  for (int32_t i = 0; i < b->calls->sequences; i++) {
    const attn2c_answer_ids *answer = &b->answers[i];
    if (!answer->is_used || answer->end != ATTN2C_END_NONE) continue;
    b->numbers[count] = i;
    b->lasts[count++] = answer->ids[answer->count - 1];
  }
  if (count == 0) return ATTN2C_OK;
  const int status = attn2c_kept_ids_decode(b->kept, count, b->numbers, b->lasts, b->logits);
  if (status != ATTN2C_OK) {
    attn2c_say(message, "a decode call of %d sequences failed: %s", (int)count, attn2c_strerror(status));
    return status;
  }
  for (int32_t i = 0; i < count; i++)
    draw(b, b->numbers[i], b->logits + (size_t)i * (size_t)b->calls->vocabulary);
  return ATTN2C_OK;
}

const attn2c_answer_ids *attn2c_answers_at(const attn2c_answers *b, int32_t place) {
  return &b->answers[place];
}

void attn2c_answers_end(attn2c_answers *b, int32_t place, attn2c_end end) {
  if (b->answers[place].end == ATTN2C_END_NONE) b->answers[place].end = end;
}

void attn2c_answers_release(attn2c_answers *b, int32_t place) { b->answers[place].is_used = 0; }
