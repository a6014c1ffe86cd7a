/* answers.c - a sequence of the context for each answer, or for each beam of an answer. The last token of
 * each is chosen and not yet read by the model: the next step reads it. */
#include "generate/answers.h"

#include "generate/draft.h"

enum { USUAL_TOKENS = 256 };

/* The guesses of a batch, and the calls that verify them. */
typedef struct {
  attn2c_guess_call call;
  int32_t ids[ATTN2C_GUESS_ROWS]; /* of a call */
  int32_t rows;                   /* the most of a call */
  attn2c_drafter *drafter;        /* NULL: repetitions are guesses */
} guessing;

struct attn2c_answers {
  attn2c_calls own;
  const attn2c_calls *calls; /* own */
  attn2c_kept_ids *kept;
  attn2c_beam_options options;
  int32_t *lists; /* of the options */
  int32_t most, places;
  attn2c_answer_ids *answers; /* [places] */
  attn2c_sampler **samplers;  /* [places]; NULL with beams */
  attn2c_beam **beams;        /* [places]; NULL without */
  int32_t *prompts;           /* [places] tokens of the prompt */
  int32_t *ids;               /* [places][most] of answers without beams */
  int32_t *slots;             /* [sequences] which of its place's sequences each beam has */
  int32_t *numbers, *lasts;   /* [sequences] of a decode call; lasts: the last token of each beam or answer */
  float *logits;              /* [sequences or guessing->rows][vocabulary] */
  float *values;              /* [tokens + 1] of a prompt and its answer */
  guessing *guessing;         /* NULL: nothing is guessed */
};

int64_t attn2c_answers_limit(const attn2c_generation *stated, int64_t given, int32_t *length) {
  *length = given > 0 || stated->tokens > 0 ? 0 : stated->length;
  return given > 0 ? given : stated->tokens > 0 ? stated->tokens : *length > 0 ? *length - 1 : USUAL_TOKENS;
}

/* True if a rule goes by probabilities, which the penalty must have changed before. */
static int is_scored(const attn2c_answers *b) { return b->calls->rule && b->calls->rule->is_scored; }

/* Makes the samplers or searches of all places. */
static int create_places(attn2c_answers *b, const attn2c_sampling *sampling, attn2c_message *message) {
  attn2c_sampling own = *sampling;
  if (is_scored(b)) own.repetition_penalty = 1;
  for (int32_t i = 0; i < b->places; i++) {
    if (b->beams)
      ATTN2C_TRY(attn2c_beam_create(&b->beams[i], &b->options, b->calls->vocabulary, b->calls->tokens + 1,
                                    b->calls->log_softmax));
    else
      ATTN2C_TRY(attn2c_sampler_create(&b->samplers[i], &own, b->calls->vocabulary, message));
  }
  return ATTN2C_OK;
}

int attn2c_answers_create(attn2c_answers **batch, const attn2c_calls *calls, const attn2c_sampling *sampling,
                          const attn2c_beam_options *beam, int32_t most, attn2c_message *message) {
  attn2c_beam_options options = *beam;
  const size_t sequences = (size_t)calls->sequences;
  options.repetition_penalty = sampling->repetition_penalty;
  options.stop_count = sampling->stop_count;
  options.stop_tokens = sampling->stop_tokens;
  *batch = NULL;
  ATTN2C_TRY(attn2c_beam_check(&options, calls->sequences, calls->vocabulary, message));
  attn2c_answers *b = attn2c_allocate(sizeof *b);
  if (b) {
    b->own = *calls;
    b->calls = &b->own;
  }
  int status = b ? attn2c_kept_ids_create(b->calls, &b->kept) : ATTN2C_MEMORY;
  if (status == ATTN2C_OK) status = attn2c_beam_copy(&b->options, &options, &b->lists);
  if (status == ATTN2C_OK) {
    b->most = most < attn2c_calls_room(calls) ? most : attn2c_calls_room(calls);
    b->places = calls->sequences / beam->beams;
    b->answers = attn2c_allocate(sequences * sizeof *b->answers);
    if (beam->beams > 1)
      b->beams = attn2c_allocate(sequences * sizeof *b->beams);
    else
      b->samplers = attn2c_allocate(sequences * sizeof *b->samplers);
    b->prompts = attn2c_allocate(sequences * sizeof *b->prompts);
    b->ids = attn2c_reserve((size_t)b->places * (size_t)b->most * sizeof *b->ids);
    b->slots = attn2c_allocate(sequences * sizeof *b->slots);
    b->numbers = attn2c_reserve(sequences * sizeof *b->numbers);
    b->lasts = attn2c_allocate(sequences * sizeof *b->lasts);
    b->logits = attn2c_reserve(sequences * (size_t)calls->vocabulary * sizeof *b->logits);
    b->values = attn2c_reserve(((size_t)calls->tokens + 1) * sizeof *b->values);
    if (!b->answers || !(b->samplers || b->beams) || !b->prompts || !b->ids || !b->slots || !b->numbers ||
        !b->lasts || !b->logits || !b->values)
      status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_OK) status = create_places(b, sampling, message);
  if (status == ATTN2C_MEMORY) attn2c_say(message, "no memory for %d answers", (int)calls->sequences);
  if (status == ATTN2C_OK)
    *batch = b;
  else
    attn2c_answers_free(b);
  return status;
}

