/* writer.c - each answer has a sequence of the context. Sequences keep their tokens when an answer
 * has ended, so that a prompt that begins alike is computed from its first other token on. A new prompt takes
 * the sequence that was used least recently.
 *
 * An answer pauses while its client is behind. If others wait then, it loses its sequence to them. It keeps
 * its tokens, and goes on later in another sequence as if they all were its prompt. */
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
typedef struct place {
  attn2c_asked *answer; /* NULL: none */
  attn2c_sampler *sampler;
  attn2c_writer *text;
  int32_t prompt_count; /* of the answer, or a model's first tokens after a source */
  const int32_t *read;  /* [read_count] before the next token is chosen: the prompt, or `own` */
  int32_t read_count;
  int32_t *own;       /* of an answer that lost its sequence: its prompt and its tokens; else NULL */
  struct place *next; /* of such answers */
  int is_parked;      /* 1: it has no sequence */
  int32_t most;       /* of prompt and answer together */
  int32_t last;       /* the token that the model reads next */
  int is_looked;      /* 1: the logits of the prompt are asked for */
  uint64_t used;      /* when an answer has ended last, as a number */
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
  place *parked;            /* answers that have lost their sequence */
  int32_t parked_count;
  int32_t limit; /* of the ids that the model reads */
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
  free(p->own);
  *p = (place){.used = ++w->uses};
}

/* Frees what a place has, and the request with its last answer, if none waits. */
static void discard(attn2c_writing *w, place *p) {
  attn2c_ask *ask = p->answer ? p->answer->ask : NULL;
  clear(w, p);
  if (ask && ++ask->ended == ask->answer_count) attn2c_ask_free(ask);
}

