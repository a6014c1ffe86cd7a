/* command.c - the command `generate`. A batch answers one prompt for each of the sequences that the model
 * keeps sequences. Answers are written in the order of their prompts: the first that is not written yet as
 * its tokens come, the others when they are first. */
#include "program/generate/job.h"

#include "formats/npy.h"
#include "program/output.h"

enum { ENDED = ATTN2C_RECORD_ENDED, WAITING = ATTN2C_RECORD_WAITING };
typedef attn2c_generate_record record;
typedef attn2c_generate_job job;

static int asks_array(const job *job) { return job->path != NULL || job->format == ATTN2C_ANSWERS_NPY; }

static int no_memory(job *job) {
  return attn2c_fail(job->message, ATTN2C_MEMORY, "generate: no memory for an answer");
}

static void *copied(const void *from, size_t bytes) {
  void *to = malloc(bytes + 1);
  if (to && bytes) memcpy(to, from, bytes);
  return to;
}

static void free_record(record *r) {
  if (!r) return;
  ATTN2C_FREE(r->ids, r->prompt_ids, r->prompt, r->text, r);
}

/* Ends the reading of prompts by a fault, which is reported after the answers before it. */
static void end_prompts(job *job, int status, const char *place, const char *fault) {
  job->is_ended = 1;
  job->status = status;
  snprintf(job->fault, sizeof job->fault, "%s%s%s", place, *place ? ": " : "", fault);
}

/* Adds an answer to a prompt to those that are not written yet. */
static record *add_record(job *job, const attn2c_prompt_ids *prompt) {
  record *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->place = WAITING;
  r->prompt_tokens = prompt->count;
  r->number = job->prompts;
  r->gap = prompt->gap;
  r->shown.text = "";
  snprintf(r->at, sizeof r->at, "%s", prompt->place);
  if (job->last)
    job->last->next = r;
  else
    job->first = r;
  job->last = r;
  if (!prompt->text) return r;
  r->prompt = attn2c_copied(prompt->text, prompt->length);
  r->prompt_length = prompt->length;
  return r->prompt ? r : NULL;
}

/* Returns the reason why a prompt is no source, or NULL. */
static const char *refused_source(const job *job, const attn2c_prompt_ids *prompt, char *text, size_t size) {
  const attn2c_calls *calls = &job->model_calls.calls;
  if (!calls->encode || !prompt->text) return NULL;
  if (prompt->is_empty) return "the source is empty, but at least one token is needed";
  if (prompt->count <= calls->source) return NULL;
  snprintf(text, size, "the source has %lld tokens, but at most %d are allowed%s", (long long)prompt->count,
           calls->source, job->arguments->generate.split ? "" : "; --split sentences reads it in parts");
  return text;
}

/* Adds the answers to a prompt, which wait for a place. */
static int wait_for_place(job *job, const attn2c_prompt_ids *prompt) {
  char text[200];
  const char *why = refused_source(job, prompt, text, sizeof text);
  if (why) {
    end_prompts(job, prompt->is_empty ? ATTN2C_USAGE : ATTN2C_FORMAT, prompt->place, why);
    return ATTN2C_OK;
  }
  for (int32_t rank = 0; rank < job->options.n_best; rank++) {
    record *r = add_record(job, prompt);
    if (!r) return no_memory(job);
    if (rank > 0) continue;
    const int64_t values = job->model_calls.calls.source_values;
    r->prompt_ids = copied(prompt->ids, (size_t)(values ? values : prompt->count) * sizeof *r->prompt_ids);
    if (!r->prompt_ids) return no_memory(job);
  }
  job->prompts++;
  return ATTN2C_OK;
}

/* Returns the record that gets the next place, or NULL: the first, or the longest of sentences. */
static record *next_record(const job *job) {
  record *found = NULL;
  for (record *r = job->first; r; r = r->next)
    if (r->place == WAITING && r->prompt_ids && (!found || r->prompt_tokens > found->prompt_tokens)) {
      found = r;
      if (!job->arguments->generate.split) break;
    }
  return found;
}

/* Gives the records of all answers to a prompt a place. r: the first of them. */
static void take_place(job *job, record *r, int32_t place) {
  job->at[place] = r;
  for (int32_t rank = 0; rank < job->options.n_best; rank++, r = r->next) r->place = place;
}