static void free_guessing(guessing *g) {
  if (!g) return;
  attn2c_drafter_free(g->drafter);
  attn2c_free(g);
}

void attn2c_answers_free(attn2c_answers *b) {
  if (!b) return;
  for (int32_t i = 0; b->samplers && i < b->places; i++) attn2c_sampler_free(b->samplers[i]);
  for (int32_t i = 0; b->beams && i < b->places; i++) attn2c_beam_free(b->beams[i]);
  attn2c_kept_ids_free(b->kept);
  ATTN2C_FREE_ALIGNED(b->lists, b->answers, b->samplers, b->beams, b->prompts, b->ids, b->slots, b->numbers,
                      b->lasts, b->logits, b->values);
  free_guessing(b->guessing);
  attn2c_free(b);
}

int attn2c_answers_guess(attn2c_answers *b, attn2c_message *message) {
  const attn2c_calls *calls = b->calls;
  const int32_t more = b->places == 1 ? ATTN2C_GUESSES : 2 * ATTN2C_GUESSES, rows = b->places + more;
  guessing *made = attn2c_allocate(sizeof *made);
  if (made) made->rows = calls->rows > 0 && calls->rows < rows ? calls->rows : rows;
  float *logits =
      made ? attn2c_reserve((size_t)made->rows * (size_t)calls->vocabulary * sizeof *logits) : NULL;
  if (!logits) {
    attn2c_free(made);
    return attn2c_fail(message, ATTN2C_MEMORY, "no memory for the logits of %d guesses", more);
  }
  attn2c_free(b->logits);
  b->logits = logits;
  b->guessing = made;
  return ATTN2C_OK;
}

int attn2c_answers_draft(attn2c_answers *b, const attn2c_calls *draft, attn2c_message *message) {
  ATTN2C_TRY(attn2c_answers_guess(b, message));
  int status = attn2c_drafter_create(draft, b->calls, &b->guessing->drafter);
  if (status == ATTN2C_OK) return status;
  free_guessing(b->guessing);
  b->guessing = NULL;
  return attn2c_fail(message, status, "no memory for guesses");
}

void attn2c_answers_temperature(attn2c_answers *b, int32_t place, double temperature) {
  attn2c_sampler_temperature(b->samplers[place], temperature);
}

int32_t attn2c_answers_places(const attn2c_answers *b) { return b->places; }

int32_t attn2c_answers_place(const attn2c_answers *b) {
  for (int32_t i = 0; i < b->places; i++)
    if (!b->answers[i].is_used) return i;
  return -1;
}

/* Returns the most tokens of a prompt and its answer. */
static int32_t most_of(const attn2c_answers *b, int32_t prompt) {
  const int32_t room = attn2c_calls_room(b->calls) + 1;
  return b->most < room - prompt ? prompt + b->most : room;
}

