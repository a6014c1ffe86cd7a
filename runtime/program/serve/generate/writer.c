/* writer.c - each answer has a sequence of the context. Sequences keep their tokens when an answer
 * has ended, so that a prompt that begins alike is computed from its first other token on. A new prompt takes
 * the sequence that was used least recently. */
#include "program/serve/generate/generate.h"

#include <math.h>

#include "generate/draft.h"
#include "generate/text_writer.h"
#include "system/clock.h"

enum {
  CLOSE = 16,      /* tokens that may be lost where a text goes on in the sequence of another */
  PROMPT_ROWS = 16 /* of a prompt, whose logits are looked at, at a time */
};

/* A sequence of the context, with the answer that is written to it. */
typedef struct {
  attn2c_asked *answer; /* NULL: none */
  attn2c_sampler *sampler;
  attn2c_writer *text;
  const int32_t *prompt; /* that is read: the answer's, or a model's first tokens after a source */
  int32_t prompt_count;
  int32_t most;  /* of prompt and answer together */
  int32_t last;  /* the token that the model reads next */
  int is_looked; /* 1: the logits of the prompt are asked for */
  uint64_t used; /* when an answer has ended last, as a number */
} place;

struct attn2c_writing {
  attn2c_server *server;
  attn2c_calls *calls;
  attn2c_kept_ids *kept;
  attn2c_text_work *work;
  int32_t count; /* places */
  int32_t call_rows;
  place places[ATTN2C_MOST_SEQUENCES];
  attn2c_ask *first, *last; /* requests with answers that have no place; linked by next */
  int32_t waiting;          /* these answers */
  int32_t limit;            /* of the ids that the model reads */
  uint64_t uses;
  float *logits;              /* [rows][vocabulary] */
  int32_t rows;               /* of a call whose logits are all wanted */
  attn2c_guess_call *guesses; /* NULL: nothing is guessed */
  attn2c_drafter *drafter;    /* NULL: repetitions are guesses */
  float *row;                 /* [vocabulary] */
  int32_t *ids;               /* of a call */
  size_t id_capacity;
};

static attn2c_engine *engine_of(const attn2c_writing *w) { return w->server->engine; }

static int64_t nanoseconds(void) { return attn2c_system_clock(CLOCK_MONOTONIC); }

int attn2c_writing_create(attn2c_server *server, int32_t sequences, int is_guessed,
                          attn2c_writing **writing) {
  attn2c_serve_generate *g = server->generate;
  const attn2c_continued *of = server->model->continued;
  attn2c_writing *w = *writing = calloc(1, sizeof *w);
  if (!w) return ATTN2C_MEMORY;
  w->server = server;
  w->calls = &g->calls;
  w->count = sequences;
  w->call_rows = of->call_rows > sequences ? (int32_t)of->call_rows : sequences;
  w->rows = sequences + (sequences > 1 ? 2 : 1) * ATTN2C_GUESSES;
  if (!is_guessed) w->rows = sequences > PROMPT_ROWS ? sequences : PROMPT_ROWS;
  w->logits = attn2c_reserve((size_t)w->rows * (size_t)g->calls.vocabulary * sizeof *w->logits);
  if (is_guessed && attn2c_guess_call_create(&w->guesses) != ATTN2C_OK) return ATTN2C_MEMORY;
  w->row = attn2c_reserve((size_t)g->calls.vocabulary * sizeof *w->row);
  w->limit = (int32_t)server->model->tensors[attn2c_primary_entry(server->model)->inputs[0]].limit;
  w->id_capacity = (size_t)w->call_rows + (size_t)sequences;
  w->ids = malloc(w->id_capacity * sizeof *w->ids);
  int status = attn2c_kept_ids_create(w->calls, &w->kept);
  if (status == ATTN2C_OK && g->draft_model) status = attn2c_drafter_create(&g->draft, w->calls, &w->drafter);
  if (status == ATTN2C_OK) status = attn2c_text_work_create(g->written ? g->written : g->tokenizer, &w->work);
  return status == ATTN2C_OK && (!w->logits || !w->row || !w->ids) ? ATTN2C_MEMORY : status;
}