/* Ends the answers to a prompt that could not begin. */
static void refuse(job *job, int32_t place, int status, const char *why) {
  record *r = job->at[place];
  job->at[place] = NULL;
  job->is_ended = 1;
  for (int32_t rank = 0; rank < job->options.n_best; rank++, r = r->next) {
    r->place = ENDED, r->is_missing = 1, r->end = ATTN2C_END_FAULT, r->status = status;
    snprintf(r->fault, sizeof r->fault, "%s: %s", r->at, why);
  }
}

static attn2c_answer_source source_of(const job *job, int32_t place) {
  const record *r = job->at[place];
  return (attn2c_answer_source){place, r->prompt_ids, r->prompt_tokens,
                                job->options.sampling.seed + r->number};
}

/* Begins the answers at places that got a prompt: sources in one call, or each by itself. */
static int begin(job *job, const int32_t *places, int32_t count) {
  attn2c_answer_source sources[ATTN2C_MOST_SEQUENCES];
  int32_t begun = 0, length;
  for (int32_t i = 0; i < count; i++) sources[i] = source_of(job, places[i]);
  if (count > 1 && job->model_calls.calls.encode &&
      attn2c_answers_begin_sources(job->batch, sources, count, NULL) == ATTN2C_OK)
    begun = count;
  for (int32_t i = 0; i < count; i++) {
    char text[1000] = "";
    attn2c_message said = attn2c_message_make(text, sizeof text);
    const attn2c_answer_source *s = &sources[i];
    const int status = i < begun ? ATTN2C_OK
                                 : attn2c_answers_begin(job->batch, s->place, s->ids, s->count, s->seed,
                                                        attn2c_signal, &said);
    if (status != ATTN2C_OK && attn2c_signal()) {
      for (; i < count; i++) job->at[places[i]] = NULL;
      return ATTN2C_OK;
    }
    if (status != ATTN2C_OK) {
      refuse(job, s->place, status,
             said.used                 ? text
             : status == ATTN2C_FORMAT ? "an id is not in the vocabulary"
                                       : attn2c_strerror(status));
      continue;
    }
    if (!job->is_noted++)
      attn2c_generate_options_note(&job->options, job->arguments, job->model->continued->generation,
                                   job->notes);
    const int32_t *ids = attn2c_answers_prompt(job->batch, s->place, &length);
    record *r = job->at[s->place];
    for (int32_t rank = 0; job->pictures && rank < job->options.n_best; rank++, r = r->next)
      r->prompt_tokens = length;
    if (job->text && job->text->begin(job->side, s->place, ids, length) != ATTN2C_OK) return no_memory(job);
  }
  return ATTN2C_OK;
}

/* Reads the next picture. Its values are in the place of ids, which only the entry `encode` reads. */
static attn2c_prompt_state next_picture(job *job, attn2c_prompt_ids *prompt, int *status,
                                        attn2c_message *message) {
  const float *image;
  *status = attn2c_the_pictures->next(job->pictures, &image, &prompt->text, message);
  if (*status != ATTN2C_OK) return ATTN2C_PROMPT_FAULT;
  if (!image) return ATTN2C_PROMPT_END;
  prompt->ids = (const int32_t *)(const void *)image;
  prompt->count = job->model_calls.calls.source;
  prompt->length = strlen(prompt->text);
  snprintf(prompt->place, sizeof prompt->place, "%s", prompt->text);
  return ATTN2C_PROMPT_READ;
}

/* Reads prompts until `count` wait, with all sentences of the last. It waits if no answer goes on. */
static int read_prompts(job *job, int32_t count) {
  int is_whole = 1;
  for (const record *r = job->first; r; r = r->next) count -= r->place == WAITING && r->prompt_ids != NULL;
  while (!job->is_ended && (count > 0 || !is_whole)) {
    attn2c_prompt_ids prompt = {.gap = 0};
    char text[1000] = "";
    attn2c_message said = attn2c_message_make(text, sizeof text);
    int status = ATTN2C_OK;
    const int may_wait = job->first == NULL;
    const attn2c_prompt_state state = job->pictures ? next_picture(job, &prompt, &status, &said)
                                      : job->arrays
                                          ? attn2c_prompt_arrays_next(job->arrays, &prompt)
                                          : job->text->next(job->side, may_wait, &prompt, &status, &said);
    if (state == ATTN2C_PROMPT_NONE) return ATTN2C_OK;
    if (state == ATTN2C_PROMPT_FAULT)
      end_prompts(job, status, "", said.used ? text : attn2c_strerror(status));
    if (state == ATTN2C_PROMPT_END) job->is_ended = 1;
    if (state != ATTN2C_PROMPT_READ) return ATTN2C_OK;
    status = wait_for_place(job, &prompt);
    if (status != ATTN2C_OK) return status;
    is_whole = prompt.gap == 0;
    count--;
  }
  return ATTN2C_OK;
}