/* Returns why an answer ends with a token, after which prompt and answer have `count` tokens. */
static attn2c_end end_of(const attn2c_answers *b, int32_t token, int32_t count) {
  if (attn2c_beam_stops(&b->options, token)) return ATTN2C_END_TOKEN;
  if (count == attn2c_calls_room(b->calls) + 1)
    return attn2c_calls_are_shorter(b->calls) ? ATTN2C_END_COUNT : ATTN2C_END_CONTEXT;
  return ATTN2C_END_COUNT;
}

/* Returns the logarithm of a token's probability. The logits are changed. */
static double log_probability(const attn2c_answers *b, float *logits, int32_t token) {
  b->calls->log_softmax(logits, b->calls->vocabulary);
  return (double)logits[token];
}

/* Returns the first `count` tokens at a place. */
static attn2c_history history_of(const attn2c_answers *b, int32_t place, int32_t count) {
  const int32_t prompt = b->prompts[place];
  return (attn2c_history){attn2c_kept_ids_of(b->kept, place), count, prompt, most_of(b, prompt),
                          b->calls->rule};
}

/* Draws an answer's next token, and finds if it is the last. count: tokens before it, with the prompt. */
static int draw(attn2c_answers *b, int32_t place, int32_t count, float *logits, attn2c_message *message) {
  attn2c_answer_ids *answer = &b->answers[place];
  attn2c_sampler *sampler = b->samplers[place];
  int32_t *token = &b->ids[(size_t)place * (size_t)b->most + (size_t)answer->count];
  const attn2c_history history = history_of(b, place, count);
  if (is_scored(b))
    attn2c_penalise(b->options.repetition_penalty, &history, logits, b->calls->vocabulary, b->values);
  const char *lack = attn2c_process(&b->options, &history, logits, b->calls->vocabulary);
  if (lack) return attn2c_fail(message, ATTN2C_FORMAT, "%s", lack);
  ATTN2C_TRY(attn2c_sampler_sample(sampler, logits, token, message));
  attn2c_sampler_feed(sampler, token, 1, ATTN2C_FED_GENERATED, message);
  if (is_scored(b)) answer->score += log_probability(b, logits, *token);
  answer->count++;
  b->lasts[place] = *token;
  if (count + 1 == history.most || attn2c_beam_stops(&b->options, *token))
    answer->end = end_of(b, *token, count + 1);
  return ATTN2C_OK;
}

/* Gives the next beams of a place sequences. The first beam that follows another one goes on in its sequence.
 * Each other one gets a sequence that no beam needs, the one that has most in common with it. */
static int reorder(attn2c_answers *b, int32_t place, const attn2c_beam_next *next) {
  const int32_t width = b->options.beams, base = place * width;
  int32_t slots[ATTN2C_MOST_SEQUENCES];
  uint8_t used[ATTN2C_MOST_SEQUENCES] = {0};
  for (int32_t i = 0; i < width; i++) {
    const int32_t own = b->slots[base + next[i].beam];
    slots[i] = used[own] ? -1 : own;
    used[own] = 1;
  }
  for (int32_t i = 0; i < width; i++) {
    const int32_t from = base + b->slots[base + next[i].beam];
    int32_t most = -1;
    if (slots[i] >= 0) continue;
    for (int32_t slot = 0; slot < width; slot++) {
      const int32_t common = used[slot] ? -1 : attn2c_kept_ids_common(b->kept, from, base + slot);
      if (common > most) most = common, slots[i] = slot;
    }
    used[slots[i]] = 1;
    ATTN2C_TRY(attn2c_kept_ids_copy(b->kept, from, base + slots[i]));
  }
  memcpy(b->slots + base, slots, (size_t)width * sizeof *slots);
  for (int32_t i = 0; i < width; i++) b->lasts[base + i] = next[i].token;
  return ATTN2C_OK;
}

/* Does a step of a search. */
static int search(attn2c_answers *b, int32_t place, int32_t count, float *logits, attn2c_message *message) {
  const int32_t width = b->options.beams, base = place * width;
  const int32_t *ids[ATTN2C_MOST_SEQUENCES];
  attn2c_beam_next next[ATTN2C_MOST_SEQUENCES];
  for (int32_t i = 0; i < width; i++) ids[i] = attn2c_kept_ids_of(b->kept, base + b->slots[base + i]);
  int status = attn2c_beam_step(b->beams[place], logits, ids, count, next, message);
  if (status == ATTN2C_OK && attn2c_beam_has_ended(b->beams[place]))
    attn2c_answers_rank(b, place, 0);
  else if (status == ATTN2C_OK)
    status = reorder(b, place, next);
  return status;
}