void attn2c_writing_free(attn2c_writing *w) {
  if (!w) return;
  for (int32_t i = 0; i < w->count; i++) discard(w, &w->places[i]);
  for (place *p = w->parked, *next; p; p = next) {
    next = p->next;
    discard(w, p);
    free(p);
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

/* True if an answer has to read its prompt, or what it had written. */
static int reads(const attn2c_writing *w, const place *p) {
  return attn2c_kept_ids_count(w->kept, (int32_t)(p - w->places)) < p->read_count;
}

static int is_behind(const attn2c_ask *ask) { return atomic_load(&ask->job.is_behind); }

/* True if an answer waits for its client, and may lose its sequence. */
static int is_paused(const attn2c_writing *w, const place *p) {
  return p->answer && is_behind(p->answer->ask) && !reads(w, p);
}

int attn2c_writing_admit(void *writing, attn2c_job *job) {
  attn2c_writing *w = writing;
  int32_t unused = 0;
  for (int32_t i = 0; i < w->count; i++) unused += !w->places[i].answer || is_paused(w, &w->places[i]);
  for (const attn2c_ask *each = w->first; each; each = each->next)
    if (!is_behind(each)) unused -= each->answer_count - each->begun;
  if (unused <= 0) return 0;
  attn2c_ask *ask = (attn2c_ask *)job;
  ask->next = NULL;
  if (w->last)
    w->last->next = ask;
  else
    w->first = ask;
  w->last = ask;
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
  ask->next = NULL;
}

/* Nothing may be taken from a sequence with another source. */
static void leave_sequence(attn2c_writing *w, const place *p) {
  if (w->calls->encode && !p->is_parked) attn2c_kept_ids_forget(w->kept, (int32_t)(p - w->places));
}

static void end(attn2c_writing *w, place *p, attn2c_end why) {
  attn2c_asked *answer = p->answer;
  attn2c_ask *ask = answer->ask;
  attn2c_engine_lock(engine_of(w));
  answer->end = why;
  attn2c_engine_unlock(engine_of(w));
  leave_sequence(w, p);
  clear(w, p);
  ask->ended++;
}

static void fail(attn2c_writing *w, place *p, const char *why) {
  attn2c_engine_lock(engine_of(w));
  snprintf(p->answer->fault, sizeof p->answer->fault, "%s", why);
  attn2c_engine_unlock(engine_of(w));
  end(w, p, ATTN2C_END_FAULT);
}

/* Fails an answer at a place, and tells of its request if it was the last one. */
static void fail_alone(attn2c_writing *w, place *p, const char *why) {
  attn2c_ask *ask = p->answer->ask;
  fail(w, p, why);
  if (ask->ended == ask->answer_count) attn2c_engine_tell(engine_of(w), &ask->job, 1);
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

/* Takes the sequence of an answer whose client is behind. The answer fails if too many have none. */
static void park(attn2c_writing *w, place *p) {
  const int32_t sequence = (int32_t)(p - w->places), count = attn2c_kept_ids_count(w->kept, sequence);
  place *parked = w->parked_count < w->server->arguments->serve.waiting ? malloc(sizeof *parked) : NULL;
  int32_t *own = parked ? malloc(((size_t)count + 1) * sizeof *own) : NULL;
  if (!own) {
    free(parked);
    fail_alone(w, p, "other requests wait, and this stream is not read");
    return;
  }
  memcpy(own, attn2c_kept_ids_of(w->kept, sequence), (size_t)count * sizeof *own);
  own[count] = p->last;
  leave_sequence(w, p);
  free(p->own);
  *parked = *p;
  parked->read = parked->own = own, parked->read_count = count + 1;
  parked->is_looked = 0, parked->is_parked = 1, parked->next = NULL;
  place **last = &w->parked;
  while (*last) last = &(*last)->next;
  *last = parked, w->parked_count++;
  *p = (place){.used = ++w->uses};
}

/* Returns the place for ids of an answer, or NULL if it has to wait: for a place, or for an answer to the
 * same prompt, which is then copied. */
static place *place_for(attn2c_writing *w, const attn2c_asked *answer, const int32_t *wanted, int32_t count) {
  place *oldest = NULL, *found = NULL, *paused = NULL;
  int32_t most = 0;
  for (int32_t i = 0; i < w->count; i++) {
    place *p = &w->places[i];
    const int32_t *ids = attn2c_kept_ids_of(w->kept, i);
    const int32_t kept = attn2c_kept_ids_count(w->kept, i);
    if (p->answer && p->answer->prompt == answer->prompt && reads(w, p) && !w->calls->encode) return NULL;
    if (is_paused(w, p)) paused = p;
    if (p->answer) continue;
    int32_t common = 0;
    const int is_alike = attn2c_kept_ids_adapter(w->kept, i) == answer->ask->adapter;
    while (is_alike && common < kept && common < count && ids[common] == wanted[common]) common++;
    if (!oldest || p->used < oldest->used) oldest = p;
    if (common > most && kept - common <= CLOSE) most = common, found = p;
  }
  if (!oldest && paused) park(w, oldest = paused);
  return found ? found : oldest;
}

/* Makes what an answer needs at its place. */
static int prepare(attn2c_writing *w, place *p, attn2c_message *message) {
  const attn2c_asked *answer = p->answer;
  const attn2c_ask *ask = answer->ask;
  const int32_t room = attn2c_calls_room(w->calls) + 1;
  attn2c_sampling sampling = ask->sampling;
  sampling.seed += (uint64_t)answer->number;
  p->read = w->calls->encode ? w->calls->start : answer->prompt;
  p->prompt_count = w->calls->encode ? w->calls->start_count : answer->prompt_count;
  if (ask->languages.start >= 0) p->read = &ask->languages.start, p->prompt_count = 1;
  p->read_count = p->prompt_count;
  const int64_t most = (ask->length && ask->length < room ? ask->length : room) - p->prompt_count;
  p->most = p->prompt_count + (int32_t)(ask->tokens < most ? ask->tokens : most);
  p->is_looked = ask->echo && ask->top >= 0;
  const attn2c_serve_generate *g = w->server->generate;
  ATTN2C_TRY(attn2c_writer_create(g->written ? g->written : g->tokenizer, !ask->tools.form,
                                  (const char *const *)ask->stops, ask->stop_count, &p->text, message));
  ATTN2C_TRY(attn2c_sampler_create(&p->sampler, &sampling, w->calls->vocabulary, message));
  ATTN2C_TRY(attn2c_sampler_feed(p->sampler, p->read, p->prompt_count, ATTN2C_FED_PROMPT, message));
  return attn2c_writer_begin(p->text, w->work, p->read, (size_t)p->prompt_count);
}

/* Prepares the sequence of an answer, which then reads what the place has to read. */
static int begin(attn2c_writing *w, place *p) {
  const int32_t sequence = (int32_t)(p - w->places);
  ATTN2C_TRY(attn2c_kept_ids_adapt(w->kept, sequence, p->answer->ask->adapter));
  if (w->calls->encode || p->is_looked) {
    attn2c_kept_ids_forget(w->kept, sequence);
    return w->calls->encode ? ATTN2C_OK : w->calls->rewind(w->calls->context, sequence, 0);
  }
  return attn2c_kept_ids_take(w->kept, sequence, p->read, p->read_count);
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

/* Gives answers that lost their sequence, and whose clients have read, places again. Returns their number. */
static int resume(attn2c_writing *w, place **begun) {
  int count = 0;
  for (place **link = &w->parked; *link;) {
    place *parked = *link;
    place *p = is_behind(parked->answer->ask)
                   ? NULL
                   : place_for(w, parked->answer, parked->read, parked->read_count);
    if (!p) {
      link = &parked->next;
      continue;
    }
    *link = parked->next, w->parked_count--;
    *p = *parked, p->is_parked = 0;
    free(parked);
    const int status = begin(w, p);
    if (status != ATTN2C_OK)
      fail_alone(w, p, attn2c_strerror(status));
    else
      begun[count++] = p;
  }
  return count;
}

/* Returns a request with an answer that has not begun and may, or NULL. */
static attn2c_ask *next_of(const attn2c_writing *w) {
  attn2c_ask *ask = w->first;
  while (ask && is_behind(ask)) ask = ask->next;
  return ask;
}

/* Gives answers that wait their places. */
static void fill(attn2c_writing *w) {
  place *begun[ATTN2C_MOST_SEQUENCES];
  int count = resume(w, begun);
  for (attn2c_ask *ask = next_of(w); ask; ask = next_of(w)) {
    attn2c_asked *answer = &ask->answers[ask->begun];
    place *p = place_for(w, answer, answer->prompt, answer->prompt_count);
    if (!p) break;
    char fault[200] = "";
    attn2c_message message = attn2c_message_make(fault, sizeof fault);
    p->answer = answer;
    if (++ask->begun == ask->answer_count) leave(w, ask);
    int status = prepare(w, p, &message);
    if (status == ATTN2C_OK) status = begin(w, p);
    if (status != ATTN2C_OK) {
      fail_alone(w, p, *fault ? fault : attn2c_strerror(status));
      continue;
    }
    begun[count++] = p;
    answer->kept = w->calls->encode ? 0 : attn2c_kept_ids_count(w->kept, (int32_t)(p - w->places));
    atomic_fetch_add(&w->server->metrics.prompt_tokens, (uint64_t)answer->prompt_count);
    atomic_fetch_add(&w->server->metrics.kept_tokens, (uint64_t)answer->kept);
  }
  if (count == 0 || !w->calls->encode) return;
  const int status = read_sources(w, begun, count);
  for (int i = 0; i < count && status != ATTN2C_OK; i++) fail_alone(w, begun[i], attn2c_strerror(status));
}

/* Ends an answer if its client has gone. Returns 1 then. */
static int drop(attn2c_writing *w, place *p) {
  attn2c_ask *ask = p->answer ? p->answer->ask : NULL;
  if (!ask || !atomic_load(&ask->job.is_cancelled)) return 0;
  end(w, p, ATTN2C_END_FAULT);
  if (ask->ended == ask->answer_count) attn2c_engine_tell(engine_of(w), &ask->job, 1);
  return 1;
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
  for (int32_t i = 0; i < w->count; i++) drop(w, &w->places[i]);
  for (place **link = &w->parked; *link;) {
    place *parked = *link, *next = parked->next;
    if (!drop(w, parked)) {
      link = &parked->next;
      continue;
    }
    *link = next, w->parked_count--;
    free(parked);
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
  if (at == 0) *status = note_token(w, p->answer, p->read[0], 1, 0);
  if (*status == ATTN2C_OK)
    *status = attn2c_kept_ids_extend(w->kept, 1, &sequence, &count, p->read + at, 1, w->logits);
  for (int32_t i = 0; i < count && *status == ATTN2C_OK && at + i + 1 < p->prompt_count; i++) {
    take_logs(w, w->logits + (size_t)i * (size_t)w->calls->vocabulary);
    *status = note_token(w, p->answer, p->read[at + i + 1], 0, 0);
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
    if (p->answer && !reads(w, p) && !is_paused(w, p)) add(w, &b, i, &p->last, 1);
  }
  for (int32_t i = 0; i < w->count && b.rows < w->call_rows; i++) {
    const place *p = &w->places[i];
    const int32_t at = attn2c_kept_ids_count(w->kept, i);
    if (!p->answer || p->is_looked || at >= p->read_count) continue;
    const int32_t left = p->read_count - at, room = w->call_rows - b.rows;
    add(w, &b, i, p->read + at, left < room ? left : room);
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
      else if (!reads(w, p))
        choose(w, p, attn2c_kept_ids_count(w->kept, b.sequences[i]), logits);
      logits += (size_t)(is_guessed ? b.counts[i] : 1) * (size_t)w->calls->vocabulary;
    }
    tell(w, asks, b.count);
  }
  for (int32_t i = 0; i < w->count; i++)
    if (w->places[i].answer && !is_paused(w, &w->places[i])) return 1;
  for (const place *p = w->parked; p; p = p->next)
    if (!is_behind(p->answer->ask)) return 1;
  return next_of(w) != NULL;
}