/* Begins answers while there are places and prompts. */
static int fill(job *job) {
  int32_t free_places[ATTN2C_MOST_SEQUENCES], count = 0, begun = 0;
  for (int32_t place = 0; place < attn2c_answers_places(job->batch); place++)
    if (!job->at[place]) free_places[count++] = place;
  ATTN2C_TRY(read_prompts(job, count));
  for (record *r; begun < count && (r = next_record(job)); begun++) take_place(job, r, free_places[begun]);
  return begin(job, free_places, begun);
}

/* Gives the new tokens of an answer to its text. */
static int show(job *job, record *r, int32_t place, const attn2c_answer_ids *answer) {
  while (r->seen < answer->count) {
    const int32_t id = answer->ids[r->seen++];
    const int is_stop = answer->end == ATTN2C_END_TOKEN && r->seen == answer->count;
    if (!job->text || is_stop) continue;
    if (job->text->add(job->side, place, id, &r->shown) != ATTN2C_OK) return no_memory(job);
    if (r->shown.is_stopped) break;
  }
  return ATTN2C_OK;
}

/* Copies an answer that has ended. */
static int complete(job *job, record *r, int32_t place, const attn2c_answer_ids *answer) {
  const int status = job->text ? job->text->end(job->side, place, &r->shown) : ATTN2C_OK;
  r->ids = copied(answer->ids, (size_t)answer->count * sizeof *r->ids);
  r->text = copied(r->shown.text, r->shown.length);
  r->status = answer->status;
  r->end = r->shown.is_stopped ? ATTN2C_END_TEXT : answer->end;
  r->count = answer->count;
  r->score = answer->score;
  if (r->end == ATTN2C_END_FAULT) snprintf(r->fault, sizeof r->fault, "%s: %s", r->at, answer->fault);
  r->place = ENDED;
  r->shown.text = r->text;
  return status == ATTN2C_OK && r->ids && r->text ? ATTN2C_OK : no_memory(job);
}

/* Completes the other answers to a prompt, whose first is r. */
static int complete_others(job *job, const record *r, int32_t place) {
  const attn2c_answer_ids *answer = attn2c_answers_at(job->batch, place);
  record *other = r->next;
  for (int32_t rank = 1; rank < job->options.n_best; rank++, other = other->next) {
    int32_t count;
    other->is_missing = !attn2c_answers_rank(job->batch, place, rank);
    if (other->is_missing) {
      other->place = ENDED;
      continue;
    }
    const int32_t *prompt = attn2c_answers_prompt(job->batch, place, &count);
    if (job->text && job->text->begin(job->side, place, prompt, count) != ATTN2C_OK) return no_memory(job);
    ATTN2C_TRY(show(job, other, place, answer));
    ATTN2C_TRY(complete(job, other, place, answer));
  }
  return ATTN2C_OK;
}

/* Gives the new tokens to the texts, and finds the answers that have ended, whose places are free then. */
static int follow(job *job) {
  for (int32_t place = 0; place < attn2c_answers_places(job->batch); place++) {
    record *r = job->at[place];
    if (!r) continue;
    const attn2c_answer_ids *answer = attn2c_answers_at(job->batch, place);
    ATTN2C_TRY(show(job, r, place, answer));
    if (r->shown.is_stopped) attn2c_answers_end(job->batch, place, ATTN2C_END_TEXT, r->seen);
    if (answer->end == ATTN2C_END_NONE) continue;
    ATTN2C_TRY(complete(job, r, place, answer));
    ATTN2C_TRY(complete_others(job, r, place));
    attn2c_answers_release(job->batch, place);
    job->at[place] = NULL;
  }
  return ATTN2C_OK;
}

const char *const attn2c_end_names[] = {"", "stop_token", "stop_string", "tokens", "context", ""};