/* Chooses the next tokens at a place, after `count` tokens, by its logits, which are changed. */
static void choose(attn2c_answers *b, int32_t place, int32_t count, float *logits) {
  attn2c_answer_ids *answer = &b->answers[place];
  attn2c_message message = attn2c_message_make(answer->fault, sizeof answer->fault);
  answer->status = (b->beams ? search : draw)(b, place, count, logits, &message);
  if (answer->status != ATTN2C_OK) answer->end = ATTN2C_END_FAULT;
}

int attn2c_answers_rank(attn2c_answers *b, int32_t place, int32_t rank) {
  attn2c_answer_ids *answer = &b->answers[place];
  if (!b->beams || rank >= attn2c_beam_count(b->beams[place])) return rank == 0;
  const attn2c_beam_answer found = attn2c_beam_at(b->beams[place], rank);
  answer->ids = found.ids;
  answer->count = found.count;
  answer->score = (double)found.score;
  answer->end = end_of(b, found.ids[found.count - 1], b->prompts[place] + found.count);
  return 1;
}

/* Begins an answer whose prompt is read. logits: those after it, which are changed. */
static void begin(attn2c_answers *b, int32_t place, int32_t count, float *logits) {
  const int32_t base = place * b->options.beams;
  attn2c_answer_ids *answer = &b->answers[place];
  *answer = (attn2c_answer_ids){.is_used = 1, .ids = b->ids + (size_t)place * (size_t)b->most};
  b->prompts[place] = count;
  if (b->beams) attn2c_beam_rule(b->beams[place], b->calls->rule);
  if (b->beams) attn2c_beam_begin(b->beams[place], count, most_of(b, count));
  for (int32_t i = 0; i < b->options.beams; i++) b->slots[base + i] = 0;
  choose(b, place, count, logits);
}

/* Checks a prompt, and feeds it to the sampler. */
static int feed(attn2c_answers *b, int32_t place, const int32_t *ids, int64_t count, uint64_t seed,
                attn2c_message *message) {
  if (count < 1 || count > attn2c_calls_room(b->calls)) {
    attn2c_say(message, "the prompt has %lld tokens, but 1 to %d are allowed, %s", (long long)count,
               (int)attn2c_calls_room(b->calls),
               attn2c_calls_are_shorter(b->calls)
                   ? "by the folder's max_length of prompt and answer; --tokens N takes its place"
                   : "the model's context");
    return ATTN2C_FORMAT;
  }
  if (b->beams) return ATTN2C_OK;
  attn2c_sampler_reset(b->samplers[place], seed);
  return attn2c_sampler_feed(b->samplers[place], ids, count, ATTN2C_FED_PROMPT, message);
}

/* Says that a place's first sequence keeps a prompt of other calls, and the others nothing. */
static void adopt(attn2c_answers *b, int32_t place, const int32_t *ids, int32_t count) {
  const int32_t width = b->options.beams, base = place * width;
  attn2c_kept_ids_adopt(b->kept, base, ids, count);
  for (int32_t i = 1; i < width; i++) attn2c_kept_ids_forget(b->kept, base + i);
}

/* Returns the numbers of a source: ids, or values of another kind. */
static size_t values_of(const attn2c_calls *calls, const attn2c_answer_source *source) {
  return (size_t)(calls->source_values ? calls->source_values : source->count);
}

/* Reads the sources of answers, and the tokens that the answers begin with. ids: room for either; NULL for
 * one source, whose arrays are read where they are. */