/* Frees what a place has of an answer. */
static void clear(attn2c_writing *w, place *p) {
  attn2c_sampler_free(p->sampler);
  attn2c_writer_free(p->text);
  *p = (place){.used = ++w->uses};
}

void attn2c_writing_free(attn2c_writing *w) {
  if (!w) return;
  for (int32_t i = 0; i < w->count; i++) {
    attn2c_ask *ask = w->places[i].answer ? w->places[i].answer->ask : NULL;
    clear(w, &w->places[i]);
    if (!ask) continue;
    ask->ended++;
    /* With its last answer, if none waits. */
    if (ask->ended == ask->begun && ask->begun == ask->answer_count) attn2c_ask_free(ask);
  }
  while (w->first) {
    attn2c_ask *ask = w->first;
    w->first = ask->next;
    attn2c_ask_free(ask);
  }
  attn2c_kept_ids_free(w->kept);
  attn2c_text_work_destroy(w->work);
  ATTN2C_FREE_ALIGNED(w->logits, w->row, w->guesses);
  attn2c_drafter_free(w->drafter);
  ATTN2C_FREE(w->ids, w);
}

int attn2c_writing_admit(void *writing, attn2c_job *job) {
  attn2c_writing *w = writing;
  int32_t unused = 0;
  for (int32_t i = 0; i < w->count; i++) unused += !w->places[i].answer;
  if (w->waiting >= unused) return 0;
  attn2c_ask *ask = (attn2c_ask *)job;
  ask->next = NULL;
  if (w->last)
    w->last->next = ask;
  else
    w->first = ask;
  w->last = ask;
  w->waiting += ask->answer_count;
  return 1;
}

/* Takes a request out of those that wait. */
static void leave(attn2c_writing *w, attn2c_ask *ask) {
  attn2c_ask *before = NULL;
  for (attn2c_ask *at = w->first; at != ask; at = at->next) before = at;
  if (before)
    before->next = ask->next;
  else
    w->first = ask->next;
  if (w->last == ask) w->last = before;
  w->waiting -= ask->answer_count - ask->begun;
  ask->next = NULL;
}

static void end(attn2c_writing *w, place *p, attn2c_end why) {
  attn2c_asked *answer = p->answer;
  attn2c_ask *ask = answer->ask;
  const int is_source = w->calls->encode != NULL;
  attn2c_engine_lock(engine_of(w));
  answer->end = why;
  attn2c_engine_unlock(engine_of(w));
  /* Nothing may be taken from a sequence with another source. */
  if (is_source) attn2c_kept_ids_forget(w->kept, (int32_t)(p - w->places));
  clear(w, p);
  ask->ended++;
}

static void fail(attn2c_writing *w, place *p, const char *why) {
  attn2c_engine_lock(engine_of(w));
  snprintf(p->answer->fault, sizeof p->answer->fault, "%s", why);
  attn2c_engine_unlock(engine_of(w));
  end(w, p, ATTN2C_END_FAULT);
}

/* Adds the text that may be shown of an answer. */
static int show(attn2c_writing *w, place *p) {
  attn2c_asked *answer = p->answer;
  int status = ATTN2C_OK;
  attn2c_engine_lock(engine_of(w));
  if (p->text->shown > answer->capacity) {
    const size_t capacity = 2 * p->text->shown + 64;
    char *moved = realloc(answer->text, capacity);
    if (moved) answer->text = moved, answer->capacity = capacity;
    if (!moved) status = ATTN2C_MEMORY;
  }
  if (status == ATTN2C_OK && p->text->shown > answer->length) {
    memcpy(answer->text + answer->length, p->text->text + answer->length, p->text->shown - answer->length);
    answer->length = p->text->shown;
  }
  attn2c_engine_unlock(engine_of(w));
  return status;
}