static int write_json(job *job, const record *r) {
  json_t *ids = json_array(), *object = json_object();
  int failed = 0;
  for (int32_t i = 0; i < r->count; i++) failed |= json_array_append_new(ids, json_integer(r->ids[i]));
  if (job->pictures)
    failed |=
        json_object_set_new(object, "image", attn2c_the_pictures->json_name(r->prompt, r->prompt_length));
  else if (r->prompt)
    failed |= json_object_set_new(object, "prompt", job->text->json_text(r->prompt, r->prompt_length));
  if (job->text)
    failed |= json_object_set_new(object, "text", job->text->json_text(r->text, r->shown.length));
  failed |= json_object_set_new(object, "ids", ids);
  failed |= json_object_set_new(object, "prompt_tokens", json_integer(r->prompt_tokens));
  failed |= json_object_set_new(object, "end", json_string(attn2c_end_names[r->end]));
  if (job->options.beam.beams > 1) failed |= json_object_set_new(object, "score", json_real(r->score));
  if (!failed && job->text)
    return job->text->json_line(object, 0, job->out) == ATTN2C_OK ? ATTN2C_OK : no_memory(job);
  if (!failed) {
    json_dumpf(object, job->out, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', job->out);
  }
  json_decref(object);
  return failed ? no_memory(job) : ATTN2C_OK;
}

/* Writes what is new of the first answer as text. */
static void write_text(job *job, record *r) {
  if (job->pictures && job->is_line && !r->is_begun) {
    attn2c_the_pictures->write_name(r->prompt, job->out);
    r->is_begun = 1;
  }
  if (job->text) {
    job->text->write(r->shown.text + r->written, r->shown.length - r->written, job->is_line, job->out);
    r->written = r->shown.length;
  } else {
    const int32_t *ids = r->place >= 0 ? attn2c_answers_at(job->batch, r->place)->ids : r->ids;
    for (; r->written < (size_t)r->seen; r->written++)
      fprintf(job->out, r->written ? " %d" : "%d", (int)ids[r->written]);
  }
  if (r->place == ENDED && r->gap) job->text->write(&r->gap, 1, job->is_line, job->out);
  if (r->place == ENDED && !r->gap) fputc('\n', job->out);
}

/* Returns two texts with a character between them, or NULL without memory; *length gets its bytes. */
static char *joined(char *first, size_t *length, char gap, const char *second, size_t more) {
  char *moved = realloc(first, *length + more + 2);
  if (!moved) return NULL;
  moved[*length] = gap;
  memcpy(moved + *length + 1, second, more);
  *length += 1 + more;
  return moved;
}

/* Adds the answer to a sentence to the answers of those before it in its text. */
static int join(job *job, const record *r) {
  record *w = job->whole;
  char *prompt = joined(w->prompt, &w->prompt_length, w->gap, r->prompt, r->prompt_length);
  if (prompt) w->prompt = prompt;
  char *text = joined(w->text, &w->shown.length, w->gap, r->text, r->shown.length);
  if (text) w->text = text;
  int32_t *ids = realloc(w->ids, (size_t)(w->count + r->count + 1) * sizeof *ids);
  if (ids) w->ids = ids;
  if (!prompt || !text || !ids) return no_memory(job);
  memcpy(ids + w->count, r->ids, (size_t)r->count * sizeof *ids);
  w->count += r->count;
  w->prompt_tokens += r->prompt_tokens;
  w->score += r->score;
  if (w->end == ATTN2C_END_TOKEN) w->end = r->end;
  w->gap = r->gap;
  return ATTN2C_OK;
}

/* Adds the answer to the array of all. */
static int gather(job *job, const record *r) {
  const int64_t width = job->options.tokens;
  void *list = job->generated;
  if (attn2c_grow(&list, &job->capacity, (size_t)job->rows + 1, (size_t)width * sizeof *job->generated))
    return no_memory(job);
  job->generated = list;
  int64_t *row = job->generated + job->rows++ * width;
  for (int64_t i = 0; i < width; i++) row[i] = i < r->count ? r->ids[i] : -1;
  return ATTN2C_OK;
}

/* Writes answers in their order, as far as they have come. */
static int write_answers(job *job) {
  while (job->first) {
    record *r = job->first;
    const int has_ended = r->place == ENDED;
    int status = ATTN2C_OK;
    if (job->prints && job->format == ATTN2C_ANSWERS_TEXT && !r->is_missing) write_text(job, r);
    if (has_ended && r->end == ATTN2C_END_FAULT) {
      attn2c_say(job->message, "%s", r->fault);
      status = r->status;
    } else if (has_ended) {
      const record *whole = job->whole ? job->whole : r;
      if (job->whole) status = join(job, r);
      const int is_last = whole->gap == 0;
      if (status == ATTN2C_OK && is_last && job->prints && job->format == ATTN2C_ANSWERS_JSONL &&
          !r->is_missing)
        status = write_json(job, whole);
      if (status == ATTN2C_OK && is_last && asks_array(job)) status = gather(job, whole);
    }
    if (status == ATTN2C_OK && job->prints) status = attn2c_output_flush(job->out, job->message);
    if (status != ATTN2C_OK || !has_ended) return status;
    job->first = r->next;
    if (!job->first) job->last = NULL;
    if (r->gap && !job->whole) {
      job->whole = r;
      continue;
    }
    if (job->whole && !job->whole->gap) {
      free_record(job->whole);
      job->whole = NULL;
    }
    free_record(r);
  }
  return ATTN2C_OK;
}

static int answer_all(job *job) {
  int status = ATTN2C_OK;
  while (status == ATTN2C_OK && !attn2c_signal()) {
    status = fill(job);
    if (status == ATTN2C_OK) status = follow(job);
    if (status == ATTN2C_OK) status = write_answers(job);
    if (status == ATTN2C_OK && job->is_ended && !job->first) break;
    if (status == ATTN2C_OK) status = attn2c_answers_step(job->batch, job->message);
    if (status == ATTN2C_OK) status = follow(job);
    if (status == ATTN2C_OK) status = write_answers(job);
  }
  if (status != ATTN2C_OK) return status;
  if (attn2c_signal()) return attn2c_signals_status(job->message);
  if (job->status != ATTN2C_OK) attn2c_say(job->message, "%s", job->fault);
  return job->status;
}

/* Ends the line of an answer that was written in part. */
static void end_line(job *job) {
  if (!job->first || (job->first->written + (size_t)job->first->is_begun == 0 && !job->whole)) return;
  fputc('\n', job->out);
  attn2c_say(job->message, "%s: the answer is not whole", job->first->at);
}

/* Opens the pictures, and makes the tokens that answers go on from: the model's first ones, and --prompt's.
 */
static int open_pictures(job *job) {
  const attn2c_arguments *arguments = job->arguments;
  const int32_t *ids = NULL;
  int64_t count = 0;
  int status = attn2c_the_pictures->open(attn2c_the_picture_facts, arguments, &job->pictures, job->message);
  if (status != ATTN2C_OK) return status;
  job->is_line = job->options.n_best > 1 || attn2c_the_pictures->are_several(job->pictures);
  if (arguments->text_count > 0)
    status = job->text->plain(job->side, arguments->texts[0].word, &ids, &count, job->message);
  if (status != ATTN2C_OK || count == 0) return status;
  const attn2c_generation *stated = job->model->continued->generation;
  job->begins = malloc((size_t)(stated->start_count + count) * sizeof *job->begins);
  if (!job->begins) return no_memory(job);
  memcpy(job->begins, stated->start_tokens, (size_t)stated->start_count * sizeof *ids);
  memcpy(job->begins + stated->start_count, ids, (size_t)count * sizeof *ids);
  job->begin_count = stated->start_count + (int32_t)count;
  return ATTN2C_OK;
}

static int write_arrays(job *job) {
  const int64_t shape[2] = {job->rows, job->options.tokens};
  if (job->path) ATTN2C_TRY(attn2c_npy_write_int64(job->path, 2, shape, job->generated, job->message));
  if (job->format == ATTN2C_ANSWERS_NPY)
    ATTN2C_TRY(attn2c_npy_write_int64("/dev/stdout", 2, shape, job->generated, job->message));
  return ATTN2C_OK;
}

/* Opens the prompts, and then the model, whose weights take longer. */
static int open_job(job *job, FILE *notes) {
  const attn2c_arguments *arguments = job->arguments;
  const int64_t sequences = job->model->continued->sequences;
  int status = ATTN2C_OK;
  const char *forced = job->options.forced_bos;
  if (job->text)
    status = job->text->open(job->model->text, arguments, (int32_t)sequences, &job->side, job->message);
  if (status == ATTN2C_OK && forced)
    status = job->text->token(job->side, "--forced-bos", forced, &job->options.beam.forced_bos, job->message);
  if (job->text && status == ATTN2C_OK)
    status =
        job->text->languages(job->side, arguments, &job->options.beam.forced_bos, &job->start, job->message);
  if (job->text && status == ATTN2C_OK)
    status = job->text->breakers(job->side, &arguments->generate, attn2c_logits_width(job->model),
                                 &job->options, job->message);
  const attn2c_entry *encode = attn2c_encode_entry(job->model);
  const attn2c_entry *reads = encode ? encode : attn2c_primary_entry(job->model);
  if (status == ATTN2C_OK && arguments->image_count > 0)
    status = open_pictures(job);
  else if (status == ATTN2C_OK && arguments->input_count > 0)
    status =
        attn2c_prompt_arrays_open(arguments->inputs, arguments->input_count,
                                  job->model->tensors[reads->inputs[0]].name, &job->arrays, job->message);
  else if (status == ATTN2C_OK)
    status = job->text->open_prompts(job->side, arguments, notes, job->message);
  if (status == ATTN2C_OK)
    status = attn2c_continuing_open(job->model, arguments, notes, &job->model_calls, job->message);
  job->model_calls.calls.length = job->options.length;
  if (job->start >= 0) job->model_calls.calls.start = &job->start, job->model_calls.calls.start_count = 1;
  if (job->begins)
    job->model_calls.calls.start = job->begins, job->model_calls.calls.start_count = job->begin_count;
  const int32_t most = job->options.tokens < INT32_MAX ? (int32_t)job->options.tokens : INT32_MAX;
  if (status == ATTN2C_OK && job->text)
    status = job->text->grammar(job->side, arguments, job->model->continued->generation,
                                job->model_calls.calls.vocabulary,
                                most < job->model_calls.calls.tokens ? most : job->model_calls.calls.tokens,
                                &job->model_calls.calls.rule, job->message);
  if (status == ATTN2C_OK)
    status = attn2c_answers_create(&job->batch, &job->model_calls.calls, &job->options.sampling,
                                   &job->options.beam, most, job->message);
  if (status == ATTN2C_OK)
    status = attn2c_continuing_guess(&job->model_calls, arguments, job->batch, job->message);
  return status;
}

static int run_job(job *job, FILE *notes) {
  const attn2c_arguments *arguments = job->arguments;
  job->format = arguments->answers == ATTN2C_ANSWERS_NONE ? ATTN2C_ANSWERS_TEXT : arguments->answers;
  job->prints = (arguments->answers != ATTN2C_ANSWERS_NONE || arguments->output_count == 0) &&
                job->format != ATTN2C_ANSWERS_NPY;
  job->is_line = arguments->input_count > 0 || arguments->text_count != 1 || arguments->generate.n_best > 1 ||
                 arguments->texts[0].kind != ATTN2C_TEXT_STRING; /* of prompts; open_pictures */
  const int read = attn2c_generate_options_read(arguments, job->model, &job->options, job->message);
  int status = attn2c_generate_check_usage(job);
  const int writable = attn2c_generate_read_output(job);
  if (writable != ATTN2C_OK) status = writable;
  if (status == ATTN2C_OK) status = read;
  if (status == ATTN2C_OK) status = open_job(job, notes);
  if (status != ATTN2C_OK) return status;
  attn2c_signals_note();
  status = answer_all(job);
  if (status != ATTN2C_OK && status != ATTN2C_IO) end_line(job);
  return status == ATTN2C_OK && asks_array(job) ? write_arrays(job) : status;
}

static int generate(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
                    attn2c_message *message) {
  job *job = calloc(1, sizeof *job);
  if (!job) return ATTN2C_MEMORY;
  job->model = model, job->arguments = arguments, job->out = out, job->message = message;
  job->notes = notes;
  job->start = -1;
  job->text = model->text && &attn2c_the_generation_text ? attn2c_the_generation_text : NULL;
  const int status = run_job(job, notes);
  while (job->first) {
    record *r = job->first;
    job->first = r->next;
    free_record(r);
  }
  free_record(job->whole);
  attn2c_answers_free(job->batch);
  attn2c_continuing_close(&job->model_calls);
  attn2c_prompt_arrays_close(job->arrays);
  if (job->pictures) attn2c_the_pictures->close(job->pictures);
  free(job->begins);
  if (job->text) job->text->close(job->side);
  attn2c_generate_options_free(&job->options);
  ATTN2C_FREE(job->generated, job);
  return status;
}

static int chat(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out, FILE *notes,
                attn2c_message *message) {
  if (model->text && &attn2c_the_generation_text)
    return attn2c_the_generation_text->chat(model, arguments, out, notes, message);
  return attn2c_fail(message, ATTN2C_USAGE,
                     "chat: this model takes no text, as it was built without a tokenizer");
}

const attn2c_generation_commands attn2c_generation_program = {
    .options = attn2c_generation_options,
    .generate = generate,
    .chat = chat,
    .perplexity = attn2c_perplexity,
};