static int read_sources(attn2c_answers *b, const attn2c_answer_source *sources, int32_t count, int32_t *ids) {
  const attn2c_calls *calls = b->calls;
  int32_t sequences[ATTN2C_MOST_SEQUENCES] = {0}, counts[ATTN2C_MOST_SEQUENCES] = {0}, *end = ids;
  for (int32_t i = 0; i < count; i++) {
    sequences[i] = sources[i].place * b->options.beams;
    counts[i] = (int32_t)sources[i].count;
    if (!ids) continue;
    memcpy(end, sources[i].ids, values_of(calls, &sources[i]) * sizeof *ids);
    end += values_of(calls, &sources[i]);
  }
  ATTN2C_TRY(calls->encode(calls->context, count, sequences, counts, ids ? ids : sources->ids));
  for (int32_t i = 0; i < count; i++) {
    counts[i] = calls->start_count;
    if (ids) memcpy(ids + i * calls->start_count, calls->start, (size_t)calls->start_count * sizeof *ids);
  }
  return calls->extend(calls->context, count, sequences, counts, ids ? ids : calls->start, 0, b->logits);
}

int attn2c_answers_begin_sources(attn2c_answers *b, const attn2c_answer_source *sources, int32_t count,
                                 attn2c_message *message) {
  const attn2c_calls *calls = b->calls;
  size_t room = 1 + (size_t)count * (size_t)calls->start_count;
  for (int32_t i = 0; i < count; i++) {
    const attn2c_answer_source *source = &sources[i];
    room += source->count > 0 ? values_of(calls, source) : 0;
    if (source->count < 1 || source->count > calls->source) {
      attn2c_say(message, "the source has %lld tokens, but 1 to %d are allowed", (long long)source->count,
                 calls->source);
      return source->count < 1 ? ATTN2C_USAGE : ATTN2C_FORMAT;
    }
    ATTN2C_TRY(feed(b, source->place, calls->start, calls->start_count, source->seed, message));
  }
  ATTN2C_OWN_ALIGNED int32_t *ids = count > 1 ? attn2c_allocate(room * sizeof *ids) : NULL;
  ATTN2C_TRY(ids || count == 1 ? read_sources(b, sources, count, ids) : ATTN2C_MEMORY);
  for (int32_t i = 0; i < count; i++) {
    adopt(b, sources[i].place, calls->start, calls->start_count);
    begin(b, sources[i].place, calls->start_count, b->logits + (size_t)i * (size_t)calls->vocabulary);
  }
  return ATTN2C_OK;
}

int attn2c_answers_begin(attn2c_answers *b, int32_t place, const int32_t *ids, int64_t count, uint64_t seed,
                         int (*stops)(void), attn2c_message *message) {
  const attn2c_answer_source source = {place, ids, count, seed};
  if (b->calls->encode) return attn2c_answers_begin_sources(b, &source, 1, message);
  ATTN2C_TRY(feed(b, place, ids, count, seed, message));
  ATTN2C_TRY(attn2c_kept_ids_read(b->kept, place * b->options.beams, ids, (int32_t)count, b->logits, stops));
  begin(b, place, (int32_t)count, b->logits);
  return ATTN2C_OK;
}

int attn2c_answers_go_on(attn2c_answers *b, int32_t place, const int32_t *ids, int64_t count, uint64_t seed,
                         const float *logits, attn2c_message *message) {
  const int32_t base = place * b->options.beams;
  const int32_t position = b->calls->position(b->calls->context, base);
  if (position != count) {
    attn2c_say(message, "the prompt has %lld tokens, but sequence %d has %d", (long long)count, base,
               position);
    return ATTN2C_USAGE;
  }
  for (int64_t i = 0; i < count; i++)
    if (ids[i] < 0) {
      attn2c_say(message, "token %d of the prompt: a number from 0 is allowed", ids[i]);
      return ATTN2C_FORMAT;
    }
  ATTN2C_TRY(feed(b, place, ids, count, seed, message));
  adopt(b, place, ids, (int32_t)count);
  memcpy(b->logits, logits, (size_t)b->calls->vocabulary * sizeof *logits);
  begin(b, place, (int32_t)count, b->logits);
  return ATTN2C_OK;
}

static int goes_on(const attn2c_answers *b, int32_t place) {
  return b->answers[place].is_used && b->answers[place].end == ATTN2C_END_NONE;
}

/* Draws tokens of an answer while they are as guessed, from the logits of a call that has read its last token
 * and guesses. Forgets what was read after the tokens. Writes their number to *drawn. */