/* Writes the logarithms of the probabilities of a row. */
static void take_logs(attn2c_writing *w, const float *logits) {
  const int32_t count = w->calls->vocabulary;
  memcpy(w->row, logits, (size_t)count * sizeof *logits);
  if (w->calls->log_softmax) {
    w->calls->log_softmax(w->row, count);
    return;
  }
  float most = w->row[0];
  double sum = 0;
  for (int32_t i = 1; i < count; i++) most = fmaxf(most, w->row[i]);
  for (int32_t i = 0; i < count; i++) sum += exp((double)w->row[i] - (double)most);
  for (int32_t i = 0; i < count; i++) w->row[i] = (float)((double)w->row[i] - (double)most - log(sum));
}

/* Notes a token with its log-probability, and the most probable tokens at its place. is_first: it has none.
 */
static int note_token(attn2c_writing *w, attn2c_asked *answer, int32_t id, int is_first, size_t at) {
  const int top = is_first ? 0 : answer->ask->top;
  attn2c_top_token best[ATTN2C_ASK_TOP];
  int count = 0;
  for (int32_t i = 0; i < w->calls->vocabulary && top > 0; i++) {
    const float value = w->row[i];
    if (count == top && !(value > best[count - 1].log_probability)) continue;
    int k = count < top ? count++ : count - 1;
    for (; k > 0 && value > best[k - 1].log_probability; k--) best[k] = best[k - 1];
    best[k] = (attn2c_top_token){i, value};
  }
  attn2c_engine_lock(engine_of(w));
  int is_there = ATTN2C_MORE(answer->tokens, answer->token_count) == ATTN2C_OK;
  const size_t first = answer->top_count;
  for (int i = 0; i < count && is_there; i++) {
    is_there = ATTN2C_MORE(answer->tops, answer->top_count) == ATTN2C_OK;
    if (is_there) answer->tops[answer->top_count++] = best[i];
  }
  if (is_there)
    answer->tokens[answer->token_count++] =
        (attn2c_asked_token){id, is_first ? NAN : w->row[id], at, count, (int32_t)first};
  attn2c_engine_unlock(engine_of(w));
  return is_there ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Returns the first `count` tokens of an answer's sequence. */
static attn2c_history history_of(const attn2c_writing *w, const place *p, int32_t count) {
  const attn2c_rule *rule = attn2c_grammar_use_rule(p->answer->ask->grammar);
  return (attn2c_history){attn2c_kept_ids_of(w->kept, (int32_t)(p - w->places)), count, p->prompt_count,
                          p->most, rule ? rule : w->calls->rule};
}

/* True if a token adds to an answer's text. A special one does if it is about calls of tools. */
static int is_shown(const attn2c_writing *w, const attn2c_ask *ask, int32_t id) {
  const char *text;
  size_t length;
  if (!ask->tools.form) return 1;
  if (attn2c_text_decode(w->work, &id, 1, 1, &text, &length) != ATTN2C_OK || length > 0) return 1;
  return attn2c_text_decode(w->work, &id, 1, 0, &text, &length) != ATTN2C_OK || length == 0 ||
         attn2c_tools_have(&ask->tools, text, length);
}

/* Chooses the next token of an answer, after `count` tokens, by its logits, and adds its text. Returns the
 * token, or -1 after a fault. */
static int32_t choose(attn2c_writing *w, place *p, int32_t count, float *logits) {
  attn2c_asked *answer = p->answer;
  attn2c_beam_options processors = w->server->generate->processors;
  const attn2c_history history = history_of(w, p, count);
  char fault[200] = "";
  attn2c_message message = attn2c_message_make(fault, sizeof fault);
  int32_t id;
  if (answer->ask->languages.first >= 0) processors.forced_bos = answer->ask->languages.first;
  if (answer->ask->top >= 0) take_logs(w, logits);
  const char *lack = attn2c_process(&processors, &history, logits, w->calls->vocabulary);
  int status = lack ? attn2c_fail(&message, ATTN2C_FORMAT, "%s", lack)
                    : attn2c_sampler_sample(p->sampler, logits, &id, &message);
  if (status == ATTN2C_OK && id >= w->limit)
    status = attn2c_fail(&message, ATTN2C_FORMAT, "token %d is not one that the model reads", id);
  if (status == ATTN2C_OK) status = attn2c_sampler_feed(p->sampler, &id, 1, ATTN2C_FED_GENERATED, &message);
  if (status == ATTN2C_OK && answer->ask->top >= 0) status = note_token(w, answer, id, 0, p->text->length);
  if (status != ATTN2C_OK) {
    fail(w, p, *fault ? fault : attn2c_strerror(status));
    return -1;
  }
  const int is_stop = attn2c_sampler_stops(p->sampler, id);
  p->last = id;
  attn2c_engine_lock(engine_of(w));
  answer->written++;
  attn2c_engine_unlock(engine_of(w));
  atomic_fetch_add(&w->server->metrics.written_tokens, 1);
  if (!is_stop)
    status = (is_shown(w, answer->ask, id) ? attn2c_writer_add : attn2c_writer_pass)(p->text, w->work, id);
  attn2c_end why = is_stop                    ? ATTN2C_END_TOKEN
                   : p->text->stopped_by >= 0 ? ATTN2C_END_TEXT
                   : count + 1 >= p->most     ? ATTN2C_END_COUNT
                                              : ATTN2C_END_NONE;
  if (why != ATTN2C_END_NONE && status == ATTN2C_OK) status = attn2c_writer_end(p->text, w->work);
  if (why == ATTN2C_END_COUNT && p->text->stopped_by >= 0) why = ATTN2C_END_TEXT;
  if (status == ATTN2C_OK) status = show(w, p);
  if (status != ATTN2C_OK)
    fail(w, p, attn2c_strerror(status));
  else if (why != ATTN2C_END_NONE)
    end(w, p, why);
  return id;
}

/* Returns the place for a prompt, or NULL if the answer has to wait: for a place, or for an answer to the
 * same prompt, which is then copied. */
static place *place_for(attn2c_writing *w, const attn2c_asked *answer) {
  place *oldest = NULL, *found = NULL;
  int32_t most = 0;
  for (int32_t i = 0; i < w->count; i++) {
    place *p = &w->places[i];
    const int32_t *ids = attn2c_kept_ids_of(w->kept, i);
    const int32_t kept = attn2c_kept_ids_count(w->kept, i);
    if (p->answer && p->answer->prompt == answer->prompt && kept < p->prompt_count && !w->calls->encode)
      return NULL;
    if (p->answer) continue;
    int32_t common = 0;
    const int is_alike = attn2c_kept_ids_adapter(w->kept, i) == answer->ask->adapter;
    while (is_alike && common < kept && common < answer->prompt_count &&
           ids[common] == answer->prompt[common])
      common++;
    if (!oldest || p->used < oldest->used) oldest = p;
    if (common > most && kept - common <= CLOSE) most = common, found = p;
  }
  return found ? found : oldest;
}

/* Makes what an answer needs at its place. */
static int prepare(attn2c_writing *w, place *p, attn2c_message *message) {
  const attn2c_asked *answer = p->answer;
  const attn2c_ask *ask = answer->ask;
  const int32_t sequence = (int32_t)(p - w->places), room = attn2c_calls_room(w->calls) + 1;
  attn2c_sampling sampling = ask->sampling;
  sampling.seed += (uint64_t)answer->number;
  p->prompt = w->calls->encode ? w->calls->start : answer->prompt;
  p->prompt_count = w->calls->encode ? w->calls->start_count : answer->prompt_count;
  if (ask->languages.start >= 0) p->prompt = &ask->languages.start, p->prompt_count = 1;
  const int64_t most = (ask->length && ask->length < room ? ask->length : room) - p->prompt_count;
  p->most = p->prompt_count + (int32_t)(ask->tokens < most ? ask->tokens : most);
  p->is_looked = ask->echo && ask->top >= 0;
  const attn2c_serve_generate *g = w->server->generate;
  ATTN2C_TRY(attn2c_writer_create(g->written ? g->written : g->tokenizer, !ask->tools.form,
                                  (const char *const *)ask->stops, ask->stop_count, &p->text, message));
  ATTN2C_TRY(attn2c_sampler_create(&p->sampler, &sampling, w->calls->vocabulary, message));
  ATTN2C_TRY(attn2c_sampler_feed(p->sampler, p->prompt, p->prompt_count, ATTN2C_FED_PROMPT, message));
  ATTN2C_TRY(attn2c_writer_begin(p->text, w->work, p->prompt, (size_t)p->prompt_count));
  ATTN2C_TRY(attn2c_kept_ids_adapt(w->kept, sequence, ask->adapter));
  if (w->calls->encode || p->is_looked) {
    attn2c_kept_ids_forget(w->kept, sequence);
    return w->calls->encode ? ATTN2C_OK : w->calls->rewind(w->calls->context, sequence, 0);
  }
  return attn2c_kept_ids_take(w->kept, sequence, p->prompt, p->prompt_count);
}

/* Reads the sources of new answers in one call. */
static int read_sources(attn2c_writing *w, place *const *places, int count) {
  int32_t sequences[ATTN2C_MOST_SEQUENCES], counts[ATTN2C_MOST_SEQUENCES], *ids = NULL, *at;
  size_t all = 0;
  for (int i = 0; i < count; i++) {
    sequences[i] = (int32_t)(places[i] - w->places);
    counts[i] = places[i]->answer->prompt_count;
    all += (size_t)counts[i];
  }
  ids = at = malloc(all * sizeof *ids);
  if (!ids) return ATTN2C_MEMORY;
  for (int i = 0; i < count; at += counts[i++])
    memcpy(at, places[i]->answer->prompt, (size_t)counts[i] * sizeof *ids);
  const int status = w->calls->encode(w->calls->context, count, sequences, counts, ids);
  free(ids);
  return status;
}

/* Gives answers that wait their places. */
static void fill(attn2c_writing *w) {
  place *begun[ATTN2C_MOST_SEQUENCES];
  int count = 0;
  while (w->first) {
    attn2c_ask *ask = w->first;
    attn2c_asked *answer = &ask->answers[ask->begun];
    place *p = place_for(w, answer);
    if (!p) break;
    char fault[200] = "";
    attn2c_message message = attn2c_message_make(fault, sizeof fault);
    p->answer = answer;
    w->waiting--;
    if (++ask->begun == ask->answer_count) leave(w, ask);
    const int status = prepare(w, p, &message);
    if (status != ATTN2C_OK) {
      fail(w, p, *fault ? fault : attn2c_strerror(status));
      if (ask->ended == ask->answer_count) attn2c_engine_tell(engine_of(w), &ask->job, 1);
      continue;
    }
    begun[count++] = p;
    answer->kept = w->calls->encode ? 0 : attn2c_kept_ids_count(w->kept, (int32_t)(p - w->places));
    atomic_fetch_add(&w->server->metrics.prompt_tokens, (uint64_t)answer->prompt_count);
    atomic_fetch_add(&w->server->metrics.kept_tokens, (uint64_t)answer->kept);
  }
  if (count == 0 || !w->calls->encode) return;
  const int status = read_sources(w, begun, count);
  for (int i = 0; i < count && status != ATTN2C_OK; i++) {
    attn2c_ask *ask = begun[i]->answer->ask;
    fail(w, begun[i], attn2c_strerror(status));
    if (ask->ended == ask->answer_count) attn2c_engine_tell(engine_of(w), &ask->job, 1);
  }
}

/* Frees the places of requests whose clients have gone. */
static void drop_cancelled(attn2c_writing *w) {
  for (attn2c_ask *ask = w->first, *next; ask; ask = next) {
    next = ask->next;
    if (!atomic_load(&ask->job.is_cancelled)) continue;
    leave(w, ask);
    ask->ended += ask->answer_count - ask->begun;
    if (ask->ended == ask->answer_count) attn2c_engine_tell(engine_of(w), &ask->job, 1);
  }
  for (int32_t i = 0; i < w->count; i++) {
    place *p = &w->places[i];
    attn2c_ask *ask = p->answer ? p->answer->ask : NULL;
    if (!ask || !atomic_load(&ask->job.is_cancelled)) continue;
    end(w, p, ATTN2C_END_FAULT);
    if (ask->ended == ask->answer_count) attn2c_engine_tell(engine_of(w), &ask->job, 1);
  }
}

/* The sequences of a call. */
typedef struct {
  int32_t count, rows;
  int32_t sequences[ATTN2C_MOST_SEQUENCES], counts[ATTN2C_MOST_SEQUENCES];
  int reads; /* 1: parts of prompts are in it */
} batch;

static void add(attn2c_writing *w, batch *b, int32_t sequence, const int32_t *ids, int32_t count) {
  memcpy(w->ids + b->rows, ids, (size_t)count * sizeof *ids);
  b->sequences[b->count] = sequence;
  b->counts[b->count++] = count;
  b->rows += count;
}

/* Reads a part of a prompt whose logits are asked for. Returns its last row once all is read, or NULL. */
static float *look(attn2c_writing *w, place *p, int *status) {
  const int32_t sequence = (int32_t)(p - w->places), at = attn2c_kept_ids_count(w->kept, sequence);
  const int32_t left = p->prompt_count - at, count = left < PROMPT_ROWS ? left : PROMPT_ROWS;
  if (at == 0) *status = note_token(w, p->answer, p->prompt[0], 1, 0);
  if (*status == ATTN2C_OK)
    *status = attn2c_kept_ids_extend(w->kept, 1, &sequence, &count, p->prompt + at, 1, w->logits);
  for (int32_t i = 0; i < count && *status == ATTN2C_OK && at + i + 1 < p->prompt_count; i++) {
    take_logs(w, w->logits + (size_t)i * (size_t)w->calls->vocabulary);
    *status = note_token(w, p->answer, p->prompt[at + i + 1], 0, 0);
  }
  return *status == ATTN2C_OK && count == left
             ? w->logits + (size_t)(count - 1) * (size_t)w->calls->vocabulary
             : NULL;
}

/* Tells of the requests of some answers: of each that streams, and of each that has ended. */
static void tell(attn2c_writing *w, attn2c_ask *const *asks, int count) {
  for (int i = 0; i < count; i++) {
    attn2c_ask *ask = asks[i];
    for (int k = 0; k < i && ask; k++)
      if (asks[k] == ask) ask = NULL;
    if (!ask) continue;
    const int is_done = ask->ended == ask->answer_count;
    if (is_done || ask->is_streamed) attn2c_engine_tell(engine_of(w), &ask->job, is_done);
  }
}

/* Computes the step of prompts whose logits are asked for, one after the other. */
static void look_all(attn2c_writing *w) {
  for (int32_t i = 0; i < w->count; i++) {
    place *p = &w->places[i];
    if (!p->answer || !p->is_looked || attn2c_kept_ids_count(w->kept, i) >= p->prompt_count) continue;
    attn2c_ask *ask = p->answer->ask;
    int status = ATTN2C_OK;
    float *logits = look(w, p, &status);
    if (status != ATTN2C_OK)
      fail(w, p, attn2c_strerror(status));
    else if (logits)
      choose(w, p, p->prompt_count, logits);
    tell(w, &ask, 1);
  }
}

/* Collects the tokens of a call: one of each answer, then parts of prompts as far as they fit. */
static batch collect(attn2c_writing *w) {
  batch b = {.count = 0};
  for (int32_t i = 0; i < w->count; i++) {
    const place *p = &w->places[i];
    if (p->answer && attn2c_kept_ids_count(w->kept, i) >= p->prompt_count) add(w, &b, i, &p->last, 1);
  }
  for (int32_t i = 0; i < w->count && b.rows < w->call_rows; i++) {
    const place *p = &w->places[i];
    const int32_t at = attn2c_kept_ids_count(w->kept, i);
    if (!p->answer || p->is_looked || at >= p->prompt_count) continue;
    const int32_t left = p->prompt_count - at, room = w->call_rows - b.rows;
    add(w, &b, i, p->prompt + at, left < room ? left : room);
    b.reads = 1;
  }
  return b;
}

/* Adds guesses to a call that has the last token of each answer. */
static void guess(attn2c_writing *w, batch *b) {
  attn2c_guessed_text texts[ATTN2C_MOST_SEQUENCES];
  for (int32_t i = 0; i < b->count; i++) {
    const int32_t sequence = b->sequences[i];
    const place *p = &w->places[sequence];
    texts[i] =
        (attn2c_guessed_text){history_of(w, p, attn2c_kept_ids_count(w->kept, sequence)), sequence, p->last};
  }
  attn2c_guess_texts(w->guesses, w->drafter, texts, b->count, w->rows < w->call_rows ? w->rows : w->call_rows,
                     w->ids, b->counts);
}

/* Chooses tokens of an answer while they are as guessed. number: of the answer in the call. */
static void accept(attn2c_writing *w, place *p, int32_t number, float *logits) {
  const attn2c_guess *guess = &w->guesses->guesses[number];
  const int32_t sequence = (int32_t)(p - w->places);
  const int32_t kept = attn2c_kept_ids_count(w->kept, sequence) - guess->count;
  int32_t ids[1 + ATTN2C_GUESSES], count = 0, is_right = 1;
  while (count <= guess->count && is_right && p->answer) {
    ids[count] = choose(w, p, kept + count, logits + (size_t)count * (size_t)w->calls->vocabulary);
    is_right = count < guess->count && ids[count] == guess->ids[count];
    count++;
  }
  attn2c_guess_call_learn(w->guesses, number, ids, count);
  const int status = attn2c_kept_ids_rewind(w->kept, sequence, kept + count - 1);
  if (status != ATTN2C_OK && p->answer) fail(w, p, attn2c_strerror(status));
}

int attn2c_writing_step(void *writing) {
  attn2c_writing *w = writing;
  attn2c_ask *asks[ATTN2C_MOST_SEQUENCES];
  drop_cancelled(w);
  fill(w);
  look_all(w);
  batch b = collect(w);
  const int is_guessed = w->guesses && b.count > 0 && !b.reads;
  if (is_guessed) guess(w, &b);
  if (b.count > 0) {
    float *logits = w->logits;
    const int64_t begun = nanoseconds();
    const int status =
        attn2c_kept_ids_extend(w->kept, b.count, b.sequences, b.counts, w->ids, is_guessed, w->logits);
    if (is_guessed) attn2c_guess_call_end(w->guesses);
    const uint64_t took = (uint64_t)(nanoseconds() - begun);
    atomic_fetch_add(
        b.reads ? &w->server->metrics.prompt_nanoseconds : &w->server->metrics.written_nanoseconds, took);
    atomic_fetch_add(&w->server->metrics.steps, 1);
    for (int32_t i = 0; i < b.count; i++) {
      place *p = &w->places[b.sequences[i]];
      asks[i] = p->answer->ask;
      if (status != ATTN2C_OK)
        fail(w, p, attn2c_strerror(status));
      else if (is_guessed)
        accept(w, p, i, logits);
      else if (attn2c_kept_ids_count(w->kept, b.sequences[i]) >= p->prompt_count)
        choose(w, p, attn2c_kept_ids_count(w->kept, b.sequences[i]), logits);
      logits += (size_t)(is_guessed ? b.counts[i] : 1) * (size_t)w->calls->vocabulary;
    }
    tell(w, asks, b.count);
  }
  for (int32_t i = 0; i < w->count; i++)
    if (w->places[i].answer) return 1;
  return w->first != NULL;
}