static int accept(attn2c_answers *b, int32_t place, const attn2c_guess *guess, float *logits,
                  int32_t *drawn) {
  const attn2c_answer_ids *answer = &b->answers[place];
  const int32_t begun = answer->count, kept = attn2c_kept_ids_count(b->kept, place) - guess->count;
  for (int32_t i = 0; i <= guess->count; i++) {
    choose(b, place, kept + i, logits + (size_t)i * (size_t)b->calls->vocabulary);
    if (answer->end != ATTN2C_END_NONE || (i < guess->count && b->lasts[place] != guess->ids[i])) break;
  }
  *drawn = answer->count - begun;
  return attn2c_kept_ids_rewind(b->kept, place, kept + (*drawn > 1 ? *drawn - 1 : 0));
}

/* Does a step with guesses: one call reads the last token of each answer and the guesses after it. */
static int step_guessing(attn2c_answers *b) {
  guessing *g = b->guessing;
  attn2c_guess_call *call = &g->call;
  attn2c_guessed_text texts[ATTN2C_MOST_SEQUENCES];
  int32_t counts[ATTN2C_MOST_SEQUENCES], count = 0;
  for (int32_t place = 0; place < b->places; place++) {
    if (!goes_on(b, place)) continue;
    b->numbers[count] = place;
    texts[count++] = (attn2c_guessed_text){history_of(b, place, attn2c_kept_ids_count(b->kept, place)), place,
                                           b->lasts[place]};
  }
  if (count == 0) return ATTN2C_OK;
  attn2c_guess_texts(call, g->drafter, texts, count, g->rows, g->ids, counts);
  int status = attn2c_kept_ids_extend(b->kept, count, b->numbers, counts, g->ids, 1, b->logits);
  attn2c_guess_call_end(call);
  float *logits = b->logits;
  for (int32_t i = 0, drawn; i < count && status == ATTN2C_OK; i++) {
    const attn2c_answer_ids *answer = &b->answers[b->numbers[i]];
    status = accept(b, b->numbers[i], &call->guesses[i], logits, &drawn);
    attn2c_guess_call_learn(call, i, answer->ids + answer->count - drawn, drawn);
    logits += (size_t)counts[i] * (size_t)b->calls->vocabulary;
  }
  return status;
}

/* Does a step without guesses. */
static int step_plain(attn2c_answers *b) {
  const int32_t width = b->options.beams;
  int32_t count = 0, lasts[ATTN2C_MOST_SEQUENCES];
  for (int32_t i = 0; i < b->places * width; i++) {
    if (!goes_on(b, i / width)) continue;
    b->numbers[count] = i - i % width + b->slots[i];
    lasts[count++] = b->lasts[i];
  }
  if (count == 0) return ATTN2C_OK;
  const int status = attn2c_kept_ids_decode(b->kept, count, b->numbers, lasts, b->logits);
  for (int32_t i = 0; i < count && status == ATTN2C_OK; i += width)
    choose(b, b->numbers[i] / width, attn2c_kept_ids_count(b->kept, b->numbers[i]),
           b->logits + (size_t)i * (size_t)b->calls->vocabulary);
  return status;
}

int attn2c_answers_step(attn2c_answers *b, attn2c_message *message) {
  const int status = b->guessing ? step_guessing(b) : step_plain(b);
  if (status == ATTN2C_OK) return status;
  return attn2c_fail(message, status, "a decode call failed: %s", attn2c_strerror(status));
}

const attn2c_answer_ids *attn2c_answers_at(const attn2c_answers *b, int32_t place) {
  return &b->answers[place];
}

const int32_t *attn2c_answers_prompt(const attn2c_answers *b, int32_t place, int32_t *count) {
  *count = b->prompts[place];
  return attn2c_kept_ids_of(b->kept, place * b->options.beams);
}

void attn2c_answers_end(attn2c_answers *b, int32_t place, attn2c_end end, int32_t count) {
  b->answers[place].end = end;
  b->answers[place].count = count;
}

void attn2c_answers_release(attn2c_answers *b, int32_t place) { b->answers[place].is_used = 0; }
